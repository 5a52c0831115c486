"""Every forward formula on arrays that know the Array API standard and nothing beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_strict as xp
import numpy as np
import pytest
import tolerances
from calls import arrays_of, call, flat
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.arrays import dtypes
from extensor.core.op import OPS
from extensor.core.tensor import Tensor

pytestmark = pytest.mark.filterwarnings("ignore:You are comparing a array_api_strict dtype")
_first: dict[str, Case] = {}
for _case in CASES:
    _first.setdefault(_case.op, _case)

# Ops that do not work on them yet, with the reason. A row whose reason is gone fails (xfail_strict).
BEYOND_THE_STANDARD: dict[str, str] = {
    "index_add": "the standard has no way to add at indices that repeat",
    "scatter_add": "the standard has no way to add at indices that repeat",
    "scatter": "the standard has no way to write at an index of several arrays",
    "scatter_reduce": "the standard has no way to add at indices that repeat",
    **dict.fromkeys(
        "margin_ranking_loss hinge_embedding_loss multi_margin_loss multilabel_margin_loss "
        "gaussian_nll_loss".split(),
        "its check calls a method .any() that the standard lacks",
    ),
    "matrix_power": "NumPy's, for the errors that it raises",
    "ctc_loss": "its states are NumPy arrays",
    "diag": "writes at an index of NumPy integers",
    "diag_embed": "writes at an index of NumPy integers",
    "bincount": "counted by NumPy",
    "rrelu": "the slopes are drawn as a NumPy array",
    "getitem": "an index for the first axes only needs a trailing ellipsis, integer lists an array",
    "index_set": "an index for the first axes only needs a trailing ellipsis, integer lists an array",
    "split": "an index for the first axes only needs a trailing ellipsis",
    "dropout": "the mask is drawn as a NumPy array",
    **dict.fromkeys(
        "dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split(),
        "the mask is drawn as a NumPy array",
    ),
    **dict.fromkeys(
        "conv3d conv_transpose3d avg_pool3d max_pool3d lp_pool3d adaptive_avg_pool3d "
        "grid_sample".split(),
        "reshapes arrays by a method, which the standard lacks",
    ),
    **dict.fromkeys(
        "local_response_norm max_pool2d_with_indices max_pool3d_with_indices".split(),
        "an index for the first axes only needs a trailing ellipsis",
    ),
    **dict.fromkeys(
        "max_unpool1d max_unpool2d max_unpool3d".split(),
        "the standard has no way to write at an index of several arrays",
    ),
    "embedding_bag": "the standard has no way to add at indices that repeat",
    "affine_grid": "makes arrays of NumPy's dtype",
    "cast": "the dtype is NumPy's and not the library's own",
    "hinge_loss": "casts to a dtype that is not NumPy's",
    "where": "a bool dtype is compared with NumPy's",
    "masked_fill": "a bool dtype is compared with NumPy's",
    "binary_cross_entropy": "its check calls a method .any() that the standard lacks",
    "nll_loss": "its check calls a method .any() that the standard lacks",
    "cross_entropy": "its check calls a method .any() that the standard lacks",
    "cosine_embedding_loss": "its check calls a method .any() that the standard lacks",
}
ROWS = [
    pytest.param(
        name,
        marks=pytest.mark.xfail(reason=BEYOND_THE_STANDARD[name])
        if name in BEYOND_THE_STANDARD
        else (),
    )
    for name in OPS
]


@pytest.fixture(autouse=True)
def _forget_strict_dtypes() -> Iterator[None]:
    """A strict dtype has the hash of NumPy's, and warns when a cache compares the two."""
    yield
    for function in vars(dtypes).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def _strict(x: Any) -> Any:
    if isinstance(x, list):
        return [_strict(item) for item in x]
    return ex.asarray(xp.asarray(x))


def _as_numpy(x: Tensor) -> np.ndarray:
    assert not isinstance(x._array, np.ndarray), "left the array's own library"
    return np.asarray(x._array)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_formula_is_standard(name: str, dtype: str, rng: np.random.Generator) -> None:
    case = _first[name]
    arrays = arrays_of(case, rng, dtype)
    results = flat(call(case, [_strict(x) for x in arrays]))
    expected = flat(call(case, arrays))
    for result, reference in zip(results, expected, strict=True):
        found = _as_numpy(result)
        assert found.shape == reference.shape
        assert found.dtype == reference.dtype
        tolerances.assert_close(found, reference.numpy(), dtype if found.dtype.kind == "f" else "")


_SCALARS = "a Python number beside an array becomes a NumPy array"
BACKWARD = {
    **dict.fromkeys(
        "add multiply divide exp log softmax sum matmul linear reshape transpose".split()
    ),
    **dict.fromkeys("tanh sigmoid relu mean mse_loss".split(), _SCALARS),
    "max_reduce": "adds up booleans, which the standard does not",
    "concatenate": BEYOND_THE_STANDARD["getitem"],
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=reason) if reason else ())
        for name, reason in BACKWARD.items()
    ],
)
def test_backward(name: str, rng: np.random.Generator) -> None:
    """The rules are written in our own ops, so they run on any array that the formulas run on."""
    arrays = arrays_of(_first[name], rng, "float64")
    found, expected = (_gradients(_first[name], arrays, make) for make in (_strict, _plain))
    assert len(found) == len(expected) > 0
    for gradient, reference in zip(found, expected, strict=True):
        assert gradient.shape == reference.shape
        tolerances.assert_close(_as_numpy(gradient), reference.numpy(), "float64")


def _plain(x: Any) -> Any:
    return [_plain(item) for item in x] if isinstance(x, list) else ex.asarray(x)


def _gradients(case: Case, arrays: list[Any], make: Any) -> list[Tensor]:
    inputs = [make(x) for x in arrays]
    for leaf in flat(inputs):
        leaf.requires_grad = True
    output = call(case, inputs)
    output.backward(make(np.linspace(-1, 1, output.size).reshape(output.shape)))
    return [leaf.grad for leaf in flat(inputs)]


def test_leaves_the_library_for_numpy_only_when_asked() -> None:
    x = ex.asarray(xp.asarray([1.0, 2.0]))
    assert isinstance(x._array, type(xp.asarray(1.0)))
    assert x.shape == (2,)
    assert x.tolist() == [1.0, 2.0]
    assert x.sum().item() == 3.0
    assert isinstance((x * x + x)._array, type(xp.asarray(1.0)))


@pytest.mark.xfail(reason=_SCALARS)
def test_numbers_beside_an_array() -> None:
    x = ex.asarray(xp.asarray([1.0, 2.0]))
    for result in (x + 1, 2.0 * x, x**2):
        assert isinstance(result._array, type(xp.asarray(1.0)))
