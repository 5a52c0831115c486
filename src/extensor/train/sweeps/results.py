"""What the trials of a sweep have come to, and which of them go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from extensor.errors import value_error
from extensor.io.atomic import write_atomically
from extensor.train.logs import read_log
from extensor.train.sweeps.halving import Rung


class Result(NamedTuple):
    """The objective of a trial at the end of a rung, or why it failed there.

    ``epoch`` is the one that ``value`` is of, and ``loss`` the validation's in it, if they are known.
    """

    trial: int
    epochs: int
    value: float | None
    failed: str | None = None
    epoch: int | None = None
    loss: float | None = None


class Results:
    """The file ``trials.jsonl``: a line for each trial and rung, in their order.

    It does not depend on which trial was faster, nor on interruptions.
    """

    def __init__(self, path: Path, rungs: Sequence[Rung], falling: bool) -> None:
        self.path = path
        self.rungs = list(rungs)
        self.falling = falling
        self._found: dict[tuple[int, int], Result] = {}
        for record in read_log(path) if path.exists() else ():
            result = self._checked(record)
            self._found[result.epochs, result.trial] = result

    def _checked(self, record: Any) -> Result:
        """A line of the file, or an error if it is none of this sweep."""
        trial, epochs, value, failed, epoch, loss = (
            record.get(key) if isinstance(record, dict) else None for key in Result._fields
        )
        if (
            not isinstance(trial, int)
            or not 1 <= trial <= self.rungs[0].trials
            or epochs not in [rung.epochs for rung in self.rungs]
            or _is_number(value) == isinstance(failed, str)
            or not (epoch is None or isinstance(epoch, int))
            or not (loss is None or _is_number(loss))
        ):
            raise value_error(
                "sweep", f"{self.path} must be as the sweep wrote it", line=json.dumps(record)[:80]
            )
        return Result(trial, epochs, value, failed, epoch, loss)

    def add(self, result: Result) -> None:
        """Keep a result, on the disk too."""
        self._found[result.epochs, result.trial] = result
        lines = [
            json.dumps({key: x for key, x in self._found[place]._asdict().items() if x is not None})
            for place in sorted(self._found)
        ]
        write_atomically(self.path, ("\n".join(lines) + "\n").encode())

    def waiting(self) -> tuple[Rung, list[int]] | None:
        """The rung that is not over yet, and the trials of it that are to be trained; or None.

        A rung has fewer trials than were meant to be in it, if too many failed before.
        """
        members = list(range(1, self.rungs[0].trials + 1))
        for place, rung in enumerate(self.rungs):
            left = [trial for trial in members if (rung.epochs, trial) not in self._found]
            if left:
                return rung._replace(trials=len(members)), left
            if place + 1 < len(self.rungs):
                best = self._ranked(self._found[rung.epochs, trial] for trial in members)
                members = sorted(x.trial for x in best[: self.rungs[place + 1].trials])
        return None

    def _ranked(self, results: Any) -> list[Result]:
        """Those that did not fail, the best first.

        Of equals, as accuracies of few samples are, that of the lower loss, then the first one drawn.
        """
        sign = 1.0 if self.falling else -1.0

        def key(result: Result) -> tuple[float, float, int]:
            assert result.value is not None
            return sign * result.value, inf if result.loss is None else result.loss, result.trial

        return sorted((result for result in results if result.value is not None), key=key)

    def standing(self) -> list[Result]:
        """The last result of each trial: those that came furthest first, and the best of them.

        Those that failed come last.
        """
        last = {result.trial: result for _, result in sorted(self._found.items())}
        ranked = self._ranked(last.values())
        ranked.sort(key=lambda result: -result.epochs)
        failed = [result for _, result in sorted(last.items()) if result.value is None]
        return ranked + failed

    def best(self) -> Result | None:
        """The best of those that came furthest, if any did not fail."""
        return next((result for result in self.standing() if result.value is not None), None)

    def of(self, trial: int) -> list[Result]:
        """The results of a trial, one for each rung it was trained in."""
        return [result for (_, number), result in sorted(self._found.items()) if number == trial]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)
