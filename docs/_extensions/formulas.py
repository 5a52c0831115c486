"""Formulas of docstrings, typeset: Python's expressions in the sentences on derivatives, as MathML.

Browsers show MathML by themselves, so that the site needs neither LaTeX nor a script from elsewhere.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

GREEK = ("alpha", "beta", "gamma", "delta", "eps", "Phi", "pi")
FUNCTIONS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "ln", "min", "max")
SYMBOLS = {
    ast.Add: " + ",
    ast.Sub: " - ",
    ast.Mult: r" \cdot ",
    ast.MatMult: r" \, ",
    ast.Lt: " < ",
    ast.Gt: " > ",
}
BINDING = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Pow: 4}


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_show, None), (_show, None))
    # before numpydoc, which turns sections into directives
    app.connect("autodoc-process-docstring", _typeset_derivative, priority=400)
    return {"parallel_read_safe": True}


def _show(translator: Any, node: nodes.Element) -> None:
    is_block = isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode


def _typeset_derivative(*event: Any) -> None:
    """Typeset the paragraph of an op or a rule that begins with "Derivative"."""
    _, _, _, thing, _, lines = event
    within = False
    for place, line in enumerate(lines):
        within = line.startswith("Derivative") or (within and bool(line.strip()))
        if within and hasattr(thing, "op"):
            lines[place] = re.sub(r"``(.+?)``", _as_role, line)


def _as_role(match: re.Match[str]) -> str:
    formula = latex(match[1])
    return match[0] if formula is None else f":math:`{formula}`"


def latex(expression: str) -> str | None:
    """A Python expression in LaTeX; None for a bare name, and for what cannot be read."""
    readable = re.sub(r"\|([^|]+)\|", r"abs(\1)", expression)
    readable = re.sub(r"(\w)'", r"\1_prime", readable)
    try:
        sides = [ast.parse(side, mode="eval").body for side in readable.split(" = ")]
        is_name = len(sides) == 1 and isinstance(sides[0], ast.Name)
        return None if is_name else " = ".join(map(_written, sides))
    except (SyntaxError, KeyError, TypeError):
        return None


def _written(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return _name(name)
        case ast.Constant(value=value):
            return "..." if value is ... else str(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"-{_factor(operand, 2)}"
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return rf"\frac{{{_written(left)}}}{{{_written(right)}}}"
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"{{{_factor(left, 5)}}}^{{{_written(right)}}}"
        case ast.BinOp(left=left, op=op, right=right):
            level = BINDING[type(op)]
            return f"{_factor(left, level)}{SYMBOLS[type(op)]}{_factor(right, level + 1)}"
        case ast.Attribute(value=value, attr="T"):
            return rf"{{{_factor(value, 5)}}}^{{T}}"
        case ast.Subscript(value=value, slice=index):
            return f"{{{_written(value)}}}_{{{_written(index)}}}"
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in ("sqrt", "abs"):
            inner = _written(argument)
            return rf"\sqrt{{{inner}}}" if name == "sqrt" else f"|{inner}|"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            inside = ", ".join(map(_written, arguments))
            return rf"{_name(name)}({inside})"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _written(left) + SYMBOLS[type(op)] + _written(right)
    raise TypeError(type(node))


def _factor(node: ast.expr, level: int) -> str:
    """An operand, in parentheses where it binds less than ``level``."""
    text = _written(node)
    if isinstance(node, ast.UnaryOp) and level > 1:
        return f"({text})"
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Div):
        return f"({text})" if BINDING[type(node.op)] < level else text
    return f"({text})" if isinstance(node, ast.BinOp) and level > 4 else text


def _name(name: str) -> str:
    stem, prime = name.removesuffix("_prime"), "'" if name.endswith("_prime") else ""
    if stem in GREEK:
        return rf"\{'epsilon' if stem == 'eps' else stem}{prime}"
    if stem in FUNCTIONS:
        return rf"\{stem}{prime}"
    if len(stem) == 1:
        return f"{stem}{prime}"
    return rf"\mathrm{{{stem}}}{prime}".replace("_", r"\_")
