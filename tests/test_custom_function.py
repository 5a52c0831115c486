"""Custom ops."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.differentiation.custom_function import Function
from extensor.gradcheck import check_gradient


def leaf(*values: float) -> ex.Tensor:
    return ex.tensor(list(values), dtype=ex.float64, requires_grad=True)


class Scale(Function):
    """x * factor, with an argument that is no tensor and one given by keyword."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float, *, twice: bool = False) -> Any:
        ctx.factor = factor * (2 if twice else 1)
        return x * ctx.factor

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output * ctx.factor, None


class Exp(Function):
    """exp, which saves its output."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        output = ex.exp(x)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (output,) = ctx.saved_tensors
        return grad_output * output


class SinCos(Function):
    """Two floating outputs with an integer one between them; each is the other's derivative."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        sine, cosine = ex.sin(x), ex.cos(x)
        ctx.save_for_backward(sine, cosine)
        return sine, ex.tensor(np.arange(3)), cosine

    @staticmethod
    def backward(ctx: Any, grad_sine: Any, grad_integers: Any, grad_cosine: Any) -> Any:
        assert grad_integers is None
        sine, cosine = ctx.saved_tensors
        return grad_sine * cosine - grad_cosine * sine


class Product(Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        a, b = ctx.saved_tensors
        asked.append(ctx.needs_input_grad)
        return grad_output * b, grad_output * a


asked: list[tuple[bool, ...]] = []


def returning(result: Any) -> type[Function]:
    class Bad(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a * b

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return result

    return Bad


def test_arguments_that_are_no_tensors() -> None:
    x = leaf(1, 2)
    y = Scale.apply(x, 3.0, twice=True)
    assert y.tolist() == [6, 12]
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]
    assert "op=Scale" in repr(y)


def test_gradients_to_second_and_third_order() -> None:
    x = np.array([0.3, -0.7, 1.1])
    assert check_gradient(Exp.apply, x, order=3)
    assert check_gradient(SinCos.apply, x, order=3)
    assert check_gradient(Product.apply, [x, x + 2], order=2)
    assert check_gradient(lambda x: Scale.apply(x, 3.0), x, order=2)


def test_several_outputs_and_those_nobody_used() -> None:
    x = leaf(0.3, 0.7, 1.1)
    sine, integers, cosine = SinCos.apply(x)
    assert not integers.requires_grad
    assert sine.requires_grad
    cosine.sum().backward(retain_graph=True)
    np.testing.assert_allclose(x.grad.numpy(), -np.sin(x.numpy()))
    x.zero_grad()
    (sine * cosine).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(2 * x.numpy()))


def test_needs_input_grad() -> None:
    a, b = leaf(1, 2), ex.tensor([3.0, 4.0], dtype=ex.float64)
    asked.clear()
    Product.apply(a, b).sum().backward()
    c = leaf(5, 6)
    ex.grad(Product.apply(a, c).sum(), c)
    assert asked == [(True, False), (False, True)]
    assert b.grad is None


def test_nothing_inside_forward_is_recorded() -> None:
    class Inside(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            assert not ex.is_grad_enabled()
            assert ctx.needs_input_grad == (True,)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * 5

    x = leaf(1)
    Inside.apply(x).sum().backward()
    assert x.grad.tolist() == [5]


def test_without_grad_nothing_is_kept() -> None:
    x = ex.tensor([1.0, 2.0])
    assert not Exp.apply(x).requires_grad
    with ex.no_grad():
        assert not Exp.apply(leaf(1)).requires_grad


def test_forward_may_return_its_input() -> None:
    class Reverse(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return -grad_output

    x = leaf(1, 2)
    y = Reverse.apply(x)
    assert x.is_leaf
    assert y is not x
    y.sum().backward()
    assert x.grad.tolist() == [-1, -1]


def test_arrays_are_accepted_from_both() -> None:
    class InNumpy(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x.numpy()
            return np.exp(ctx.x)

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output.numpy() * np.exp(ctx.x)

    assert check_gradient(InNumpy.apply, np.array([0.5, 1.0]))
    x = leaf(1)
    with pytest.raises(RuntimeError) as caught:
        ex.grad(InNumpy.apply(x).sum(), x, create_graph=True)
    assert str(caught.value) == (
        "InNumpy: backward must be written in ExTensor ops to be differentiated again, "
        "got gradient 0 as ndarray"
    )


def test_a_gradient_takes_the_dtype_of_its_input() -> None:
    x = ex.tensor([1.0, 2.0], dtype=ex.float16, requires_grad=True)
    y = ex.tensor([1.0, 2.0], dtype=ex.float64, requires_grad=True)
    Product.apply(x, y).sum().backward()
    assert x.grad.dtype == ex.float16
    assert y.grad.dtype == ex.float64


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (
            1.0,
            "Bad: backward must return 2 gradients, one for each argument, got gradients=1",
        ),
        (
            (None,) * 3,
            "Bad: backward must return 2 gradients, one for each argument, got gradients=3",
        ),
        (
            (np.ones(2), np.ones(3)),
            "Bad: backward must return gradient 1 in its input's shape (2,), got shape=(3,)",
        ),
    ],
)
def test_wrong_gradients_are_refused_by_name(result: Any, text: str) -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        returning(result).apply(a, b).sum().backward()
    assert str(caught.value) == text
    assert a.grad is None


def test_other_errors() -> None:
    class NoTensor(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return "text"

    class SavesANumber(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, 3)

    with pytest.raises(TypeError) as caught:
        NoTensor.apply(leaf(1))
    assert str(caught.value) == "NoTensor: forward must return tensors, got output=str"
    with pytest.raises(TypeError) as caught:
        SavesANumber.apply(leaf(1))
    assert str(caught.value) == (
        "save_for_backward: only tensors can be saved, got tensors[1]=int; "
        "set anything else as an attribute of ctx"
    )
    with pytest.raises(TypeError) as caught:
        Scale.apply(leaf(1), 2.0, twice=leaf(1, 2))
    assert str(caught.value) == (
        "Scale: a tensor that requires grad must be a positional argument, got twice=(2,)"
    )


def test_none_is_no_gradient() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    returning((None, np.ones(2))).apply(a, b).sum().backward()
    assert a.grad is None
    assert b.grad.tolist() == [1, 1]


def test_saved_tensors_take_part_in_the_check_for_changes() -> None:
    a, b = leaf(1, 2), ex.tensor([3.0, 4.0], dtype=ex.float64)
    y = Product.apply(a, b).sum()
    b[0] = 9.0
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert "Product_backward: a tensor of shape (2,) that Product saved was changed" in str(
        caught.value
    )


def test_a_saved_tensor_never_becomes_the_memory_of_a_gradient() -> None:
    class First(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return (a * b).sum()

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            a, b = ctx.saved_tensors
            return b, a

    a, b = leaf(1, 2), leaf(3, 4)
    First.apply(a, b).backward()
    assert a.grad.tolist() == [3, 4]
    assert not a.grad.requires_grad
    assert not np.shares_memory(a.grad.numpy(), b.numpy())


def test_saving_an_output_makes_no_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(1, 2)
        y = Exp.apply(x)
        sine, _, cosine = SinCos.apply(leaf(1, 2, 3))
        watched = [weakref.ref(t.numpy()) for t in (y, sine, cosine)]
        del y, sine, cosine
        assert [r() for r in watched] == [None] * 3
        ex.grad(ex.grad(Exp.apply(x).sum(), x, create_graph=True).sum(), x)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_the_graph_is_freed_with_what_it_saved() -> None:
    x = leaf(1, 2)
    y = Exp.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Exp_backward: an earlier backward pass freed"):
        y.sum().backward()
