"""How a step is taken: by one process, with everything that the trainer's loop asks around it.

:class:`CompiledStep` and :class:`~extensor.train.data_parallel.DataParallelStep` override what they do
in another way, so the trainer never asks which of the three it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from extensor import random
from extensor.amp import GradScaler, autocast
from extensor.arrays.dtypes import DType, as_dtype, float16
from extensor.core import entries
from extensor.core.tensor import Tensor
from extensor.distributed.micro_batches import PartialSums, TreeNode, tree_sum
from extensor.distributed.workers import Alone, WorkerLostError, Workers
from extensor.errors import arguments, type_error, value_error
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer, clip_grad_norm, clip_grad_value
from extensor.optim.clipping import norm_of
from extensor.optim.schedules import Schedule
from extensor.train.data_adapters import check_batch
from extensor.train.evaluation import plain
from extensor.train.loss_parts import LossReduction, LossWeighting
from extensor.train.nonfinite import NotFiniteError, origin_of
from extensor.train.trainer_state import OptimizerOptions, state_of

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

Batch = Sequence[Any]
Loss = Callable[[Any, Any], Tensor]
OnGradients = Callable[[], None] | None  # called when the gradients are known, not yet clipped
OnOutput = Callable[[Any, Any], None] | None  # called with the output and the target of each batch


_Gradients = list[Tensor | None]


class StepResult(NamedTuple):
    """The mean loss of a step's samples, their number, and the norm of the gradients if it was taken."""

    loss: float
    samples: int
    gradient_norm: float | None


class LocalStep:
    """Changes ``model`` by the gradients of a group of batches, as if they were one batch.

    It computes one batch after the other; the gradients are added in a balanced tree.
    ``amp`` is the dtype of mixed precision; float16 uses a gradient scaler. ``ema`` is updated after
    each step. A strategy is also part of the state of a run: :meth:`state_dict` holds everything
    that the next step depends on, except batches and random numbers.
    """

    micro_batches: int | None = None  # the parts that a batch is cut into, if it is
    # Of each of several workers, in the last epoch.
    worker_figures: Sequence[Mapping[str, Any]] = ()

    def __init__(
        self,
        model: Module,
        loss: Loss,
        optimizer: Optimizer,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        amp: DType = None,
        ema: EMA | None = None,
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
        self.workers: Workers = Alone()
        self.parameters: list[Tensor] = []
        self._follow_optimizer()
        self.loss_reduction = loss_reduction
        if loss_reduction is not None:
            self.weighting.check()
        self.adds_by_tree = True  # accumulated gradients; a run of 0.1.0 adds them one by one
        self.options = OptimizerOptions(optimizer)

    def __call__(
        self, group: Sequence[Any], on_gradients: OnGradients = None, on_output: OnOutput = None
    ) -> StepResult:
        """Take one step."""
        state = random.get_state()
        for batch in group:
            check_batch("fit", "train", batch)
        self._follow_optimizer()
        self.optimizer.zero_grad()
        sizes, weights = [len(batch[0]) for batch in group], [1.0]
        if len(group) > 1:
            weights = self.weighting.weights([batch[-1] for batch in group], sizes)
        losses = self._backward(group, weights, state, on_output)
        if on_gradients is not None:
            on_gradients()
        clipped = self._clip()
        norm = None if clipped is None else float(clipped)
        # With a scaler a norm that is not finite only skips the step.
        if norm is not None and not isfinite(norm) and not self.scaler.enabled:
            raise self._not_finite(f"norm of the gradients is {norm}", state, *group)
        self._update()
        return StepResult(self._sum(losses), sum(sizes), norm)

    @cached_property
    def weighting(self) -> LossWeighting:
        """How much the parts of a step weigh, if it has several."""
        return LossWeighting(self.loss, self.loss_reduction)

    # What the trainer asks around the steps. These are the answers of one process.

    def begin_fit(self) -> None:
        """Training begins, or goes on: the model's state is loaded."""

    def end_fit(self, error: type[BaseException] | None) -> None:
        """Training ended, perhaps by an error; the optimizer must have its whole state again."""

    def batches(self, loader: Any, epoch: int, first: int, accumulate: int) -> Iterator[Any]:
        """The batches of ``epoch`` from number ``first`` on, as :meth:`__call__` takes them."""
        return iter(loader)

    def whole_batch(self, batch: Any) -> Any:
        """A batch that :meth:`batches` gave, with the samples of all workers."""
        return batch

    def part_sizes(self, sizes: list[int], accumulate: int) -> list[int]:
        """The numbers of samples that are computed at once, for batches of these ``sizes``."""
        return sizes

    def begin_step(self, step: int, signal: int | None) -> None:
        """Step number ``step``, counted from 0, comes next; ``signal`` came to this process."""

    def end_epoch(self) -> None:
        """The steps and the validation of an epoch are over."""

    def known_signal(self, signal: int | None) -> int | None:
        """The signal that ends training now, given the one that came to this process."""
        return signal

    def is_any(self, flag: bool, what: str) -> bool:
        """Whether ``flag`` is set on any worker."""
        return flag

    def shared_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of metrics that the first worker has, as plain values on all workers."""
        return {name: plain(value) for name, value in values.items()}

    def evaluate(self, trainer: Trainer, loader: Any) -> dict[str, Any]:
        """The loss and the metrics of ``loader``, whose batches workers may share."""
        return trainer.evaluate(loader)

    def check_start(self, loaders: Mapping[str, Any], settings: Sequence[Any], step: int) -> None:
        """Refuse to begin if the workers are not about to do the same."""

    def check_agreement(self, step: int, loader: Any, is_due: bool = True) -> None:
        """Raise if the workers differ; every so many steps it is checked even if it is not due."""

    def survivors(self, error: WorkerLostError) -> Workers:
        """The workers that are left after ``error``, which is raised if nobody can go on."""
        raise error

    # What a step consists of.

    def _follow_optimizer(self) -> None:
        """Know the parameters of groups that were added since the last step."""
        parameters = [x for group in self.optimizer.param_groups for x in group["params"]]
        # A new list would let a compiled step be traced again.
        if [id(x) for x in parameters] != [id(x) for x in self.parameters]:
            self.parameters = parameters

    def _backward(
        self, group: Sequence[Batch], weights: Sequence[float], state: Any, on_output: OnOutput
    ) -> list[float]:
        """Leave the gradients of the group in ``.grad``; returns the weighted losses."""
        losses = []
        # Two batches can be added in one way only.
        sums: PartialSums[_Gradients] | None = None
        if len(group) > 2 and self.adds_by_tree:
            sums = PartialSums(len(group), _add)
        for number, (batch, weight) in enumerate(zip(group, weights, strict=True)):
            output, loss = self.forward(batch)
            losses.append(self._look(batch, output, loss, weight, state, on_output))
            del output  # frees what the tape does not keep, before the backward pass
            if weight:
                self.scaler.scale(loss if weight == 1 else loss * weight).backward()
            if sums is not None:
                sums.put(TreeNode(0, number), [parameter.grad for parameter in self.parameters])
                self._set_gradients([None] * len(self.parameters))
        if sums is not None:
            ((_, total),) = sums.nodes
            self._set_gradients(total)
        if self.scaler.enabled:
            self.scaler.unscale_(self.optimizer)
        return losses

    def _set_gradients(self, gradients: _Gradients) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient

    def _look(
        self,
        batch: Batch,
        output: Any,
        loss: Tensor,
        weight: float,
        state: Any,
        on_output: OnOutput,
    ) -> float:
        """The weighted loss of a batch, which must be finite; its output is announced."""
        value = float(loss) if weight else 0.0
        if not isfinite(value):
            raise self._not_finite(f"loss is {value}", state, batch)
        if on_output is not None:
            on_output(output, batch[-1])
        return weight * value

    def _sum(self, losses: Sequence[float]) -> float:
        if len(losses) == 1:
            return losses[0]
        return tree_sum(losses) if self.adds_by_tree else sum(losses)

    def _clip(self) -> Tensor | None:
        """Clip the gradients; returns the norm they had, if that was needed."""
        if self.clip_value is not None:
            clip_grad_value(self.parameters, self.clip_value)
        return None if self.clip_norm is None else clip_grad_norm(self.parameters, self.clip_norm)

    def _update(self) -> None:
        """Change the parameters, unless a scaled gradient is not finite."""
        if self.scaler.step(self.optimizer) and self.ema is not None:
            self.ema.update()
        self.scaler.update()

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

    def evaluate_batch(self, batch: Batch) -> tuple[Any, Tensor]:
        """:meth:`forward` on the device where the steps are taken."""
        return self.forward(batch)

    def _not_finite(self, what: str, generator_state: Any, *group: Batch) -> NotFiniteError:
        """The error for this step, after its batches were repeated under observation."""
        random.set_state(generator_state)
        origins = (
            origin_of(self.model, self.loss, batch, partial(self._repeat, batch)) for batch in group
        )
        origin = next(filter(None, origins), "no op gave that when the batch was repeated")
        return NotFiniteError(f"{what}: {origin}")

    def _repeat(self, batch: Batch) -> None:
        self.optimizer.zero_grad()
        self.forward(batch)[1].backward()

    def is_finite(self) -> bool:
        """True if every parameter is finite, so that a checkpoint is worth keeping."""
        self._follow_optimizer()
        arrays = [parameter._array for parameter in self.parameters]
        return isfinite(norm_of(arrays, float("inf")))

    def state_dict(self, copied: bool = True) -> dict[str, Any]:
        """Everything that the next step depends on, except batches and random numbers.

        A state that is written at once need not be ``copied``, which takes as much memory again.
        """
        schedules = enumerate(self.optimizer.schedules)
        return {
            "model": self.model.state_dict(),
            "optimizer": state_of(self.optimizer, Optimizer, copied),
            "options": self.options.as_created(),
            "schedules": {str(i): schedule.state_dict() for i, schedule in schedules},
            "scaler": self.scaler.state_dict(),
            "ema": {} if self.ema is None else state_of(self.ema, EMA, copied),
            "adds_by_tree": self.adds_by_tree,
        }

    def prepared_state(self, op: str, state: Mapping[str, Any]) -> Callable[[], None]:
        """Check all of what :meth:`state_dict` gave; returns the function that loads it."""
        schedules, ema = self.optimizer.schedules, self.ema
        adds_by_tree = entries.truth(op, "adds_by_tree", state.get("adds_by_tree", False))
        entry = {name: entries.mapping(op, state[name], name) for name in ("schedules", "ema")}
        for name, expected, count in [
            ("schedules", len(schedules), len(entry["schedules"])),
            ("averages", int(ema is not None), int(bool(entry["ema"]))),
        ]:
            if expected != count:
                requirement = f"checkpoint must have {expected} {name}"
                raise value_error("Trainer", requirement, **{name: count})
        numbers = [str(i) for i in range(len(schedules))]
        entry["schedules"] = entries.with_keys(op, entry["schedules"], numbers, "schedules")
        parts: list[tuple[Any, Any, Any]] = [
            (self.model, Module, state["model"]),
            (self.optimizer, Optimizer, self.options.resumed_state(op, state)),
            *((x, Schedule, entry["schedules"][str(i)]) for i, x in enumerate(schedules)),
            (self.scaler, GradScaler, state["scaler"]),
            *([] if ema is None else [(ema, EMA, entry["ema"])]),
        ]
        # Loading by a subclass's own method cannot be checked beforehand and may still fail, so it
        # comes first: nothing has changed yet.
        unchecked: list[Callable[[], Any]] = []
        checked: list[Callable[[], None]] = []
        for owner, kind, own in parts:
            if type(owner).load_state_dict is kind.load_state_dict:
                checked.append(owner._prepared_state(own))
            else:
                unchecked.append(partial(owner.load_state_dict, own))

        def commit() -> None:
            for load in (*unchecked, *checked):
                load()
            self.adds_by_tree = adds_by_tree

        return commit


class CompiledStep(LocalStep):
    """Lets ``backend`` compute the steps, on ``device``.

    There is a program for each part, as a loss and a norm are looked at in Python between them.
    """

    def __init__(self, *parts: Any, backend: str, device: str | None, **options: Any) -> None:
        super().__init__(*parts, **options)
        if self.scaler.enabled:
            requirement = "amp must be bfloat16, which needs no scaling, where steps are compiled"
            raise value_error("Trainer", requirement, amp=str(self.amp))
        from extensor.compiled import compile as compile_function

        program = partial(compile_function, backend=backend, device=device)
        self._forward_program = program(self.forward)
        self._backward_program = program(self._backward_of_batch)
        self._clip_program = program(super()._clip)
        self._update_program = program(super()._update)

    def _backward(
        self, group: Sequence[Batch], weights: Sequence[float], state: Any, on_output: OnOutput
    ) -> list[float]:
        losses = []
        for batch, weight in zip(group, weights, strict=True):
            output, loss = self._backward_program(list(batch), weight, on_output is not None)
            losses.append(self._look(batch, output, loss, weight, state, on_output))
        return losses

    def _backward_of_batch(
        self, batch: Batch, weight: float, wants_output: bool
    ) -> tuple[Any, Tensor]:
        output, loss = self.forward(batch)
        (loss if weight == 1 else loss * weight).backward()
        return output if wants_output else None, loss

    def _clip(self) -> Any:
        is_clipped = self.clip_norm is not None or self.clip_value is not None
        return self._clip_program() if is_clipped else None

    def _update(self) -> None:
        self._update_program()

    def evaluate_batch(self, batch: Batch) -> tuple[Any, Tensor]:
        return self._forward_program(list(batch))  # type: ignore[no-any-return]


def _add(left: _Gradients, right: _Gradients) -> _Gradients:
    return [b if a is None else a if b is None else a + b for a, b in zip(left, right, strict=True)]


def check_parts(model: Any, loss: Any, optimizer: Any, ema: Any) -> None:
    """Refuse what cannot be trained, by what, or with what."""
    arguments.instance("Trainer", "model", model, Module, "a Module")
    if not callable(loss) or isinstance(loss, type):
        hint = f", such as {loss.__name__}(), not the class" if isinstance(loss, type) else ""
        requirement = f"loss must be a function of output and target, or a loss of ex.nn{hint}"
        raise type_error("Trainer", requirement, loss=arguments.briefly(loss))
    arguments.takes("Trainer", "loss", loss, "output", "target")
    arguments.instance("Trainer", "optimizer", optimizer, Optimizer, "an Optimizer")
    if ema is not None:
        arguments.instance("Trainer", "ema", ema, EMA, "an EMA or None")
    own = {id(parameter) for parameter in model.parameters()}
    given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if own and not any(id(parameter) in own for parameter in given):
        requirement = (
            "optimizer must have parameters of the model, as model.parameters() gives them"
        )
        raise value_error("Trainer", requirement, optimizer=type(optimizer).__name__)


def check_loss(value: Any) -> None:
    """Refuse what is no loss to be differentiated."""
    if not isinstance(value, Tensor):
        given = arguments.briefly(value)
        raise type_error("Trainer", "loss must give a tensor of one number", loss=given)
    if value.size != 1:
        requirement = "loss must give a tensor of one number (reduction='mean' or 'sum')"
        raise value_error("Trainer", requirement, loss_shape=value.shape)
