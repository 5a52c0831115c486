"""Functions beside layers: orders, sums by index and by labels, permutations, data, derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, Notes

_EINSUMS = (
    ("bhid,bhjd->bhij", (4, 4, 64, 32), (4, 4, 64, 32)),
    ("bij,bjk->bik", (16, 64, 32), (16, 32, 64)),
    ("ij,kj->ik", (64, 128), (256, 128)),
    ("bsd,de->bse", (8, 64, 32), (32, 64)),
)


@dataclass(frozen=True)
class Function:
    """``ours`` and ``theirs`` make a call from a library and a function that makes its arrays."""

    name: str
    size: str
    ours: Callable[[Any, Callable[..., Any]], Call]
    theirs: Callable[[Any, Callable[..., Any]], Call]
    recorded: bool = False


def _noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _places(high: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, high, shape)


def _functions() -> Iterator[Function]:
    for size in (1000, 100_000):
        yield Function(
            "random permutation",
            f"{size}",
            lambda ex, _, size=size: _without_result(ex.random.permutation, size),
            lambda torch, _, size=size: _without_result(torch.randperm, size),
        )
    yield Function(
        "reflection padding",
        "8 x 16 x 32 x 32",
        lambda ex, array: partial(ex.pad, array(_noise(8, 16, 32, 32)), _AROUND, "reflect"),
        lambda torch, array: partial(
            torch.nn.functional.pad, array(_noise(8, 16, 32, 32)), (2, 2, 2, 2), "reflect"
        ),
    )
    yield Function(
        "concatenate",
        "64 of 4 x 16",
        lambda ex, array: partial(ex.concatenate, [array(_noise(4, 16)) for _ in range(64)]),
        lambda torch, array: partial(torch.cat, [array(_noise(4, 16)) for _ in range(64)]),
    )
    for shape, k in (((1000,), 5), ((64, 1000), 5), ((8, 50_000), 50)):
        yield _same("topk", f"{k} of {_text(shape)}", "topk", (shape,), (k,))
    for spec, first, second in _EINSUMS:
        yield _einsum(spec, first, second)
    yield Function(
        "index_add",
        "5000 rows to 1000 x 64",
        lambda ex, array: partial(
            ex.index_add,
            array(_noise(1000, 64)),
            array(_noise(5000, 64)),
            array(_places(1000, 5000)),
        ),
        lambda _, array: partial(
            array(_noise(1000, 64)).index_add,
            0,
            array(_places(1000, 5000)),
            array(_noise(5000, 64)),
        ),
    )
    yield Function(
        "scatter_add",
        "1000 x 10 to 1000 x 64",
        lambda ex, array: partial(
            ex.scatter_add, array(_noise(1000, 64)), array(_places(64, 1000, 10)),
            array(_noise(1000, 10)), 1,
        ),
        lambda _, array: partial(
            array(_noise(1000, 64)).scatter_add, 1, array(_places(64, 1000, 10)),
            array(_noise(1000, 10)),
        ),
    )  # fmt: skip
    yield Function("loader of single samples", "1024 in batches of 32", _our_loader, _torch_loader)
    for batch in (30, 1000):
        yield Function(
            "third derivatives of an MLP",
            f"batch {batch}",
            partial(_our_derivatives, batch),
            partial(_torch_derivatives, batch),
            recorded=True,
        )


_AROUND = ((0, 0), (0, 0), (2, 2), (2, 2))


def _without_result(function: Callable[..., Any], *arguments: Any) -> Call:
    """A call whose results are random, and not to be compared."""

    def call() -> None:
        function(*arguments)

    return call


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _same(name: str, size: str, path: str, shapes: Any, attributes: tuple[Any, ...]) -> Function:
    def make(library: Any, array: Callable[..., Any]) -> Call:
        return partial(getattr(library, path), *(array(_noise(*s)) for s in shapes), *attributes)

    return Function(name, size, make, make)


def _einsum(spec: str, first: tuple[int, ...], second: tuple[int, ...]) -> Function:
    def make(library: Any, array: Callable[..., Any]) -> Call:
        return partial(library.einsum, spec, array(_noise(*first)), array(_noise(*second)))

    return Function(f"einsum {spec}", f"{_text(first)}, {_text(second)}", make, make)


class _Samples:
    """1024 pictures, one at a time."""

    def __init__(self) -> None:
        self.images, self.labels = _noise(1024, 1, 28, 28), _places(10, 1024)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.images[index], int(self.labels[index])


def _epoch(loader: Any) -> Call:
    def epoch() -> Any:
        for images, _ in loader:
            last = images
        return last

    return epoch


def _our_loader(ex: Any, _: Any) -> Call:
    return _epoch(ex.data.DataLoader(_Samples(), batch_size=32))


def _torch_loader(torch: Any, _: Any) -> Call:
    return _epoch(torch.utils.data.DataLoader(_Samples(), batch_size=32))


def _network(library: Any) -> Any:
    nn = library.nn
    return nn.Sequential(
        nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
    )


def _third_derivatives(library: Any, network: Any, grad: Callable[..., Any], x: Any) -> Call:
    optimizer = library.optim.Adam(network.parameters(), lr=1e-6)

    def step() -> Any:
        optimizer.zero_grad()
        value = network(x)
        for _ in range(3):
            value = grad(value.sum(), [x], create_graph=True)[0]
        loss = (value * value).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _points(batch: int) -> np.ndarray:
    return np.linspace(0, 1, batch, dtype=np.float32)[:, None]


def _our_derivatives(batch: int, ex: Any, array: Callable[..., Any]) -> Call:
    ex.random.manual_seed(0)
    return _third_derivatives(ex, _network(ex), ex.grad, array(_points(batch), True))


def _torch_derivatives(batch: int, torch: Any, array: Callable[..., Any]) -> Call:
    import extensor as ex

    ex.random.manual_seed(0)
    weights, network = _network(ex).state_dict(), _network(torch)
    network.load_state_dict({key: torch.tensor(weights[key].numpy()) for key in weights})
    return _third_derivatives(torch, network, torch.autograd.grad, array(_points(batch), True))


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
    functions = list(_functions())
    for function in functions[:2] if quick else functions:
        yield Measure(
            "functions",
            function.name,
            function.size,
            {
                OURS: partial(_call, libraries, OURS, function),
                "torch": partial(_call, libraries, "torch", function),
            },
            recorded=function.recorded,
        )


def _call(libraries: Libraries, label: str, function: Function) -> Call:
    make = function.ours if label == OURS else function.theirs
    return make(libraries[label], partial(libraries.array, label))
