"""An epoch of LeNet-5 on Fashion-MNIST, from bytes in memory to changed weights, and its loading alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, MissingError, Notes
from benchmarks.models import lenet

# Where Debian's package dataset-fashion-mnist has it; a benchmark downloads nothing.
FOLDER = Path("/usr/share/datasets/fashion-mnist")
BATCH, MEAN, DEVIATION, RATE = 64, 73.0, 90.0, 0.05


def measures(libraries: Libraries, quick: bool, notes: Notes) -> Iterator[Measure]:
    if quick or not FOLDER.is_dir():
        notes.skip("epoch: quick runs leave it out" if quick else f"epoch: {FOLDER} is not there")
        return
    for name, learns in (("LeNet-5 epoch", True), ("LeNet-5 epoch, loading alone", False)):
        contestants = {
            OURS: partial(_ours, libraries, learns),
            "torch": partial(_torch, libraries, learns),
        }
        yield Measure("epoch", name, "60,000 images", contestants, recorded=learns)


def _ours(libraries: Libraries, learns: bool) -> Call:
    ex = libraries[OURS]
    images, _ = ex.data.fashion_mnist(FOLDER)
    transform = ex.data.Normalize(MEAN, DEVIATION)
    loader = ex.data.DataLoader(images, BATCH, shuffle=True, transform=transform)
    return _epoch(ex, lenet.build(ex.nn), lambda: loader, learns)


def _torch(libraries: Libraries, learns: bool) -> Call:
    """The quickest that torch can do here: a permutation, and slices of tensors."""
    torch = libraries["torch"]
    if OURS not in libraries:
        raise MissingError("the reader of the files is ours")
    training, _ = libraries[OURS].data.fashion_mnist(FOLDER)
    images, labels = (torch.from_numpy(array.copy()) for array in training.arrays)

    def batches() -> Iterator[tuple[Any, Any]]:
        order = torch.randperm(len(images))
        for first in range(0, len(images), BATCH):
            chosen = order[first : first + BATCH]
            yield (images[chosen].float() - MEAN) / DEVIATION, labels[chosen]

    return _epoch(torch, lenet.build(torch.nn), batches, learns)


def _epoch(library: Any, model: Any, batches: Callable[[], Any], learns: bool) -> Call:
    optimizer = library.optim.SGD(model.parameters(), lr=RATE)

    def run() -> None:
        for images, labels in batches():
            if learns:
                optimizer.zero_grad()
                lenet.loss(library, model, (images, labels)).backward()
                optimizer.step()

    return run
