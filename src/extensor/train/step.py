"""One step of training: gradients of some batches, clipping, the optimizer, and what follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from extensor import random
from extensor.amp import GradScaler, autocast
from extensor.arrays.dtypes import DType, as_dtype, float16
from extensor.core import entries
from extensor.core.tensor import Tensor
from extensor.distributed.tree import added
from extensor.errors import arguments, type_error, value_error
from extensor.io.tree import is_plain
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer, clip_grad_norm, clip_grad_value
from extensor.optim.clipping import norm_of
from extensor.optim.schedules import Schedule
from extensor.train.accumulation import Accumulated
from extensor.train.checks import check_batch, check_loss, check_parts
from extensor.train.loss_weighting import LossReduction, LossWeighting
from extensor.train.nonfinite import NotFiniteError, origin_of

Batch = Sequence[Any]
Loss = Callable[[Any, Any], Tensor]


class StepResult(NamedTuple):
    """The mean loss of a step's samples, their number, and the norm of the gradients if it was taken."""

    loss: float
    samples: int
    gradient_norm: float | None


class Engine(NamedTuple):
    """The parts of a step as programs; a loss and a norm are looked at between them."""

    forward: Callable[..., Any]
    backward: Callable[..., Any]
    clip: Callable[..., Any]
    update: Callable[..., Any]


class TrainStep:
    """Changes ``model`` by the gradients of a group of batches, as if they were one.

    ``amp`` is the dtype of mixed precision; float16 brings a scaler of its own. ``ema`` is updated
    after each step. With ``compile`` that engine computes, on ``device``.
    """

    def __init__(
        self,
        model: Module,
        loss: Loss,
        optimizer: Optimizer,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        amp: DType = None,
        ema: EMA | None = None,
        compile: str | None = None,
        device: str | None = None,
        *,
        loss_reduction: LossReduction = None,
    ) -> None:
        check_parts(model, loss, optimizer, ema)
        for name, bound in (("clip_norm", clip_norm), ("clip_value", clip_value)):
            if bound is not None:
                arguments.number("Trainer", name, bound, above=0)
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.clip_norm = clip_norm
        self.clip_value = clip_value
        self.amp = amp
        self.scaler = GradScaler(enabled=amp is not None and as_dtype(amp, "Trainer") == float16)
        self.ema = ema
        self.parameters: list[Tensor] = []
        self._follow_optimizer()
        self.weighting = LossWeighting(loss, loss_reduction)
        self.adds_by_tree = True  # accumulated gradients; a run of 0.1.0 adds them one by one
        self._options: dict[str, Any] | None = None  # what the optimizer was made with
        self._engine = self._by_engine(compile, device)

    def _follow_optimizer(self) -> None:
        """Know the parameters of groups that were added since the last step."""
        found = [x for group in self.optimizer.param_groups for x in group["params"]]
        # A new list would let a compiled step be traced again.
        if [id(x) for x in found] != [id(x) for x in self.parameters]:
            self.parameters = found

    def precision(self) -> Any:
        """The context that models and losses compute in."""
        return nullcontext() if self.amp is None else autocast(self.amp)

    def forward(self, batch: Batch) -> tuple[Any, Tensor]:
        """The model's output and its loss; the last part of a batch is the target."""
        *inputs, target = batch
        with self.precision():
            output = self.model(*inputs)
            return output, self.value(output, target)

    def value(self, output: Any, target: Any) -> Tensor:
        """The loss, which must be one number."""
        value = self.loss(output, target)
        check_loss(value)
        return value

    def _by_engine(self, compile: str | None, device: str | None) -> Engine | None:
        if compile is None:
            if device is not None:
                requirement = "device is where a compiled step runs (compile='xla')"
                raise value_error("Trainer", requirement, device=device)
            return None
        if self.scaler.enabled:
            requirement = "amp must be bfloat16, which needs no scaling, where steps are compiled"
            raise value_error("Trainer", requirement, amp=str(self.amp))
        from extensor.compiled import compile as compiled

        made = partial(compiled, backend=compile, device=device)
        return Engine(
            made(self.forward), made(self._backward), made(self._clip), made(self._update)
        )

    def _backward(self, batch: Batch, weight: float, wants_output: bool) -> tuple[Any, Tensor]:
        output, loss = self.forward(batch)
        (loss if weight == 1 else loss * weight).backward()
        return output if wants_output else None, loss

    def _update(self) -> None:
        self.optimizer.step()
        if self.ema is not None:
            self.ema.update()

    def evaluated(self, batch: Batch) -> tuple[Any, Tensor]:
        """:meth:`forward` where the steps are taken."""
        return self.forward(batch) if self._engine is None else self._engine.forward(list(batch))

    def __call__(
        self,
        group: Sequence[Batch],
        on_gradients: Callable[[], None] | None = None,
        on_output: Callable[[Any, Any], None] | None = None,
    ) -> StepResult:
        """One step; ``on_gradients`` is called when the gradients are known and not yet clipped.

        ``on_output`` is called with the output and the target of each batch.
        """
        for batch in group:
            check_batch("fit", "train", batch)
        self._follow_optimizer()
        self.optimizer.zero_grad()
        state = random.get_state()
        sizes = [len(batch[0]) for batch in group]
        samples = sum(sizes)
        weights = self.weighting.weights([batch[-1] for batch in group], sizes)
        losses, engine = [], self._engine
        # An engine adds in its own way, and two are added in one way only.
        accumulated = None
        if len(group) > 2 and self.adds_by_tree and engine is None:
            accumulated = Accumulated(self.parameters, len(group))
        for number, (batch, weight) in enumerate(zip(group, weights, strict=True)):
            if engine is None:
                output, loss = self.forward(batch)
            else:
                output, loss = engine.backward(list(batch), weight, on_output is not None)
            value = float(loss) if weight else 0.0
            if not isfinite(value):
                raise self._not_finite(f"loss is {value}", state, batch)
            if on_output is not None:
                on_output(output, batch[-1])
            del output  # what of it the tape does not keep is free before the backward pass
            losses.append(weight * value)
            if engine is None and weight:
                self.scaler.scale(loss if weight == 1 else loss * weight).backward()
            if accumulated is not None:
                accumulated.take(number)
        if accumulated is not None:
            accumulated.give()
        total = added(losses) if self.adds_by_tree else sum(losses)
        if self.scaler.enabled:
            self.scaler.unscale_(self.optimizer)
        if on_gradients is not None:
            on_gradients()
        clipped = self._clip() if engine is None or not self._clips() else engine.clip()
        norm = None if clipped is None else float(clipped)
        if norm is not None and not isfinite(norm) and not self.scaler.enabled:
            raise self._not_finite(f"norm of the gradients is {norm}", state, *group)
        if engine is not None:
            engine.update()
            return StepResult(total, samples, norm)
        if self.scaler.step(self.optimizer) and self.ema is not None:
            self.ema.update()
        self.scaler.update()
        return StepResult(total, samples, norm)

    def _clips(self) -> bool:
        return self.clip_norm is not None or self.clip_value is not None

    def _clip(self) -> Tensor | None:
        """Clip the gradients. Returns the norm they had, if that was needed."""
        if self.clip_value is not None:
            clip_grad_value(self.parameters, self.clip_value)
        if self.clip_norm is None:
            return None
        return clip_grad_norm(self.parameters, self.clip_norm)

    def _not_finite(self, what: str, state: Any, *group: Batch) -> NotFiniteError:
        """The error for this step, after its batches were repeated under observation."""
        random.set_state(state)
        origins = (
            origin_of(self.model, self.loss, batch, partial(self._repeated, batch))
            for batch in group
        )
        origin = next(filter(None, origins), "no op gave that when the batch was repeated")
        return NotFiniteError(f"{what}: {origin}")

    def _repeated(self, batch: Batch) -> None:
        self.optimizer.zero_grad()
        self.forward(batch)[1].backward()

    def is_finite(self) -> bool:
        """True if every parameter is: what a checkpoint must be to be worth keeping."""
        self._follow_optimizer()
        arrays = [parameter._array for parameter in self.parameters]
        return isfinite(norm_of(arrays, float("inf")))

    def state_dict(self, copied: bool = True) -> dict[str, Any]:
        """Everything that the next step depends on, save the batches and random numbers.

        What is written at once need not be ``copied``, which would take as much memory again.
        """
        schedules = enumerate(self.optimizer.schedules)
        return {
            "model": self.model.state_dict(),
            "optimizer": _state(self.optimizer, Optimizer, copied),
            "options": self._options or _options(_state(self.optimizer, Optimizer, False)),
            "schedules": {str(i): schedule.state_dict() for i, schedule in schedules},
            "scaler": self.scaler.state_dict(),
            "ema": {} if self.ema is None else _state(self.ema, EMA, copied),
            "adds_by_tree": self.adds_by_tree,
        }

    def prepared_state(self, op: str, state: Mapping[str, Any]) -> Callable[[], None]:
        """What takes over what :meth:`state_dict` gave, once all of it is known to fit."""
        schedules = self.optimizer.schedules
        given = {name: entries.mapping(op, state[name], name) for name in ("schedules", "ema")}
        for name, expected, found in [
            ("schedules", len(schedules), len(given["schedules"])),
            ("averages", int(self.ema is not None), int(bool(given["ema"]))),
        ]:
            if expected != found:
                raise value_error(
                    "Trainer", f"checkpoint must have {expected} {name}", **{name: found}
                )
        numbers = [str(i) for i in range(len(schedules))]
        given["schedules"] = entries.with_keys(op, given["schedules"], numbers, "schedules")
        commits = [
            _prepared(self.model, Module, state["model"]),
            _prepared(self.optimizer, Optimizer, self._with_new_options(op, state)),
        ]
        commits += [
            _prepared(schedule, Schedule, given["schedules"][number])
            for number, schedule in zip(numbers, schedules, strict=True)
        ]
        commits.append(_prepared(self.scaler, GradScaler, state["scaler"]))
        if self.ema is not None:
            commits.append(_prepared(self.ema, EMA, given["ema"]))

        adds_by_tree = entries.truth(op, "adds_by_tree", state.get("adds_by_tree", False))

        # What may still fail comes first: then nothing has changed yet.
        commits.sort(key=lambda each: not isinstance(each, partial))

        def commit() -> None:
            self.adds_by_tree = adds_by_tree
            for each in commits:
                each()

        return commit

    def note_options(self) -> None:
        """Remember what the optimizer was made with, before anything changes it."""
        if self._options is None:
            self._options = _options(_state(self.optimizer, Optimizer, False))

    def _with_new_options(self, op: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """The optimizer's part of ``state``, with the options that it was not made with then."""
        self.note_options()
        now = self._options or {}
        saved = entries.mapping(op, state["optimizer"], "optimizer")
        then = _options(entries.mapping(op, state.get("options", now), "options"))
        for key, value in then.items():
            if not is_plain(value):
                kind = type(value).__name__
                raise type_error(op, f"options.{key} must be a plain value", type=kind)
        kept = {key: value for key, value in saved.items() if key not in then or key in now}
        # A group that was added since has its options in the checkpoint alone.
        changed = {key: x for key, x in now.items() if key in then or key not in saved}
        return kept | {key: value for key, value in changed.items() if then.get(key) != value}


def _options(state: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the groups in an optimizer's state, as plain values."""
    return {
        key: entries.item(value)
        for key, value in state.items()
        if key.startswith("groups.") and not key.endswith(".params")
    }


def _state(owner: Any, kind: Any, copied: bool) -> dict[str, Any]:
    own_way = type(owner).state_dict is not kind.state_dict
    return owner.state_dict() if own_way else owner._state(copied)  # type: ignore[no-any-return]


def _prepared(owner: Any, kind: Any, state: Any) -> Callable[[], Any]:
    """What loads ``state``: checked already, save by a class that loads in a way of its own."""
    if type(owner).load_state_dict is kind.load_state_dict:
        return owner._prepared_state(state)  # type: ignore[no-any-return]
    return partial(owner.load_state_dict, state)
