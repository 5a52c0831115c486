"""What API.md promises: names, parameters, pairs, rows in the case table, documentation, errors."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import arrays_of, call, flat, hand_arguments
from cases.case import Case
from contract import (
    ALIASES,
    CANNOT_FAIL,
    INIT_NAMES,
    NAMES,
    NN_NAMES,
    NO_GRADIENT,
    RANDOM_NAMES,
    SIGNATURES,
    TENSOR_ATTRIBUTES,
    TENSOR_METHODS,
    TENSOR_OPERATORS,
    TENSOR_OPS,
    TENSOR_PROTOCOLS,
)
from op_cases import CASES, ERRORS

import extensor as ex
from extensor import _native
from extensor.core import door
from extensor.core.op import OPS, Op
from extensor.core.tensor import Tensor

PAIRS = {name: op for name, op in OPS.items() if op.rule is not None}
PROMISED = sorted({*SIGNATURES, *NAMES})
ROOT = Path(__file__).parents[1]


def _written(function: Any) -> list[str]:
    """The parameters as a signature in the contract shows them."""
    result = []
    for parameter in inspect.signature(function).parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        result.append(f"{star}{parameter.name}{default}")
    return result


def _expected(signature: str) -> list[str]:
    return signature.split(", ") if signature else []


@pytest.mark.parametrize("name", PROMISED)
def test_promised_name_exists(name: str) -> None:
    assert hasattr(ex, name)
    assert name == "bfloat16" or name in ex.__all__  # bfloat16 imports ml_dtypes when asked for


@pytest.mark.parametrize("name", RANDOM_NAMES)
def test_random_name_exists(name: str) -> None:
    assert callable(getattr(ex.random, name))


@pytest.mark.parametrize("name", NN_NAMES)
def test_nn_name_exists(name: str) -> None:
    assert isinstance(getattr(ex.nn, name), type)
    assert name in ex.nn.__all__


@pytest.mark.parametrize("name", INIT_NAMES)
def test_init_name_exists(name: str) -> None:
    assert callable(getattr(ex.nn.init, name))


@pytest.mark.parametrize(("name", "signature"), SIGNATURES.items(), ids=lambda x: x)
def test_parameters(name: str, signature: str) -> None:
    found = _written(getattr(ex, name))
    expected = [part.replace("1e-10", repr(1e-10)) for part in _expected(signature)]
    if expected[-1:] == ["..."]:
        expected.pop()
        assert all("=" in extra for extra in found[len(expected) :])
        found = found[: len(expected)]
    assert found == expected


def test_all_names_exist_once() -> None:
    assert [name for name in ex.__all__ if not hasattr(ex, name)] == []
    assert len(ex.__all__) == len(set(ex.__all__))


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_second_name_is_the_op(alias: str, name: str) -> None:
    assert getattr(ex, alias) is getattr(ex, name)
    assert getattr(ex, f"{alias}_backward") is getattr(ex, f"{name}_backward")


def test_nondifferentiable_ops_are_listed() -> None:
    without_rule = {name for name, op in OPS.items() if op.rule is None}
    assert without_rule == ex.NONDIFFERENTIABLE
    assert set(NO_GRADIENT) <= ex.NONDIFFERENTIABLE
    for name in ex.NONDIFFERENTIABLE:
        assert not hasattr(ex, f"{name}_backward")


@pytest.mark.parametrize("name", [n for n in PROMISED if n in OPS and n not in NO_GRADIENT])
def test_promised_op_has_its_pair(name: str) -> None:
    assert name in PAIRS
    assert f"{name}_backward" in ex.__all__


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_op_is_public(op: Op) -> None:
    assert getattr(ex, op.name) is op.function
    if op.rule is not None:
        assert getattr(ex, op.rule.name) is op.rule.function


@pytest.mark.parametrize("name", OPS)
def test_op_has_a_row_in_the_case_table(name: str) -> None:
    assert any(case.op == name for case in CASES)


@pytest.mark.parametrize("name", OPS)
def test_op_has_an_error_text(name: str) -> None:
    rows = [row for row in ERRORS if row.function in (name, f"{name}_backward")]
    assert bool(rows) != (name in CANNOT_FAIL)
    for row in rows:
        assert re.match(rf"{row.function}: [^A-Z]", row.text)


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_documentation(op: Op) -> None:
    prose, mark, _ = (inspect.getdoc(op.function) or "").partition("\n>>> ")
    assert prose.splitlines()[0].endswith((".", ":"))
    assert mark, "has no doctest"
    if op.rule is not None:
        assert "Derivative" in prose
        assert inspect.getdoc(op.rule.function)


@pytest.mark.parametrize("op", PAIRS.values(), ids=list(PAIRS))
def test_parameters_of_a_rule(op: Op) -> None:
    """``grad_output`` first; inputs in forward order, ``output``; attributes in their order."""
    assert op.rule is not None
    first, *names = inspect.signature(op.rule.function).parameters
    assert first == ("grad_outputs" if op.rule.several else "grad_output")
    groups = [_group(op, name) for name in names]
    if groups != sorted(groups):
        # A weight, which is an input, may stand among the attributes, in forward and rule alike.
        assert op.bound != op.parameters.bound
        public = list(inspect.signature(op.function).parameters)
        shared = [name for name in names if name in public]
        assert shared == sorted(shared, key=public.index)
    forward = inspect.signature(op.function).parameters
    for name, parameter in inspect.signature(op.rule.function).parameters.items():
        if name in op.attributes and name in forward:
            assert parameter.default == forward[name].default


def _group(op: Op, name: str) -> tuple[int, int]:
    """Where a rule's parameter belongs: inputs and their shapes, output, attributes, eps."""
    stem = re.sub("_(shape|dtype)$", "", name)
    if stem in op.inputs:
        return 0, op.inputs.index(stem)
    if name in ("input_shape", "input_dtype", "shapes"):
        assert len(op.inputs) == 1
        return 0, 0
    if name in ("output", "indices"):
        return 1, 0
    if name in op.kept:
        return 1, 1
    if name in op.attributes:
        return 2, op.attributes.index(name)
    assert name == "eps"
    return 3, 0


def _rule_case(op: Op) -> Case:
    """A row with all of the op's inputs there."""
    return next(
        case for case in CASES if case.op == op.name and all(g is not None for g in case.inputs)
    )


@pytest.mark.parametrize("op", PAIRS.values(), ids=list(PAIRS))
def test_gradients_are_named(op: Op, rng: np.random.Generator) -> None:
    assert op.rule is not None
    case = _rule_case(op)
    inputs = [_tensors(x) for x in arrays_of(case, rng, "float64")]
    output = call(case, inputs)
    outputs = flat(output)
    seeds = [ex.ones_like(y) for y in outputs]
    arguments = hand_arguments(case, inputs, output)
    result = op.rule.function(seeds if op.rule.several else seeds[0], **arguments)
    differentiable = [op.inputs[i] for i in op.rule.differentiable]
    if op.variadic:
        assert type(result) is tuple
        assert [g.shape for g in result] == [x.shape for x in inputs[0]]
    elif len(differentiable) == 1:
        assert isinstance(result, Tensor)
        assert result.shape == inputs[op.rule.differentiable[0]].shape
    else:
        assert result._fields == tuple(f"grad_{name}" for name in differentiable)
        for position, gradient in zip(op.rule.differentiable, result, strict=True):
            if position < len(inputs) and gradient is not None:
                assert gradient.shape == inputs[position].shape
                assert gradient.dtype == np.float64


def _tensors(x: Any) -> Any:
    return [_tensors(item) for item in x] if isinstance(x, list) else ex.tensor(x)


@pytest.mark.parametrize("op", PAIRS.values(), ids=list(PAIRS))
def test_rule_refuses_an_integer_gradient(op: Op, rng: np.random.Generator) -> None:
    assert op.rule is not None
    case = _rule_case(op)
    inputs = [_tensors(x) for x in arrays_of(case, rng, "float64")]
    output = call(case, inputs)
    whole = [ex.ones_like(y, dtype="int64") for y in flat(output)]
    arguments = hand_arguments(case, inputs, output)
    with pytest.raises(TypeError) as caught:
        op.rule.function(whole if op.rule.several else whole[0], **arguments)
    word = "grad_outputs" if op.rule.several else "grad_output"
    assert str(caught.value) == (
        f"{op.rule.name}: {word} must be floating, got {word}_dtype='int64'"
    )


@pytest.mark.parametrize("op", PAIRS.values(), ids=list(PAIRS))
def test_rule_refuses_a_gradient_of_the_wrong_shape(op: Op, rng: np.random.Generator) -> None:
    """Where the rule can know the shape of the output, nothing that broadcasts to it passes either."""
    assert op.rule is not None
    if op.name in ANY_SHAPE:
        pytest.skip(ANY_SHAPE[op.name])
    case = _rule_case(op)
    inputs = [_tensors(x) for x in arrays_of(case, rng, "float32")]
    output = call(case, inputs)
    arguments = hand_arguments(case, inputs, output)
    shape = flat(output)[0].shape
    wrong = {(*shape, 2)}
    if op.name not in ANY_ONES:
        wrong |= {(1, *shape), (), (1,), (1,) * len(shape), (*shape[:-1], 1)} - {shape}
    for other in sorted(wrong):
        seeds: Any = [ex.ones(other)] * len(flat(output))
        with pytest.raises(ValueError, match=rf"^{op.rule.name}: .*got "):
            op.rule.function(seeds if op.rule.several else seeds[0], **arguments)


_ONLY_GRADIENT = "the rule takes nothing that tells a shape"
_AXES = "any shape with these axes could be an output"
ANY_SHAPE = {
    **dict.fromkeys(
        "flip roll cumsum swapaxes moveaxis transpose tril triu stack split".split(),
        _AXES,
    ),
    **dict.fromkeys(
        "ceil floor round trunc sign negative cast identity clone".split(), _ONLY_GRADIENT
    ),
}
# Their rules are not told which axes of size 1 came or went, or which axes are which.
ANY_ONES = {
    "reshape",
    "squeeze",
    "unsqueeze",
    "permute",
    "broadcast_to",
    "reduce_to_shape",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
}


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_call_without_arguments_names_the_op(op: Op) -> None:
    with pytest.raises(TypeError, match=rf"^{op.name}: missing a required argument: '\w+'$"):
        op.function()
    if op.rule is not None:
        with pytest.raises(
            TypeError, match=rf"^{op.rule.name}: missing a required argument: '\w+'$"
        ):
            op.rule.function()


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_call_with_an_unknown_argument_names_the_op(op: Op) -> None:
    with pytest.raises(TypeError, match=rf"^{op.name}: .*'?nonsense'?"):
        op.function(*[[1.0]] * op.parameters.required, nonsense=1)


def test_every_family_is_imported() -> None:
    families = {op.function.__module__ for op in OPS.values()}
    folder = Path(inspect.getfile(ex.ops)).parent
    defining = {
        f"extensor.ops.{path.stem}" for path in folder.glob("*.py") if "\n@op(" in path.read_text()
    }
    assert families == defining
    public = set(ex.ops.__all__)
    assert public >= {
        name for op in OPS.values() for name in (op.name, op.rule and op.rule.name)
    } - {None}


@pytest.mark.parametrize("name", TENSOR_ATTRIBUTES)
def test_tensor_attribute(name: str) -> None:
    assert hasattr(ex.tensor([[1.0]]), name)


@pytest.mark.parametrize(("name", "signature"), TENSOR_METHODS.items(), ids=lambda x: x)
def test_tensor_method(name: str, signature: str) -> None:
    _, *found = _written(getattr(Tensor, name))
    assert found == _expected(signature)


@pytest.mark.parametrize("name", TENSOR_OPS)
def test_tensor_has_the_op_as_a_method(name: str) -> None:
    assert callable(getattr(Tensor, name))


@pytest.mark.parametrize("name", TENSOR_OPERATORS + TENSOR_PROTOCOLS)
def test_tensor_has_the_operator(name: str) -> None:
    defined = name in vars(Tensor)
    assert defined


def test_a_kernel_that_does_not_exist_fails_when_it_is_named() -> None:
    with pytest.raises(TypeError, match=r"^reluu: there is no kernel of this name$"):
        door.kernel("reluu")


def test_every_kernel_is_used() -> None:
    used = {op.kernel_name for op in OPS.values()}
    used |= {op.rule.kernel_name for op in OPS.values() if op.rule is not None}
    others = {name for name in _native.kernels if name.endswith("_update")}
    others |= {name for name in _native.kernels if name.startswith("random_")}
    assert _native.kernels.keys() - used == others | {"gradient_norm", "masked_scale", "setitem"}
