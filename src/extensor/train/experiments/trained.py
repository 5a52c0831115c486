"""A model that a run has trained: its predictions, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from extensor import random
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.train.evaluation import predicted
from extensor.train.experiments.assembly import (
    Experiment,
    assembled,
    input_loader,
    measured,
)
from extensor.train.experiments.best import load_weights
from extensor.train.experiments.config import Config
from extensor.train.experiments.kinds import Samples, restored
from extensor.train.experiments.parts import built_model
from extensor.train.experiments.runs import read_checkpoint
from extensor.train.experiments.user_functions import check_trust
from extensor.train.experiments.wording import PYTHON, Wording
from extensor.train.run import RunFolder


class TrainedModel:
    """What :func:`load_trained` gives: ``model`` with the weights of ``checkpoint``, and its use.

    ``run`` is the folder and ``config`` the configuration that it was trained with. The data are
    read only if :meth:`evaluate` or ``experiment`` is asked for. Functions that ``config`` names run
    with ``trust`` only, except in entries that the caller has set, which ``changes`` lists.
    """

    def __init__(
        self,
        run: RunFolder,
        config: Config,
        checkpoint: Path,
        wording: Wording = PYTHON,
        *,
        trust: bool = False,
        changes: Iterable[str] = (),
    ) -> None:
        check_trust(config, run.config, trust, wording, changes)
        self.run = run
        self.config = config
        self.checkpoint = checkpoint
        state = read_checkpoint(run, checkpoint, wording)
        self._learnt = state.get("preparation")
        self._target = state["config"].get("data", {}).get("target")
        self.preparation = restored(config, self._learnt)
        with _chance_as_it_was():
            self.model, _ = built_model(config, {})
        load_weights(self.model, state)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs for an array, a data set or a file, prepared as the training data were."""
        return predicted(self.model, None, input_loader(self.preparation, inputs, batch_size), 1)

    def evaluate(self) -> dict[str, Any]:
        """The loss and the metrics on the test data."""
        return self.experiment.evaluate()

    def labelled(self, source: Any) -> Samples:
        """The samples of a file that has targets, prepared as the training data were."""
        self._check_targets(source)
        return self.preparation.labelled(source)

    def _check_targets(self, source: Any) -> None:
        """Refuse the targets of the training data for the inputs of another file."""
        table = self.config["data"]
        is_array = str(source).lower().endswith(".npy") and str(source) != table.get("train")
        if is_array and table.get("target") is not None and table["target"] == self._target:
            requirement = (
                "data.target must be the .npy file of these targets, which is not that of the "
                "training data (--set data.target=FILE.npy)"
            )
            raise value_error("data", requirement, path=str(source), target=table["target"])

    def evaluate_on(self, source: Any) -> dict[str, Any]:
        """The loss and the metrics on a file that has targets; the data of the run are not read."""
        samples = source if isinstance(source, Samples) else self.labelled(source)
        with _chance_as_it_was():
            return measured(self.config, self.model, self.preparation, samples)

    @cached_property
    def experiment(self) -> Experiment:
        """All that the configuration describes around this model, of the data as they are now."""
        with _chance_as_it_was():
            try:
                return assembled(self.config, trained=self.model, learnt=self._learnt, is_new=False)
            finally:
                self.model.eval()


@contextmanager
def _chance_as_it_was() -> Iterator[None]:
    """A model that is only looked at must not change what others draw."""
    state = random.get_state()
    try:
        yield
    finally:
        random.set_state(state)
