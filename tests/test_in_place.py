"""Writing into tensors: recorded rightly, done to the memory, or refused by name."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from writing_programs import outcome

import extensor as ex
from extensor import nn

OPERATORS = [
    (operator.iadd, "+", "add"),
    (operator.isub, "-", "subtract"),
    (operator.imul, "*", "multiply"),
    (operator.itruediv, "/", "divide"),
    (operator.ifloordiv, "//", "floor_divide"),
    (operator.imod, "%", "modulo"),
    (operator.ipow, "**", "power"),
]
INDICES: list[Any] = [
    0, -1, slice(1, None), slice(None, None, -2), ..., (..., 0), [0, 2], [0, 0, 2],
    np.array([True, False, True]), (slice(None), 1), (0, 1), None,
]  # fmt: skip


def _leaf(*shape: int) -> ex.Tensor:
    values = np.linspace(0.5, 2.5, int(np.prod(shape))).reshape(shape)
    return ex.tensor(values, requires_grad=True)


def _plain(op: Callable[..., Any]) -> Callable[..., Any]:
    return getattr(operator, op.__name__.removeprefix("i"))


class TestAssignment:
    @pytest.mark.parametrize("index", INDICES, ids=str)
    def test_of_something_recorded(self, index: Any) -> None:
        x, weights = _leaf(3, 2), ex.asarray(np.arange(6.0).reshape(3, 2))
        b = ex.ones((3, 2), dtype="float64")
        b[index] = 3 * x[index]
        (b * weights).sum().backward()
        y = _leaf(3, 2)
        (ex.ones((3, 2), dtype="float64").at[index].set(3 * y[index]) * weights).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())
        assert x.grad.numpy().any()

    def test_to_something_recorded(self) -> None:
        x = _leaf(3)
        y = x * 2
        y[1] = 7.0
        y[x < 1] = 0.0
        assert y.tolist() == [0, 7, 5]
        y.sum().backward()
        assert x.grad.tolist() == [0, 0, 2]

    def test_step_by_step_as_recurrences_do(self) -> None:
        x = _leaf(4)
        states = ex.zeros(4, dtype="float64")
        states[0] = x[0]
        for t in range(1, 4):
            states[t] = states[t - 1] * 0.5 + x[t]
        states.sum().backward()
        assert x.grad.tolist() == [1.875, 1.75, 1.5, 1]

    def test_of_what_was_computed_from_an_earlier_part(self) -> None:
        """The tape holds views of the memory then, which it needs as they were."""
        gradients = []
        for in_place in (True, False):
            x, w = _leaf(5), _leaf(1)
            if in_place:
                states = x * 1
                for t in range(1, 5):
                    states[t] = ex.tanh(w[0] * states[t - 1]) + states[t] * states[t - 1]
            else:
                h = [x[0]]
                for t in range(1, 5):
                    h.append(ex.tanh(w[0] * h[t - 1]) + x[t] * h[t - 1])
                states = ex.stack(h)
            (states * states).sum().backward()
            gradients.append((x.grad.tolist(), w.grad.tolist()))
        np.testing.assert_allclose(gradients[0][0], gradients[1][0], rtol=1e-14)
        np.testing.assert_allclose(gradients[0][1], gradients[1][1], rtol=1e-14)

    def test_of_what_was_computed_from_a_part_somebody_still_sees(self) -> None:
        x, w = _leaf(3), _leaf(1)
        states = x * 1
        first = states[0]
        with pytest.raises(RuntimeError, match="holds the memory of this tensor too"):
            states[1] = w[0] * first
        with pytest.raises(RuntimeError, match="holds the memory of this tensor too"):
            states[1] = w[0] * states[2]
        del first
        states[1] = w[0] * states[2]

    def test_a_list_of_recorded_tensors_is_refused(self) -> None:
        x = _leaf(2)
        b = ex.zeros(2)
        with pytest.raises(TypeError, match=r"require grad must be joined \(ex.stack\)"):
            b[:] = [x[0], x[1]]
        with pytest.raises(TypeError, match=r"^tensor: tensors that require grad must be joined"):
            ex.tensor([x[0], 1.0])
        with ex.no_grad():
            b[:] = [x[0], x[1]]
        assert b.tolist() == x.tolist()

    def test_integers_cannot_take_what_requires_grad(self) -> None:
        with pytest.raises(TypeError) as caught:
            ex.zeros(2, dtype="int64")[0] = _leaf(2)[0]
        assert str(caught.value) == (
            "setitem: a tensor that takes what requires grad must be floating, got dtype='int64'"
        )

    @pytest.mark.parametrize(
        ("index", "value", "kind", "text"),
        [
            (5, 0, IndexError, "setitem: index must be in [-2, 1] for axis 0, got index=5"),
            ([5], 0, IndexError, "setitem: index must be in [-2, 1] for axis 0, got index=5"),
            ("a", 0, IndexError, "setitem: an index must be an int, a slice, None, ... or an array "
             "of ints or bools, got index=str"),
            (slice("a", None), 0, TypeError, "setitem: the parts of a slice must be ints or None, "
             "got slice=slice('a', None, None)"),
            (0, [1, 2], ValueError, "setitem: value must broadcast to shape (), got value_shape=(2,)"),
            (0, 1.5, ValueError, "setitem: value must fit dtype int64 (cast it with astype), "
             "got value_dtype='float32'"),
            (0, float("nan"), ValueError, "setitem: value must fit dtype int64 (cast it with astype), "
             "got value_dtype='float32'"),
        ],
    )  # fmt: skip
    def test_wrong_ones(self, index: Any, value: Any, kind: type[Exception], text: str) -> None:
        x = ex.tensor([1, 2])
        with pytest.raises(kind) as caught:
            x[index] = value
        assert str(caught.value).replace("'str'", "str") == text
        assert x.tolist() == [1, 2]

    def test_numbers_keep_their_digits(self) -> None:
        x = ex.zeros(3, dtype="float64")
        x[0], x[1:] = 0.1, [0.2, 0.3]
        assert x.tolist() == [0.1, 0.2, 0.3]
        x[0] = 10**30
        assert x[0].item() == 1e30
        y = ex.zeros(2, dtype="int64")
        y[0], y[1] = 2**62 + 1, 3.0
        assert y.tolist() == [2**62 + 1, 3]


class TestOperators:
    @pytest.mark.parametrize(("op", "symbol", "name"), OPERATORS)
    def test_change_the_tensor_and_its_views(self, op: Any, symbol: str, name: str) -> None:
        x = ex.tensor([2.0, 3.0])
        same, view, memory = x, x[1:], x.numpy()
        expected = _plain(op)(x, 2.0).tolist()
        x = op(x, 2.0)
        assert x is same
        assert x.numpy() is memory
        assert x.tolist() == expected
        assert view.tolist() == expected[1:]

    @pytest.mark.parametrize(("op", "symbol", "name"), OPERATORS)
    def test_are_recorded(self, op: Any, symbol: str, name: str) -> None:
        gradients = []
        for change in (op, _plain(op)):
            x, y = _leaf(3), _leaf(3)
            h = x * 1.5
            h = change(h, y + 0.25)
            (h * h).sum().backward()
            gradients.append((x.grad.tolist(), y.grad.tolist()))
        assert gradients[0] == gradients[1]

    @pytest.mark.parametrize(("op", "symbol", "name"), OPERATORS)
    def test_a_leaf_is_refused(self, op: Any, symbol: str, name: str) -> None:
        x = _leaf(2)
        before = x.tolist()
        with pytest.raises(RuntimeError) as caught:
            op(x, 2.0)
        assert str(caught.value) == (
            f"{name}: a leaf that requires grad cannot be changed in place while the tape records; do "
            f"it inside no_grad(), or compute a new tensor: x = x {symbol} v"
        )
        assert x.tolist() == before
        with ex.no_grad():
            assert op(x, 2.0) is x
        assert x.is_leaf
        assert x.requires_grad

    def test_a_step_of_descent_changes_the_model(self) -> None:
        model = nn.Linear(2, 1)
        before = [p.tolist() for p in model.parameters()]
        model(ex.ones((4, 2))).sum().backward()
        with ex.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        after = [np.asarray(p) for p in model.parameters()]
        for old, new, p in zip(before, after, model.parameters(), strict=True):
            np.testing.assert_allclose(new, old - 0.1 * p.grad.numpy(), rtol=1e-6)

    def test_every_name_of_a_recorded_tensor_sees_it(self) -> None:
        x = _leaf(2)
        h = x * 2
        names = [h]
        h += 1
        assert names[0] is h
        names[0].sum().backward()
        assert x.grad.tolist() == [2, 2]

    def test_what_was_saved_is_missed(self) -> None:
        x = _leaf(2)
        h = x * 2
        product = h * x
        h += 1
        with pytest.raises(RuntimeError, match="that multiply saved was changed in place"):
            product.sum().backward()

    @pytest.mark.parametrize(
        ("left", "right", "kind", "text"),
        [
            ([1, 2], 1.5, TypeError, "add: the result of += must fit the dtype int64 of the tensor it "
             "changes (x = x + v makes a new one), got result_dtype='float32'"),
            ([1.0], [1.0, 2.0], ValueError, "add: the result of += must have the shape (1,) of the "
             "tensor it changes, got result_shape=(2,)"),
        ],
    )  # fmt: skip
    def test_results_that_do_not_fit(
        self, left: Any, right: Any, kind: type[Exception], text: str
    ) -> None:
        x = ex.tensor(left)
        with pytest.raises(kind) as caught:
            x += ex.tensor(right)
        assert str(caught.value) == text
        assert x.tolist() == left

    def test_the_dtype_stays(self) -> None:
        x = ex.ones(2, dtype="float16")
        x += ex.ones(2, dtype="float64")
        assert x.dtype == np.float16
        h = _leaf(2).astype("float32") * 1
        h += _leaf(2)
        assert h.dtype == np.float32

    def test_matmul_and_bits(self) -> None:
        a = ex.tensor([[1.0, 2.0], [3.0, 4.0]])
        same = a
        a @= ex.tensor([[0.0, 1.0], [1.0, 0.0]])
        assert same.tolist() == [[2, 1], [4, 3]]
        bits = ex.tensor([1, 2, 3])
        kept = bits
        bits &= 2
        bits |= 4
        bits ^= 1
        assert kept.tolist() == [5, 7, 7]

    def test_read_only_memory(self) -> None:
        array = np.ones(2)
        array.flags.writeable = False
        x = ex.asarray(array)
        with pytest.raises(ValueError, match=r"^add: the memory of the tensor is read-only"):
            x += 1
        with pytest.raises(ValueError, match=r"^setitem: the memory of the tensor is read-only"):
            x[0] = 1


SHARED: list[Callable[[ex.Tensor], Any]] = [
    lambda h: h[0:1],
    lambda h: h.reshape(2, 1),
    lambda h: h.detach(),
    lambda h: h.numpy(),
    lambda h: h.identity(),
    lambda h: np.asarray(h)[:1],
]


class TestShared:
    """Memory that somebody else can see changes unrecorded, or not at all."""

    @pytest.mark.parametrize("share", SHARED)
    def test_a_recorded_change_is_refused(self, share: Callable[[ex.Tensor], Any]) -> None:
        x = _leaf(2)
        for make in (lambda: x * 2, lambda: ex.zeros(2, dtype="float64")):
            h = make()
            before = h.tolist()
            other = share(h)
            for change in (lambda h=h: h.__iadd__(x), lambda h=h: h.__setitem__(0, x[0])):
                with pytest.raises(RuntimeError, match="holds the memory of this tensor too"):
                    change()
            assert h.tolist() == before
            del other
            h += x
            assert h.requires_grad

    def test_the_text(self) -> None:
        row = ex.zeros((2, 2))[0:1]
        row += _leaf(2).astype("float32") * 0  # nobody holds the rest any more
        b = ex.zeros((2, 2))
        row = b[0]
        with pytest.raises(RuntimeError) as caught:
            row[...] = _leaf(2)
        assert str(caught.value) == (
            "setitem: a view, another tensor, an array or the tape holds the memory of this tensor "
            "too and would miss the recorded change; compute a new tensor, x.at[i].set(v), or change "
            "a clone()"
        )

    def test_the_array_of_a_tensor_on_the_tape_cannot_be_written_to(self) -> None:
        x = _leaf(2)
        for tensor in (x, x * 2):
            for array in (tensor.numpy(), np.asarray(tensor)):
                assert np.shares_memory(array, tensor._array)
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 1
        x.detach().numpy()[0] = 5
        assert x[0].item() == 5


class TestTensorObject:
    @pytest.mark.parametrize("name", ["_array", "_node", "_requires_grad", "_hooks"])
    def test_nothing_of_it_can_be_deleted(self, name: str) -> None:
        x = _leaf(2)
        with pytest.raises(AttributeError, match=f"^tensor: {name} cannot be deleted$"):
            delattr(x, name)
        assert (x * 2).tolist() == [1, 5]

    def test_a_deleted_gradient_is_none(self) -> None:
        x = _leaf(2)
        x.sum().backward()
        del x.grad
        assert x.grad is None
        x.sum().backward()
        assert x.grad.tolist() == [1, 1]  # type: ignore[attr-defined]


def test_gradients_of_several_threads_add_up() -> None:
    # Large enough for the interpreter's lock to be dropped in the middle of an addition.
    w = ex.ones((128, 128), requires_grad=True)
    x = ex.ones((2, 128))

    def work() -> None:
        for _ in range(100):
            ex.sum(x @ w).backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (w.grad.numpy() == 2 * 800).all()


def test_random_programs_are_right_or_refused() -> None:
    outcomes = [outcome(seed) for seed in range(400)]
    assert set(outcomes) == {"right", "refused"}
    assert outcomes.count("right") > 150


def test_a_constant_that_requires_grad_is_refused() -> None:
    with pytest.raises(TypeError) as caught:
        ex.full((2,), _leaf(1)[0])
    assert str(caught.value) == "full: fill_value must not require grad (ex.broadcast_to keeps it)"


def test_a_cast_has_memory_of_its_own() -> None:
    data = np.full((2, 2), 255.0, np.float32)
    for copy in (lambda x: x.astype("float32"), lambda x: +x, ex.clone):
        h = copy(ex.asarray(data))
        h /= 255
        assert (data == 255).all()


@pytest.mark.parametrize(
    ("gradient", "kind", "text"),
    [
        (np.ones(2), TypeError, "grad: must be a tensor or None, got numpy.ndarray"),
        (3, TypeError, "grad: must be a tensor or None, got int"),
        (ex.ones((3, 2)), ValueError,
         "grad: must have the shape (2,) and dtype float32 of its tensor, got (3, 2) and float32"),
        (ex.ones(2, dtype="float64"), ValueError,
         "grad: must have the shape (2,) and dtype float32 of its tensor, got (2,) and float64"),
    ],
)  # fmt: skip
def test_what_is_no_gradient_of_a_tensor(gradient: Any, kind: type[Exception], text: str) -> None:
    w = ex.ones(2, requires_grad=True)
    with pytest.raises(kind) as caught:
        w.grad = gradient
    assert str(caught.value) == text
    assert w.grad is None
    w.grad = ex.ones(2)
    w.grad = None


def test_functions_that_write_can_be_checked() -> None:
    def f(x: Any) -> Any:
        y = ex.zeros(2, dtype="float64")
        y[0] = x[0] * x[1]
        y[1] = x[1] ** 2
        y += x
        return y

    assert ex.check_gradient(f, [2.0, 3.0]).passed
