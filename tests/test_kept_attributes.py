"""What a call was given can be changed afterwards: its gradient is that of the call as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex

# A call with a list or array, and how that is changed before the backward pass.
CALLS: list[tuple[Callable[[Any, Any], Any], Any, Callable[[Any], None]]] = [
    (lambda x, given: x[given], [0, 2], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: x[given], [True, False, True], lambda given: given.__setitem__(1, True)),
    (lambda x, given: x[given, [1]], [0, 2], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: x[:, given], [0, 0], lambda given: given.append(1)),
    (lambda x, given: x[given], np.array([0, 2]), lambda given: given.fill(1)),
    (lambda x, given: x.at[given].set(0.0), [0], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: x.at[given].add(x[:1]), [0], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: ex.repeat(x, given, axis=0), [1, 2, 3], lambda given: given.reverse()),
    (lambda x, given: ex.pad(x, given), [(0, 1), (1, 0)], lambda given: given.reverse()),
    (lambda x, given: ex.transpose(x[None], given), [2, 0, 1], lambda given: given.reverse()),
    (lambda x, given: ex.sum(x * x, axis=given), [0], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: ex.var(x, axis=given), [0], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: ex.flip(x, given), [0], lambda given: given.__setitem__(0, 1)),
    (lambda x, given: ex.roll(x, given, [0]), [1], lambda given: given.__setitem__(0, 2)),
    (lambda x, given: ex.tile(x, given), [2, 1], lambda given: given.reverse()),
    (lambda x, given: ex.layer_norm(x, given), [2], lambda given: given.insert(0, 3)),
    (lambda x, given: ex.tensordot(x, x, given), [[0], [0]], lambda given: given.__setitem__(0, [1])),
]  # fmt: skip


@pytest.mark.parametrize(("call", "given", "change"), CALLS)
def test_a_change_of_what_was_given_changes_nothing(call: Any, given: Any, change: Any) -> None:
    gradients = []
    for changed in (False, True):
        argument = given.copy()
        x = ex.tensor(np.arange(1.0, 7.0).reshape(3, 2), requires_grad=True)
        y = call(x, argument)
        weights = np.cos(np.arange(y.size)).reshape(y.shape)
        if changed:
            change(argument)
        ex.sum(y * weights).backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


def test_in_a_loop() -> None:
    x = ex.tensor([1.0, 2.0, 4.0], requires_grad=True)
    index, total = [0, 0], ex.zeros(())
    for i in range(3):
        index[0] = index[1] = i
        total += x[index].sum()
    total.backward()
    assert x.grad.tolist() == [2, 2, 2]
