"""Reference pages of all public names, written before Sphinx reads the sources.

An op and its backward share a page, as they share a file. Every other public name has a page of its
own, below the index of its package. The pages of the command line and of the configuration file are
written from the parsers and the dataclasses that declare them.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import extensor as ex
import extensor_cli
from extensor.core.op import OPS
from extensor.experiments import spec
from extensor.torch import Tensor as TorchTensor
from extensor.torch.runner import MODULES

# The packages with pages of their own, in the order of the index.
PACKAGES = {
    "nn": "Modules and losses",
    "nn.init": "Initial values",
    "optim": "Optimizers and schedules",
    "data": "Data",
    "train": "Training and experiments",
    "models": "Models",
    "random": "Random numbers",
    "amp": "Mixed precision",
    "distributed": "Several workers",
    "io": "Files",
    "report": "Reports",
}

HELPERS = {"calculate_fans"}  # in a module without ``__all__``, but not for users

# Phrases that the search must find, and their words as the index has them, without their endings.
SEARCHES = {
    "relu_backward": ["relu_backward"],
    "early stopping": ["earli", "stop"],
    "learning rate": ["learn", "rate"],
}


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("build-finished", check_search)
    return {"parallel_read_safe": True}


def check_search(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build if the search does not find what readers look for."""
    path = Path(app.outdir) / "searchindex.js"
    if exception is None and path.exists():
        missing = missing_words(path.read_text("utf-8"))
        if missing:
            raise ExtensionError(f"the search finds no page for {', '.join(missing)}")


def missing_words(index: str) -> list[str]:
    """The phrases of ``SEARCHES`` whose words no page of a search index has together."""
    content = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    missing = []
    for phrase, stems in SEARCHES.items():
        pages = [content["terms"].get(stem, []) for stem in stems]
        if not set.intersection(*({x} if isinstance(x, int) else set(x) for x in pages)):
            missing.append(phrase)
    return missing


def write_pages(app: Sphinx) -> None:
    """Write the pages that changed, so that Sphinx reads only those again."""
    folder = Path(app.srcdir) / "reference" / "api"
    pages = dict(all_pages())
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).with_suffix("").as_posix() not in pages:
            path.unlink()


def all_pages() -> Iterator[tuple[str, str]]:
    """The name of each page below ``reference/api``, and its text."""
    sections = [("Tensors and functions", "extensor", _core_names())]
    sections += [
        (title, f"extensor.{name}", public_names(importlib.import_module(f"extensor.{name}")))
        for name, title in PACKAGES.items()
    ]
    families = _op_families()
    for title, module, names in sections:
        for name in names:
            yield f"{module}.{name}", _page(module, [name])
        yield module, _index(title, module, names)
    for module, names in families.items():
        for name in names:
            yield f"extensor.{name}", _page("extensor", _pair(name))
        family = module.rpartition(".")[2]
        yield f"ops.{family}", _index(_family_title(module), "extensor", names)
    yield "ops", _list_of_families(families)
    yield "extensor.torch", pytorch_names()
    yield "command_line", command_line()
    yield "configuration", configuration(Path(__file__).parents[1] / "guides" / "own_data.md")


def public_names(module: ModuleType) -> list[str]:
    """What a module exports, or its own functions if it does not say; no modules."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    names = getattr(module, "__all__", own)
    return [
        name
        for name in names
        if name not in HELPERS and not isinstance(getattr(module, name), ModuleType)
    ]


def _core_names() -> list[str]:
    """Public names of ``extensor`` that are neither ops nor packages."""
    pairs = {part for name in OPS for part in _pair(name)}
    return [
        name
        for name in ex.__all__
        if name not in pairs and not isinstance(getattr(ex, name), ModuleType)
    ]


def _op_families() -> dict[str, list[str]]:
    """The public ops by the module that defines them."""
    families: dict[str, list[str]] = {}
    for name in OPS:
        if name in ex.__all__:
            families.setdefault(getattr(ex, name).__module__, []).append(name)
    return families


def _pair(name: str) -> list[str]:
    backward = f"{name}_backward"
    return [name, backward] if hasattr(ex, backward) else [name]


def _family_title(module: str) -> str:
    return module.rpartition(".")[2].replace("_", " ").capitalize()


def _page(module: str, names: list[str]) -> str:
    title = f"{module}.{names[0]}".replace("extensor", "ex", 1)
    lines = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    for name in names:
        thing = getattr(__import__(module, fromlist=["x"]), name)
        if isinstance(thing, np.dtype):
            lines += [f".. py:data:: {name}", "", f"   The NumPy dtype ``{thing}``.", ""]
            continue
        lines += [f".. {_directive(thing)}:: {name}", *_options(thing), ""]
    return "\n".join(lines)


def _directive(thing: Any) -> str:
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if callable(thing) else "autodata"


def _options(thing: Any) -> list[str]:
    """Show inherited members too, but not those that every module or built-in type has."""
    if not inspect.isclass(thing):
        return []
    return ["   :members:", "   :inherited-members: Module, Optimizer, Exception, str, tuple, dict"]


def _index(title: str, module: str, names: list[str]) -> str:
    package = __import__(module, fromlist=["x"])
    lines = [title, "=" * len(title), "", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        summary = _first_line(getattr(package, name))
        page = f"/reference/api/{module}.{name}"
        shown = f"{module}.{name}".replace("extensor", "ex", 1)
        lines += [f"   * - :doc:`{shown} <{page}>`", f"     - {summary}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [
        f"   {f'{module}.{name}'.replace('extensor', 'ex', 1)} </reference/api/{module}.{name}>"
        for name in names
    ]
    return "\n".join(lines) + "\n"


def _list_of_families(families: dict[str, list[str]]) -> str:
    lines = ["Ops and their gradients", "=" * 23, "", ".. toctree::", "   :maxdepth: 1", ""]
    return "\n".join([*lines, *(f"   ops.{m.rpartition('.')[2]}" for m in families)]) + "\n"


def _first_line(thing: Any) -> str:
    if isinstance(thing, np.dtype):
        return f"The NumPy dtype ``{thing}``."
    text = inspect.getdoc(thing) or ""
    return text.partition("\n\n")[0].replace("\n", " ")


def pytorch_names() -> str:
    """A table of the names of each module that takes PyTorch's place; methods of its tensor too."""
    title = "PyTorch's names"
    lines = [title, "=" * len(title), ""]
    lines += ["``python -m extensor.torch script.py`` lets a script import them as ``torch``. The"]
    lines += ["arguments are PyTorch's.", ""]
    for name, module in sorted(MODULES.items()):
        found = importlib.import_module(module)
        shown = [x for x in found.__all__ if not isinstance(getattr(found, x), ModuleType)]
        lines += _table_of_names(name, found, shown)
    own = [name for kind in TorchTensor.__mro__ for name in vars(kind) if not name.startswith("_")]
    methods = [name for name in sorted({*own}) if hasattr(TorchTensor, name)]
    lines += _table_of_names("torch.Tensor", TorchTensor, methods)
    return "\n".join(lines) + "\n"


def _table_of_names(title: str, found: Any, names: list[str]) -> list[str]:
    if not names:
        return []
    lines = [title, "-" * len(title), "", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        value = getattr(found, name)
        is_described = isinstance(value, np.dtype) or (callable(value) and value is not np.dtype)
        summary = (
            _first_line(value) if is_described else "NumPy's dtype." if callable(value) else "-"
        )
        lines += [f"   * - ``{name}``", f"     - {summary or '-'}"]
    return [*lines, ""]


def command_line() -> str:
    """Every command with its arguments, as the parser declares them."""
    lines = ["Command line", "=" * 12, "", "``extensor COMMAND --help`` prints the same.", ""]
    for name, parser in extensor_cli.parser().commands.choices.items():
        title = f"extensor {name}"
        lines += [title, "-" * len(title), "", parser.description or "", ""]
        lines += [".. list-table::", "   :widths: 35 65", ""]
        for action in parser._actions:
            if action.help != argparse.SUPPRESS and action.dest != "help":
                lines += [f"   * - {_usage(action)}", f"     - {_escaped(action.help or '')}"]
        lines += ["", parser.epilog or "", ""]
    return "\n".join(lines)


def _usage(action: argparse.Action) -> str:
    """An argument as it is written: ``--target NAME``."""
    value = action.metavar or (
        "{" + ", ".join(map(str, action.choices)) + "}" if action.choices else ""
    )
    if not value and action.nargs != 0 and action.option_strings:
        value = action.dest.upper()
    names = [f"{option} {value}".strip() for option in action.option_strings]
    return ", ".join(f"``{name}``" for name in names or [value or action.dest])


def configuration(guide: Path) -> str:
    """Every key of a configuration file: its type from the code, its meaning from the guide."""
    meanings = _meanings(guide.read_text("utf-8"))
    lines = ["Configuration file", "=" * 18, ""]
    lines += [
        "A configuration is a TOML file with the keys below, or a dict with the same keys for",
        "``ex.train.experiment``. :doc:`/guides/own_data` shows examples and explains the defaults.",
        "",
    ]
    lines += _keys_of("Top level", spec.ExperimentSpec, meanings)
    for key, kinds in spec._hints(spec.ExperimentSpec).items():
        if issubclass(kinds[0], spec.Section):
            lines += _keys_of(f"[{key}]", kinds[0], meanings)
    lines += _keys_of("[data.normalize]", spec.NormalizeSpec, meanings)
    return "\n".join(lines)


def _keys_of(title: str, section: type[spec.Section], meanings: dict[str, str]) -> list[str]:
    about = re.sub(r"``\[.*?\]``: ", "", (section.__doc__ or "").partition("\n\n")[0])
    about = re.sub(r":class:`~?([\w.]+)`", r"`\1`", about)
    only_for = {x.name: x.metadata["kinds"] for x in fields(section) if "kinds" in x.metadata}
    lines = [title, "-" * len(title), "", about[:1].upper() + about[1:], ""]
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 25 20 55", ""]
    lines += ["   * - key", "     - type", "     - meaning"]
    for key, kinds in spec._hints(section).items():
        is_table = issubclass(kinds[0], (spec.Section, spec.NamedSpec, dict))
        shown = f"[{key}]" if is_table else key
        kind = "table" if is_table else " or ".join(_kind(kind) for kind in kinds)
        meaning = (
            meanings.get(key, meanings.get(title, ""))
            if title != "Top level"
            else meanings.get(key, "")
        )
        if key in only_for:
            meaning = f"{meaning} (only {', '.join(only_for[key])})".strip()
        lines += [f"   * - ``{shown}``", f"     - {kind}", f"     - {meaning}"]
    return [*lines, ""]


def _kind(kind: type) -> str:
    names = {"str": "string", "int": "integer", "float": "number", "bool": "true or false"}
    return names.get(kind.__name__, kind.__name__)


def _meanings(text: str) -> dict[str, str]:
    """The meaning of each key in the tables of a page, as reStructuredText."""
    found = {}
    for keys, meaning in re.findall(r"^\| (`[^|]*`) \| (.*) \|$", text, re.MULTILINE):
        meaning = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", meaning)
        meaning = re.sub(r"`([^`]+)`", r"``\1``", meaning)
        for key in re.findall(r"`([^`]+)`", keys):
            found.setdefault(key, meaning)
            found.setdefault(key.strip("[]"), meaning)
    return found


def _escaped(text: str) -> str:
    return re.sub(r"([*`|_\\])", r"\\\1", text)
