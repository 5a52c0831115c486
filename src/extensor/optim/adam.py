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


_update = Update(adam_update, roles=5)


def _step(op: str, arrays: dict[str, Any], attributes: tuple[Any, ...]) -> Any:
    step, _, *betas = attributes[:4]
    if is_number(step) and not step >= 1:
        raise value_error(op, "step must be 1 or more", step=step)
    if not all(0 <= beta < 1 for beta in betas if is_number(beta)):
        raise value_error(op, "betas must be in [0, 1)", betas=tuple(betas))
    changed, m, v, _ = _update.pure(op, {**arrays, "v_max": None}, attributes, ["v_max"])
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
    """Step number ``step`` of Adam, counted from 1: the new parameter, ``m`` and ``v``.

    >>> import extensor as ex
    >>> parameter, m, v = ex.optim.adam_step([1.0], [0.5], [0.0], [0.0], step=1, lr=0.1)
    >>> parameter
    tensor([0.9])
    """
    arrays = {"parameter": parameter, "gradient": gradient, "m": m, "v": v}
    result: tuple[Tensor, Tensor, Tensor] = _step(
        "adam_step", arrays, (step, lr, *betas, eps, weight_decay, False, False)
    )
    return result


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
    """The same for AdamW, which shrinks the parameter by ``lr * weight_decay`` of itself instead.

    >>> import extensor as ex
    >>> ex.optim.adamw_step([1.0], [0.0], [0.0], [0.0], step=1, lr=0.1, weight_decay=0.5)[0]
    tensor([0.95])
    """
    arrays = {"parameter": parameter, "gradient": gradient, "m": m, "v": v}
    result: tuple[Tensor, Tensor, Tensor] = _step(
        "adamw_step", arrays, (step, lr, *betas, eps, weight_decay, True, False)
    )
    return result


@also_takes(
    **ONE_WAY,
    fused=(None, False),
    capturable=(False,),
    decoupled_weight_decay=(False,),
)
class Adam(Optimizer):
    """Adam; weight decay is added to the gradient.

    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9, 1.9], requires_grad=True)
    """

    update = _update
    state_names = ("m", "v", "v_max")
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
        beta1, beta2 = group["betas"]
        return (
            step,
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            self.decoupled,
            group["maximize"],
        )


@also_takes(**ONE_WAY, fused=(None, False), capturable=(False,))
class AdamW(Adam):
    """Adam with decoupled weight decay: a parameter shrinks by ``lr * weight_decay`` of itself."""

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
