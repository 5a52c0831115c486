"""Kinks: where the derivative of an op jumps, finite differences mean nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from extensor.core import changes, door
from extensor.core.op import OPS, Op
from extensor.gradcheck.diagnosis import Mistake
from extensor.gradcheck.gradient_report import CheckFailedError
from extensor.gradcheck.point import Point


def refuse_kinks(point: Point, margin: float) -> None:
    """Raise if an op inside the function is nearer than ``margin`` to a kink that it declares."""
    # Weakly, so that nobody but the function holds the memory that it may write to.
    derived: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def watch(computed: Any) -> None:
        op = OPS.get(computed.op)
        arrays = computed.inputs if op is None else computed.inputs[: op.arity]
        # Only what comes from the checked inputs moves with them.
        if any(id(changes.owner(x)) in derived for x in _flat(arrays)):
            made = [changes.owner(x) for x in _flat([computed.outputs]) if hasattr(x, "dtype")]
            derived.update({id(owner): owner for owner in made})
            if op is not None and op.kinks is not None:
                _refuse(op, arrays, computed.inputs[op.arity :], margin)

    def started(*arguments: Any) -> Any:
        owners = [changes.owner(arguments[i]._array) for i in point.checked]
        derived.update({id(owner): owner for owner in owners})
        return point.fn(*arguments)

    with door.watch(watch):
        replace(point, fn=started).call()


def _refuse(op: Op, arrays: Sequence[Any], attributes: Sequence[Any], margin: float) -> None:
    assert op.kinks is not None
    if any(x.size == 0 for x in _flat(arrays) if hasattr(x, "size")):
        return
    with np.errstate(all="ignore"):
        distances = np.asarray(op.kinks(*arrays, *attributes))
    if distances.size == 0 or not np.nanmin(distances, initial=np.inf) < margin:
        return
    index = tuple(int(k) for k in np.unravel_index(np.nanargmin(distances), distances.shape))
    x = np.asarray(_flat(arrays)[0])
    value = f", value {x[index]:.6g}" if x.shape == distances.shape else ""
    raise CheckFailedError(
        Mistake.KINK,
        f"{op.name} has a kink {distances[index]:.3g} away at index {index} of its input{value}; "
        f"move the input by more than {margin:.3g}, or pass kinks=False",
        index=index,
    )


def _flat(values: Sequence[Any]) -> list[Any]:
    return [
        x
        for value in values
        for x in (_flat(value) if isinstance(value, list | tuple) else [value])
    ]
