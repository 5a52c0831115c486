"""A step whose parts are compiled programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.train.step_strategy import Batch, LocalStep, OnOutput


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
