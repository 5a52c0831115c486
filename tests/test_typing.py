"""What a type checker and an editor see: signatures, results, and the mistakes that are refused."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from calls import arrays_of, call, flat, hand_arguments
from op_cases import CASES

import extensor as ex
from extensor.core.op import OPS
from extensor.core.tensor import Tensor
from extensor.errors.expectations import wanted_by
from extensor.errors.torch_names import Elsewhere
from extensor.ops import methods

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "typing"
OPS_FOLDER = Path(inspect.getfile(ex.ops)).parent
Errors = dict[str, set[tuple[int, str]]]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Errors:
    """The line and the code of each error that ``mypy --strict`` finds in the two scripts."""
    pytest.importorskip("mypy", reason="needs mypy (pip install --group check)")
    scripts = [SCRIPTS / "accepted.py", SCRIPTS / "refused.py"]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--follow-imports=silent",
    ]
    command += ["--hide-error-context", "--no-color-output", "--no-error-summary"]
    command += ["--cache-dir", str(tmp_path_factory.mktemp("mypy")), *map(str, scripts)]
    environment = {**os.environ, "MYPYPATH": str(OPS_FOLDER.parents[1])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    found: Errors = {script.name: set() for script in scripts}
    for line in ran.stdout.splitlines():
        match = re.match(r".*?(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", line)
        if match is None:
            assert ": note: " in line, line
        else:
            found[match[1]].add((int(match[2]), match[3]))
    assert ran.stderr == ""
    return found


def test_right_script_is_accepted(errors: Errors) -> None:
    assert errors["accepted.py"] == set()


def test_each_mistake_is_refused_and_nothing_else(errors: Errors) -> None:
    lines = (SCRIPTS / "refused.py").read_text().splitlines()
    marked = {
        (number, match[1])
        for number, line in enumerate(lines, 1)
        if (match := re.search(r"# error: \[([\w-]+)\]$", line))
    }
    assert len(marked) > 50
    assert errors["refused.py"] == marked


@pytest.mark.parametrize(
    "section", _module(SCRIPTS / "accepted.py").SECTIONS, ids=lambda section: section.__name__
)
def test_right_script_runs(section: Callable[[], None]) -> None:
    state = ex.random.get_state()
    section()
    ex.random.set_state(state)


def test_names_for_annotations_are_imported_when_asked_for() -> None:
    code = (
        "import sys, extensor as ex; assert 'extensor.typing' not in sys.modules; "
        "ex.typing.TensorLike | None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", ["__init__.pyi", "attached.pyi"])
def test_stub_is_that_of_the_registry(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    stubs = _module(ROOT / "tools" / "stubs.py").STUBS
    assert (OPS_FOLDER / name).read_text() == stubs[name](), "run tools/exports.py"


def _stub(name: str) -> ast.Module:
    return ast.parse((OPS_FOLDER / name).read_text())


FUNCTIONS = {x.name: x for x in _stub("__init__.pyi").body if isinstance(x, ast.FunctionDef)}
TUPLES = {x.name: x for x in _stub("__init__.pyi").body if isinstance(x, ast.ClassDef)}
ATTACHED = next(x for x in _stub("attached.pyi").body if isinstance(x, ast.ClassDef))
METHODS = {x.name: x for x in ATTACHED.body if isinstance(x, ast.FunctionDef)}
# The functions of the registry, and those that have a second name.
PUBLIC = {name: x for name in ex.ops.__all__ if hasattr(x := getattr(ex, name), "op")}


def _parameters(function: ast.FunctionDef) -> list[tuple[str, Any, Any]]:
    """The name, kind and default of each parameter."""
    given = function.args
    assert given.posonlyargs == given.kwonlyargs == []
    assert given.kwarg is None
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = len(given.args) - len(given.defaults)
    defaults = [inspect.Parameter.empty] * required + [ast.literal_eval(x) for x in given.defaults]
    found = [(x.arg, kind, default) for x, default in zip(given.args, defaults, strict=True)]
    if given.vararg is not None:
        star: Any = inspect.Parameter.VAR_POSITIONAL
        found.append((given.vararg.arg, star, inspect.Parameter.empty))
    return found


def _of_signature(function: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(x.name, x.kind, x.default) for x in parameters]


@pytest.mark.parametrize("name", PUBLIC)
def test_stub_has_the_signature_of_the_function(name: str) -> None:
    assert _parameters(FUNCTIONS[name]) == _of_signature(PUBLIC[name])


@pytest.mark.parametrize("name", PUBLIC)
def test_stub_has_the_documentation_of_the_function(name: str) -> None:
    shown = ast.get_docstring(FUNCTIONS[name])
    assert shown
    assert (inspect.getdoc(PUBLIC[name]) or "").startswith(shown)


def test_stub_has_all_functions_and_no_other() -> None:
    assert FUNCTIONS.keys() == PUBLIC.keys()


@pytest.mark.parametrize("name", [*methods.METHODS, *methods.RENAMED])
def test_stub_has_the_signature_of_the_method(name: str) -> None:
    (self, *_), *others = _parameters(METHODS[name])
    assert self == "self"
    assert others == _of_signature(getattr(Tensor, name))[1:]
    assert ast.get_docstring(METHODS[name])


def _written(kind: type) -> ast.FunctionDef | None:
    """The constructor of a class as its source has it."""
    for base in kind.__mro__:
        if base.__module__.startswith("extensor."):
            source = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
            assert isinstance(source, ast.ClassDef)
            for part in source.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return part
    return None


def _names(function: ast.FunctionDef) -> list[str]:
    given = function.args
    stars = [x.arg for x in (given.vararg, given.kwarg) if x is not None]
    return sorted([*(x.arg for x in [*given.args, *given.kwonlyargs]), *stars])


CALLABLES = {
    f"{module.__name__}.{name}": value
    for module in (ex, ex.nn, ex.nn.init, ex.optim, ex.random, ex.data, ex.train, ex.models)
    for name, value in ((name, getattr(module, name)) for name in dir(module))
    if getattr(value, "__module__", "").startswith("extensor.") and not hasattr(value, "op")
}


@pytest.mark.parametrize(
    "kind",
    [name for name, value in CALLABLES.items() if inspect.isclass(value) and _written(value)],
)
def test_decorated_constructor_shows_the_parameters_of_its_source(kind: str) -> None:
    shown = inspect.signature(CALLABLES[kind]).parameters
    written = _written(CALLABLES[kind])
    assert written is not None
    assert sorted(["self", *shown]) == _names(written)


@pytest.mark.parametrize(
    "name", [name for name, value in CALLABLES.items() if inspect.isfunction(value)]
)
def test_decorated_function_shows_the_parameters_of_its_source(name: str) -> None:
    source = ast.parse(textwrap.dedent(inspect.getsource(CALLABLES[name]))).body[0]
    assert isinstance(source, ast.FunctionDef)
    assert sorted(inspect.signature(CALLABLES[name]).parameters) == _names(source)


def test_errors_know_the_names_of_choices() -> None:
    """Errors read annotations as they are written: a name that they do not know goes unchecked."""
    constructors = [x.__init__ for x in CALLABLES.values() if inspect.isclass(x)]
    rules = [x.rule.written for x in OPS.values() if x.rule is not None]
    functions = [*constructors, *rules, *(x.public.written for x in OPS.values())]
    choices = set()
    for function in map(inspect.unwrap, functions):
        for annotation in getattr(function, "__annotations__", {}).values():
            meant = getattr(function, "__globals__", {}).get(annotation)
            if meant is not None and "Literal[" in str(meant):
                choices.add(annotation)
    assert {"Reduction", "Mode", "Nonlinearity"} < choices
    assert {x for x in choices if wanted_by(x, object()) is None} == set()


def test_every_attribute_of_a_tensor_is_typed() -> None:
    """In the class itself, or in the stub of what the ops attach to it."""
    source = ast.parse(Path(inspect.getfile(Tensor)).read_text())
    own = next(x for x in source.body if isinstance(x, ast.ClassDef) and x.name == "Tensor")
    typed = {x.name for x in own.body if isinstance(x, ast.FunctionDef)} | METHODS.keys()
    present = {
        name
        for name, value in vars(Tensor).items()
        if not (name.startswith("_") or isinstance(value, Elsewhere))
    }
    operators = {name for name in vars(Tensor) if re.match(r"__r?[a-z]+__$", name)}
    inherited = set(dir(object)) | {"__slots__", "__module__", "__weakref__", "__annotations__"}
    inherited |= {"__firstlineno__", "__static_attributes__"}  # of every class from Python 3.13
    assert present - typed == set()
    assert METHODS.keys() - vars(Tensor).keys() == set()
    assert operators - typed - inherited == set()


@pytest.mark.parametrize("name", ["__init__.pyi", "attached.pyi"])
def test_nothing_is_any(name: str) -> None:
    """An attribute's annotation must tell users what they may give."""
    assert "Any" not in {x.id for x in ast.walk(_stub(name)) if isinstance(x, ast.Name)}


@pytest.mark.parametrize("op", OPS.values(), ids=list(OPS))
def test_results_are_as_typed(op: Any, rng: np.random.Generator) -> None:
    """Of every row of the case table: the forward's outputs, and the gradients by hand."""
    for case in (case for case in CASES if case.op == op.name):
        inputs = [_tensors(x) for x in arrays_of(case, rng, "float64")]
        output = call(case, inputs)
        assert _is(output, FUNCTIONS[op.name].returns)
        assert _is(output, ast.parse(_text(inspect.signature(op.function).return_annotation)))
        if op.rule is None:
            continue
        seeds = [ex.ones_like(y) for y in flat(output)]
        arguments = hand_arguments(case, inputs, output)
        result = op.rule.function(seeds if op.rule.several else seeds[0], **arguments)
        assert _is(result, FUNCTIONS[op.rule.name].returns)


def _tensors(x: Any) -> Any:
    return [_tensors(item) for item in x] if isinstance(x, list) else ex.tensor(x)


def _text(annotation: Any) -> str:
    return (
        "Tensor" if annotation is Tensor else str(annotation).replace("extensor.core.tensor.", "")
    )


def _is(value: Any, annotation: Any) -> bool:
    """True if a result is what an annotation of the stub says."""
    text = ast.unparse(annotation)
    if text in TUPLES:
        fields = [x for x in TUPLES[text].body if isinstance(x, ast.AnnAssign)]
        names = tuple(ast.unparse(x.target) for x in fields)
        pairs = zip(value, fields, strict=True)
        return value._fields == names and all(_is(part, x.annotation) for part, x in pairs)
    if text == "tuple[Tensor, ...]":
        return type(value) is tuple and all(isinstance(x, Tensor) for x in value)
    if text.startswith("tuple["):
        return type(value) is tuple and [type(x) for x in value] == [Tensor] * text.count("Tensor")
    return isinstance(value, Tensor) or (value is None and text == "Tensor | None")
