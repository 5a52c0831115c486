"""PyTorch's samples of arguments for its own tests, through the functions of its names here.

A sample may be refused by an error. What is computed must agree, and so must the gradients.
"""

from __future__ import annotations

import sys
import unittest
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

if "expecttest" not in sys.modules:  # which PyTorch's tests import, and no sample needs
    stub: Any = ModuleType("expecttest")
    stub.TestCase, stub.ACCEPT = unittest.TestCase, False
    sys.modules["expecttest"] = stub
import pytorch_samples as samples  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

PREFIXES = ("fft", "sparse", "special", "signal", "masked", "_", "linalg")
# Drawn by chance or not set, properties, gradients without memory, arguments in another order.
LEFT_OUT = set(
    """
    normal randn randn_like rand_like randint randint_like empty empty_like new_empty multinomial
    bernoulli nn.functional.dropout nn.functional.dropout2d nn.functional.alpha_dropout T H mT einsum
    nn.functional.embedding to uniform sgn cauchy exponential
    nn.functional.rrelu nn.functional.embedding_bag polygamma nn.functional.dropout3d
    nn.functional.feature_alpha_dropout
    geometric log_normal rand nn.functional.scaled_dot_product_attention
    """.split()
)
# Of equal elements another index, and the constant 0 as a result without a gradient.
TIES = {"kthvalue", "mode", "sort", "argsort", "median", "topk"}
# Random indices name an element twice, which no pooling does.
UNPOOLING = {f"nn.functional.max_unpool{n}d" for n in (1, 2, 3)}
# The derivative in log-probabilities; PyTorch adds that of a log-softmax, which comes before.
ALIGNMENT = {"nn.functional.ctc_loss"}
# Of integers, which the layers here take as floats.
INTEGERS = {"nn.functional.bilinear", "nn.functional.local_response_norm"}
CONSTANT = {"norm", "cdist"}
SAMPLES = 25


def _infos() -> list[Any]:
    return [
        info
        for info in op_db
        if not info.name.startswith(PREFIXES)
        and info.name not in LEFT_OUT
        and samples.function(info.name) is not None
    ]


def _identity(info: Any) -> str:
    return ".".join(filter(None, (info.name, info.variant_test_name)))


def _cases(info: Any) -> list[tuple[Any, bool]]:
    gradients = [(torch.float64, True)] if info.supports_autograd else []
    return [*((dtype, False) for dtype in samples.DTYPES), *gradients]


@pytest.mark.parametrize("info", _infos(), ids=_identity)
def test_samples_agree(info: Any) -> None:
    for dtype, gradients in _cases(info):
        for sample in samples.samples(info, dtype, gradients)[:SAMPLES]:
            found = samples.compare(info, info.name, sample, gradients)
            if found.startswith("refused"):
                continue
            if found == "values" and info.name in TIES:
                continue
            if found == "gradient: values" and info.name in UNPOOLING | ALIGNMENT:
                continue
            if found.startswith("dtype float32") and info.name in INTEGERS:
                continue
            if found == "not recorded" and info.name in CONSTANT:
                continue
            assert not found, (found, dtype, sample)


def test_few_functions_refuse_all_their_samples() -> None:
    """Otherwise a mistake in a function would look like a refusal."""
    silent = set()
    for info in _infos():
        given = samples.samples(info, torch.float64, False)[:6]
        found = [samples.compare(info, info.name, sample, False) for sample in given]
        if found and all(text.startswith("refused") for text in found):
            silent.add(info.name)
    assert silent <= {"nn.functional.ctc_loss", "norm"}
