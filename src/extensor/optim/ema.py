"""A moving average of parameters, which often does better than the parameters themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from extensor.core import changes, entries, modes, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error
from extensor.errors.explanation import checked, explaining
from extensor.optim.states import array_like
from extensor.optim.update import Parameters, Update, as_state, assign, rebind, tensors_in


def average_update(xp: Any, average: Any, parameter: Any, decay: float) -> tuple[Any]:
    """``average + (1 - decay) * (parameter - average)``."""
    return (average + (1 - decay) * (parameter - average),)


_update = Update(average_update, roles=2)


class EMA:
    """Exponential moving average of parameters, which often predicts better than they do.

    Each update computes ``average = decay * average + (1 - decay) * parameter``. Averages begin as
    copies of the parameters and are kept in float32 or wider.

    Parameters
    ----------
    parameters : Tensor, iterable of Tensor or Module
        Tensors to average. Buffers of a module are not included.
    decay : float, default 0.999
        Share that the average keeps in each update, from 0 to 1.
    warmup : bool, default False
        Whether the decay of update ``t``, counted from 0, is at most ``(1 + t) / (10 + t)``, so
        that the random beginning is forgotten sooner.

    Attributes
    ----------
    parameters : list of Tensor
        The parameters.
    averages : list of Tensor
        Their averages. They share the memory that `update` changes.
    count : int
        Number of updates so far.

    Raises
    ------
    ValueError
        If ``decay`` is not in [0, 1].

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([0.0], requires_grad=True)
    >>> ema = ex.optim.EMA([w], decay=0.75)
    >>> with ex.no_grad():
    ...     w[0] = 4.0
    >>> ema.update()
    >>> with ema.applied():
    ...     print(w.item())
    1.0
    >>> w.item()
    4.0
    """

    @checked
    def __init__(self, parameters: Parameters, decay: float = 0.999, warmup: bool = False) -> None:
        if not 0 <= decay <= 1:
            raise value_error("EMA", "decay must be in [0, 1]", decay=decay)
        self.parameters = tensors_in("EMA", parameters)
        self.decay = decay
        self.warmup = warmup
        self.count = 0
        self._averages = [as_state(parameter._array) for parameter in self.parameters]

    @property
    def averages(self) -> list[Tensor]:
        """Return the averages, in float32 or wider. They share the memory that `update` changes."""
        return [wrap(array) for array in self._averages]

    def update(self) -> None:
        """Include the present parameters in the averages. Call it after each step of the optimizer."""
        decay = tracing.number(self, "decay")
        if self.warmup:
            count = tracing.number(self, "count")
            decay = min(decay, (1 + count) / (10 + count))
        trace = tracing.current()
        if trace is not None:
            trace.lifted(self)
        _update([self._averages, [x._array for x in self.parameters]], (decay,))
        changes.mark_all(self._averages)
        self._count_one([True]) if trace is None else trace.later(self._count_one)

    def _count_one(self, _: list[bool]) -> None:
        self.count += 1

    @explaining
    def copy_to(self, parameters: Parameters | None = None) -> None:
        """Write the averages into parameters.

        Parameters
        ----------
        parameters : Tensor, iterable of Tensor or Module, optional
            Where to write. By default these are the averaged parameters themselves.

        Raises
        ------
        ValueError
            If the shapes differ from those of the averages.
        """
        targets = self.parameters if parameters is None else tensors_in("EMA", parameters)
        if [x.shape for x in targets] != [array.shape for array in self._averages]:
            requirement = f"parameters must have shapes {[array.shape for array in self._averages]}"
            raise value_error("EMA", requirement, shapes=[x.shape for x in targets])
        self._write(targets, self._averages)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Replace the parameters by their averages inside a ``with`` block, for evaluation.

        Afterwards the parameters have their own values again, also if the block raised an error.
        """
        # Copies: the parameters keep their memory, which optimizers and views hold on to.
        kept = [x._array.copy() for x in self.parameters]
        self._write(self.parameters, self._averages)
        try:
            yield
        finally:
            self._write(self.parameters, kept)

    def _write(self, tensors: list[Tensor], sources: list[Any]) -> None:
        targets = [x._array for x in tensors]
        before = targets.copy()
        assign(targets, sources)
        rebind(tensors, before, targets)
        changes.mark_all(targets, modes.mode.anomaly)

    def state_dict(self) -> dict[str, Any]:
        """Return the averages and the number of updates.

        Returns
        -------
        dict of str to array or int
            A flat dict: "count", "average.0" and so on. The arrays are copies.
        """
        return self._state(True)

    def _state(self, copied: bool) -> dict[str, Any]:
        arrays = [array.copy() if copied else array for array in self._averages]
        averages = {f"average.{i}": array for i, array in enumerate(arrays)}
        return {"count": self.count, **averages}

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
            If entries are missing or unknown, or do not fit the averages.
        """
        self._prepared_state(state_dict)()

    def _prepared_state(self, state_dict: Any) -> Callable[[], None]:
        """A function that takes over ``state_dict``, which has been checked to fit."""
        op = "EMA.load_state_dict"
        expected = ["count", *(f"average.{i}" for i in range(len(self._averages)))]
        given = entries.with_keys(op, state_dict, expected)
        count = entries.count(op, "count", given["count"])
        arrays = [
            array_like(op, key, given[key], average.shape, average.dtype)
            for key, average in zip(expected[1:], self._averages, strict=True)
        ]

        def commit() -> None:
            assign(self._averages, arrays)
            changes.mark_all(self._averages)
            self.count = count

        return commit
