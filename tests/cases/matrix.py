from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, real

INF = float("inf")
NAN = float("nan")


def linear(x, weight, bias=None):
    return x @ weight.T if bias is None else x @ weight.T + bias


def einsum(operands, spec):
    return np.einsum(spec, *operands)


MATMUL = [
    ((2, 3), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((3,), (3,)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 1)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((1, 3), (3, 1)),
]

EINSUM = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ba,cb", (2, 3), (4, 2)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("i,i->", (3,), (3,)),
    ("i,j->ij", (3,), (4,)),
    ("ii->", (3, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("ii,ij->j", (3, 3), (3, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("...i,i->...", (2, 3), (3,)),
    ("i...,i...", (3, 2), (3, 2)),
    ("...,...", (2, 1), (3,)),
    ("...ii->...i", (2, 3, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("ij,i,j->", (2, 3), (2,), (3,)),
    ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
    ("ij,kl->ik", (2, 3), (4, 2)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,jk->ik", (2, 3), (1, 4)),
    ("ij,ij->ij", (2, 1), (1, 3)),
    (",ij->ij", (), (2, 3)),
    (" i j , j -> i ", (2, 3), (3,)),
]

CASES = (
    [Case("matmul", (real(*a), real(*b)), np.matmul) for a, b in MATMUL]
    + [
        Case("dot", (real(4), real(4)), np.dot),
        Case("dot", (real(1), real(1)), np.dot),
        Case("outer", (real(3), real(4)), np.outer),
        Case("outer", (real(1), real(2)), np.outer),
    ]
    + [
        Case("linear", (real(*shape, 3), real(4, 3), real(4)), linear)
        for shape in [(), (2,), (2, 5), (1, 1)]
    ]
    + [Case("linear", (real(2, 3), real(4, 3)), linear)]
    + [
        Case("tensordot", (real(*a), real(*b)), np.tensordot, {"axes": axes})
        for a, b, axes in [
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3), (3, 4), 1),
            ((2, 3), (4,), 0),
            ((2, 3), (2, 3), 2),
            ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
            ((2, 3, 4), (5, 2, 4), ((2, 0), (-1, 1))),
            ((2, 3, 4), (5, 3), (1, 1)),
            ((2, 3), (4, 5), ([], [])),
        ]
    ]
    + [
        Case("einsum", ([real(*shape) for shape in shapes],), einsum, {"spec": spec})
        for spec, *shapes in EINSUM
    ]
)

SINGULAR = [
    Singular("matmul", ([INF, 0.0], [NAN, 1.0])),
    Singular("dot", ([INF, 0.0], [NAN, 1.0])),
]

ONE = np.ones(1, "f4")
LETTERS = "a term must have a letter for each axis of its operand"


def _ones(*shape: int):
    return np.ones(shape, "f4")


def _two(name: str, a, b, text: str, **attributes) -> Error:
    return Error(name, (_ones(*a), _ones(*b)), f"{name}: {text}", attributes)


def _einsum(spec, text: str, *shapes, kind=ValueError) -> Error:
    return Error("einsum", (spec, *(_ones(*s) for s in shapes)), f"einsum: {text}", kind=kind)


ERRORS = (
    [
        _two(
            "matmul",
            (2, 3),
            (4, 5),
            "inner dimensions must agree, got a_shape=(2, 3), b_shape=(4, 5)",
        ),
        _two("matmul", (3,), (4,), "inner dimensions must agree, got a_shape=(3,), b_shape=(4,)"),
        _two("matmul", (), (4,), "a and b must have at least 1 axis, got a_shape=(), b_shape=(4,)"),
        _two(
            "matmul",
            (2, 1, 3),
            (3, 3, 1),
            "batch axes must broadcast, got a_shape=(2, 1, 3), b_shape=(3, 3, 1)",
        ),
        _two(
            "dot", (2,), (3,), "a and b must be 1-D of one length, got a_shape=(2,), b_shape=(3,)"
        ),
        _two(
            "dot",
            (2, 2),
            (2, 2),
            "a and b must be 1-D of one length, got a_shape=(2, 2), b_shape=(2, 2)",
        ),
        _two("outer", (2, 2), (2,), "a and b must be 1-D, got a_shape=(2, 2), b_shape=(2,)"),
        _two("linear", (2, 3), (3,), "weight must be 2-D (out, in), got weight_shape=(3,)"),
        _two(
            "linear",
            (2, 3),
            (4, 2),
            "the last axes of x and weight must agree, got x_shape=(2, 3), weight_shape=(4, 2)",
        ),
        Error(
            "linear",
            (_ones(2, 3), _ones(4, 3), _ones(3)),
            "linear: bias must have shape (4,), got bias_shape=(3,)",
        ),
        _two(
            "tensordot",
            (2, 3),
            (3, 4),
            "axes must pair axes of equal sizes, got axes=2, a_shape=(2, 3), b_shape=(3, 4)",
        ),
        _two(
            "tensordot",
            (2,),
            (3,),
            "axes must be from 0 to the number of axes, got axes=2, a_shape=(2,), b_shape=(3,)",
        ),
        _two(
            "tensordot",
            (2, 3),
            (3, 2),
            "axes must name as many axes of a as of b, none twice, got axes=((0, 1), (1,))",
            axes=((0, 1), (1,)),
        ),
        _two(
            "tensordot",
            (2, 2),
            (2, 2),
            "axes must name as many axes of a as of b, none twice, got axes=((0, 0), (1, 0))",
            axes=((0, 0), (1, 0)),
        ),
        _two(
            "tensordot",
            (2, 3),
            (3, 2),
            "axes[1] must be in [-2, 1] for 2 axes, got axes[1]=2",
            axes=(0, 2),
        ),
        Error(
            "tensordot",
            (ONE, ONE),
            "tensordot: axes must be an int or a pair of sequences of ints, got axes=None",
            {"axes": None},
            kind=TypeError,
        ),
        _einsum(3, "spec must be a string, got spec=3", (2,), kind=TypeError),
        _einsum("i1", "spec may hold letters, commas, '...' and one '->', got spec='i1'", (2, 2)),
        _einsum(
            "i->i->i", "spec may hold letters, commas, '...' and one '->', got spec='i->i->i'", (2,)
        ),
        _einsum("i,j", "spec must have a term for each operand, got spec='i,j', operands=1", (2,)),
        _einsum(
            "ij",
            f"{LETTERS}, got term='ij', operands[0]_shape=(2,)",
            (2,),
        ),
        _einsum(
            "i,i",
            f"{LETTERS}, got term='i', operands[1]_shape=(2, 3)",
            (2,),
            (2, 3),
        ),
        _einsum("i->ii", "the output must not name a label twice, got spec='i->ii'", (2,)),
        _einsum("i->j", "every label of the output must be in an operand, got spec='i->j'", (2,)),
        _einsum(
            "i...->i", "the output must have '...' where an operand has, got spec='i...->i'", (2, 3)
        ),
        _einsum("ii", "axes of label 'i' must have one size, got sizes=(2, 3)", (2, 3)),
        _einsum("i,i", "axes of label 'i' must have one size, or 1, got sizes=(2, 3)", (2,), (3,)),
    ]
    + [
        Error(
            f"{name}_backward",
            (_ones(7), *(_ones(*shape) for shape in shapes)),  # type: ignore[attr-defined]
            f"{name}_backward: grad_output must have shape {expected}, got grad_output_shape=(7,)",
        )
        for name, shapes, expected in [
            ("matmul", [(2, 3), (3, 4)], (2, 4)),
            ("dot", [(3,), (3,)], ()),
            ("outer", [(3,), (4,)], (3, 4)),
            ("linear", [(2, 3), (4, 3)], (2, 4)),
        ]
    ]
    + [
        Error(
            "tensordot_backward",
            (_ones(7), _ones(2, 3), _ones(3, 4)),
            "tensordot_backward: grad_output must have shape (2, 4), got grad_output_shape=(7,)",
            {"axes": 1},
        ),
        Error(
            "einsum_backward",
            (_ones(7), [_ones(2, 3), _ones(3, 4)], "ij,jk->ik"),
            "einsum_backward: grad_output must have shape (2, 4), got grad_output_shape=(7,)",
        ),
        Error(
            "matmul_backward",
            (_ones(7), _ones(2, 3), _ones(4, 5)),
            "matmul_backward: inner dimensions must agree, got a_shape=(2, 3), b_shape=(4, 5)",
        ),
    ]
)
