"""The base of all optimizers: groups of parameters, their state, and the step of a whole group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar, overload

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import changes, door, modes, tracing
from extensor.core.tensor import Tensor, forget_gradients
from extensor.errors import shown, type_error, value_error
from extensor.errors.expectations import wanted_by
from extensor.errors.explanation import explaining, wrap_constructor
from extensor.optim import states
from extensor.optim.states import GroupHistory
from extensor.optim.update import rebind, state_like

Group = dict[str, Any]
Params = Iterable[Tensor | Group]
R = TypeVar("R")

_NOT_NEGATIVE = (
    "lr",
    "momentum",
    "weight_decay",
    "eps",
    "lr_decay",
    "initial_accumulator_value",
    "alpha",
    "momentum_decay",
    "lambd",
)
_FRACTIONS = ("betas", "rho")


class Move(NamedTuple):
    """An update of some parameters of a group, with the state they may not have had before."""

    history: GroupHistory
    indices: list[int]
    step: int
    lists: list[list[Any]]
    used: Sequence[list[Any]]

    def keep_state(self) -> None:
        """Put the state where the next step finds it."""
        for arrays, state in zip(self.used, self.lists[2:], strict=True):
            for index, array in zip(self.indices, state, strict=bool(arrays)):
                arrays[index] = array


class Optimizer:
    """Base class of all optimizers.

    An optimizer changes parameters in place by their ``grad``, and skips those without one. Each
    parameter belongs to a group with options of its own. The options in ``param_groups`` may be
    changed at any time.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize; or parameter groups: dicts with "params" and options of their own.
    **defaults
        Options of groups that do not set them.

    Attributes
    ----------
    param_groups : list of dict
        The groups: "params", a list of tensors, and the options.
    schedules : list of Schedule
        The schedules of the learning rate.
    state : dict of Tensor to dict
        For each parameter that was changed, the number of its steps and the arrays kept for it.

    Raises
    ------
    ValueError
        If there are no parameters, a group has unknown options, ``lr``, ``weight_decay``, ``eps``
        or a momentum is negative, a beta is not in [0, 1), or a parameter is not a floating leaf
        tensor, or shares memory with another.
    TypeError
        If a parameter is not a tensor or an option has the wrong type.

    Notes
    -----
    State is kept in float32 or wider, also for parameters of 16 bits.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.nn.Sequential(ex.nn.Linear(4, 8), ex.nn.Linear(8, 2))
    >>> groups = [{"params": net[0].parameters()}, {"params": net[1].parameters(), "lr": 0.1}]
    >>> optimizer = ex.optim.SGD(groups, lr=0.01, momentum=0.9)
    >>> [group["lr"] for group in optimizer.param_groups]
    [0.01, 0.1]
    """

    update: ClassVar[Any]

    @explaining
    def __init__(self, params: Params, **defaults: Any) -> None:
        self.defaults = defaults
        self.param_groups: list[Group] = []
        self.schedules: list[Any] = []
        self._histories: list[GroupHistory] = []
        given = _as_list(self._name, params)
        if not given:
            raise value_error(self._name, "params must hold at least one parameter", params=given)
        grouped = isinstance(given[0], dict)
        for group in given if grouped else [{"params": given}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        wrap_constructor(cls, explaining)  # add_param_group checks the options

    def _used(self, group: Group, state: Sequence[list[Any]]) -> Sequence[list[Any]]:
        """The lists of ``state`` that the update needs, an empty one for each that it does not."""
        return state

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of the arrays that are kept for each parameter."""
        names: tuple[str, ...] = self.update.state_names
        return names

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        """The numbers that the update of a step takes, in the order of its formula."""
        known = {**group, "step": step}
        if "betas" in group:
            known["beta1"], known["beta2"] = group["betas"]
        return tuple([known[name] for name in self.update.attributes])

    def _initial(self, name: str, group: Group) -> float:
        """The initial value of the state called ``name``."""
        return 0.0

    def _state_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape of the state called ``name`` of a parameter of ``shape``; None if it has none."""
        return shape

    def _new_state(self, name: str, group: Group, parameter: Tensor) -> Any:
        """The state called ``name`` of a parameter before its first step, None if it has none."""
        shape = self._state_shape(name, parameter.shape)
        if shape is None:
            return None
        return state_like(parameter._array, self._initial(name, group), shape)

    def _check_options(self, group: Group) -> None:
        """Raise for options that make no sense together."""

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], R]) -> R: ...

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, then step the automatic schedules.

        Parameters
        ----------
        closure : callable, optional
            Function without arguments that computes the gradients and returns the loss. It is
            called first, with gradients enabled.

        Returns
        -------
        object
            The result of ``closure``, or None.

        Raises
        ------
        ValueError
            If a gradient does not have the shape of its parameter, or a parameter is read-only.
            Nothing is changed then.
        """
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        if not self._step_at_once():
            self._step_by_count()
        # After the update: a rate set by a schedule counts from the next step on.
        for schedule in self.schedules:
            if schedule.automatic:
                schedule.step()
        return loss

    def _step_at_once(self) -> bool:
        """The short way, for parameters that all have a gradient, state and, in a group, one age.

        Returns whether it was taken; if not, nothing has changed.
        """
        kernel = self.update.kernel
        # A trace has to know of each step, and of its numbers.
        if kernel is None or tracing.current() is not None:
            return False
        given = []
        for history in self._histories:
            parameters = history.group["params"]
            try:
                gradients = [parameter.grad._array for parameter in parameters]
            except AttributeError:  # there is one without a gradient
                return False
            if history.count < 0:  # bias corrections need one number of steps for all of a group
                return False
            arrays = [parameter._array for parameter in parameters]
            state = self._used(history.group, history.state)
            attributes = self._attributes(history.group, history.count + 1)
            given.append((arrays, gradients, *state, *attributes))
        if len(given) == 1:
            if self.update.by_kernel(*given[0]) is NotImplemented:
                return False
            self._count_step(self._histories[0], given[0][0])
            return True
        # All that may fail for lack of memory comes before the first change.
        calls = [door.plan(kernel, *arguments) for arguments in given]
        if NotImplemented in calls:
            return False
        for history, arguments, call in zip(self._histories, given, calls, strict=True):
            call.run()
            self._count_step(history, arguments[0])
        return True

    def _count_step(self, history: GroupHistory, changed: list[Any]) -> None:
        history.count += 1
        changes.mark_all(changed, modes.mode.anomaly)

    def _step_by_count(self) -> None:
        """The whole way: check, make what state is missing, update those of one age together.

        All that may fail for lack of memory comes before the first change.
        """
        moves = [move for history in self._histories for move in self._moves(history)]
        trace = tracing.current()
        if trace is not None:
            trace.stepped(self, moves)
        attributes = [
            self._attributes(*(trace.read_anew(move) if trace else (move.history.group, move.step)))
            for move in moves
        ]
        calls: list[Any] = [None] * len(moves)
        if len(moves) > 1:
            calls = [
                self.update.planned(m.lists, a) for m, a in zip(moves, attributes, strict=True)
            ]
        # Before the updates, which then change the arrays that are kept.
        for move in moves:
            move.keep_state()
        for move, numbers, call in zip(moves, attributes, calls, strict=True):
            if call is None:
                self._update_one_by_one(move, numbers)
            else:
                call.run()
            changes.mark_all(move.lists[0], modes.mode.anomaly)
            move.history.set_step(move.indices, move.step)

    def _update_one_by_one(self, move: Move, numbers: tuple[Any, ...]) -> None:
        before = move.lists[0].copy()
        self.update(move.lists, numbers)
        # Arrays of libraries that allow no change were replaced: tensors and state get the new ones.
        rebind(move.history.group["params"], before, move.lists[0])
        move.keep_state()

    def _moves(self, history: GroupHistory) -> list[Move]:
        """The updates of a group, one for all parameters that have taken as many steps."""
        group = history.group
        parameters = group["params"]
        steps = history.steps()
        by_step: dict[int, list[int]] = {}
        for index, parameter in enumerate(parameters):
            if parameter.grad is not None:
                self._check_gradient(index, parameter)
                by_step.setdefault(steps[index] + 1, []).append(index)
        used = self._used(group, history.state)
        moves = []
        for step, indices in by_step.items():
            state = [
                [
                    self._new_state(name, group, parameters[i]) if arrays[i] is None else arrays[i]
                    for i in indices
                ]
                if arrays
                else []
                for name, arrays in zip(self.state_names, used, strict=True)
            ]
            chosen = [parameters[i]._array for i in indices]
            gradients = [parameters[i].grad._array for i in indices]
            moves.append(Move(history, indices, step, [chosen, gradients, *state], used))
        return moves

    def _check_gradient(self, index: int, parameter: Tensor) -> None:
        gradient, array = parameter.grad, parameter._array
        if not isinstance(gradient, Tensor):
            raise type_error(
                self._name, "a gradient must be a tensor", grad=type(gradient).__name__
            )
        if gradient.shape != parameter.shape:
            requirement = f"the gradient of a parameter of shape {parameter.shape} must be like it"
            raise value_error(self._name, requirement, index=index, grad_shape=gradient.shape)
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            raise value_error(self._name, "a parameter must not be read-only", index=index)

    @explaining
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, default True
            Whether to remove the gradients; False fills them with zeros.
        """
        for group in self.param_groups:
            forget_gradients(group["params"], set_to_none)

    @explaining
    def add_param_group(self, group: Group) -> None:
        """Add a parameter group.

        Parameters
        ----------
        group : dict
            "params", a tensor or an iterable of tensors, and options that replace the defaults.

        Raises
        ------
        ValueError
            If an option is unknown or out of range, or a parameter cannot be optimized or is
            already there.

        Examples
        --------
        >>> import extensor as ex
        >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=0.1)
        >>> optimizer.add_param_group({"params": ex.zeros(3, requires_grad=True), "lr": 0.01})
        >>> len(optimizer.param_groups)
        2
        """
        if not isinstance(group, dict):
            raise type_error(self._name, "a group must be a dict", group=shown(group))
        options = {key: value for key, value in group.items() if key != "params"}
        unknown = [key for key in options if key not in self.defaults and key != "initial_lr"]
        if unknown or "params" not in group:
            requirement = f"a group has params and may have {', '.join(self.defaults)}"
            raise value_error(self._name, requirement, group=list(group))
        params = group["params"]
        parameters = [params] if isinstance(params, Tensor) else _as_list(self._name, params)
        self._check_parameters(parameters)
        made = {"params": parameters, **self.defaults, **options}
        _check_ranges(self._name, made, type(self).__init__.__annotations__)
        self._check_options(made)
        self.param_groups.append(made)
        self._histories.append(GroupHistory(made, self.state_names))

    def _check_parameters(self, parameters: list[Any]) -> None:
        for index, parameter in enumerate(parameters):
            if not isinstance(parameter, Tensor):
                kind = type(parameter).__name__
                raise type_error(self._name, "a parameter must be a tensor", index=index, type=kind)
            if not parameter.is_leaf or not is_floating(parameter.dtype):
                requirement = "a parameter must be a floating leaf tensor, not a result"
                raise value_error(self._name, requirement, index=index, dtype=str(parameter.dtype))
        known = [p for group in self.param_groups for p in group["params"]]
        # Two updates of one memory in a single call would overwrite each other.
        shared = _sharing_memory([*known, *parameters])
        if shared is not None:
            requirement = "parameters must not share memory; give a shared one once"
            raise value_error(self._name, requirement, indices=shared)

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:
        """Return, for each parameter that was changed, the number of its steps and the arrays kept for
        it.
        """
        return {
            parameter: {"step": step, **arrays}
            for history in self._histories
            for parameter, step, arrays in zip(
                history.group["params"], history.steps(), history.named(), strict=True
            )
            if step
        }

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to continue: options, numbers of steps and state.

        Returns
        -------
        dict of str to array or plain value
            A flat dict with keys such as ``groups.0.lr`` and ``state.0.step``. Parameters are
            counted over all groups. The arrays are copies.

        See Also
        --------
        ex.save : Writes such a dict to a file.

        Examples
        --------
        >>> import extensor as ex
        >>> w = ex.tensor([1.0], requires_grad=True)
        >>> optimizer = ex.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> w.grad = ex.tensor([2.0])
        >>> optimizer.step()
        >>> saved = optimizer.state_dict()
        >>> saved["groups.0.lr"], saved["state.0.step"], saved["state.0.velocity"]
        (0.1, 1, array([2.], dtype=float32))
        """
        return self._state(True)

    def _state(self, copied: bool) -> dict[str, Any]:
        return states.saved(self._histories, copied)

    @explaining
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned. If it does not fit, nothing changes.

        Parameters
        ----------
        state_dict : dict
            The dict, or what `ex.load` read from a file.

        Raises
        ------
        ValueError
            If entries are missing, unknown or out of range, or shapes do not fit the parameters.
        """
        self._prepared_state(state_dict)()

    def _prepared_state(self, state_dict: Any) -> Callable[[], None]:
        """A function that takes over ``state_dict``, which has been checked to fit."""
        op = f"{self._name}.load_state_dict"

        def check(group: Group) -> None:
            _check_ranges(op, group, type(self).__init__.__annotations__)
            self._check_options(group)

        return states.prepared(
            op, state_dict, self._histories, check, self._needed_state, self._state_shape
        )

    def _needed_state(self, group: Group) -> list[str]:
        """The state that an update needs whatever the options are, or were when it was taken."""
        # Saved under other options than now, a state may lack what these options would add.
        least = {**group, "momentum": 0, "amsgrad": False, "centered": False}
        used = self._used(least, [[None]] * len(self.state_names))
        return [name for name, arrays in zip(self.state_names, used, strict=True) if arrays]

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


def _as_list(op: str, params: Any) -> list[Any]:
    try:
        if not isinstance(params, Tensor | dict):
            return list(params)
    except TypeError:
        pass
    requirement = "params must be an iterable of tensors or dicts"
    raise type_error(op, requirement, params=type(params).__name__)


def _check_ranges(op: str, group: Group, annotations: Mapping[str, Any]) -> None:
    """Raise for options that are not what the constructor's annotations ask for, or out of range."""
    betas = group.get("betas", (0, 0))
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise value_error(op, "betas must be two", betas=betas)
    for option, value in group.items():
        wanted = wanted_by(annotations.get(option), value)
        if wanted is not None:
            raise type_error(op, f"{option} must be {wanted}", **{option: shown(value)})
    for option in _NOT_NEGATIVE:
        value = group.get(option, 0)
        values = value if isinstance(value, list | tuple) else (value,)
        if not all(each is None or each >= 0 for each in values):
            raise value_error(op, f"{option} must be 0 or greater", **{option: value})
    for option in _FRACTIONS:
        values = group.get(option, ())
        for value in values if isinstance(values, list | tuple) else (values,):
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
