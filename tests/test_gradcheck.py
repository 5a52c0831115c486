"""The checker is checked: each planted mistake must be found and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core.tensor import wrap
from extensor.differentiation.custom_function import Function
from extensor.gradcheck import GradientError, Mistake, check_gradient

Arrays = tuple[np.ndarray, ...]


def planted(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """``forward(*arrays)`` as an op whose rule is ``backward(grad_output, *arrays, output)``."""

    class Planted(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            output = wrap(np.asarray(forward(*(x.numpy() for x in inputs))))
            ctx.save_for_backward(*inputs, output)
            return output

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            arrays = [x.numpy() for x in ctx.saved_tensors]
            return backward(grad_output.numpy(), *arrays)

    return Planted.apply


def sample(*shape: int, seed: int = 0, low: float = 0.3, high: float = 1.7) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape)


def both_signs(*shape: int) -> np.ndarray:
    x = sample(*shape)
    x.flat[::2] *= -1
    return x


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=1, keepdims=True)


_kept: list[np.ndarray] = []


def _first_ever(x: np.ndarray) -> np.ndarray:
    if not _kept:
        _kept.append(x.copy())
    return _kept[0]


SQUARE = (sample(3, 3),)
TWO_SQUARES = (sample(3, 3), sample(3, 3, seed=1))
ROW = (sample(4, 3), sample(3, seed=1))

# name, forward, wrong backward, inputs, the kind it must be called, words its text must have
WRONG: list[tuple[str, Any, Any, Arrays, Mistake, str]] = [
    ("sign", np.sin, lambda g, x, y: -g * np.cos(x), SQUARE, Mistake.SIGN, "wrong sign"),
    ("factor 2", np.square, lambda g, x, y: 4 * g * x, SQUARE, Mistake.FACTOR, "is 2 times"),
    ("factor 1/2", np.square, lambda g, x, y: g * x, SQUARE, Mistake.FACTOR, "is 1/2 times"),
    (
        "mean without 1/n",
        np.mean,
        lambda g, x, y: np.full(x.shape, g),
        (sample(2, 3),),
        Mistake.FACTOR,
        "is 6 (6 is the number of elements) times",
    ),
    (
        "mean over an axis without 1/n",
        lambda x: x.mean(axis=0),
        lambda g, x, y: np.broadcast_to(g, x.shape),
        (sample(5, 3),),
        Mistake.FACTOR,
        "5 is the size of the input's axis 0",
    ),
    (
        "sum over a broadcast axis as a mean",
        np.add,
        lambda g, a, b, y: (g, g.mean(axis=0)),
        ROW,
        Mistake.FACTOR,
        "1/4 (4 is the size of the output's axis 0)",
    ),
    (
        "matmul, second factor not transposed",
        np.matmul,
        lambda g, a, b, y: (g @ b, a.T @ g),
        TWO_SQUARES,
        Mistake.TRANSPOSED,
        "axis 1 of grad_output and axis 1 of the input",
    ),
    (
        "matmul, the gradient of a transposed matrix",
        np.matmul,
        lambda g, a, b, y: ((g @ b.T).T, a.T @ g),
        TWO_SQUARES,
        Mistake.TRANSPOSED,
        "axis 0 of the input and axis 1 of the input",
    ),
    (
        "matmul, reshaped where it should be transposed",
        np.matmul,
        lambda g, a, b, y: ((b @ g.T).reshape(a.shape), a.T @ g),
        (sample(2, 3), sample(3, 4, seed=1)),
        Mistake.TRANSPOSED,
        "axes 0 and 1 of the input are exchanged",
    ),
    (
        "matmul of a batch without transposition",
        np.matmul,
        lambda g, a, b, y: (g @ b.transpose(0, 2, 1), a @ g),
        (sample(2, 3, 3), sample(2, 3, 3, seed=1)),
        Mistake.TRANSPOSED,
        "axis 1 of grad_output and axis 1 of the input",
    ),
    (
        "gradient of the transpose's shape",
        np.matmul,
        lambda g, a, b, y: ((g @ b.T).T, a.T @ g),
        (sample(2, 3), sample(3, 4, seed=1)),
        Mistake.TRANSPOSED,
        "the shape of the input's transpose",
    ),
    (
        "broadcast shape not summed",
        np.multiply,
        lambda g, a, b, y: (g * b, g * a),
        ROW,
        Mistake.MISSING_SUM,
        "broadcast from (3,) to (4, 3)",
    ),
    (
        "one slice instead of the sum",
        np.add,
        lambda g, a, b, y: (g, g[0]),
        ROW,
        Mistake.MISSING_SUM,
        "slice 0 along axis 0 of grad_output",
    ),
    (
        "swapped inputs",
        np.multiply,
        lambda g, a, b, y: (g * a, g * b),
        TWO_SQUARES,
        Mistake.SWAPPED,
        "this is the gradient of input",
    ),
    ("zero", np.exp, lambda g, x, y: 0 * g, SQUARE, Mistake.ZERO, "zero everywhere"),
    ("None", np.exp, lambda g, x, y: None, SQUARE, Mistake.DETACHED, "not connected"),
    (
        "forgotten term",
        lambda x: x * np.exp(x),
        lambda g, x, y: g * np.exp(x),
        SQUARE,
        Mistake.TERM,
        "what is missing is 1 times the output",
    ),
    (
        "relu with a slope for negatives",
        lambda x: np.maximum(x, 0),
        lambda g, x, y: np.where(x > 0, g, 0.5 * g),
        (both_signs(3, 3),),
        Mistake.PARTIAL,
        "exactly where x < 0",
    ),
    (
        "leaky relu with the sides exchanged",
        lambda x: np.where(x > 0, x, 0.1 * x),
        lambda g, x, y: np.where(x < 0, g, 0.1 * g),
        (both_signs(3, 3),),
        Mistake.PARTIAL,
        "where x < 0 the gradient is 10 times what it should be; where x > 0 the gradient is 1/10",
    ),
    (
        "wrong sign for negatives only",
        np.abs,
        lambda g, x, y: g,
        (both_signs(3, 3),),
        Mistake.PARTIAL,
        "exactly where x < 0: 5 of 9 elements (56%); there: sign flipped",
    ),
    (
        "relu at its kink",
        lambda x: np.maximum(x, 0),
        lambda g, x, y: g * (np.sign(x) + (x == 0) * 2 + 1) / 2,
        (np.array([0.0, 1.0, -1.0, 2.0]),),
        Mistake.KINK,
        "slope 0 on the left and 1 on the right",
    ),
    (
        "epsilon in the denominator of log",
        np.log,
        lambda g, x, y: g / (x + 1e-4),
        SQUARE,
        Mistake.EPSILON,
        "about 0.0001",
    ),
    (
        "epsilon in the denominator of divide",
        np.divide,
        lambda g, a, b, y: (g / b, -g * a / (b + 1e-3) ** 2),
        TWO_SQUARES,
        Mistake.EPSILON,
        "about 0.001",
    ),
    ("offset", np.square, lambda g, x, y: g * (2 * x + 0.25), SQUARE, Mistake.OFFSET, "by 0.25"),
    (
        "spread over the wrong axis",
        lambda x: x.sum(axis=0),
        lambda g, x, y: np.broadcast_to(g[:, None], x.shape),
        SQUARE,
        Mistake.WRONG_AXIS,
        "summed or spread over the wrong one",
    ),
    (
        "summed over the wrong axis",
        np.add,
        lambda g, a, b, y: (g, g.sum(axis=1)),
        (sample(3, 3), sample(3, seed=1)),
        Mistake.WRONG_AXIS,
        "summed or spread over the wrong one",
    ),
    (
        "keepdims forgotten",
        centred,
        lambda g, x, y: g - g.mean(axis=1),
        SQUARE,
        Mistake.WRONG_AXIS,
        "look at keepdims",
    ),
    (
        "NaN",
        np.sqrt,
        lambda g, x, y: g * np.where(x == x.max(), np.nan, 0.5 / y),
        SQUARE,
        Mistake.NAN,
        "the gradient of input 0 is nan at index",
    ),
    (
        "sigmoid with the input for the output",
        sigmoid,
        lambda g, x, y: g * x * (1 - x),
        SQUARE,
        Mistake.CONFUSED,
        "uses the input where the output belongs",
    ),
    (
        "square with the output for the input",
        np.square,
        lambda g, x, y: g * 2 * y,
        SQUARE,
        Mistake.CONFUSED,
        "uses the output where the input belongs",
    ),
    (
        "grad_output not used",
        np.square,
        lambda g, x, y: 2 * x,
        SQUARE,
        Mistake.IGNORED,
        "the same whatever comes in",
    ),
    (
        "grad_output not used by a sum",
        lambda x: np.sum(x * x),
        lambda g, x, y: 2 * x,
        SQUARE,
        Mistake.IGNORED,
        "must be linear",
    ),
    (
        "values of an earlier call",
        np.square,
        lambda g, x, y: g * 2 * _first_ever(x),
        SQUARE,
        Mistake.STALE,
        "earlier call",
    ),
    (
        "axis of size 1 lost",
        np.square,
        lambda g, x, y: (2 * g * x)[:, 0],
        (sample(2, 1),),
        Mistake.SHAPE,
        "look at keepdims",
    ),
    (
        "random garbage",
        np.exp,
        lambda g, x, y: g * np.cos(37 * x) * y,
        SQUARE,
        Mistake.OTHER,
        "no known pattern",
    ),
]


@pytest.mark.parametrize(
    ("forward", "backward", "inputs", "kind", "words"),
    [row[1:] for row in WRONG],
    ids=[row[0] for row in WRONG],
)
def test_a_planted_mistake_is_found_and_named(
    forward: Any, backward: Any, inputs: Arrays, kind: Mistake, words: str
) -> None:
    _kept.clear()
    kinks = kind is not Mistake.KINK
    with pytest.raises(GradientError) as caught:
        check_gradient(planted(forward, backward), list(inputs), kinks=kinks)
    report = caught.value.report
    assert report.kind == kind, report.text
    assert words in report.text
    assert str(caught.value).startswith(f"check_gradient: {kind}: ")
    assert not report


def test_a_rule_wrong_only_in_second_order() -> None:
    class Cube(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x * x.detach()

    assert check_gradient(Cube.apply, sample(2, 3))
    with pytest.raises(GradientError, match="gradients of order 1 are right, those of order 2"):
        check_gradient(Cube.apply, sample(2, 3), order=2)
    report = check_gradient(Cube.apply, sample(2, 3), order=2, raise_on_failure=False)
    assert (report.kind, report.detail, report.order) == (Mistake.SECOND_ORDER, Mistake.FACTOR, 2)
    assert "the gradient is 1/2" in report.text


def test_the_report_says_where_and_by_how_much() -> None:
    x = np.ones((2, 3))
    x[1, 2] = 3
    fn = planted(np.square, lambda g, x, y: np.where(x == 3, 5 * g, 2 * g * x))
    with pytest.raises(GradientError) as caught:
        check_gradient(fn, x)
    report = caught.value.report
    assert (report.input, report.index, report.order) == (0, (1, 2), 1)
    assert report.analytic == 5
    assert report.numeric == pytest.approx(6)
    assert report.relative_error == pytest.approx(1 / 6)
    assert "at index (1, 2): the gradient is 5, finite differences give 6, relative error 0.17" in (
        str(caught.value)
    )


RIGHT: list[tuple[str, Callable[..., Any], Arrays]] = [
    ("add", ex.add, ROW),
    ("multiply", ex.multiply, ROW),
    ("divide", ex.divide, ROW),
    ("power", ex.power, ROW),
    ("exp", ex.exp, SQUARE),
    ("log", ex.log, SQUARE),
    ("log near 0", ex.log, (np.array([1e-3, 1e-6, 5.0]),)),
    ("sqrt", ex.sqrt, SQUARE),
    ("tanh", ex.tanh, SQUARE),
    ("sigmoid", ex.sigmoid, SQUARE),
    ("softmax", ex.softmax, SQUARE),
    ("gelu", ex.gelu, (both_signs(3, 3),)),
    ("abs", ex.abs, (both_signs(3, 3),)),
    ("relu", ex.relu, (both_signs(3, 3),)),
    ("sum", lambda x: x.sum(axis=1), SQUARE),
    ("maximum", ex.maximum, (both_signs(4, 3), np.full(3, 0.1))),
    ("two outputs", lambda a, b: (a * b, (a * a).sum()), TWO_SQUARES),
    ("an output that is no function of the input", lambda a: (a * a, ex.sign(a)), SQUARE),
    ("a constant", lambda a: a.detach() * 0 + a * 0, SQUARE),
    ("large values", lambda x: 1e6 * x * x, SQUARE),
    ("small values", lambda x: 1e-6 * x * x * x, SQUARE),
    ("0-d", ex.exp, (np.array(0.5),)),
    ("empty", ex.exp, (np.zeros((0, 3)),)),
    ("not contiguous", ex.exp, (sample(4, 6)[::2, ::3].T,)),
]


@pytest.mark.parametrize(("fn", "inputs"), [r[1:] for r in RIGHT], ids=[r[0] for r in RIGHT])
def test_a_right_gradient_passes(fn: Any, inputs: Arrays) -> None:
    assert check_gradient(fn, list(inputs), order=2).passed


def test_large_inputs_are_sampled_and_still_checked() -> None:
    x = np.random.default_rng(0).normal(size=(200, 50))
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return x * x

    report = check_gradient(counted, x, max_elements=20, directions=2)
    assert report.passed
    assert len(calls) < 200
    with pytest.raises(GradientError, match="constant factor: the gradient is 2 times"):
        check_gradient(planted(np.square, lambda g, x, y: 4 * g * x), x, max_elements=20)


def test_one_wrong_element_among_many_is_seen_along_directions() -> None:
    x = np.random.default_rng(0).uniform(1, 2, 2000)
    wrong = np.where(np.arange(2000) == 1234, 3.0, 2.0)
    fn = planted(lambda x: np.sum(x * x), lambda g, x, y: wrong * g * x)
    assert not check_gradient(fn, x, max_elements=4, raise_on_failure=False)


def test_outputs_that_are_not_finite_are_refused() -> None:
    with pytest.raises(GradientError, match=r"output 0 is -inf at index \(1,\)"):
        check_gradient(ex.log, [1.0, 0.0])
    with pytest.raises(GradientError, match=r"output 0 is nan at index \(0,\)"):
        check_gradient(ex.log, [-1.0, 2.0])


def test_a_kink_is_refused_with_op_index_and_value() -> None:
    with pytest.raises(GradientError) as caught:
        check_gradient(lambda x: ex.abs(x - 1.0) * 2, [3.0, 1.0002, 5.0])
    assert str(caught.value) == (
        "check_gradient: kink: abs has a kink 0.0002 away at index (1,) of its input, "
        "value 0.0002; move the input by more than 0.001, or pass kinks=False"
    )
    assert caught.value.report.kind is Mistake.KINK


def test_a_kink_of_a_constant_is_no_kink() -> None:
    assert check_gradient(lambda x: x * ex.abs(ex.tensor([0.0, 1.0])), [3.0, 1.0])


def test_without_kinks_any_slope_between_the_two_sides_passes() -> None:
    assert check_gradient(ex.abs, [3.0, 0.0, -1.0], kinks=False)
    assert check_gradient(ex.relu, [3.0, 0.0, -1.0], kinks=False)


def test_random_functions_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(GradientError, match="not deterministic: fn was called twice"):
        check_gradient(lambda x: x * float(rng.uniform()), [1.0, 2.0])


def test_functions_that_change_their_input_are_refused() -> None:
    def change(x: Any) -> Any:
        x.detach().numpy()[0] += 1
        return x * 2

    with pytest.raises(GradientError, match="input changed: fn changed input 0 in place"):
        check_gradient(change, [1.0, 2.0])


def test_a_detached_function_is_named() -> None:
    with pytest.raises(GradientError, match="detached: no output is connected"):
        check_gradient(lambda x: ex.tensor(np.exp(x.numpy())), [1.0, 2.0])
    with pytest.raises(GradientError, match="detached: the output is not connected to this input"):
        check_gradient(lambda a, b: a * b.detach(), [sample(2), sample(2)])


def test_only_inputs_that_require_grad_are_checked_in_float64() -> None:
    a = ex.tensor([1.0, 2.0], requires_grad=True)
    b = ex.tensor([3.0, 4.0])
    seen = []

    def fn(a: Any, b: Any, indices: Any) -> Any:
        seen.append((a.dtype, b.dtype, indices.dtype))
        return a * b.detach() * indices

    assert check_gradient(fn, [a, b, ex.tensor([1, 2])])
    assert seen[0] == (ex.float64, ex.float32, np.dtype(np.int64))
    assert a.grad is None


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        (([1.0],), {"order": 0}, "check_gradient: order must be 1 or more, got order=0"),
        (
            ([1.0],),
            {"eps": 0.0},
            "check_gradient: eps must be greater than 0 and at most 1, got eps=0.0",
        ),
        (
            ([1.0],),
            {"eps": float("inf")},
            "check_gradient: eps must be greater than 0 and at most 1, got eps=inf",
        ),
        (
            ([ex.tensor([1])],),
            {},
            "check_gradient: inputs must have a floating tensor, got inputs=1",
        ),
    ],
)
def test_errors(arguments: Any, options: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        check_gradient(ex.exp, *arguments, **options)
    assert str(caught.value) == text


def test_fn_must_return_tensors() -> None:
    with pytest.raises(TypeError) as caught:
        check_gradient(lambda x: 1.0, [1.0])
    assert str(caught.value) == "check_gradient: fn must return tensors, got output='float'"
