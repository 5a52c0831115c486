"""Names of PyTorch's that are called otherwise here: the error says what to write."""

from __future__ import annotations

import pickle
import re
import traceback
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import names
from extensor.tensor import Tensor

TABLES = {
    "ex": (ex, names.FUNCTIONS),
    "ex.nn": (ex.nn, names.MODULES),
    "ex.optim": (ex.optim, names.OPTIMIZERS),
    "Tensor": (Tensor, names.METHODS),
}
ROWS = [(where, name) for where, (_, table) in TABLES.items() for name in table]


@pytest.mark.parametrize(("where", "name"), ROWS)
def test_a_name_answers_with_another_that_exists(where: str, name: str) -> None:
    holder, table = TABLES[where]
    with pytest.raises(AttributeError) as caught:
        getattr(holder, name)
    assert str(caught.value) == f"{name}: there is none here, write {table[name]}"
    for path in re.findall(r"\bex\.([a-zA-Z_][\w.]*)", table[name]):
        found: Any = ex
        for part in path.rstrip(".").split("."):
            found = getattr(found, part)
    for attribute in re.findall(r"\bx\.(\w+)", table[name]):
        assert hasattr(ex.ones(1), attribute)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ex.cat", "cat: there is none here, write ex.concatenate(tensors, axis)"),
        ("x.dim()", "dim: there is none here, write x.ndim"),
        ("x.add_(1)", "add_: there is none here, write x = x.add(...)"),
        ("x.mm(x)", "mm: there is none here, write ex.matmul(a, b)"),
        (
            "x.size(0)",
            "size: is the number of elements, write x.shape or x.shape[axis] for the sizes of axes",
        ),
        (
            "x.to('cpu')",
            "to: there is none here, write x.astype(dtype); this library computes on the CPU, "
            "so there is no device to choose",
        ),
        (
            "x.cuda()",
            "cuda: there is none here, write x: this library computes on the CPU, "
            "so there is no device to choose",
        ),
        (
            "ex.zeros(3, device='cpu')",
            "zeros: this library computes on the CPU, so there is no device to choose, got device",
        ),
        (
            "ex.tensor([1.0], device='cuda')",
            "tensor: this library computes on the CPU, so there is no device to choose, got device",
        ),
        (
            "ex.nn.Linear(2, 3, device='cuda')",
            "Linear: device must be None or 'cpu' (this library computes on the CPU, so there is no "
            "device to choose), got device='cuda'",
        ),
        (
            "ex.relu(x, device='cpu')",
            "relu: this library computes on the CPU, so there is no device to choose, got device",
        ),
        (
            "ex.nn.ReLU().to('cuda:0')",
            "to: dtype must be floating (this library computes on the CPU, so there is no device "
            "to choose), got dtype='cuda:0'",
        ),
        (
            "ex.nn.ReLU().cuda()",
            "cuda: this library computes on the CPU, so there is no device to choose",
        ),
        ("ex.sum(x, dim=0)", "sum: dim is called axis here, got dim"),
        ("x.mean(keepdim=True)", "mean: keepdim is called keepdims here, got keepdim"),
    ],
)  # fmt: skip
def test_answers(expression: str, text: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)) as caught:
        eval(expression, {"ex": ex, "x": ex.ones((2, 3))})
    assert str(caught.value) == text
    assert "Did you mean" not in "".join(traceback.format_exception_only(caught.value))


def test_a_slip_of_the_pen_is_still_guessed() -> None:
    with pytest.raises(AttributeError, match="module 'extensor' has no attribute 'concatenat'"):
        getattr(ex, "concatenat")  # noqa: B009
    assert not hasattr(ex.nn, "Linaer")
    assert not hasattr(ex.optim, "SDG")


def test_what_is_not_there_is_not_shown() -> None:
    x = ex.ones(2)
    assert not hasattr(x, "view")
    assert "view" not in dir(x)
    assert "reshape" in dir(x)


def test_size_is_a_number_like_any_other() -> None:
    x = ex.ones((2, 3))
    assert x.size == 6
    assert isinstance(x.size, int)
    assert type(x.size + 1) is int
    assert type(pickle.loads(pickle.dumps(x.size))) is int
    assert repr(x.size) == "6"
    assert np.zeros(x.size).shape == (6,)
    assert (x / x.size).dtype == np.float32
    assert (ex.tensor([1, 2], dtype="int8") * x.size).dtype == np.int8
