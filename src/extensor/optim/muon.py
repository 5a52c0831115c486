"""Muon. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from extensor.arrays.dtypes import float32, is_half
from extensor.core import modes, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.errors import arguments, shown, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import assign

COEFFICIENTS = (3.4445, -4.775, 2.0315)
_MOST_STEPS = 100  # far more than any that helps, as in PyTorch
_RATES = {
    "original": lambda rows, columns: sqrt(max(1.0, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * sqrt(max(rows, columns)),
}


@explaining
def orthogonalize(
    matrix: Tensor,
    coefficients: tuple[float, float, float] = COEFFICIENTS,
    steps: int = 5,
    eps: float = 1e-7,
) -> Tensor:
    """Approximate the orthogonal matrix nearest to a matrix, by Newton-Schulz iterations.

    All singular values are brought near 1. After division by the Frobenius norm, each iteration
    maps every singular value ``s`` to ``a * s + b * s**3 + c * s**5``. The default coefficients are
    fast rather than exact: singular values end between 0.7 and 1.2.

    Parameters
    ----------
    matrix : Tensor, (rows, columns)
        The matrix.
    coefficients : tuple of three floats, default (3.4445, -4.775, 2.0315)
        The numbers ``a``, ``b`` and ``c``.
    steps : int, default 5
        Number of iterations, from 0 to 99.
    eps : float, default 1e-07
        Least norm by which the matrix is divided.

    Returns
    -------
    Tensor, (rows, columns)
        The result.

    Raises
    ------
    TypeError
        If ``matrix`` is not a tensor with two axes.
    ValueError
        If ``steps`` is out of range.

    Examples
    --------
    >>> import extensor as ex
    >>> q = ex.optim.orthogonalize(ex.tensor([[3.0, 0.0], [0.0, 1.0]]))
    >>> bool(abs(q - ex.eye(2)).max() < 0.4)
    True
    """
    if not isinstance(matrix, Tensor) or matrix.ndim != 2:
        requirement = "matrix must be a tensor with two axes"
        raise type_error("orthogonalize", requirement, matrix=shown(matrix))
    if tracing.current() is None:  # else it may be a number that each run reads anew
        steps = arguments.integer("orthogonalize", "steps", steps)
    if not 0 <= steps < _MOST_STEPS:
        requirement = f"steps must be from 0 to {_MOST_STEPS - 1}"
        raise value_error("orthogonalize", requirement, steps=steps)
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x: Tensor = matrix.T if tall else matrix
    if tracing.current() is None:
        norm = float((x * x).sum()) ** 0.5
        x = x * (1 / max(norm, eps))  # no singular value is above 1 now
    else:
        x = x * (1 / ((x * x).sum() ** 0.5).clip(eps, None))
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.T if tall else x


class _Move:
    """The update of Muon: matrix products, each through the one door, so no kernel of its own."""

    kernel = None
    state_names = ("velocity",)

    def planned(self, lists: Sequence[list[Any]], attributes: Sequence[Any]) -> None:
        """Nothing: each product takes the memory it needs."""

    def __call__(self, lists: Sequence[list[Any]], attributes: Sequence[Any]) -> None:
        lr, weight_decay, momentum, nesterov, coefficients, eps, steps, adjust = attributes
        with modes.no_grad():
            for index, (parameter, gradient, velocity) in enumerate(zip(*lists, strict=True)):
                p, g, v = (_wide(x) for x in (parameter, gradient, velocity))
                v = v + (1 - momentum) * (g - v)
                move = orthogonalize(
                    g + momentum * (v - g) if nesterov else v, coefficients, steps, eps
                )
                rate = lr * _RATES[adjust](*parameter.shape)
                moved = p * (1 - lr * weight_decay) - rate * move
                changed = assign([parameter, velocity], [moved._array, v._array])
                lists[0][index], lists[2][index] = changed


def _wide(array: Any) -> Tensor:
    x = wrap(array)
    return x.astype(float32) if is_half(array.dtype) else x


class Muon(Optimizer):
    """Muon: momentum whose every step is made orthogonal, for the matrices of hidden layers.

    With ``g`` the gradient of the matrix ``p``, each step computes::

        v = v + (1 - momentum) * (g - v)
        u = g + momentum * (v - g)    (nesterov; else u = v)
        p = p * (1 - lr * weight_decay) - lr * scale * orthogonalize(u)

    Use `AdamW` for biases, embeddings and the last layer. The iterations run in float32 or float64.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Matrices to optimize; or parameter groups: dicts with "params" and options of their own,
        which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    weight_decay : float, default 0.1
        Penalty on large parameters, apart from the gradient: each step first multiplies them by
        ``1 - lr * weight_decay``.
    momentum : float, default 0.95
        Share of the velocity that each step keeps.
    nesterov : bool, default True
        Whether to look ahead, as the formula has it.
    ns_coefficients : tuple of three floats, default (3.4445, -4.775, 2.0315)
        Coefficients of `orthogonalize`.
    eps : float, default 1e-07
        Least norm by which a matrix is divided.
    ns_steps : int, default 5
        Number of iterations of `orthogonalize`.
    adjust_lr_fn : {"original", "match_rms_adamw"}, optional
        How ``scale`` follows from the shape: "original", the default, is
        ``sqrt(max(1, rows / columns))``; "match_rms_adamw" is ``0.2 * sqrt(max(rows, columns))``,
        with which learning rates for AdamW can be kept.

    Raises
    ------
    ValueError
        If a parameter is not a matrix, or an option is out of range; see `Optimizer`.

    See Also
    --------
    orthogonalize : The iteration.

    References
    ----------
    Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Linear(3, 2)
    >>> optimizer = ex.optim.Muon([layer.weight], lr=0.02)
    >>> layer(ex.ones((4, 3))).sum().backward()
    >>> optimizer.step()
    """

    update = _Move()

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=tuple(ns_coefficients),
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn or "original",
        )

    def _check_options(self, group: Group) -> None:
        for index, parameter in enumerate(group["params"]):
            if parameter.ndim != 2:
                raise value_error(
                    "Muon", "parameters must be matrices", index=index, shape=parameter.shape
                )
        arguments.choice("Muon", "adjust_lr_fn", group["adjust_lr_fn"], tuple(_RATES))
        if len(group["ns_coefficients"]) != 3:
            raise value_error(
                "Muon", "ns_coefficients must be three", ns_coefficients=group["ns_coefficients"]
            )

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        # Plain numbers, whatever kind of number was given: so are they when a state is loaded.
        return (
            tracing.plain(group["lr"]),
            tracing.plain(group["weight_decay"]),
            tracing.plain(group["momentum"]),
            group["nesterov"],
            tuple(map(float, group["ns_coefficients"])),
            float(group["eps"]),
            group["ns_steps"],
            group["adjust_lr_fn"],
        )
