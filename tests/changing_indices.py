"""A program that calls ops while another process changes the indices they read.

    python changing_indices.py SECONDS [NAME ...]

Between two changes the indices are all valid or all far outside. A call must give the right result
or raise. The program prints the name of each op before it calls it for so many seconds, and
``wrong`` if a result was wrong; an op that reads or writes beyond an array ends it by a signal.

The other process maps the same files. A thread would do as well, but the thread sanitizer would
report it: the race is the one between the user's own reads and writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROWS, CLASSES = 2048, 48
OUTSIDE = 1 << 40
FOLDER = "EXTENSOR_CHANGED_FOLDER"  # for the process that changes the files: where they are


def change(folder: Path) -> None:
    """Change the files until the process that reads them is gone."""
    names = ("indices", "mask", "scores")
    indices, mask, scores = (np.load(folder / f"{name}.npy", mmap_mode="r+") for name in names)
    valid, reader = indices.copy(), os.getppid()
    outside = valid + OUTSIDE  # one byte differs, so that half a write is the one or the other
    while os.getppid() == reader:
        indices[:] = outside
        mask[:] = True
        scores[:] = 1
        time.sleep(0)
        indices[:] = valid
        mask[:] = False
        scores[:] = 0
        time.sleep(0)


if FOLDER in os.environ:
    change(Path(os.environ[FOLDER]))
    sys.exit()

import extensor as ex  # noqa: E402
from extensor import _native  # noqa: E402
from extensor.core.op import OPS  # noqa: E402

rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()


def _mapped(name: str, array: Any) -> Any:
    np.save(Path(folder.name) / f"{name}.npy", array)
    return np.asarray(np.load(Path(folder.name) / f"{name}.npy", mmap_mode="r+"))


indices = _mapped("indices", rng.integers(0, CLASSES, ROWS))
mask = _mapped("mask", np.zeros(ROWS, bool))
scores = _mapped("scores", np.zeros((ROWS, CLASSES), np.float32))
labels = ex.data.read_arrays(Path(folder.name) / "indices.npy")
shared = ex.Tensor(indices)
column = ex.Tensor(indices.reshape(ROWS, 1))
logits = ex.tensor(rng.standard_normal((ROWS, CLASSES)), "float32")
table = ex.tensor(rng.standard_normal((CLASSES, 64)), "float32")
rows = ex.tensor(rng.standard_normal((ROWS, 64)), "float32")
vector = ex.tensor(rng.standard_normal(ROWS), "float32")
weight = ex.tensor(rng.uniform(1, 2, CLASSES), "float32")


def _set(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


def _copy_rows() -> Any:
    target = np.zeros((ROWS, 64), np.float32)
    _native.copy_rows(target, np.arange(ROWS), table.numpy(), indices)
    return ex.Tensor(target)


def _argmax() -> Any:
    """Whether each place is in its row, whatever the row holds by then."""
    places = ex.argmax(ex.Tensor(scores), 1)
    return ((places >= 0) & (places < CLASSES)).all()


def _of_a_mapped_file() -> Any:
    samples = ex.data.ArrayDataset(logits.numpy(), labels)
    loader = ex.data.DataLoader(samples, batch_size=ROWS // 2, shuffle=False)
    return ex.stack([ex.cross_entropy(x, y) for x, y in loader])


def _with_gradient(loss: Callable[..., Any], *args: Any, **options: Any) -> Any:
    x = logits.clone()
    x.requires_grad = True
    loss(x, shared, *args, **options).backward()
    return x.grad


CALLS: dict[str, Callable[[], Any]] = {
    "cross_entropy of a mapped file": _of_a_mapped_file,
    "cross_entropy": lambda: ex.cross_entropy(logits, shared),
    "cross_entropy with options": lambda: ex.cross_entropy(
        logits, shared, "sum", weight, 0.1, ignore_index=3
    ),
    "cross_entropy_backward": lambda: ex.cross_entropy_backward(1.0, logits, shared).grad_logits,
    "cross_entropy_backward with weights": lambda: (
        ex.cross_entropy_backward(1.0, logits, shared, "mean", weight).grad_logits
    ),
    "both passes of cross_entropy": lambda: _with_gradient(ex.cross_entropy),
    "both passes of nll_loss": lambda: _with_gradient(ex.nll_loss),
    "nll_loss": lambda: ex.nll_loss(logits, shared),
    "nll_loss with weights": lambda: ex.nll_loss(logits, shared, "mean", weight),
    "nll_loss_backward": lambda: ex.nll_loss_backward(1.0, (ROWS, CLASSES), shared),
    "embedding": lambda: ex.embedding(shared, table),
    "embedding_backward": lambda: ex.embedding_backward(rows, shared, (CLASSES, 64)),
    "take": lambda: ex.take(table, shared, 0),
    "take_backward": lambda: ex.take_backward(rows, (CLASSES, 64), shared, 0),
    "index_select": lambda: ex.index_select(table, shared, 0),
    "gather": lambda: ex.gather(logits, column, 1),
    "gather of a broadcast": lambda: ex.gather(logits.reshape(1, ROWS, CLASSES), column[None], 2),
    "scatter_add": lambda: ex.scatter_add(logits, column, vector.reshape(ROWS, 1), 1),
    "getitem": lambda: table[shared],
    "getitem of a pair": lambda: logits[np.arange(ROWS), shared],
    "getitem of a mask": lambda: rows[mask],
    "place": lambda: ex.place(rows, (CLASSES, 64), shared),
    "place of a pair": lambda: ex.place(vector, (ROWS, CLASSES), (np.arange(ROWS), indices)),
    "index_add": lambda: ex.index_add(table, rows, shared),
    "index_set": lambda: ex.index_set(table, 1.0, shared),
    "setitem": lambda: _set(table.clone(), indices, 2.0),
    "setitem of a mask": lambda: _set(rows.clone(), mask, 2.0),
    "copy_rows": _copy_rows,
    "argmax": _argmax,
}


@contextmanager
def _rules_by_formulas() -> Iterator[None]:
    rules = [op.rule for op in OPS.values() if op.rule is not None]
    kept = [(rule.kernel, rule.replay) for rule in rules]
    for rule in rules:
        rule.kernel = rule.replay = None
    try:
        yield
    finally:
        for rule, (kernel, replay) in zip(rules, kept, strict=True):
            rule.kernel, rule.replay = kernel, replay


def _right_results(call: Callable[[], Any]) -> list[bytes]:
    """Those of a rule's kernel, and of its formula, which computes if the kernel meets a wrong index."""
    results = [call().numpy().tobytes()]
    with _rules_by_formulas():
        results.append(call().numpy().tobytes())
    mask.fill(True)
    results.append(call().numpy().tobytes())
    mask.fill(False)
    return results


def _is_right(name: str, results: list[bytes], seconds: float) -> bool:
    end = time.monotonic() + seconds
    right = True
    while time.monotonic() < end:
        try:
            found = CALLS[name]().numpy().tobytes()
        except (ValueError, IndexError):
            continue
        # A mask may be seen half changed, as all of its values are valid.
        right = right and (found in results or "mask" in name)
    return right


def main(seconds: float, names: list[str]) -> None:
    results = {name: _right_results(CALLS[name]) for name in names or CALLS}
    changer = subprocess.Popen([sys.executable, __file__], env={**os.environ, FOLDER: folder.name})
    try:
        while indices[0] < OUTSIDE:  # it has not begun
            time.sleep(0.001)
        for name, expected in results.items():
            print(name, flush=True)
            if not _is_right(name, expected, seconds):
                print("wrong", flush=True)
    finally:
        changer.kill()
        changer.wait()


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
