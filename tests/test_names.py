"""Names of PyTorch's that are called otherwise here: the error says what to write."""

from __future__ import annotations

import pickle
import re
import traceback
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core.tensor import Tensor
from extensor.errors import torch_names as names

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
    written = "there is none here, write "
    if table[name].startswith((names.CPU, names.NONE)):
        written = ""
    assert str(caught.value) == f"{name}: {written}{table[name]}"
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
        ("x.add_(1)", "add_: there is none here, write x += other"),
        ("x.mul_(1)", "mul_: there is none here, write x *= other"),
        ("x.clamp_(0)", "clamp_: there is none here, write x[...] = x.clip(min_val, max_val)"),
        ("x.lerp_(x, 1)", "lerp_: there is none here, write x += weight * (end - x)"),
        ("x.exp_()", "exp_: there is none here, write x[...] = x.exp(...)"),
        ("x.unsqueeze_(0)", "unsqueeze_: there is none here, write x = x.unsqueeze(...)"),
        ("ex.svd(x)", "svd: there is none here, write numpy.linalg.svd(x.numpy())"),
        ("x.unbind()", "unbind: there is none here, write tuple(x)"),
        (
            "ex.cuda.is_available()",
            "cuda: this library computes on the CPU, so there is no device to choose",
        ),
        (
            "ex.optim.SparseAdam",
            "SparseAdam: not implemented here: gradients are dense here, so that every row takes "
            "part in each step; take ex.optim.Adam, or ex.optim.Adagrad, whose rows without a "
            "gradient stay as they are",
        ),
        ("ex.clip(x, min=0)", "clip: min is called min_val here, got min"),
        ("x.clip(max=1)", "clip: max is called max_val here, got max"),
        ("x.std(correction=0)", "std: correction is called ddof here, got correction"),
        (
            "ex.var(x, unbiased=False)",
            "var: unbiased is ddof=1 here, and its opposite ddof=0, got unbiased",
        ),
        (
            "ex.data.DataLoader([1], num_workers=2)",
            "DataLoader: num_workers is called workers here, got num_workers",
        ),
        (
            "ex.data.DataLoader([1], collate_fn=list)",
            "DataLoader: batches are stacked by the loader, and transform changes them; a dataset "
            "that has batch(indices) makes its own, got collate_fn",
        ),
        (
            "ex.data.DataLoader([1], pin_memory=True)",
            "DataLoader: this library computes on the CPU, so there is no device to choose and no "
            "memory to pin, got pin_memory",
        ),
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
            "ex.nn.ReLU().to(device='cuda')",
            "to: this library computes on the CPU, so there is no device to choose, "
            "got device='cuda'",
        ),
        (
            "ex.nn.ReLU().cuda()",
            "cuda: this library computes on the CPU, so there is no device to choose",
        ),
        (
            "ex.nn.ReLU().cpu()",
            "cpu: write the module itself: this library computes on the CPU, so there is no device "
            "to choose",
        ),
        (
            "ex.set_default_device('cuda')",
            "set_default_device: this library computes on the CPU, so there is no device to choose",
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


@pytest.mark.parametrize("name", names.IN_PLACE)
def test_what_is_written_for_a_change_in_place_is_one(name: str) -> None:
    # Of the bits there are no floats; of the others, what the text calls by name.
    dtype = "int64" if "bitwise" in name else "float32"
    x = ex.tensor([[1, 2], [3, 5]], dtype=dtype)
    given = {
        **dict.fromkeys(["other", "a", "b", "end", "weight"], ex.ones((2, 2), dtype)),
        **dict.fromkeys(["value", "values", "exponent", "min_val", "max_val"], 3),
        **{"index": 0, "indices": ex.zeros((2, 2), "int64"), "axis": 0},
        "mask": np.array([[True, False], [False, False]]),
    }
    if name == "scatter_add_":
        given["values"] = ex.ones((2, 2))
    same = x
    exec(names.IN_PLACE[name], {"ex": ex}, scope := {**given, "x": x})
    assert scope["x"] is same


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
