"""The Tensor: construction, attributes, operators, indexing, protocols, and what it refuses."""

from __future__ import annotations

import copy
import gc
import itertools
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from calls import FLOATS, INTEGERS, numpy_dtype

import extensor as ex

DTYPES = [numpy_dtype(name) for name in ["bool", *INTEGERS[:-1], *FLOATS]]
PAIRS = list(itertools.product(DTYPES, DTYPES))


def assert_tensor(found: Any, expected: Any, dtype: Any) -> None:
    assert isinstance(found, ex.Tensor)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), np.asarray(expected, dtype))


class TestConstruction:
    def test_python_numbers(self) -> None:
        assert_tensor(ex.tensor(1.5), 1.5, "float32")
        assert_tensor(ex.tensor([1, 2]), [1, 2], "int64")
        assert_tensor(ex.tensor(True), True, "bool")
        assert_tensor(ex.tensor([[1, 2.5]]), [[1, 2.5]], "float32")
        assert_tensor(ex.tensor([]), [], "float32")

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_arrays_keep_their_dtype(self, dtype: np.dtype) -> None:
        assert_tensor(ex.tensor(np.ones((2, 1), dtype)), np.ones((2, 1)), dtype)
        assert_tensor(ex.tensor(np.ones((), dtype)[()]), 1, dtype)
        assert_tensor(ex.tensor([[0], [1]], dtype=dtype), [[0], [1]], dtype)

    def test_copies(self) -> None:
        array = np.zeros(3)
        for source in (array, array[1:], ex.asarray(array)):
            made = ex.tensor(source)
            assert not np.shares_memory(made.numpy(), array)

    def test_asarray_shares(self) -> None:
        array = np.zeros(3)
        assert ex.asarray(array).numpy() is array
        made = ex.tensor(array)
        assert ex.asarray(made) is made

    def test_lists_of_tensors(self) -> None:
        parts = [ex.tensor([1.0, 2.0], dtype="float64"), ex.tensor([3.0, 4.0], dtype="float64")]
        assert_tensor(ex.tensor(parts), [[1, 2], [3, 4]], "float64")

    def test_a_tensor_of_a_tensor_is_a_leaf(self) -> None:
        x = ex.tensor([1.0], requires_grad=True)
        made = ex.tensor(x * 2)
        assert made.is_leaf
        assert not made.requires_grad

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            (
                [[1], [1, 2]],
                "tensor: data must be numbers, nested lists of equal lengths or an array, "
                "got data='list'",
            ),
            (
                "abc",
                "tensor: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or "
                "float64, got dtype=dtype('<U3')",
            ),
            (
                1 + 2j,
                "tensor: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or "
                "float64, got dtype=dtype('complex128')",
            ),
        ],
    )
    def test_refuses(self, data: Any, text: str) -> None:
        with pytest.raises(TypeError) as caught:
            ex.tensor(data)
        assert str(caught.value) == text

    def test_refuses_gradients_of_integers(self) -> None:
        with pytest.raises(TypeError) as caught:
            ex.tensor([1, 2], requires_grad=True)
        assert str(caught.value) == "requires_grad: dtype must be floating, got dtype='int64'"


class TestAttributes:
    def test_of_the_array(self) -> None:
        x = ex.tensor(np.zeros((2, 3, 4)))
        assert x.shape == (2, 3, 4)
        assert type(x.shape) is tuple
        assert x.dtype == np.float64
        assert (x.ndim, x.size, x.device) == (3, 24, "cpu")
        assert x.T.shape == (4, 3, 2)
        assert x.mT.shape == (2, 4, 3)

    def test_gradient_state(self) -> None:
        x = ex.tensor([1.0])
        assert (x.requires_grad, x.grad, x.is_leaf) == (False, None, True)
        x.requires_grad = True
        y = x * 2
        assert (y.requires_grad, y.grad, y.is_leaf) == (True, None, False)
        with pytest.raises(RuntimeError, match=r"^requires_grad: can only be set on a leaf tensor"):
            y.requires_grad = False
        y.backward()
        assert_tensor(x.grad, [2.0], "float32")
        x.zero_grad()
        assert x.grad is None

    def test_names(self) -> None:
        assert ex.ExTensor is ex.Tensor
        with pytest.raises(AttributeError):
            ex.tensor([1.0]).nonsense  # type: ignore[attr-defined]  # noqa: B018
        with pytest.raises(AttributeError, match="module 'extensor' has no attribute 'nonsense'"):
            ex.nonsense  # type: ignore[attr-defined]  # noqa: B018


class TestMethods:
    def test_numpy_is_the_memory(self) -> None:
        x = ex.tensor([1.0, 2.0])
        x.numpy()[0] = 5
        assert x.tolist() == [5.0, 2.0]

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_item(self, dtype: np.dtype) -> None:
        kind = {"b": bool, "i": int, "u": int}.get(dtype.kind, float)
        for shape in ((), (1,), (1, 1)):
            value = ex.tensor(np.ones(shape, dtype)).item()
            assert type(value) is kind
            assert value == 1

    def test_item_of_several(self) -> None:
        with pytest.raises(ValueError, match="item") as caught:
            ex.tensor([1.0, 2.0]).item()
        assert str(caught.value) == "item: tensor must have exactly one element, got shape=(2,)"

    def test_tolist(self) -> None:
        assert ex.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
        assert ex.tensor(2.5).tolist() == 2.5

    @pytest.mark.parametrize(("source", "to"), PAIRS, ids=str)
    def test_astype(self, source: np.dtype, to: np.dtype) -> None:
        assert_tensor(ex.tensor(np.ones(2, source)).astype(to), [1, 1], to)

    def test_astype_is_differentiable(self) -> None:
        x = ex.tensor([1.0, 2.0], requires_grad=True)
        (x.astype("float64") * 3).sum().backward()
        assert_tensor(x.grad, [3, 3], "float32")

    def test_detach_shares_and_clone_does_not(self) -> None:
        x = ex.tensor([1.0], requires_grad=True)
        detached, cloned = x.detach(), x.clone()
        assert np.shares_memory(detached.numpy(), x.numpy())
        assert not detached.requires_grad
        assert not np.shares_memory(cloned.numpy(), x.numpy())
        cloned.backward()
        assert_tensor(x.grad, [1.0], "float32")

    def test_hooks(self) -> None:
        x = ex.tensor([1.0, 2.0], requires_grad=True)
        remove = x.register_hook(lambda g: g * 10)
        x.sum().backward()
        assert_tensor(x.grad, [10, 10], "float32")
        remove()
        x.zero_grad()
        x.sum().backward()
        assert_tensor(x.grad, [1, 1], "float32")
        with pytest.raises(RuntimeError) as caught:
            ex.tensor([1.0]).register_hook(print)
        assert str(caught.value) == (
            "register_hook: the tensor does not require grad, so it never gets one"
        )

    def test_ops_as_methods(self) -> None:
        x = ex.tensor([[4.0, 1.0], [9.0, 16.0]])
        assert_tensor(x.sum(axis=0), [13, 17], "float32")
        assert_tensor(x.reshape(4), [4, 1, 9, 16], "float32")
        assert_tensor(x.reshape(1, 4), [[4, 1, 9, 16]], "float32")
        assert_tensor(x.reshape((4,)), [4, 1, 9, 16], "float32")
        assert_tensor(x.transpose(1, 0), [[4, 9], [1, 16]], "float32")
        assert_tensor(x.transpose(), [[4, 9], [1, 16]], "float32")
        assert_tensor(x.permute(1, 0), [[4, 9], [1, 16]], "float32")
        assert_tensor(x.sqrt(), [[2, 1], [3, 4]], "float32")
        assert_tensor(x.max(axis=1, keepdims=True), [[4], [16]], "float32")
        assert_tensor(x.clip(2, 10), [[4, 2], [9, 10]], "float32")


ARITHMETIC = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip


class TestOperators:
    @pytest.mark.parametrize("apply", ARITHMETIC, ids=lambda f: f.__name__)
    @pytest.mark.parametrize(
        "other",
        [2, 2.0, np.float32(2), np.array([2, 3], "float32"), np.array(2, "float32"), [2.0, 3.0]],
        ids=repr,
    )
    def test_both_sides(self, apply: Any, other: Any) -> None:
        x = ex.tensor([1.5, 4.0])
        for left, right in ((x, other), (other, x), (x, ex.tensor(other))):
            if isinstance(left, list) and apply in ARITHMETIC[7:]:
                continue  # a list compares itself with what it does not know, and is never asked
            found = apply(left, right)
            expected = apply(np.asarray(left, "float32"), np.asarray(right, "float32"))
            assert isinstance(found, ex.Tensor)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected, rtol=2e-7)

    @pytest.mark.parametrize("apply", ARITHMETIC[:7], ids=lambda f: f.__name__)
    def test_both_sides_are_differentiable(self, apply: Any) -> None:
        for swap in (False, True):
            x = ex.tensor([1.5, 4.0], dtype="float64", requires_grad=True)
            y = np.array([2.25, 0.75])
            found = apply(y, x) if swap else apply(x, y)
            found.sum().backward()
            step = 1e-6
            up, down = (
                apply(y, x.numpy() + s) if swap else apply(x.numpy() + s, y) for s in (step, -step)
            )
            np.testing.assert_allclose(x.grad.numpy(), (up - down) / (2 * step), rtol=1e-6)

    def test_matmul(self) -> None:
        a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
        for left, right in ((ex.tensor(a), b), (a, ex.tensor(b)), (ex.tensor(a), ex.tensor(b))):
            assert_tensor(left @ right, a @ b, "float64")

    @pytest.mark.parametrize(
        "apply", [operator.and_, operator.or_, operator.xor], ids=lambda f: f.__name__
    )
    def test_logic(self, apply: Any) -> None:
        a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
        for left, right in ((ex.tensor(a), b), (a, ex.tensor(b)), (ex.tensor(a), ex.tensor(b))):
            assert_tensor(apply(left, right), apply(a, b), "bool")
        assert_tensor(apply(ex.tensor(a), True), apply(a, True), "bool")
        assert_tensor(apply(True, ex.tensor(a)), apply(True, a), "bool")

    def test_unary(self) -> None:
        assert_tensor(-ex.tensor([1.0, -2.0]), [-1, 2], "float32")
        assert_tensor(abs(ex.tensor([1.0, -2.0])), [1, 2], "float32")
        assert_tensor(~ex.tensor([True, False]), [False, True], "bool")

    def test_array_does_not_take_over(self) -> None:
        """``ndarray op tensor`` is one op on the tape, not an array of tensors."""
        x = ex.tensor([1.0, 2.0], requires_grad=True)
        for result in (np.ones(2, "float32") * x, np.float32(2) * x, np.ones(2, "float32") / x):
            assert isinstance(result, ex.Tensor)
            assert result.requires_grad
        array = np.ones(2)
        with pytest.raises(TypeError):
            array += x

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (operator.add, "add: shapes must broadcast, got a_shape=(2,), b_shape=(3,)"),
            (operator.sub, "subtract: shapes must broadcast, got a_shape=(2,), b_shape=(3,)"),
            (
                operator.matmul,
                "matmul: inner dimensions must agree, got a_shape=(2,), b_shape=(3,)",
            ),
            (operator.lt, "less: shapes must broadcast, got a_shape=(2,), b_shape=(3,)"),
        ],
        ids=lambda value: getattr(value, "__name__", ""),
    )
    def test_errors_name_the_op(self, call: Any, text: str) -> None:
        with pytest.raises(ValueError, match="must") as caught:
            call(ex.tensor([1.0, 2.0]), [1.0, 2.0, 3.0])
        assert str(caught.value) == text


class TestIndexing:
    @pytest.mark.parametrize(
        "index",
        [
            0, -1, slice(None), slice(1, None, 2), slice(None, None, -1), None, ..., (..., 0),
            (slice(None), 1), (0, slice(1, 3)), (None, 0, ..., None), [0, 2, 0], np.array([[0, 1]]),
            np.array([True, False, True]), (np.array([0, 2]), np.array([1, 1])),
            (slice(None), [1, 0]), ([0, 1], slice(None), 2), (), np.zeros((3, 4), bool),
            np.ones((3, 4, 2), bool),
        ],
        ids=repr,
    )  # fmt: skip
    def test_values_and_gradient(self, index: Any) -> None:
        array = np.arange(24.0).reshape(3, 4, 2)
        if isinstance(index, tuple) and len(index) == 3 and index[-1] == 2:
            index = (*index[:2], 1)
        x = ex.tensor(array, requires_grad=True)
        found = x[index]
        expected = array[index]
        assert_tensor(found, expected, "float64")
        weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)
        found.backward(weights)
        wanted = np.zeros_like(array)
        np.add.at(wanted, index, weights)
        assert_tensor(x.grad, wanted, "float64")

    def test_tensors_as_indices(self) -> None:
        x = ex.tensor([1.0, 2.0, 3.0])
        assert_tensor(x[ex.tensor([2, 0])], [3, 1], "float32")
        assert_tensor(x[ex.tensor([True, False, True])], [1, 3], "float32")
        assert_tensor(x[ex.tensor(1)], 2, "float32")

    def test_slices_are_views(self) -> None:
        x = ex.tensor(np.zeros((3, 4)))
        assert np.shares_memory(x[1:, ::2].numpy(), x.numpy())

    @pytest.mark.parametrize(
        ("index", "text"),
        [
            (5, "getitem: index must be in [-2, 1] for axis 0, got index=5"),
            ((0, 0), "getitem: too many indices for 1 axes, got indices=2"),
            ((..., ...), "getitem: an index may have only one ..., got ellipses=2"),
            ([3], "getitem: index must be in [-2, 1] for axis 0, got index=3"),
            (
                1.5,
                "getitem: an index must be an int, a slice, None, ... or an array of ints or bools, "
                "got index='float'",
            ),
            (
                [True],
                "getitem: a boolean index must have the shape (2,) of its axes, got index_shape=(1,)",
            ),
        ],
        ids=repr,
    )
    def test_errors(self, index: Any, text: str) -> None:
        with pytest.raises(IndexError) as caught:
            ex.tensor([1.0, 2.0])[index]
        assert str(caught.value) == text

    def test_functional_updates(self) -> None:
        x = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
        v = ex.tensor([10.0, 20.0], requires_grad=True)
        changed = x.at[[0, 2]].set(v)
        assert_tensor(changed, [10, 2, 20], "float32")
        assert_tensor(x, [1, 2, 3], "float32")
        changed.backward([1.0, 2.0, 3.0])
        assert_tensor(x.grad, [0, 2, 0], "float32")
        assert_tensor(v.grad, [1, 3], "float32")
        x.zero_grad()
        added = x.at[[0, 0]].add(v)
        assert_tensor(added, [31, 2, 3], "float32")
        added.backward([1.0, 2.0, 3.0])
        assert_tensor(x.grad, [1, 2, 3], "float32")

    def test_setitem(self) -> None:
        x = ex.tensor([1.0, 2.0, 3.0])
        x[1:] = 0
        x[0] = ex.tensor(7.0)
        assert_tensor(x, [7, 0, 0], "float32")


class TestProtocols:
    def test_array_without_a_copy(self) -> None:
        x = ex.tensor([1.0, 2.0])
        assert np.asarray(x) is x.numpy()
        assert np.asarray(x, dtype="float64").dtype == np.float64
        assert not np.shares_memory(np.array(x), x.numpy())
        assert np.shares_memory(np.array(x, copy=False), x.numpy())
        with pytest.raises(ValueError, match="copy"):
            np.array(x, dtype="float64", copy=False)

    def test_numpy_functions_take_tensors(self) -> None:
        x = ex.tensor([3.0, 1.0])
        assert np.sort(np.asarray(x)).tolist() == [1, 3]
        np.testing.assert_array_equal(np.concatenate([x, x]), [3, 1, 3, 1])

    def test_dlpack_round_trip(self) -> None:
        x = ex.tensor([1.0, 2.0])
        array = np.from_dlpack(x)
        assert np.shares_memory(array, x.numpy())
        assert x.__dlpack_device__() == array.__dlpack_device__()
        back = ex.from_dlpack(array)
        assert_tensor(back, [1, 2], "float32")
        assert np.shares_memory(back.numpy(), x.numpy())
        assert_tensor(ex.from_dlpack(x), [1, 2], "float32")

    def test_dlpack_errors(self) -> None:
        with pytest.raises(RuntimeError) as caught:
            np.from_dlpack(ex.tensor([1.0], requires_grad=True))
        assert str(caught.value) == (
            "dlpack: a tensor that requires grad cannot be exported; use detach()"
        )
        with pytest.raises(TypeError) as caught_type:
            ex.from_dlpack([1.0])
        assert str(caught_type.value) == "from_dlpack: x must have __dlpack__, got x='list'"

    def test_len_and_iter(self) -> None:
        x = ex.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        assert len(x) == 2
        first, second = x
        assert_tensor(second, [3, 4], "float32")
        first.sum().backward()
        assert_tensor(x.grad, [[1, 1], [0, 0]], "float32")
        assert list(ex.zeros((0, 2))) == []
        scalar = ex.tensor(1.0)
        with pytest.raises(TypeError, match=r"^len: a 0-d tensor has no length$"):
            len(scalar)
        with pytest.raises(TypeError, match=r"^iter: a 0-d tensor cannot be iterated over$"):
            iter(scalar)

    def test_conversions(self) -> None:
        assert bool(ex.tensor([[1.0]])) is True
        assert bool(ex.tensor(0)) is False
        assert float(ex.tensor([1.5])) == 1.5
        assert int(ex.tensor(2.75)) == 2
        assert [10, 20, 30][ex.tensor(1)] == 20
        assert list(range(ex.tensor(np.int8(2)))) == [0, 1]
        assert 2 in ex.tensor([1, 2])
        assert 3 not in ex.tensor([1, 2])
        assert f"{ex.tensor(1.25):.1f}" == "1.2"

    def test_conversion_errors(self) -> None:
        with pytest.raises(ValueError, match="bool") as caught:
            bool(ex.tensor([1.0, 2.0]))
        assert str(caught.value) == (
            "bool: only a tensor of one element is true or false (use any or all), got shape=(2,)"
        )
        for wrong in (ex.tensor(1.0), ex.tensor(True), ex.tensor([1, 2])):
            with pytest.raises(TypeError) as caught_index:
                operator.index(wrong)
            assert str(caught_index.value) == (
                "index: only an integer tensor of one element can be used as an index"
            )
        with pytest.raises(ValueError, match="exactly one element"):
            float(ex.tensor([1.0, 2.0]))

    def test_hash_is_identity(self) -> None:
        x, y = ex.tensor(1.0), ex.tensor(1.0)
        assert len({x: 1, y: 2}) == 2

    @pytest.mark.parametrize(
        ("make", "text"),
        [
            (lambda: ex.tensor([1.0, 2.5]), "tensor([1. , 2.5])"),
            (lambda: ex.tensor([[1], [2]]), "tensor([[1],\n        [2]])"),
            (lambda: ex.tensor(1.0, dtype="float64"), "tensor(1., dtype=float64)"),
            (lambda: ex.tensor(True), "tensor(True)"),
            (lambda: ex.tensor([1], dtype="uint8"), "tensor([1], dtype=uint8)"),
            (lambda: ex.zeros((0,)), "tensor([])"),
            (lambda: ex.zeros((0, 3)), "tensor([], shape=(0, 3))"),
            (lambda: ex.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
            (lambda: ex.tensor([1.0], requires_grad=True) * 2, "tensor([2.], op=multiply)"),
            (lambda: ex.tensor([1.0], requires_grad=True)[0], "tensor(1., op=getitem)"),
            (lambda: ex.tensor([1.0], requires_grad=True).sum(), "tensor(1., op=sum)"),
        ],
    )
    def test_repr(self, make: Any, text: str) -> None:
        assert repr(make()) == text

    @pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy], ids=lambda f: f.__name__)
    def test_copies(self, copier: Any) -> None:
        x = ex.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        copied = copier(x)
        assert_tensor(copied, [1, 2], "float32")
        assert copied.requires_grad
        assert copied.is_leaf
        assert_tensor(copied.grad, [2, 4], "float32")
        assert not np.shares_memory(copied.numpy(), x.numpy())
        assert not np.shares_memory(copied.grad.numpy(), x.grad.numpy())
        with pytest.raises(RuntimeError) as caught:
            copier(x * 2)
        assert str(caught.value) == (
            "copy: only a leaf tensor can be copied; use detach() or clone()"
        )

    def test_deepcopy_keeps_sharing(self) -> None:
        x = ex.tensor([1.0])
        first, second = copy.deepcopy([x, x])
        assert first is second

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_pickle(self, protocol: int, dtype: np.dtype) -> None:
        x = ex.tensor(np.ones((2, 1), dtype))
        assert_tensor(pickle.loads(pickle.dumps(x, protocol)), np.ones((2, 1)), dtype)

    def test_pickle_of_a_result(self) -> None:
        x = ex.tensor([1.0], requires_grad=True)
        assert pickle.loads(pickle.dumps(x)).requires_grad
        assert_tensor(pickle.loads(pickle.dumps((x * 2).detach())), [2.0], "float32")
        with pytest.raises(RuntimeError) as caught:
            pickle.dumps(x * 2)
        assert str(caught.value) == "pickle: only a leaf tensor can be pickled; use detach()"

    def test_no_reference_cycle(self) -> None:
        gc.collect()
        gc.disable()
        try:
            x = ex.tensor([1.0, 2.0], requires_grad=True)
            y = (x.exp() * x + x[0]).sum()
            y.backward()
            del x, y
            assert gc.collect() == 0
        finally:
            gc.enable()


class TestWrongKinds:
    @pytest.mark.parametrize("name", ["add", "matmul", "exp", "sum"])
    def test_none_is_refused(self, name: str) -> None:
        arguments = [None] * (2 if name in ("add", "matmul") else 1)
        with pytest.raises(TypeError, match=rf"^{name}: "):
            getattr(ex, name)(*arguments)

    def test_none_beside_a_tensor_is_refused(self) -> None:
        with pytest.raises(TypeError, match=r"^add: "):
            ex.tensor([1.0]) + None

    @pytest.mark.parametrize("name", ["exp", "sum", "reshape", "concatenate", "matmul"])
    def test_strings_are_refused(self, name: str) -> None:
        arguments = {"reshape": ("a", (1,)), "concatenate": (["a", "b"],), "matmul": ("a", "b")}
        with pytest.raises(TypeError, match=rf"^{name}: "):
            getattr(ex, name)(*arguments.get(name, ("a",)))

    def test_scalar_too_large_for_a_half_is_infinite(self) -> None:
        assert_tensor(ex.tensor([1.0], dtype="float16") + 1e10, [np.inf], "float16")

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("clip", ([1.0], "a", 1.5)),
            ("leaky_relu", ([1.0], None)),
            ("elu", ([1.0], "a")),
            ("add_backward", ([1.0], 1, (1,))),
            ("reshape_backward", ([1.0], "a")),
            ("sum", ([1.0], None, "no")),
            ("masked_fill", ([1.0], [True], None)),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_an_attribute_of_the_wrong_kind_names_the_op(
        self, name: str, arguments: tuple[Any, ...]
    ) -> None:
        with pytest.raises(TypeError, match=rf"^{name}: "):
            getattr(ex, name)(*arguments)


def test_an_index_of_arrays_and_tensors() -> None:
    x = ex.arange(6).reshape(2, 3)
    rows = [np.array([0, 1]), ex.tensor([1, 0])]
    assert x[rows].tolist() == x.numpy()[[np.array([0, 1]), np.array([1, 0])]].tolist()


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_no_integer_is_infinite(value: str) -> None:
    with pytest.raises(ValueError, match=rf"^int: tensor must be finite, got value={value}$"):
        int(ex.tensor(float(value)))
