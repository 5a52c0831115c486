"""Keywords of PyTorch's that choose nothing here.

Code written for PyTorch may say them at their defaults, which is what happens anyway. Any other value
asks for something that is not there, and is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from extensor.errors import value_error
from extensor.errors.torch_names import CPU

Class = TypeVar("Class", bound=type)
Accepted = Mapping[str, tuple[Any, ...]]  # the default first, then what means the same

NOTHING = (None,)
DEVICE = {"device": (None, "cpu")}
ONE_WAY = {"foreach": (None, False), "differentiable": (False,)}
REDUCED = {"size_average": NOTHING, "reduce": NOTHING}
_INPLACE = {"inplace": (False,)}
_DISTANCE = {**REDUCED, "weight": NOTHING}
_SOFT = {"dtype": NOTHING, "_stacklevel": (3,)}
LOOKED_UP = {
    "max_norm": NOTHING,
    "norm_type": (2.0,),
    "scale_grad_by_freq": (False,),
    "sparse": (False,),
}
# The functions of torch.nn.functional that have more keywords than ours of the same name.
FUNCTIONS: dict[str, Accepted] = {
    **dict.fromkeys("relu relu6 leaky_relu elu selu silu mish dropout dropout2d".split(), _INPLACE),
    **dict.fromkeys("dropout1d dropout3d alpha_dropout feature_alpha_dropout".split(), _INPLACE),
    **dict.fromkeys("hard_tanh hard_sigmoid hard_swish celu rrelu threshold".split(), _INPLACE),
    **dict.fromkeys("cross_entropy nll_loss kl_div smooth_l1_loss".split(), REDUCED),
    **dict.fromkeys("binary_cross_entropy binary_cross_entropy_with_logits".split(), REDUCED),
    "cosine_embedding_loss": REDUCED,
    **dict.fromkeys("soft_margin_loss margin_ranking_loss hinge_embedding_loss".split(), REDUCED),
    **dict.fromkeys("multi_margin_loss multilabel_margin_loss poisson_nll_loss".split(), REDUCED),
    "multilabel_soft_margin_loss": REDUCED,
    "normalize": {"out": NOTHING},
    **dict.fromkeys("mse_loss l1_loss".split(), _DISTANCE),
    "huber_loss": {"weight": NOTHING},
    **dict.fromkeys("softmax log_softmax softmin".split(), _SOFT),
    **dict.fromkeys(("embedding", "embedding_bag"), LOOKED_UP),
    **{
        f"fractional_max_pool{axes}d_with_indices": {
            "return_indices": (False, True),
            "_random_samples": NOTHING,
        }
        for axes in (2, 3)
    },
    **{
        f"{kind}pool{axes}d_with_indices": {"return_indices": (False, True)}
        for kind in ("max_", "adaptive_max_")
        for axes in (1, 2, 3)
    },
}


def without_defaults(op: str, kwargs: Mapping[str, Any], accepted: Accepted) -> dict[str, Any]:
    """``kwargs`` without those of ``accepted``; an error for one that asks for something."""
    for name in kwargs.keys() & accepted.keys():
        if not any(_means(kwargs[name], value) for value in accepted[name]):
            wanted = " or ".join(map(repr, accepted[name]))
            why = CPU if name == "device" else "anything else is not implemented"
            requirement = f"{name} must be {wanted} ({why})"
            raise value_error(op, requirement, **{name: kwargs[name]})
    return {name: value for name, value in kwargs.items() if name not in accepted}


def _means(given: Any, value: Any) -> bool:
    if given is value:
        return True
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return str(given) == value
    return isinstance(given, int | float) and given == value


def also_takes(**accepted: tuple[Any, ...]) -> Callable[[Class], Class]:
    """Let the constructor of a class take these keywords too, at the values that are given."""

    def decorate(cls: Class) -> Class:
        constructor = cls.__init__  # type: ignore[misc]

        @wraps(constructor)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if kwargs and not accepted.keys().isdisjoint(kwargs):
                kwargs = without_defaults(type(self).__name__, kwargs, accepted)
            constructor(self, *args, **kwargs)

        cls.__init__ = __init__  # type: ignore[misc]
        return cls

    return decorate
