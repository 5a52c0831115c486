"""What experiments write into the log beside the epochs: the data, texts of a model, the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extensor.io.regular_files import open_own
from extensor.nn.preservation import preserve_state
from extensor.random.generator import Generator
from extensor.train.callback import Callback
from extensor.train.logs import read_log
from extensor.train.run import RunFolder

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

_DATA = "data"  # the event of a log that says what was found in the data


class Findings(Callback):
    """Says in the log what was found in the data."""

    only_first = True

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)

    def fit_began(self, trainer: Trainer) -> None:
        if trainer.step == 0:
            trainer.log({"event": _DATA, "lines": self.lines})


def keep_findings(trainer: Trainer) -> None:
    """Let a run that starts over say of its data what it said when it began.

    Its configuration has been filled in since, so what was inferred then is now read from it.
    """
    if trainer.run is None or not trainer.run.log.is_file():
        return
    first = next(iter(read_log(trainer.run.log)), {})
    for callback in trainer.callbacks:
        if isinstance(callback, Findings) and first.get("event") == _DATA:
            callback.lines = list(first.get("lines", callback.lines))


class TextSamples(Callback):
    """Lets the model write after each epoch; what it writes is logged, and shown.

    Each epoch has random numbers of its own, so that nothing else that is drawn depends on it.
    """

    only_first = True

    def __init__(
        self, vocabulary: Any, seed: int, options: Mapping[str, Any], show: Callable[[str], None]
    ) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self.length = int(options.get("length", 200))
        self.prompt = str(options.get("prompt", "\n"))
        self.temperature = float(options.get("temperature", 0.8))
        self.show = show

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        model: Any = trainer.model
        begin = self.vocabulary.encode(self.prompt, replace=True)
        generator = Generator((self.seed << 20) + record["epoch"])
        with preserve_state(model):  # which only the first of several workers asks to write
            tokens = model.generate(begin, self.length, self.temperature, generator=generator)
        text = self.vocabulary.decode(tokens)
        trainer.log(
            {"event": "sample", "epoch": record["epoch"], "step": record["step"], "text": text}
        )
        self.show(f"epoch {record['epoch']} writes: {text.strip()[:200]}")


def write_test(run: RunFolder, step: int, found: Mapping[str, Any]) -> None:
    """Add what the test gave to the log of a run that is over."""
    line = json.dumps({"event": "test", "step": step, **found}) + "\n"
    with open(run.log, "a", encoding="utf-8", opener=open_own) as file:
        file.write(line)
