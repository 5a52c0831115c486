"""Drawing the arguments of a call: layouts, dtypes, special values, and things of a wrong kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from calls import FLOATS, INTEGERS, flat, numpy_dtype
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.core.tensor import Tensor

Rng = np.random.Generator
# More bytes than a 64-bit processor can address: nobody can have the memory for a copy of it.
_ONE = np.ones((), np.float32)
_ONE.flags.writeable = False
HUGE = np.broadcast_to(_ONE, (2**25, 2**25))
_TRUE = np.ones((), bool)
_TRUE.flags.writeable = False
HUGE_MASK = np.broadcast_to(_TRUE, HUGE.shape)
WRONG: list[Any] = [
    None, True, -1, 0, 7, 2**40, -(2**40), 10**30, 1.5, float("nan"), float("inf"), "text", "", b"x",
    1j, (), (0,), (0, 0), (-1, -9), (2**40, 2**40), [], [[1], [2, 3]], {}, {0: 1}, object(), int, ...,
    slice(None), np.float64(2), np.int8(-1), np.array("a"), np.array([None]), np.array(1j),
    np.array([], "datetime64[s]"), np.zeros(3, [("a", "f4")]), lambda x: x,
]  # fmt: skip


def special(x: np.ndarray, rng: Rng) -> np.ndarray:
    """A few elements replaced by NaN, infinities, zeros of both signs or extreme numbers."""
    if x.size == 0 or not (x.dtype.kind == "f" or x.dtype == ml_dtypes.bfloat16):
        return x
    info = ml_dtypes.finfo(x.dtype)
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.tiny), float(info.smallest_subnormal)]
    x = x.copy()
    x.reshape(-1)[rng.integers(0, x.size, 2)] = rng.choice(values, 2)
    return x


def _reversed(x: np.ndarray) -> np.ndarray:
    backwards = (..., *(slice(None, None, -1) for _ in x.shape))
    return x[backwards].copy()[backwards]


def _spread(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape, 3), x.dtype)
    wide[..., 1] = x
    return wide[..., 1]


def _unaligned(x: np.ndarray) -> np.ndarray:
    buffer = bytearray(1) + x.tobytes()
    return np.frombuffer(buffer, x.dtype, offset=1).reshape(x.shape)


def _swapped(x: np.ndarray) -> np.ndarray:
    return x.astype(x.dtype.newbyteorder()) if x.dtype.kind in "fiu" else x


def _repeated(x: np.ndarray) -> np.ndarray:
    return np.broadcast_to(x[(..., *(slice(0, 1) for _ in x.shape))], x.shape) if x.size else x


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    np.copy, np.asfortranarray, _reversed, _spread, _unaligned, _swapped, _repeated, _read_only,
]  # fmt: skip


def cast(x: np.ndarray, rng: Rng) -> np.ndarray:
    # NaN and negative floats as unsigned integers: what comes out, and whether NumPy warns, depends
    # on the processor.
    with np.errstate(all="ignore"):
        return x.astype(numpy_dtype(str(rng.choice(FLOATS + INTEGERS))))


def disguised(x: Any, rng: Rng) -> Any:
    """The same kind of input in another layout, perhaps with special values or another dtype."""
    if isinstance(x, list):
        return [disguised(item, rng) for item in x]
    if not isinstance(x, np.ndarray):
        return x
    if rng.random() < 0.3:
        x = special(x, rng)
    if rng.random() < 0.15:
        x = cast(x, rng)
    x = LAYOUTS[rng.integers(len(LAYOUTS))](x)
    return ex.asarray(x) if rng.random() < 0.3 and x.dtype.isnative else x


def random_array(rng: Rng, rank: int | None = None) -> np.ndarray:
    rank = int(rng.integers(0, 9)) if rank is None else rank
    sizes = [0, 1, 1, 2, 3] if rank > 3 else [0, 1, 2, 3, 5, 17]
    x = rng.uniform(-3, 3, tuple(rng.choice(sizes, rank)))
    return cast(np.asarray(x), rng)


def anything(rng: Rng) -> Any:
    choice = rng.random()
    if choice < 0.6:
        return disguised(random_array(rng), rng)
    if choice < 0.7:
        return [random_array(rng, 1) for _ in range(rng.integers(0, 4))]
    return WRONG[rng.integers(len(WRONG))]


def bytes_of(values: Any) -> list[bytes]:
    arrays = [np.asarray(x) for x in flat(values) if isinstance(x, np.ndarray | Tensor)]
    return [x.tobytes() for x in arrays if x is not HUGE and x.nbytes < 2**20]


def shown(args: Any) -> str:
    def one(x: Any) -> str:
        if isinstance(x, list):
            return f"[{', '.join(map(one, x))}]"
        if isinstance(x, np.ndarray | Tensor):
            strides = np.asarray(x).strides
            values = np.asarray(x).reshape(-1)[:4].tolist() if x.size < 999 else "..."
            return f"{type(x).__name__}({x.dtype!s}, {x.shape}, strides={strides}, {values})"
        return repr(x)

    return ", ".join(map(one, args))


def spoiled(values: list[Any], rng: Rng) -> list[Any]:
    """One argument in three calls is replaced by something else."""
    if values and rng.random() < 0.33:
        values = values.copy()
        values[rng.integers(len(values))] = anything(rng)
    return values


def rows(name: str) -> list[Case]:
    return [case for case in CASES if case.op == name]


def tensors(x: Any) -> Any:
    return [tensors(item) for item in x] if isinstance(x, list) else ex.asarray(x)


def plain(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], Tensor):
        return [plain(item) for item in x]
    return x.numpy() if isinstance(x, Tensor) else x
