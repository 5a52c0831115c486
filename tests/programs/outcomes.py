"""Running one program in this process, and what became of it: tensors, a refusal, or a failure."""

from __future__ import annotations

import gc
import hashlib
import os
import random
import re
import sys
import traceback
import types
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex

PACKAGE = str(Path(ex.__file__).resolve().parent)
# Texts of the library begin with the name of what refuses.
OWN_TEXT = re.compile(r"^[A-Za-z_][\w.]*: \S")


@dataclass
class Outcome:
    """``kind`` is ``finished``, ``refused`` or ``failed``; ``text`` says why it did not finish."""

    kind: str
    digest: str = ""
    text: str = ""
    warnings: list[str] = field(default_factory=list)
    alone: bool = False  # whether only this worker raised

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def run_program(path: Path) -> tuple[Outcome, dict[str, Any]]:
    """Run the program at ``path`` in a fresh namespace; returns its tensors too."""
    before = ex.get_default_dtype()
    module = types.ModuleType(f"program_{path.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            exec(compile(path.read_text(), str(path), "exec"), vars(module))
            tensors = dict(module.tensors)
            outcome = Outcome("finished", digest_of(tensors))
        except Exception as error:
            tensors = {}
            outcome = Outcome("refused" if is_refusal(error) else "failed", text=text_of(error))
            traceback.clear_frames(error.__traceback__)
        finally:
            ex.set_default_dtype(before)
            sys.modules.pop(module.__name__, None)
    outcome.warnings = [str(w.message) for w in heard if _is_own(w.filename, str(w.message))]
    gc.collect()
    return outcome, tensors


def seed_all() -> None:
    """Let nothing of an earlier program decide what the next one draws."""
    ex.random.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)
    with suppress(KeyError):
        del os.environ["PROGRAM_BETA"]


def is_refusal(error: BaseException) -> bool:
    """True for an error that the library raises itself, in its own words."""
    if isinstance(error, ex.distributed.WorkerLostError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and _is_own(frames[-1].filename, str(error))


def _is_own(filename: str, text: str) -> bool:
    return filename.startswith(PACKAGE) and bool(OWN_TEXT.match(text))


def text_of(error: BaseException) -> str:
    """The kind of error, its text, and for foreign ones where it arose."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if is_refusal(error):
        return text
    frames = traceback.extract_tb(error.__traceback__)[-2:]
    places = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
    return f"{text} ({places})"


def digest_of(tensors: dict[str, Any]) -> str:
    """A text for names, dtypes, shapes and bits."""
    found = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        found.update(f"{name} {array.dtype} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]
