"""The parameters that a step trains, which may change from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.distributed import agreement
from extensor.errors import type_error
from extensor.nn.module import Module


class TrainedParameters:
    """Those of ``chosen`` that require gradients, or of all that ``model`` has; the last come first.

    :attr:`tensors` are those of the last :meth:`update`.
    """

    def __init__(self, model: Module, chosen: Sequence[Tensor] | None) -> None:
        self._model = model
        self.chosen = chosen
        self.tensors: list[Tensor] = []
        self._arrays: list[Any] = []
        self._digest = 0

    def _now(self) -> list[tuple[int, Tensor]]:
        """The parameters to train now, with their places among all that were chosen."""
        chosen = self._model.parameters() if self.chosen is None else self.chosen
        pairs = [(place, x) for place, x in enumerate(chosen) if x.requires_grad]
        return pairs[::-1]  # the last layer's gradients are known first

    def is_outdated(self) -> bool:
        """True if others are to be trained than before, or an array was replaced, as by a cast."""
        now = [x for _, x in self._now()]
        if len(now) != len(self.tensors):
            return True
        pairs = zip(now, self.tensors, self._arrays, strict=True)
        return any(new is not old or new._array is not array for new, old, array in pairs)

    def digest(self) -> int:
        """A number for which parameters are to be trained now, the same on workers that agree."""
        if not self.is_outdated():
            return self._digest
        kinds = [(place, x.shape, str(x.dtype)) for place, x in self._now()]
        return int(agreement.digest(kinds), 16)

    def update(self) -> None:
        """Take the parameters that are to be trained now."""
        digest = self.digest()
        self.tensors = [x for _, x in self._now()]
        self._arrays = [x._array for x in self.tensors]
        self._digest = digest
        for array in self._arrays:
            if not isinstance(array, np.ndarray):
                requirement = "parameters must be stored in NumPy's arrays"
                raise type_error("Gradients", requirement, parameter=type(array).__name__)
