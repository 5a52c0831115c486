"""How a type checker and an editor see the ops: stubs of the functions and of Tensor's methods.

A formula's annotations speak of arrays, the public function takes whatever can become a tensor; what
a rule returns is a tuple of tensors and functions, its public twin gives a named tuple. So the stubs
are written from the registry. ``tools/exports.py`` puts them in their places.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from exports import exports

from extensor import ops
from extensor.core import kinds
from extensor.core.op import OPS, Op
from extensor.core.rule import Rule
from extensor.core.tensor import Tensor
from extensor.ops import methods

WIDTH = 100
HEADER = '"""{} Written by tools/exports.py from the registry."""'
KINDS = {
    kinds.Array: "TensorLike",
    kinds.Indices: "TensorLike",
    kinds.Target: "TensorLike",
    kinds.Arrays: "Sequence[TensorLike]",
    Tensor: "TensorLike",
}
# Aliases that have a name of their own in a signature; all others are shown as what they stand for.
NAMED = {"DType": type("DTypeLike", (), {}), "Index": type("Index", (), {})}
IMPORTS = {
    "Any": "typing",
    "DTypeLike": "extensor.typing",
    "Index": "extensor.typing",
    "Literal": "typing",
    "NamedTuple": "typing",
    "Self": "typing",
    "Sequence": "collections.abc",
    "Tensor": "extensor.core.tensor",
    "TensorBase": "extensor._native",
    "TensorLike": "extensor.typing",
    "At": "extensor.ops.indexing",
    "overload": "typing",
    "type_check_only": "typing",
}
PROPERTIES = '''\
class Attached(TensorBase):
    @property
    def T(self) -> Tensor:
        """The transpose: all axes in reverse order."""
    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
    @property
    def at(self) -> At:
        """``x.at[index].set(values)`` and ``x.at[index].add(values)`` give a changed copy."""
'''


def public(annotation: Any) -> str:
    """An annotation of a formula or a rule as that of the public function's parameter."""
    if annotation in KINDS:
        return KINDS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return f"Literal[{', '.join(map(quoted, arguments))}]"
    if origin in (Union, UnionType):
        return union(arguments)
    if origin is tuple and ... not in arguments:
        return f"tuple[{', '.join(map(public, arguments))}]"
    if origin is not None:  # a list where a tuple is written is as good, and the reverse
        return f"Sequence[{public(arguments[0])}]"
    if annotation is NoneType:
        return "None"
    name = str(annotation.__name__)
    if annotation.__module__ not in ("builtins", "typing", __name__):
        IMPORTS[name] = annotation.__module__
    return name


def union(parts: Iterable[Any]) -> str:
    """Several types, each once: the values of all literals together, None at the end."""
    parts = list(parts)
    values = [value for part in parts if get_origin(part) is Literal for value in get_args(part)]
    others = [public(part) for part in parts if get_origin(part) is not Literal]
    named = dict.fromkeys([*others, *([public(Literal[*values])] if values else [])])
    return " | ".join(sorted(named, key="None".__eq__))


def quoted(value: Any) -> str:
    """A value as the formatter writes it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def evaluated(function: Any, name: str) -> Any:
    """The annotation of a parameter of the function as it was written."""
    return eval(function.__annotations__[name], {**function.__globals__, **NAMED})


def written(parameter: inspect.Parameter, annotation: str) -> str:
    """A parameter as it stands in a signature."""
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    text = f"{star}{parameter.name}: {annotation}"
    if parameter.default is parameter.empty:
        return text
    if parameter.default is None and not annotation.endswith("None"):
        raise TypeError(f"{parameter.name}: the default None is no {annotation}")
    return f"{text} = {quoted(parameter.default)}"


def of_op(op: Op) -> list[str]:
    """The parameters of a forward. What is an input, the formula's annotations say."""
    found = []
    for parameter in inspect.signature(op.function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            annotation = "TensorLike"
        else:
            source = op.parameters if parameter.name in op.inputs else op.public
            annotation = public(evaluated(source.written, parameter.name))
        found.append(written(parameter, annotation))
    return found


def of_rule(rule: Rule) -> list[str]:
    """The parameters of a backward."""
    parameters = inspect.signature(rule.function).parameters.values()
    return [written(p, public(evaluated(rule.written, p.name))) for p in parameters]


def returned(op: Op) -> str:
    """What a forward gives."""
    result = op.result
    if result is Tensor:
        return "Tensor"
    parts = ["..." if part is ... else "Tensor" for part in get_args(result)]
    return f"tuple[{', '.join(parts)}]"


def returned_by_rule(rule: Rule) -> str:
    """What a backward gives, by hand."""
    if rule.op.variadic:
        return "tuple[Tensor, ...]"
    return "Tensor" if rule.single else str(rule.result.__name__)


def gradients(rule: Rule) -> list[str]:
    """The named tuple of a rule's gradients; a target that selects has none."""
    kinds_of = [rule.op.kinds[i] for i in rule.differentiable]
    lines = ["@type_check_only", f"class {rule.result.__name__}(NamedTuple):"]
    for field, kind in zip(rule.fields, kinds_of, strict=True):
        lines.append(f"    {field}: Tensor{' | None' if kind is kinds.Target else ''}")
    return [*lines, ""]


def documentation(function: Any, indent: str) -> list[str]:
    """A docstring without its examples; of a rule without notes, of a method without the tensor."""
    text = inspect.cleandoc(function.__doc__).partition("\nExamples\n")[0].rstrip()
    if function is not function.op.function:
        text = text.partition("\n\nRaises\n")[0]
    if indent != "    ":
        first = next(iter(inspect.signature(function).parameters))
        text = re.sub(
            rf"^{first} : .*\n(    .*\n|\n(?=    ))*", "", text, count=1, flags=re.MULTILINE
        )
        text = re.sub(r"^Parameters\n-+\n\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"\n\nSee Also\n(.*\n)*", "", text + "\n").rstrip()
    lines = textwrap.indent(text, indent).splitlines()
    lines[0] = f'{indent}"""{lines[0].lstrip()}'
    if len(lines) == 1:
        return [f'{lines[0]}"""']
    return [*lines, f'{indent}"""']


def definition(
    name: str,
    parameters: Iterable[str],
    result: str,
    about: Any = None,
    indent: str = "",
    remark: str = "",
) -> list[str]:
    """A function of a stub in the formatter's layout."""
    parameters = list(parameters)
    end = "" if about else " ..."
    line = f"{indent}def {name}({', '.join(parameters)}) -> {result}:{end}"
    if len(line) <= WIDTH:
        lines = [line + remark]
    else:
        inside = f"{indent}    {', '.join(parameters)}"
        if len(inside) <= WIDTH:
            middle = [inside]
        else:
            middle = [f"{indent}    {parameter}," for parameter in parameters]
        lines = [f"{indent}def {name}({remark}", *middle, f"{indent}) -> {result}:{end}"]
    return [*lines, *(documentation(about, indent + "    ") if about else [])]


def imports(body: str) -> list[str]:
    """The import lines of the names that a stub uses."""
    used: dict[str, list[str]] = {}
    words = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", body, flags=re.DOTALL)))
    for name in sorted(IMPORTS, key=lambda name: (name.lower(), name)):
        if name in words:
            used.setdefault(IMPORTS[name], []).append(name)
    own = sorted(module for module in used if module.startswith("extensor"))
    standard = sorted(used.keys() - own)
    lines = [f"from {module} import {', '.join(used[module])}" for module in standard]
    return [*lines, "", *(f"from {module} import {', '.join(used[module])}" for module in own)]


def function(name: str, public_one: Any) -> list[str]:
    """A forward or a backward under one of its names."""
    op = public_one.op
    if public_one is op.function:
        lines = definition(name, of_op(op), returned(op), public_one)
    else:
        lines = definition(name, of_rule(op.rule), returned_by_rule(op.rule), public_one)
    return [*lines, ""]


def functions() -> str:
    """The stub of ``extensor.ops``: every forward, every backward, and what they return."""
    tuples, lines, utilities = [], [], []
    for name, op in sorted(OPS.items()):
        lines += function(name, op.function)
        if op.rule is not None:
            lines += function(op.rule.name, op.rule.function)
            if not (op.rule.single or op.variadic):
                tuples += gradients(op.rule)
    for family, others in ops.OTHERS.items():
        for name in others:
            other = getattr(family, name)
            if hasattr(other, "op"):
                lines += function(name, other)
            else:
                utilities.append(f"from {family.__name__} import {name} as {name}")
    names = sorted(chain.from_iterable(exports().values()))
    listed = ["__all__ = [", *(f'    "{name}",' for name in names), "]", ""]
    body = "\n".join([*tuples, *lines])
    head = [HEADER.format("The ops and their rules."), "", *imports(body), *utilities, "", *listed]
    return "\n".join([*head, body]).rstrip() + "\n"


def method(name: str, op: Op) -> list[str]:
    """An op as a method: its first input is the tensor."""
    parameters = of_op(op)[1:]
    return definition(name, ["self", *parameters], returned(op), op.function, "    ")


def loose(name: str, op: Op) -> list[str]:
    """A method that takes ints as they are or as one sequence."""
    parameters = of_op(op)[1:]
    first = parameters[0].partition(":")[0]
    together = definition(name, ["self", *parameters], returned(op), op.function, "    ")
    apart = definition(name, ["self", f"*{first}: int"], returned(op), None, "    ")
    return ["    @overload", *together, "    @overload", *apart]


def operators() -> list[str]:
    """The methods behind the symbols, which take one operand by position."""
    lines = []
    two = ["self", "other: TensorLike", "/"]
    for symbol in methods.OPERATORS:
        for spelled in (f"__{symbol}__", f"__r{symbol}__"):
            lines += definition(spelled, two, "Tensor", None, "    ")
    for symbol in methods.OPERATORS:  # these give what they changed
        lines += definition(f"__i{symbol}__", two, "Self", None, "    ")
    for symbol in methods.COMPARISONS:
        remark = "  # type: ignore[override]" if symbol in ("eq", "ne") else ""
        lines += definition(f"__{symbol}__", two, "Tensor", None, "    ", remark)
    for symbol in methods.OTHERS:
        own = ["index: Index"] if symbol == "getitem" else []
        parameters = ["self", *own, "/"]
        lines += definition(f"__{symbol}__", parameters, "Tensor", None, "    ")
    written_to = ["self", "index: Index", "value: TensorLike", "/"]
    return [*lines, *definition("__setitem__", written_to, "None", None, "    ")]


def attached() -> str:
    """The stub of what ``ops/methods.py`` gives to Tensor."""
    lines = PROPERTIES.splitlines()
    named = {name: name for name in methods.METHODS} | methods.RENAMED
    for name, op in sorted(named.items()):
        lines += method(name, OPS[op])
    for name in methods.TAKING_LOOSE_INTS:
        lines += loose(name, OPS[name])
    lines += operators()
    body = "\n".join(lines)
    head = [HEADER.format("The methods that ops attach to Tensor."), "", *imports(body), ""]
    return "\n".join([*head, body]) + "\n"


STUBS = {"__init__.pyi": functions, "attached.pyi": attached}
