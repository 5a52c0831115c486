"""A trained model in the words of its data: names in, names out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.data import DataLoader
from extensor.data.table.cells import as_number
from extensor.errors import arguments, value_error
from extensor.random.generator import Generator
from extensor.train.evaluation import predicted
from extensor.train.experiments.config import read_config
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.runs import found_checkpoint, found_run
from extensor.train.experiments.trained import TrainedModel
from extensor.train.experiments.wording import PYTHON, Wording
from extensor.train.outputs import plain

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what begins one in a spreadsheet
_MOST_CLASSES = 50  # whose probabilities are written each in a column of its own


def _csv_line(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    # The writer quotes a cell with a character of the line's end, and \r needs quotes too.
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _without_formula(cell: Any) -> Any:
    """A cell of which a spreadsheet computes nothing."""
    if not isinstance(cell, str) or as_number(cell) is not None:
        return cell
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULAS) else cell


class Predictions:
    """What a model says of some samples: ``columns`` by name, all of one length.

    The first is the name of the sample: a file, a row, or a number. ``lines`` says what the samples
    have that those of the training did not.
    """

    def __init__(self, columns: dict[str, list[Any]], lines: Sequence[str] = ()) -> None:
        self.columns = columns
        self.lines = list(lines)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"Predictions({len(self)} samples: {', '.join(self.columns)})"

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each sample."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def csv(self, safe: bool = False) -> str:
        """A table as text, its numbers to their last digit.

        With ``safe`` a word that a spreadsheet would take for a formula begins with an apostrophe;
        numbers stay as they are. Without it other programs read the same words.
        """
        lines = []
        for row in (list(self.columns), *zip(*self.columns.values(), strict=True)):
            cells = [";".join(x) if isinstance(x, list) else x for x in row]
            lines.append(_csv_line(map(_without_formula, cells) if safe else cells))
        return "".join(lines)

    def json(self) -> str:
        """A list of objects."""
        return json.dumps(self.rows(), indent=1, ensure_ascii=False) + "\n"


class Predictor:
    """A model that a run has trained, and what was learnt about its data.

    ``ex.train.Predictor.load("runs/iris").predict("new.csv")`` gives the name of a class for each row.
    """

    def __init__(self, trained: TrainedModel) -> None:
        self.trained = trained
        self.model = trained.model
        self.preparation = trained.preparation

    @classmethod
    def load(
        cls,
        run: str | Path,
        checkpoint: str | Path | None = None,
        wording: Wording = PYTHON,
        *,
        trust: bool = False,
    ) -> Predictor:
        """The model of a run, a folder or its name in ``runs/``; its data need not be there.

        Without a ``checkpoint`` it is the best, if the run keeps one, otherwise the latest. With
        ``trust`` functions that the run's configuration names as ``module:function`` may run.
        """
        trust = arguments.flag("load", "trust", trust)
        folder = found_run(run)
        path = found_checkpoint(folder, checkpoint, wording)
        config = read_config(folder.config)
        return cls(TrainedModel(folder, config, path, wording, trust=trust))

    def __repr__(self) -> str:
        classes = f", {len(self.classes)} classes" if self.classes else ""
        return f"Predictor({type(self.model).__name__}, {self.task}{classes}, {self.trained.checkpoint})"

    @property
    def goal(self) -> Goal:
        """The task, and what outputs stand for."""
        return self.preparation.goal

    @property
    def task(self) -> str:
        """Regression, binary, multiclass, multilabel or sequence."""
        return self.goal.task

    @property
    def classes(self) -> list[str]:
        """The names of the classes or labels; none where numbers are predicted."""
        return list(self.goal.classes)

    def outputs(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """What the model gives, as it is: scores, or numbers on the scale on which they are learned."""
        return self.trained.predict(inputs, batch_size)

    def predict(self, inputs: Any, batch_size: int = 256) -> Any:
        """The names of classes, lists of labels, or numbers, for each sample.

        ``inputs`` is a file or folder as the run was trained with, with or without targets, or what
        lies in one: a DataFrame, a dict of columns, an array.
        """
        return self._goal_for(outputs := self.outputs(inputs, batch_size).numpy()).answers(outputs)

    def predict_proba(self, inputs: Any, batch_size: int = 256) -> Any:
        """The probability of each of :attr:`classes`, a row for each sample."""
        outputs = self.outputs(inputs, batch_size).numpy()
        chances = self._goal_for(outputs).probabilities(outputs)
        if chances is None:
            raise value_error("predict_proba", "the task must have classes", task=self.task)
        return chances

    def _goal_for(self, outputs: Any) -> Goal:
        """The goal; classes that have no names are counted."""
        goal = self.goal
        count = 1 if outputs.ndim == 1 else outputs.shape[1]
        known = {"binary": 1, "regression": len(goal.mean)}.get(goal.task, len(goal.classes))
        fits = known <= count if goal.task == "multiclass" else known in (0, count)
        if not fits and goal.task != "sequence":
            requirement = (
                f"the model must have as many outputs as the task {goal.task} has, {known}"
            )
            raise value_error("predict", requirement, outputs=count)
        if goal.task != "multiclass" or outputs.ndim != 2:
            return goal
        # A model may have outputs for classes that did not occur.
        more = range(len(goal.classes), outputs.shape[1])
        return replace(goal, classes=(*goal.classes, *map(str, more)))

    def table(self, inputs: Any, batch_size: int = 256) -> Predictions:
        """The predictions with the names of the samples: files, rows, or numbers."""
        if self.task == "sequence":
            requirement = "a model of texts goes on with them: generate(prompt)"
            raise value_error("predict", requirement, task=self.task)
        batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
        samples = self.preparation.unlabelled(inputs)
        loader = DataLoader(samples.dataset, batch_size, transform=self.preparation.transforms())
        outputs = predicted(self.model, None, loader, 1).numpy()
        count = len(outputs)
        kind = {"pictures": "file", "table": "row", "series": "forecast"}
        first = kind.get(self.preparation.kind, "sample")
        names: list[Any] = list(samples.names) if samples.names is not None else list(range(count))
        if first == "row":
            names = list(range(1, count + 1))
        columns = self._columns(outputs)
        first = f"{first} number" if first in columns else first
        return Predictions({first: names, **columns}, samples.lines)

    def _columns(self, outputs: Any) -> dict[str, list[Any]]:
        goal = self._goal_for(outputs)
        answers, chances = goal.answers(outputs), goal.probabilities(outputs)
        if chances is None or outputs.ndim > 2:
            rows = np.asarray(answers).reshape(len(outputs), -1)
            names = list(goal.names) if len(goal.names) == rows.shape[1] else []
            names = names or [f"output{i}" for i in range(rows.shape[1])]
            return {name: rows[:, i].tolist() for i, name in enumerate(names)}
        columns: dict[str, list[Any]] = {}
        if goal.task == "multilabel":
            columns["labels"] = list(answers)
        else:
            columns["class"] = answers.tolist()
            columns["probability"] = [round(x, 6) for x in chances.max(axis=1).tolist()]
        if len(goal.classes) <= _MOST_CLASSES:
            for i, name in enumerate(goal.classes):
                columns[f"p({name})"] = [round(x, 6) for x in chances[:, i].tolist()]
        return columns

    def evaluate(self, source: Any = None) -> dict[str, Any]:
        """The loss and the metrics on a file with targets, or on the test data of the run."""
        if source is None:
            return self.trained.evaluate()
        return {key: plain(value) for key, value in self.trained.evaluate_on(source).items()}

    def unknown(self, prompt: str) -> list[str]:
        """The characters of ``prompt`` that a model of texts was not trained with."""
        vocabulary: Any = self._vocabulary("unknown")
        tokens = vocabulary.encode(arguments.text("unknown", "prompt", prompt), replace=True)
        if vocabulary.unknown is None:
            return []
        return sorted({prompt[i] for i in np.flatnonzero(tokens == vocabulary.unknown)})

    def _vocabulary(self, op: str) -> Any:
        if self.task != "sequence":
            raise value_error(op, "the model must be one of texts", task=self.task)
        return self.preparation.vocabulary  # type: ignore[attr-defined]

    def generate(
        self, prompt: str = "\n", count: int = 200, temperature: float = 0.8, seed: int = 0
    ) -> str:
        """The text with which a model of texts goes on after ``prompt``."""
        vocabulary = self._vocabulary("generate")
        tokens = vocabulary.encode(arguments.text("generate", "prompt", prompt), replace=True)
        model: Any = self.model
        written = model.generate(tokens, count, temperature, generator=Generator(seed))
        return str(vocabulary.decode(written))
