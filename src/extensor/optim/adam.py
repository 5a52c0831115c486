"""Adam and AdamW. Kingma and Ba, 2015; Loshchilov and Hutter, 2019; amsgrad: Reddi et al., 2018."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.expectations import is_number
from extensor.errors.explanation import explaining
from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent

if TYPE_CHECKING:
    from extensor.typing import TensorLike


def adam_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    m: Any,
    v: Any,
    v_max: Any,
    step: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: float,
    maximize: float,
) -> tuple[Any, ...]:
    """``p -= lr * m / (sqrt(v) + eps)``.

    ``m`` and ``v``, running means of the gradient and its square, are corrected for beginning at 0.
    """
    gradient = descent(parameter, gradient, 0 if decoupled else weight_decay, maximize)
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * (gradient * gradient)
    if v_max is not None:
        v_max = xp.maximum(v_max, v)
    if decoupled:
        parameter = parameter * (1 - lr * weight_decay)
    rate = lr / (1 - beta1**step)
    scale = 1 / (1 - beta2**step) ** 0.5
    denominator = xp.sqrt(v if v_max is None else v_max) * scale + eps
    return parameter - rate * (m / denominator), m, v, v_max


_update = Update(adam_update, roles=5, optional=1)


def _step(
    op: str, values: tuple[Any, ...], attributes: tuple[Any, ...]
) -> tuple[Tensor, Tensor, Tensor]:
    step, _, *betas = attributes[:4]
    if is_number(step) and not step >= 1:
        raise value_error(op, "step must be 1 or more", step=step)
    if not all(0 <= beta < 1 for beta in betas if is_number(beta)):
        raise value_error(op, "betas must be in [0, 1)", betas=tuple(betas))
    changed, m, v, _ = _update.pure(op, (*values, None), attributes)
    return changed, m, v


@explaining
def adam_step(
    parameter: TensorLike,
    gradient: TensorLike,
    m: TensorLike,
    v: TensorLike,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute one step of Adam, without changing its inputs.

    See `Adam` for the formula.

    Parameters
    ----------
    parameter : tensor_like
        The parameter. It is not changed.
    gradient : tensor_like
        Its gradient, of the same shape.
    m : tensor_like
        Running mean of the gradients; zeros before the first step.
    v : tensor_like
        Running mean of their squares; zeros before the first step.
    step : int
        Number of this step, counted from 1.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        Shares that ``m`` and ``v`` keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.

    Returns
    -------
    parameter : Tensor
        The new parameter.
    m : Tensor
        The new running mean.
    v : Tensor
        The new running mean of squares.

    Raises
    ------
    ValueError
        If the shapes differ, ``step`` is less than 1 or ``betas`` are not in [0, 1).
    TypeError
        If the parameter is not floating or an option is not a number.

    See Also
    --------
    Adam : The optimizer.

    Examples
    --------
    >>> import extensor as ex
    >>> parameter, m, v = ex.optim.adam_step([1.0], [0.5], [0.0], [0.0], step=1, lr=0.1)
    >>> parameter
    tensor([0.9])
    """
    attributes = (step, lr, *betas, eps, weight_decay, False, False)
    return _step("adam_step", (parameter, gradient, m, v), attributes)


@explaining
def adamw_step(
    parameter: TensorLike,
    gradient: TensorLike,
    m: TensorLike,
    v: TensorLike,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute one step of AdamW, without changing its inputs.

    See `Adam` for the formula. Weight decay is decoupled.

    Parameters
    ----------
    parameter : tensor_like
        The parameter. It is not changed.
    gradient : tensor_like
        Its gradient, of the same shape.
    m : tensor_like
        Running mean of the gradients; zeros before the first step.
    v : tensor_like
        Running mean of their squares; zeros before the first step.
    step : int
        Number of this step, counted from 1.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        Shares that ``m`` and ``v`` keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.01
        Penalty on large parameters, apart from the gradient: each step first multiplies them by
        ``1 - lr * weight_decay``.

    Returns
    -------
    parameter : Tensor
        The new parameter.
    m : Tensor
        The new running mean.
    v : Tensor
        The new running mean of squares.

    Raises
    ------
    ValueError
        If the shapes differ, ``step`` is less than 1 or ``betas`` are not in [0, 1).
    TypeError
        If the parameter is not floating or an option is not a number.

    See Also
    --------
    AdamW : The optimizer.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.optim.adamw_step([1.0], [0.0], [0.0], [0.0], step=1, lr=0.1, weight_decay=0.5)[0]
    tensor([0.95])
    """
    attributes = (step, lr, *betas, eps, weight_decay, True, False)
    return _step("adamw_step", (parameter, gradient, m, v), attributes)


@also_takes(**ONE_WAY, fused=(None, False), capturable=(False,), decoupled_weight_decay=(False,))
class Adam(Optimizer):
    """Adam: steps along a running mean of gradients, divided by the root of that of their squares.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        p = p - lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1`` and ``beta2``, the shares that the running means keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    amsgrad : bool, default False
        Whether to divide by the root of the largest ``v`` so far instead of the present one.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    AdamW : Decoupled weight decay.
    adam_step : One step as a function.

    References
    ----------
    Kingma and Ba, "Adam: A method for stochastic optimization", 2015. ``amsgrad``: Reddi et al.,
    "On the convergence of Adam and beyond", 2018.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9, 1.9], requires_grad=True)
    """

    update = _update
    decoupled: ClassVar[bool] = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
        )

    def _used(self, group: Group, state: Sequence[list[Any]]) -> Sequence[list[Any]]:
        return state if group["amsgrad"] else (state[0], state[1], [])

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return super()._attributes({**group, "decoupled": self.decoupled}, step)


@also_takes(**ONE_WAY, fused=(None, False), capturable=(False,))
class AdamW(Adam):
    """Adam with decoupled weight decay.

    Each step multiplies the parameter by ``1 - lr * weight_decay`` and then follows `Adam` without
    weight decay.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1`` and ``beta2``, the shares that the running means keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.01
        Penalty on large parameters, apart from the gradient: each step first multiplies them by
        ``1 - lr * weight_decay``.
    amsgrad : bool, default False
        Whether to divide by the root of the largest ``v`` so far instead of the present one.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    Adam : The formula.
    adamw_step : One step as a function.

    References
    ----------
    Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.84999996, 1.8       ], requires_grad=True)
    """

    decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
