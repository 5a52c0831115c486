"""Docstrings answer what a user asks: summary, parameters, results and an example, in NumPy's format."""

from __future__ import annotations

import inspect
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString

import extensor as ex
from extensor.core import documentation
from extensor.core.op import OPS


def _packages(package: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, package
    for attribute in getattr(package, "__all__", ()):
        value = getattr(package, attribute)
        if isinstance(value, types.ModuleType):
            yield from _packages(value, f"{name}.{attribute}")


def _home(value: Any) -> str:
    return str(getattr(value, "__module__", None) or type(value).__module__)


def _public() -> dict[str, Any]:
    """Every public function and class of the library, by its name."""
    found = {}
    for package_name, package in _packages(ex, "extensor"):
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name)
            if _home(value).startswith("extensor."):
                found[f"{package_name}.{name}"] = value
    return found


PUBLIC = _public()
CALLABLE = {name: value for name, value in PUBLIC.items() if callable(value)}


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(kind).items():
        function = getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, inspect.unwrap(function)


METHODS = {
    f"{name}.{method}": value
    for name, kind in CALLABLE.items()
    if inspect.isclass(kind) and name != "extensor.ExTensor"
    for method, value in _methods(kind)
    if not hasattr(value, "op") and _home(value).startswith("extensor.")
}


def _parsed(value: Any) -> NumpyDocString:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an unknown section, or the same one twice
        return NumpyDocString(inspect.getdoc(value) or "")


def _described(parsed: NumpyDocString) -> dict[str, bool]:
    """The parameters of a docstring, and whether each has a text."""
    return {
        name.strip().lstrip("*"): bool("".join(entry.desc).strip())
        for entry in parsed["Parameters"]
        for name in entry.name.split(",")
    }


def _parameters(value: Any) -> list[str]:
    if getattr(value, "_is_protocol", False):
        return []  # nobody creates one
    names = list(inspect.signature(value).parameters)
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize("name", PUBLIC)
def test_summary_is_a_sentence(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text.partition("\n\n")[0].rstrip().endswith(".")


@pytest.mark.parametrize("name", CALLABLE)
def test_every_parameter_is_described(name: str) -> None:
    value = CALLABLE[name]
    if not inspect.isclass(value) or not issubclass(value, BaseException | str):
        assert _described(_parsed(value)) == dict.fromkeys(_parameters(value), True)


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_method_is_described(name: str) -> None:
    assert _described(_parsed(METHODS[name])) == dict.fromkeys(_parameters(METHODS[name]), True)
    assert (inspect.getdoc(METHODS[name]) or "").partition("\n\n")[0].endswith(".")


@pytest.mark.parametrize(
    "name", [name for name, value in CALLABLE.items() if not inspect.isclass(value)]
)
def test_result_is_described(name: str) -> None:
    if inspect.signature(CALLABLE[name]).return_annotation not in (None, "None"):
        assert _parsed(CALLABLE[name])["Returns"]


@pytest.mark.parametrize("name", CALLABLE)
def test_there_is_an_example(name: str) -> None:
    assert ">>> " in "".join(_parsed(CALLABLE[name])["Examples"])


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_example_of_an_op_calls_it(op: Any) -> None:
    examples = documentation.sections(op.parameters.written.__doc__)["Examples"]
    assert f"{op.name}(" in examples
    assert op.rule is None or f"{op.rule.name}(" in examples


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_source_describes_no_other_parameter(op: Any) -> None:
    known = documentation.entries(
        documentation.sections(op.parameters.written.__doc__).get("Parameters", "")
    )
    assert known.keys() <= inspect.signature(op.function).parameters.keys()


def test_types_and_defaults_follow_from_the_signature() -> None:
    parameters = {x.name: x.type for x in _parsed(ex.conv1d_backward)["Parameters"]}
    assert parameters["padding"] == "int or sequence of ints or {'same', 'valid'}, default 0"
    assert _parsed(ex.divide)["Parameters"][0].name == "a, b"
    assert {x.name: x.type for x in _parsed(ex.sum)["Parameters"]} == {
        "x": "tensor_like",
        "axis": "int or sequence of ints, optional",
        "keepdims": "bool, default False",
    }


def test_texts_are_made_when_asked_for() -> None:
    code = (
        "import sys, extensor as ex; assert 'extensor.core.documentation' not in sys.modules; "
        "assert 'Parameters' in ex.relu.__doc__; assert 'Parameters' in ex.relu_backward.__doc__; "
        "assert 'extensor.core.documentation' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_help_shows_all_sections(capsys: pytest.CaptureFixture[str]) -> None:
    help(ex.matmul_backward)
    text = capsys.readouterr().out
    for title in ("matmul_backward(grad_output", "Parameters", "Returns", "Raises", "Examples"):
        assert title in text


def test_rules_work_as_functions_do() -> None:
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(ex.relu_backward)) is ex.relu_backward
    assert copy.deepcopy(ex.relu_backward) is ex.relu_backward
    assert pickle.loads(pickle.dumps(ex.relu)) is ex.relu
    assert copy.deepcopy(ex.relu) is ex.relu
    assert np.array_equal(ex.Tensor.reshape(ex.ones(4), 2, 2), np.ones((2, 2)))
