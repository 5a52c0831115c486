"""``torch.optim``: the optimizers of ``ex.optim``, and a base for optimizers of scripts."""

from __future__ import annotations

from collections import defaultdict
from functools import wraps
from typing import Any

from extensor import optim as core
from extensor.arrays.dtypes import cache
from extensor.core.modes import enable_grad
from extensor.core.tensor import Tensor as CoreTensor
from extensor.core.tensor import forget_gradients
from extensor.errors.torch_names import OPTIMIZERS, missing
from extensor.torch.optim import lr_scheduler as lr_scheduler
from extensor.torch.optim import swa_utils as swa_utils

# Choices between ways to compute the same.
_SPEED = ("foreach", "fused", "capturable")
_NOT_PYTORCH = {"EMA", "LAMB", "Lion", "Optimizer"}
_NAMES = [
    name
    for name in core.__all__
    if name not in _NOT_PYTORCH
    and isinstance(getattr(core, name), type)
    and issubclass(getattr(core, name), core.Optimizer)
]
__all__ = sorted([*_NAMES, "Optimizer", "lr_scheduler", "swa_utils"])


class Optimizer:
    """Base class of optimizers: a script's own one writes `step`.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of them: dicts with "params" and options.
    defaults : dict
        The options of groups that do not set them.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> class Descent(torch.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @torch.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.add_(p.grad, alpha=-group["lr"])
    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> w.sum().backward()
    >>> Descent([w], 0.5).step()
    >>> w
    tensor([0.5, 0.5], requires_grad=True)
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        given: list[Any] = [params] if isinstance(params, CoreTensor) else list(params)
        if not given:
            raise ValueError("Optimizer: there must be at least one parameter")
        if not isinstance(given[0], dict):
            given = [{"params": given}]
        for group in given:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters."""
        params = param_group["params"]
        params = [params] if isinstance(params, CoreTensor) else list(params)
        for x in params:
            if not isinstance(x, CoreTensor) or not x.is_leaf:
                raise ValueError("Optimizer: parameters must be leaf tensors")
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for group in self.param_groups:
            forget_gradients(group["params"], set_to_none)

    def step(self, closure: Any = None) -> Any:
        """Change the parameters. Subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__}: needs a method step")

    def _evaluate(self, closure: Any) -> Any:
        with enable_grad():
            return closure()

    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter by its number, and the options of the groups."""
        number = {id(x): i for i, x in enumerate(self._parameters())}
        groups, start = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**group, "params": list(range(start, start + count))})
            start += count
        state = {number[id(x)]: dict(values) for x, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        if len(state_dict["param_groups"]) != len(self.param_groups):
            raise ValueError("load_state_dict: the number of groups must be equal")
        for group, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({key: x for key, x in saved.items() if key != "params"})
        parameters = self._parameters()
        self.state = defaultdict(dict)
        for i, values in state_dict["state"].items():
            self.state[parameters[int(i)]] = dict(values)

    def _parameters(self) -> list[Any]:
        return [x for group in self.param_groups for x in group["params"]]


@cache
def derived(kind: Any) -> type:
    """An optimizer of the core as a class of this package."""

    @wraps(kind.__init__)
    def __init__(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        for name in _SPEED:
            kwargs.pop(name, None)
        args = tuple(x.item() if isinstance(x, CoreTensor) else x for x in args)
        kwargs = {name: x.item() if isinstance(x, CoreTensor) else x for name, x in kwargs.items()}
        if kind.__name__ == "SGD" and not args and "lr" not in kwargs:
            kwargs["lr"] = 1e-3
        params = [params] if isinstance(params, CoreTensor) else list(params)
        if params and isinstance(params[0], tuple):
            params = [x for _, x in params]  # named_parameters()
        kind.__init__(self, params, *args, **kwargs)

    members = {"__module__": "extensor.torch.optim", "__doc__": kind.__doc__, "__init__": __init__}
    return type(kind.__name__, (kind, Optimizer), members)


def __getattr__(name: str) -> Any:
    if name in core.__all__ and name not in _NOT_PYTORCH:
        kind = getattr(core, name)
        if isinstance(kind, type) and issubclass(kind, core.Optimizer):
            globals()[name] = found = derived(kind)
            return found
    table = {key: f"torch.optim: {x}" for key, x in OPTIMIZERS.items() if "not impl" in x}
    raise missing(name, table, "torch.optim")


def __dir__() -> list[str]:
    return sorted(__all__)
