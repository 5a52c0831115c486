"""Write docs/reference/gradients.md, the catalogue of every backward pass, from the registry.

Run it after adding an op, a kernel or a sentence about a derivative.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import extensor
from extensor import _native
from extensor.core.documentation import prose
from extensor.core.op import OPS, Op
from extensor.core.rule import Rule

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "gradients.md"

HEADER = """\
# Every backward pass

<!-- Written by tools/catalogue.py from the registry: change the docstrings, not this file. -->

An op is a pair: the forward `f` and its public `f_backward`, which is also what the tape calls.
Every row below is made from the two functions themselves.

- **derivative**: what multiplies the gradient that comes in, or what becomes of `grad_output` where
  the text names it. Where inputs broadcast, each gradient is summed to its input's shape.
- **at special points**: kinks, ties, singular points. Where `grad_output` is 0 an elementwise rule
  gives 0, even if the derivative is infinite there. A denominator with a magnitude below `eps` is
  raised to it, and all others stay as they are; `eps=0` gives plain IEEE results. See
  [ADR 5](../adr/0005-zero-in-zero-out.md).
- **the tape keeps**: what a recorded call holds until its backward pass, besides its attributes.
- **kernel**: whether a native kernel computes the forward, the backward, or both. Without one, and
  for what a kernel declines, the formula does.

The gradients of an op with several inputs come as a named tuple: `grad_a`, `grad_b` and so on.
"""

# What is said of single points, not of the derivative in general.
POINTS = re.compile(
    r"(?<!\w)(at (-?\d|-?inf|both|the (origin|bounds))|infinite|NaN|-inf|lift(s|ed)|ties?|shared?"
    r"|zeros?|bounds included|exactly 0|0 at|the latter at|equal elements|(up|down)wards)\b"
)
# The same for an op that says it has kinks; of others these may be a whole region.
POINTS_OF_KINKS = re.compile(POINTS.pattern + r"|^0 (where|for)\b")
TIES = re.compile(r"\b(equal elements|tie)\b")
CODE = re.compile(r"``.*?``|\([^()]*\)")
REMARK = re.compile(r" \(([^()`]*)\)")


def sentences(text: str) -> list[str]:
    """The sentences of a text, without their full stops."""
    found = re.split(r"(?<=\.)\s+(?=[A-Z`0-9-])", re.sub(r"\s+", " ", text).strip())
    return [sentence.removesuffix(".") for sentence in found if sentence]


def clauses(sentence: str) -> list[tuple[str, str]]:
    """The parts of a sentence between commas and semicolons, each with the one before it."""
    hidden = CODE.sub(lambda match: "_" * len(match.group()), sentence)
    parts, start, separator = [], 0, ""
    for match in re.finditer(r"[,;] (?!and so\b)", hidden):
        parts.append((separator, sentence[start : match.start()]))
        separator, start = match.group(), match.end()
    return [*parts, (separator, sentence[start:])]


def divided(sentence: str, points: re.Pattern[str]) -> tuple[str, list[str]]:
    """A sentence without what it says of single points, and that."""
    special = [text for text in REMARK.findall(sentence) if points.search(text)]
    for text in special:
        sentence = sentence.replace(f" ({text})", "")
    general = ""
    for separator, text in clauses(sentence):
        if general and points.search(CODE.sub("", text)):
            special.append(text.removeprefix("and "))
        else:
            general += separator + text
    return general, special


def derivative(op: Op) -> tuple[str, str]:
    """The derivative of an op and its values at special points, from the docstring."""
    points = POINTS if op.kinks is None else POINTS_OF_KINKS
    general: list[str] = []
    special: list[str] = []
    for paragraph in prose(op.parameters.written).split("\n\n"):
        within = False
        for sentence in sentences(paragraph):
            if sentence.startswith("Derivative"):
                within = True
                found, values = divided(re.sub(r"^Derivative:? ", "", sentence), points)
                general.append(found)
                special += ["; ".join(values)] if values else []
            elif general and points.search(CODE.sub("", sentence)):
                special.append(sentence)
            elif within:
                general.append(sentence)
            elif op.kinks is not None and TIES.search(sentence):
                special.append(sentence)
    return ". ".join(general), ". ".join(special)


def signature(function: Any) -> str:
    """``name(parameters)`` with the defaults, without annotations."""
    parameters = inspect.signature(function).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in parameters]
    return f"{function.__name__}{inspect.Signature(bare)}"


def kept(rule: Rule) -> str:
    """What the parameter names of a rule make the tape keep."""
    words = {"shape": "shape of", "dtype": "dtype of"}
    things = []
    for (role, index), name in zip(rule.roles, rule.names, strict=True):
        if role in words:
            things.append(f"{words[role]} `{rule.op.inputs[index]}`")
        elif role == "shapes":
            things.append(f"shapes of `{rule.op.inputs[index]}`")
        elif role in ("tensor", "output", "indices", "kept"):
            things.append(f"`{name}`")
    return ", ".join(things) or "nothing"


def kernels(op: Op) -> str:
    """Which halves of a pair the native module computes."""
    assert op.rule is not None
    names = {"forward": op.kernel_name, "backward": op.rule.kernel_name}
    found = [half for half, name in names.items() if name in _native.kernels]
    return "both" if len(found) == 2 else "".join(found)


def other_names(op: Op) -> list[str]:
    """Second names of an op: ``max`` for ``max_reduce``."""
    public = {name: getattr(extensor, name) for name in extensor.ops.__all__}
    return [name for name, value in public.items() if value is op.function and name != op.name]


def cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def row(op: Op) -> str:
    assert op.rule is not None
    general, special = derivative(op)
    also = "".join(f", also `{name}`" for name in other_names(op))
    cells = [
        f"`{signature(op.function)}`{also}",
        f"`{signature(op.rule.function)}`",
        general,
        special,
        kept(op.rule),
        kernels(op),
    ]
    return f"| {' | '.join(map(cell, cells))} |".replace("|  |", "| |")


def family_of(op: Op) -> str:
    return str(op.function.__module__)


def table(module: str) -> list[str]:
    """The heading and the rows of one family."""
    ops = [op for op in OPS.values() if family_of(op) == module and op.rule is not None]
    if not ops:
        return []
    about = (importlib.import_module(module).__doc__ or "").split("\n\n")[0]
    name = module.rsplit(".", 1)[-1].replace("_", ", ").capitalize()
    return [
        "",
        f"## {re.sub(r'(gru|lstm)$', lambda x: x[0].upper(), name)}",
        "",
        *textwrap.wrap(about.replace("``", "`"), 100),
        "",
        "| op | backward | derivative | at special points | the tape keeps | kernel |",
        "|---|---|---|---|---|---|",
        *(row(op) for op in ops),
    ]


def text() -> str:
    """The whole catalogue."""
    lines = HEADER.splitlines()
    for module in sorted({family_of(op) for op in OPS.values()}):
        lines += table(module)
    names = ", ".join(f"`{name}`" for name in sorted(extensor.NONDIFFERENTIABLE))
    listed = textwrap.wrap(f"Listed in `ex.NONDIFFERENTIABLE`: {names}.", 100)
    lines += ["", "## Without a gradient", "", *listed]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    TARGET.write_text(text())
