"""What all optimizers share: groups of parameters, their state, and the step of a whole group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from extensor import changes, engine, tape
from extensor.dtypes import is_floating
from extensor.errors import type_error, value_error
from extensor.optim import states
from extensor.optim.states import History
from extensor.optim.update import state_like
from extensor.tensor import Tensor, forget_gradients

Group = dict[str, Any]
Params = Iterable[Tensor | Mapping[str, Any]]
R = TypeVar("R")

_NOT_NEGATIVE = (
    "lr",
    "momentum",
    "weight_decay",
    "eps",
    "lr_decay",
    "initial_accumulator_value",
    "alpha",
)
_FRACTIONS = ("betas", "rho")


class Optimizer:
    """Changes parameters, leaf tensors, in place by their ``.grad``; those without one are skipped.

    ``param_groups`` is a list of dicts: ``"params"`` and the options of that group, which may be
    changed at any time. An optimizer defines ``update``, the names of its ``state``, which of it a
    group uses, and the attributes of the update.
    """

    update: ClassVar[Any]
    state_names: ClassVar[tuple[str, ...]]

    def __init__(self, params: Params, **defaults: Any) -> None:
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self.schedules: list[Any] = []
        self._histories: list[History] = []
        if isinstance(params, Tensor | dict):
            raise type_error(
                self._name,
                "params must be an iterable of tensors or dicts",
                params=type(params).__name__,
            )
        given: list[Any] = list(params)
        if not given:
            raise value_error(self._name, "params must hold at least one parameter", params=given)
        grouped = isinstance(given[0], dict)
        for group in given if grouped else [{"params": given}]:
            self.add_param_group(group)

    def _used(self, group: Group, state: Sequence[list[Any]]) -> Sequence[list[Any]]:
        """The lists of ``state`` that the update needs, an empty one for each that it does not."""
        return state

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def _initial(self, name: str, group: Group) -> float:
        """What the state called ``name`` begins with."""
        return 0.0

    def _check_options(self, group: Group) -> None:
        """Raise for options that make no sense together."""

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], R]) -> R: ...

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the closure's result, if given."""
        loss = None
        if closure is not None:
            with tape.enable_grad():
                loss = closure()
        kernel = self.update.kernel
        for history in self._histories:
            group = history.group
            parameters = group["params"]
            count = history.count
            try:
                gradients = [parameter.grad._array for parameter in parameters]
            except AttributeError:  # there is one without a gradient
                count = -1
            if kernel is not None and count >= 0:
                arrays = [parameter._array for parameter in parameters]
                lists = (arrays, gradients, *self._used(group, history.state))
                attributes = self._attributes(group, count + 1)
                if engine.run(kernel, lists, attributes) is not NotImplemented:
                    history.count = count + 1
                    changes.mark_all(arrays, tape.mode.anomaly)
                    continue
            self._step_by_count(history)
        for schedule in self.schedules:
            if schedule.automatic:
                schedule.step()
        return loss

    def _step_by_count(self, history: History) -> None:
        """The whole way: check, make what state is missing, update those of one age together."""
        group = history.group
        parameters = group["params"]
        steps = history.steps()
        by_step: dict[int, list[int]] = {}
        for index, parameter in enumerate(parameters):
            if parameter.grad is not None:
                self._check_gradient(index, parameter)
                by_step.setdefault(steps[index] + 1, []).append(index)
        used = self._used(group, history.state)
        for name, arrays in zip(self.state_names, used, strict=True):
            for index in [i for indices in by_step.values() for i in indices] if arrays else ():
                if arrays[index] is None:
                    arrays[index] = state_like(parameters[index]._array, self._initial(name, group))
        for step, indices in by_step.items():
            chosen = [parameters[i]._array for i in indices]
            gradients = [parameters[i].grad._array for i in indices]
            state = [[arrays[i] for i in indices] if arrays else [] for arrays in used]
            self.update([chosen, gradients, *state], self._attributes(group, step))
            changes.mark_all(chosen, tape.mode.anomaly)
            history.set_step(indices, step)

    def _check_gradient(self, index: int, parameter: Tensor) -> None:
        gradient, array = parameter.grad, parameter._array
        if not isinstance(gradient, Tensor):
            raise type_error(
                self._name, "a gradient must be a tensor", grad=type(gradient).__name__
            )
        if gradient.shape != parameter.shape:
            raise value_error(
                self._name,
                f"the gradient of a parameter of shape {parameter.shape} must be like it",
                index=index,
                grad_shape=gradient.shape,
            )
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            raise value_error(self._name, "a parameter must not be read-only", index=index)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            forget_gradients(group["params"], set_to_none)

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add parameters with options of their own: ``{"params": [...], "lr": 0.01}``."""
        options = {key: value for key, value in group.items() if key != "params"}
        unknown = [key for key in options if key not in self.defaults and key != "initial_lr"]
        if unknown or "params" not in group:
            requirement = f"a group has params and may have {', '.join(self.defaults)}"
            raise value_error(self._name, requirement, group=list(group))
        params = group["params"]
        parameters = [params] if isinstance(params, Tensor) else list(params)
        self._check_parameters(parameters)
        made = {"params": parameters, **self.defaults, **options}
        _check_ranges(self._name, made)
        self._check_options(made)
        self.param_groups.append(made)
        self._histories.append(History(made, len(self.state_names)))

    def _check_parameters(self, parameters: list[Any]) -> None:
        for index, parameter in enumerate(parameters):
            if not isinstance(parameter, Tensor):
                raise type_error(
                    self._name,
                    "a parameter must be a tensor",
                    index=index,
                    type=type(parameter).__name__,
                )
            if not parameter.is_leaf or not is_floating(parameter.dtype):
                requirement = "a parameter must be a floating leaf tensor, not a result"
                raise value_error(self._name, requirement, index=index, dtype=str(parameter.dtype))
        known = [p for group in self.param_groups for p in group["params"]]
        shared = _sharing_memory([*known, *parameters])
        if shared is not None:
            requirement = "parameters must not share memory; give a shared one once"
            raise value_error(self._name, requirement, indices=shared)

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:
        """For each parameter that was changed: how often, and the arrays kept for it."""
        return {
            parameter: {"step": step, **arrays}
            for history in self._histories
            for parameter, step, arrays in zip(
                history.group["params"],
                history.steps(),
                history.named(self.state_names),
                strict=True,
            )
            if step
        }

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on as if nothing had happened: names to arrays and plain values.

        >>> import extensor as ex
        >>> from extensor.optim import SGD
        >>> w = ex.tensor([1.0], requires_grad=True)
        >>> optimizer = SGD([w], lr=0.1, momentum=0.9)
        >>> w.grad = ex.tensor([2.0])
        >>> optimizer.step()
        >>> saved = optimizer.state_dict()
        >>> saved["groups.0.lr"], saved["state.0.step"], saved["state.0.velocity"]
        (0.1, 1, array([2.], dtype=float32))
        """
        return states.saved(self._histories, self.state_names)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; nothing changes if it does not fit."""
        states.load(self._name, state_dict, self._histories, self.state_names)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        lines = [
            f"  {len(group['params'])} parameters, "
            + ", ".join(f"{key}={value}" for key, value in group.items() if key != "params")
            for group in self.param_groups
        ]
        return "\n".join([f"{self._name}(", *lines, ")"])


def _check_ranges(op: str, group: Group) -> None:
    betas = group.get("betas", (0, 0))
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise value_error(op, "betas must be two", betas=betas)
    for option in _NOT_NEGATIVE:
        if option in group and not group[option] >= 0:
            raise value_error(op, f"{option} must be 0 or greater", **{option: group[option]})
    for option in _FRACTIONS:
        values = group.get(option, ())
        for value in values if isinstance(values, Iterable) else (values,):
            if not 0 <= value < 1:
                raise value_error(op, f"{option} must be in [0, 1)", **{option: values})


def _sharing_memory(parameters: list[Tensor]) -> list[int] | None:
    """Two parameters that show the same memory: it would be changed twice, in no certain order."""
    bounds = [
        (*np.lib.array_utils.byte_bounds(p._array), index)
        for index, p in enumerate(parameters)
        if isinstance(p._array, np.ndarray) and p.size
    ]
    bounds.sort()
    for (_, end, first), (begin, _, second) in pairwise(bounds):
        if begin < end and np.shares_memory(parameters[first]._array, parameters[second]._array):
            return sorted((first, second))
    return None
