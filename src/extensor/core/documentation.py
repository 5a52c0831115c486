"""The documentation of ops and rules: what their docstrings say, completed from the registry.

A docstring in the source has a summary, the sentences on the derivative, and examples. It explains
the parameters that are special to its op. Descriptions that a family shares stand in ``SHARED`` of its
module, and those that all families share in ``PARAMETERS`` here. Types, defaults and everything
about a rule follow from the registry. Texts are made when somebody asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from inspect import Parameter, cleandoc, signature
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from extensor.core.kinds import Array, Arrays, Indices, Target

if TYPE_CHECKING:
    from extensor.core.op import Op
    from extensor.core.rule import Rule

PARAMETERS = """
Parameters
----------
x
    The input.
a, b
    The operands. They broadcast against each other.
axis
    The axis. A negative number counts from the last one.
shape
    The shape of the result.
indices
    Positions from 0 to ``n - 1``; a negative one counts from the end.
index
    Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
    tuple of these.
generator
    The source of random numbers, by default ``ex.random.default_generator``.
"""
ARRAYS = {Array: "tensor_like", Arrays: "sequence of tensor_like", Target: "tensor_like"}
ARRAYS[Indices] = "tensor_like"
# Names in annotations that stand for many types.
_NAMED = {
    "Index": type("index", (), {}),
    "DType": type("dtype_like", (), {}),
    "Tensor": type("tensor_like", (), {}),
}
_WEAK = "Python numbers take the dtype of the tensor that they meet."
# The results and the errors of ops whose shape follows from one of the common rules.
_RESULTS = {
    "same": "Tensor\n    The result, in the shape of ``{0}``.",
    "broadcast": "Tensor\n    The result, in the shape to which ``{0}`` and ``{1}`` broadcast.",
    "reduced": "Tensor\n    The result, in the shape of ``x`` without the reduced axes. With "
    "``keepdims`` they stay,\n    with size 1.",
}
_ERRORS = {
    "broadcast": "ValueError\n    If the shapes do not broadcast.",
    "reduced": "ValueError\n    If ``axis`` is out of range or names an axis twice.",
    "reduced_nonempty": "ValueError\n    If ``axis`` is out of range or names an axis twice, or if "
    "a reduced axis has size 0.",
}
_ERRORS["sum"] = _ERRORS["reduced"]
_RESULTS["reduced_nonempty"] = _RESULTS["reduced"]
_DERIVATIVE = re.compile(r"(?:^|(?<=[.;] ))Derivative\b")

Sections = dict[str, str]
Entries = dict[str, tuple[str, str]]  # the type and the description of each parameter


def sections(text: str) -> Sections:
    """A docstring by the titles of its sections; the prose stands under ''."""
    prose, sign, examples = cleandoc(text).partition(">>> ")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", prose, flags=re.MULTILINE)
    found = {"": parts[0].strip()}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        found[title] = body.strip("\n").rstrip()
    if sign:
        found["Examples"] = "\n\n".join(filter(None, [found.get("Examples", ""), sign + examples]))
    return found


def entries(section: str) -> Entries:
    """The entries of a section, by name; ``a, b`` describes both."""
    found: Entries = {}
    for head, body in re.findall(r"^(\S.*)\n((?:[ ]+.*\n?|\n)*)", section + "\n", re.MULTILINE):
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            found[name.strip()] = (kind.strip(), body.rstrip())
    return found


def prose(written: Callable[..., Any]) -> str:
    """The text of a docstring before its sections and examples."""
    return sections(written.__doc__ or "")[""]


def split_derivative(text: str) -> tuple[str, str]:
    """Prose without the sentences on the derivative, and these."""
    general, special = [], []
    for paragraph in text.split("\n\n"):
        match = _DERIVATIVE.search(paragraph.replace("\n", " "))
        start = len(paragraph) if match is None else match.start()
        general.append(paragraph[:start].rstrip())
        special.append(paragraph[start:])
    return "\n\n".join(filter(None, general)), "\n\n".join(filter(None, special))


def type_of(annotation: Any) -> str:
    """An annotation in words, as NumPy's documentation writes types."""
    if annotation in ARRAYS:
        return ARRAYS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "{" + ", ".join(map(repr, arguments)) + "}"
    if origin in (Union, UnionType):
        kinds = dict.fromkeys(type_of(part) for part in arguments if part is not NoneType)
        return " or ".join(kinds)
    if origin is not None:  # a tuple where a list is written is as good, and the reverse
        return f"sequence of {_plural(type_of(arguments[0]))}"
    return str(annotation.__name__)


def _plural(kind: str) -> str:
    return kind if "tensor_like" in kind else re.sub(r"^\w+", r"\g<0>s", kind)


def _annotation(written: Callable[..., Any], name: str) -> Any:
    scope = {**written.__globals__, **_NAMED}
    return eval(written.__annotations__[name], scope)


class _Writer:
    """The text of one op or rule, section by section."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.written = op.parameters.written
        self.own = sections(self.written.__doc__ or "")
        self.shared = sections(self.written.__globals__.get("SHARED", ""))
        tables = (PARAMETERS, self.written.__globals__.get("SHARED", ""))
        self.known: Entries = {}
        for table in tables:
            self.known |= entries(sections(table).get("Parameters", ""))
        self.known |= entries(self.own.get("Parameters", ""))

    def parameter(self, shown: Parameter, source: Callable[..., Any]) -> str:
        """The entry of an input or an attribute."""
        name = shown.name
        kind, text = self.known.get(name, ("", ""))
        if shown.kind is Parameter.VAR_POSITIONAL:
            annotation: Any = Array
        else:
            annotation = _annotation(source, name)
        if name in self.op.inputs:
            kind = f"tensor_like, {kind}" if kind else type_of(_without_none(annotation))
        else:
            kind = kind or type_of(_without_none(annotation))
        star = "*" if shown.kind is Parameter.VAR_POSITIONAL else ""
        return f"{star}{name} : {kind}{_default(shown)}\n{text}".rstrip()

    def text(self, summary: str, parts: Iterable[tuple[str, str]]) -> str:
        shown = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in parts if body.strip()]
        return "\n\n".join([summary, *shown]) + "\n"


def _grouped(parameters: list[str]) -> str:
    """Entries one below the other, neighbours that say the same as one."""
    groups: list[list[str]] = []
    for entry in parameters:
        name, _, rest = entry.partition(" : ")
        if groups and groups[-1][1] == rest:
            groups[-1][0] += f", {name}"
        else:
            groups.append([name, rest])
    return "\n".join(" : ".join(group) for group in groups)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType) and annotation not in ARRAYS:
        rest = [part for part in get_args(annotation) if part is not NoneType]
        return rest[0] if len(rest) == 1 else annotation
    return annotation


def _default(shown: Parameter) -> str:
    if shown.default is Parameter.empty:
        return ""
    return ", optional" if shown.default is None else f", default {shown.default!r}"


def of_op(op: Op) -> str:
    """The documentation of a forward."""
    writer = _Writer(op)
    own, shared = writer.own, writer.shared
    summary, derivative = split_derivative(own[""])
    parameters = []
    for shown in signature(op.function).parameters.values():
        source = op.parameters if shown.name in op.inputs else op.public
        parameters.append(writer.parameter(shown, source.written))
    rule = "" if not op.differentiable else f"{op.name}_backward : Its gradient."
    rule_of_shape = getattr(op.shape, "__name__", "")
    common = _RESULTS.get(rule_of_shape, "").format(*op.inputs)
    returned = own.get("Returns") or shared.get("Returns") or common
    raised = [own.get("Raises") or shared.get("Raises") or _ERRORS.get(rule_of_shape, "")]
    return writer.text(
        summary,
        [
            ("Parameters", _grouped(parameters)),
            ("Returns", returned),
            ("Raises", "\n".join(filter(None, raised))),
            ("See Also", "\n".join(filter(None, [rule, own.get("See Also", "")]))),
            ("Notes", "\n\n".join(filter(None, [derivative, *_notes(op), own.get("Notes", "")]))),
            ("References", own.get("References", "")),
            ("Examples", own.get("Examples", "")),
        ],
    )


def _notes(op: Op) -> list[str]:
    """What holds for all ops that are defined alike."""
    notes = []
    if not op.differentiable:
        notes.append("The result has no gradient.")
    if op.floats:
        notes.append("Integers and booleans are converted to the default dtype first.")
    if sum(kind in (Array, Target) for kind in op.kinds) > 1 and not op.optional:
        notes.append(f"Inputs of different dtypes are promoted to one dtype. {_WEAK}")
    return notes


def of_rule(rule: Rule) -> str:
    """The documentation of a backward. All but its first lines follows from the forward."""
    op, writer = rule.op, _Writer(rule.op)
    own = sections(rule.written.__doc__ or "")
    gradients = " and ".join(f"``{op.inputs[i]}``" for i in rule.differentiable)
    about = (
        f"The backward pass of `{op.name}`: from the gradient of its result to that of {gradients}."
    )
    shown = list(signature(rule.function).parameters.values())
    parameters = [_of_gradient(rule)]
    for parameter, role in zip(shown[1:], rule.roles, strict=True):
        parameters.append(_of_role(writer, rule, parameter, *role))
    examples = writer.own.get("Examples", "")
    return writer.text(
        f"{own['']}\n\n{about}",
        [
            ("Parameters", _grouped(parameters)),
            ("Returns", _returned_by(rule)),
            ("Raises", _raised_by(rule)),
            ("See Also", f"{op.name} : The forward."),
            ("Notes", split_derivative(writer.own[""])[1]),
            ("Examples", examples if f"{rule.name}(" in examples else ""),
        ],
    )


def _of_gradient(rule: Rule) -> str:
    if rule.several:
        return (
            "grad_outputs : sequence of tensor_like\n    Gradients of the results of "
            f"`{rule.op.name}`, one for each, of their shapes."
        )
    of = "the first result" if len(get_args(rule.op.result)) > 1 else "the result"
    return (
        f"grad_output : tensor_like\n    Gradient of {of} of `{rule.op.name}`, of its shape. "
        "Its dtype must be floating."
    )


def _of_role(writer: _Writer, rule: Rule, shown: Parameter, role: str, index: int) -> str:
    """The entry of a parameter of a rule, which its role describes."""
    op, name = rule.op, shown.name
    end = _default(shown)
    if role == "tensor":
        return writer.parameter(shown, writer.written)
    if role == "attribute":
        return writer.parameter(shown, op.public.written)
    named = f"``{op.inputs[index]}``" if role in ("shape", "shapes", "dtype") else ""
    fixed = {
        "shape": ("sequence of ints", f"Shape of {named}."),
        "shapes": ("sequence of sequences of ints", f"Shapes of {named}."),
        "dtype": ("dtype_like", f"Dtype of {named}."),
        "output": ("tensor_like", f"The result of `{op.name}`."),
        "indices": ("tensor_like", f"The second result of `{op.name}`."),
        "kept": ("tensor_like", "Values from the forward. They are computed again if not given."),
        "eps": (
            "float",
            "A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives "
            "plain\n    IEEE results. The tape passes the value that `gradient_eps` sets.",
        ),
    }
    kind, text = fixed[role]
    return f"{name} : {kind}{end}\n    {text}"


def _returned_by(rule: Rule) -> str:
    op = rule.op
    if op.variadic:
        each = f"each of ``{op.inputs[0]}``"
        return f"tuple of Tensor\n    Gradient of {each}, of its shape and dtype."
    if rule.single:
        name = op.inputs[rule.differentiable[0]]
        return f"Tensor\n    Gradient of ``{name}``, of its shape and dtype."
    lines = [f"{rule.result.__name__}", "    Named tuple of the gradients:", ""]
    for index, field in zip(rule.differentiable, rule.fields, strict=True):
        none = ". None if it is not floating" if op.kinds[index] is Target else ""
        lines.append(f"    - ``{field}``, of the shape and dtype of ``{op.inputs[index]}``{none}.")
    return "\n".join(lines)


def _raised_by(rule: Rule) -> str:
    name = "grad_outputs" if rule.several else "grad_output"
    lines = ["TypeError", f"    If ``{name}`` is not floating."]
    roles = {role for role, _ in rule.roles}
    if roles & {"tensor", "shape", "shapes", "output", "indices"}:
        shape = "the shapes of the results" if rule.several else "the shape of the result"
        lines += ["ValueError", f"    If ``{name}`` does not have {shape}."]
    return "\n".join(lines)
