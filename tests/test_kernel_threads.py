"""The number of threads changes no bit of any kernel, at sizes that are cut into several tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from calls import first_floating
from cases.dropout import Repeating
from kernels import KERNELS, STRUCTURED, Elementwise, operands_of, results_of

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

THREADS = (1, 2, 3, 4, 8)


def _assert_same_for_any_threads(
    threads: Callable[[int], None], compute: Callable[[], Any]
) -> None:
    threads(1)
    expected = [x.tobytes() for x in results_of(compute())]
    for count in THREADS[1:]:
        threads(count)
        assert [x.tobytes() for x in results_of(compute())] == expected


@pytest.mark.parametrize("target", KERNELS, ids=repr)
def test_elementwise_kernels(target: Elementwise, threads: Any, rng: np.random.Generator) -> None:
    arrays = operands_of(target, rng, np.dtype("float32"), 300_001)
    _assert_same_for_any_threads(threads, lambda: target.kernel(arrays))


WORDS = np.random.default_rng(0).integers(-900, 900, 20_000)
FLAGS = np.random.default_rng(0).random((1000, 301)) > 0.5
PAIR_LOSSES = (
    "mse_loss l1_loss smooth_l1_loss huber_loss hinge_loss kl_div binary_cross_entropy "
    "binary_cross_entropy_with_logits"
).split()
NORMALIZED = {"x": (300, 301), "weight": (301,), "bias": (301,)}
IMAGES = {"x": (8, 12, 41, 31), "weight": (12,), "bias": (12,)}
SAMPLES = {"x": (900, 300), "weight": (300,), "bias": (300,)}
TRAINING = {"running_mean": None, "running_var": None, "training": True}
# The inputs of each, as shapes or as indices, and the attributes; both by name where inputs are left out.
LARGE: dict[str, list[tuple[Any, Any]]] = {
    "sum": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)] + [(((300_001,),), (None, False))],
    "mean": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "max_reduce": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "min_reduce": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "prod": [(((1000, 301),), (axis, False)) for axis in (None, 0, 1)],
    "var": [(((1000, 301),), (axis, False, 1)) for axis in (None, 0, 1)] + [(((40, 25, 301),), ((0, 2),))],
    "std": [(((1000, 301),), (axis, False, 1)) for axis in (None, 0, 1)] + [(((40, 25, 301),), ((0, 2),))],
    "norm": [(((1000, 301),), (ord, axis)) for ord in (1, 2, np.inf) for axis in (None, 0, 1)],
    "argmax": [(((1000, 301),), (axis,)) for axis in (None, 1)],
    "argmin": [(((1000, 301),), (axis,)) for axis in (None, 1)],
    "softmax": [(((1000, 301),), (axis,)) for axis in (0, 1)],
    "log_softmax": [(((1000, 301),), (axis,)) for axis in (0, 1)],
    "logsumexp": [(((1000, 301),), (axis, False)) for axis in (1, None)],
    "any": [((FLAGS,), (axis, False)) for axis in (None, 0, 1)],
    "all": [((FLAGS,), (axis, False)) for axis in (None, 0, 1)],
    "count_nonzero": [((FLAGS,), (axis, False)) for axis in (None, 0, 1)],
    "argsort": [(((1000, 301),), (-1, descending)) for descending in (False, True)],
    "topk": [(((1000, 301),), (9, 1))],
    "cumsum": [(((1000, 301),), (axis,)) for axis in (0, 1)] + [(((40, 90, 301),), (1,))],
    "reduce_to_shape": [(((40, 50, 151),), (shape,)) for shape in ((151,), (50, 1), (40, 1, 151), ())],
    "getitem": [(((900, 64),), (WORDS,))],
    "place": [(((20_000, 64),), ((900, 64), WORDS))],
    "take": [(((900, 64), WORDS), (0,)), (((40, 900, 3), WORDS), (1,))],
    "index_select": [(((900, 64), WORDS), (0,))],
    "embedding": [((WORDS % 900, (900, 64)), ())],
    "gather": [(((20_000, 30), WORDS[:, None] % 30), (1,))],
    "index_add": [(((900, 64), (20_000, 64)), (WORDS,)), (((900, 640), (450, 640)), (slice(0, None, 2),))],
    "index_set": [(((900, 640), (450, 640)), (slice(0, None, 2),))],
    "scatter_add": [(((20_000, 30), WORDS[:, None] % 30, (20_000, 1)), (1,))],
    **{key: [(((1000, 301), (1000, 301)), (how,)) for how in ("mean", "none")] for key in PAIR_LOSSES},
    "matmul": [(((500, 301), (301, 403)), ()), (((7, 100, 130), (130, 90)), ()), (((900, 800), (800,)), ())],
    "einsum": [
        (((400, 301), (203, 301)), ("ij,kj->ik",)),
        (((8, 60, 4, 33), (8, 70, 4, 33)), ("bihd,bjhd->bhij",)),
        (((9, 301), (9, 403)), ("bi,bj->bij",)),
    ],
    "linear": [(((400, 301), (203, 301), (203,)), ())],
    "rnn": [
        (((40, n, 33), (n, 50), (50, 33), (50, 50), (50,), (50,)), (act,))
        for n, act in ((17, "tanh"), (40, "relu"))
    ],
    "rnn_cell": [(((900, 33), (900, 50), (50, 33), (50, 50), (50,), (50,)), ("tanh",))],
    "gru_cell": [(((300, 33), (300, 50), (150, 33), (150, 50), (150,), (150,)), ())],
    "lstm_cell": [(((300, 33), (300, 50), (300, 50), (200, 33), (200, 50), (200,), (200,)), ())],
    "lstm": [
        (((9, n, 33), (n, 50), (n, 50), (200, 33), (200, 50), (200,), (200,)), ()) for n in (17, 40)
    ],
    "gru": [(((9, n, 33), (n, 50), (150, 33), (150, 50), (150,), (150,)), ()) for n in (17, 40)],
    "scaled_dot_product_attention": [(((3, 2, 150, 9), (3, 2, 90, 9), (3, 2, 90, 17)), ())],
    "conv2d": [
        (((9, 16, 20, 21), (40, 16, 3, 3), (40,)), (1, 1)),
        (((8, 48, 30, 30), (48, 1, 3, 3), (48,)), (1, 1, 1, 48)),
        (((8, 1, 90, 90), (4, 1, 3, 3)), ()),
    ],
    "conv2d_grad_x": [(((9, 40, 10, 11), (40, 16, 3, 3)), ((20, 21), 2, 1))],
    "conv2d_grad_weight": [(((9, 40, 20, 21), (9, 16, 20, 21)), (3, 1, 1))],
    "conv1d": [(((9, 16, 400), (40, 16, 3), (40,)), (1, 1))],
    "conv_transpose2d": [(((9, 40, 10, 11), (40, 16, 3, 3), (16,)), (2, 1))],
    "conv_transpose1d": [(((9, 40, 200), (40, 16, 3), (16,)), (2, 1))],
    "cross_entropy": [
        (((1000, 301),), (np.arange(1000) % 301, *how))
        for how in (("mean",), ("none",), ("mean", np.linspace(0, 1, 301, dtype="float32"), 0.1))
    ],
    "nll_loss": [
        (((40_000, 9),), (np.arange(40_000) % 9, *how))
        for how in (("mean",), ("none",), ("sum", np.linspace(0, 1, 9, dtype="float32")))
    ],
    "prelu": [(((40, 50, 151), (50,)), ()), *((((1000, 301), (n,)), ()) for n in (1, 301))],
    "glu": [(((1000, 302),), (axis,)) for axis in (0, 1)] + [(((300_002,),), ())],
    "layer_norm": [(NORMALIZED, {"normalized_shape": 301})],
    "rms_norm": [({"x": (300, 301), "weight": (301,)}, {"normalized_shape": 301})],
    "group_norm": [(x, {"num_groups": groups}) for x in (IMAGES, SAMPLES) for groups in (1, 4)],
    "instance_norm": [(IMAGES, {})],
    "batch_norm": [(x, TRAINING) for x in (IMAGES, SAMPLES)],
    "dropout": [(((1000, 301),), (0.5, True, Repeating(1)))],
    "dropout1d": [(((40, 50, 81),), (0.5, True, Repeating(1)))],
    "dropout2d": [(((40, 50, 9, 9),), (0.5, True, Repeating(1)))],
    "dropout3d": [(((40, 50, 3, 3, 9),), (0.5, True, Repeating(1)))],
    "broadcast_to": [(((1, 301),), ((1000, 301),))],
    "reshape": [(((1000, 301),), ((301_000,),))],
    "concatenate": [(((300, 201), (300, 301)), (1,)), (((1000, 301), (99, 301)), ())],
    "stack": [(((1000, 301), (1000, 301)), (axis,)) for axis in (0, 2)],
    "transpose": [(((1000, 301),), ())],
    "permute": [(((1000, 301),), ((1, 0),))],
    "swapaxes": [(((1000, 301),), (0, 1))],
    "moveaxis": [(((1000, 301),), (0, -1))],
    "flip": [(((1000, 301),), (0,))],
    "ravel": [(((1000, 301),), ())],
    "flatten": [(((100, 30, 101),), (1,))],
    "squeeze": [(((1000, 1, 301),), ())],
    "unsqueeze": [(((1000, 301),), (1,))],
    "split": [(((1000, 302),), (2, 1))],
    "max_pool2d": [(((8, 30, 41, 31),), how) for how in ((2,), (3, 2, 1), ((2, 3), 1, (1, 0), 2, True))],
    "max_pool1d": [(((20, 30, 501),), how) for how in ((2,), (3, 2, 1))],
    "avg_pool2d": [(((8, 30, 41, 31),), how) for how in ((2,), (3, 2, 1), ((2, 3), 1, 0, True, False))],
    "avg_pool1d": [(((20, 30, 501),), how) for how in ((2,), (3, 2, 1))],
    "adaptive_avg_pool2d": [(((8, 30, 41, 31),), (size,)) for size in (1, 7, (None, 1))],
    "adaptive_avg_pool1d": [(((20, 30, 501),), (size,)) for size in (1, 7)],
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in STRUCTURED if OPS[n].kernel is not None])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_structured_kernels(name: str, dtype: str, threads: Any, rng: np.random.Generator) -> None:
    """The op and, where it has one, its rule; the rule by way of the tape."""
    op = OPS[name]
    assert name in LARGE, "give this kernel a size that is cut into several tasks"
    for inputs, attributes in LARGE[name]:
        low = 0 if name in ("binary_cross_entropy", "kl_div") else -1
        shapes = inputs.values() if isinstance(inputs, dict) else inputs
        arrays = [
            rng.uniform(low, 1, x).astype(dtype) if isinstance(x, tuple) else x for x in shapes
        ]

        def compute(
            arrays: Any = arrays, inputs: Any = inputs, attributes: Any = attributes
        ) -> Any:
            leaves = [ex.tensor(x, requires_grad=x.dtype.kind == "f") for x in arrays]
            if isinstance(inputs, dict):
                result = op.function(**dict(zip(inputs, leaves, strict=True)), **attributes)
            elif op.variadic:
                # The public function may take its arguments in another order.
                result = op._dispatchers[-1](leaves, *attributes)
            else:
                result = op.function(*leaves, *attributes)
            outputs = first_floating(result, op.rule)
            if op.rule is None:
                return tuple(x.numpy() for x in outputs)
            seeds = [np.linspace(-1, 1, x.size).reshape(x.shape).astype(dtype) for x in outputs]
            ex.backward(outputs, seeds)
            gradients = [x.grad.numpy() for x in leaves if x.requires_grad]
            return (*(x.numpy() for x in outputs), *gradients)

        _assert_same_for_any_threads(threads, compute)
