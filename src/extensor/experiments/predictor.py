"""Trained models: their outputs, their predictions in the words of the data, and their scores."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.data.table.cells import as_number
from extensor.errors import arguments, value_error
from extensor.experiments.api import Experiment, build_experiment, input_loader
from extensor.experiments.build import build_model, measure_model
from extensor.experiments.factories import load_weights
from extensor.experiments.goal import Goal
from extensor.experiments.sources import Samples, restore_preparation
from extensor.experiments.spec import Config, ExperimentSpec, listed_changes, read_config
from extensor.experiments.stored_runs import (
    PYTHON,
    Wording,
    find_checkpoint,
    find_run,
    read_checkpoint,
)
from extensor.experiments.user_functions import check_trust
from extensor.nn.preservation import preserve_state
from extensor.random.generator import Generator
from extensor.train.evaluation import plain, predicted
from extensor.train.run_folder import RunFolder


class TrainedModel:
    """A model with the weights of a checkpoint, which returns outputs for files and arrays.

    `load_trained` returns it. The data of the run are read only when `evaluate` or ``experiment`` needs
    them.

    Parameters
    ----------
    run : RunFolder
        Folder of the run.
    config : dict
        Configuration of the run.
    checkpoint : Path
        The file with the weights.
    wording : Wording, optional
        Terms of error messages, for the command line. Default: those of Python.
    trust : bool, default False
        Whether to allow the functions that the configuration names as ``module:function``.
    changes : iterable of str, default ()
        Keys of the configuration that the caller has set. Their functions need no trust.

    Attributes
    ----------
    model : Module
        The network with the trained weights, in evaluation mode.
    run, config, checkpoint
        The parameters.
    preparation : Preparation
        What was learned about the training data, such as means and class names.
    experiment : Experiment
        The experiment around this model, with the data as they are now. It is built when it is first
        read.

    Raises
    ------
    ValueError
        If the file is damaged or no checkpoint of this run, or functions are named without `trust`.

    See Also
    --------
    Predictor : Classes, probabilities and numbers in their own units instead of outputs.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> config = {
    ...     "epochs": 1,
    ...     "data": {"name": "digits"},
    ...     "model": {"name": "mlp", "sizes": [64, 16, 10]},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ex.train.experiment(config, folder=f"{folder}/run", callbacks=[]).fit()
    ...     trained = ex.train.load_trained(f"{folder}/run")
    >>> images, labels = ex.data.digits()[1].arrays
    >>> trained.predict(images).shape, trained.model.training
    ((355, 10), False)
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
        self.spec = ExperimentSpec.from_dict(config)
        self.checkpoint = checkpoint
        state = read_checkpoint(run, checkpoint, wording)
        self._learnt = state.get("preparation")
        self._target = state["config"].get("data", {}).get("target")
        self.preparation = restore_preparation(self.spec, self._learnt)
        with preserve_state():
            self.model, _ = build_model(self.spec, {})
        load_weights(self.model, state)

    def predict(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """Compute the outputs of the model.

        Parameters
        ----------
        inputs : array_like, DataFrame, dict, Dataset, str or Path
            An array of shape (samples, ...), a table, a data set, or a file or folder. It is prepared
            like the training data.
        batch_size : int, default 256
            Number of samples that are computed at once.

        Returns
        -------
        Tensor, (samples, ...)
            The outputs: scores, or numbers on the scale of training.
        """
        return predicted(self.model, None, input_loader(self.preparation, inputs, batch_size), 1)

    def evaluate(self) -> dict[str, Any]:
        """Compute the loss and the metrics on the test data of the run.

        Returns
        -------
        dict of str to object
            "loss" and the metrics by name.
        """
        return self.experiment.evaluate()

    def labelled(self, source: Any) -> Samples:
        """Read a file with targets, and prepare its samples like the training data.

        Parameters
        ----------
        source : str or Path
            The file or folder.

        Returns
        -------
        Samples
            The samples as a data set, their names, and remarks.
        """
        self._check_targets(source)
        return self.preparation.labelled(source)

    def _check_targets(self, source: Any) -> None:
        """Refuse the targets of the training data for the inputs of another file."""
        data = self.spec.data
        is_array = str(source).lower().endswith(".npy") and str(source) != data.train
        if is_array and data.target is not None and data.target == self._target:
            requirement = (
                "data.target must be the .npy file of these targets, which is not that of the "
                "training data (--set data.target=FILE.npy)"
            )
            raise value_error("data", requirement, path=str(source), target=data.target)

    def evaluate_on(self, source: Any) -> dict[str, Any]:
        """Compute the loss and the metrics on a file with targets.

        The data of the run are not read.

        Parameters
        ----------
        source : str, Path or Samples
            The file or folder, or samples that `labelled` returned.

        Returns
        -------
        dict of str to object
            "loss" and the metrics by name.
        """
        samples = source if isinstance(source, Samples) else self.labelled(source)
        with preserve_state():
            return measure_model(self.spec, self.model, self.preparation, samples)

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment around this model, with the data as they are now."""
        with preserve_state():
            try:
                return build_experiment(
                    self.spec, trained=self.model, learnt=self._learnt, is_new=False
                )
            finally:
                self.model.eval()


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
    """The predictions for some samples, as columns of the same length.

    `Predictor.table` returns it. Its length is the number of samples.

    Parameters
    ----------
    columns : dict of str to list
        The columns by name. The first one names the samples: files, rows, or numbers.
    lines : sequence of str, default ()
        Remarks on samples that differ from the training data.

    Attributes
    ----------
    columns : dict of str to list
        The columns.
    lines : list of str
        The remarks.

    Examples
    --------
    >>> from extensor.train import Predictions
    >>> predictions = Predictions({"file": ["a.png", "b.png"], "class": ["cat", "dog"]})
    >>> predictions
    Predictions(2 samples: file, class)
    >>> predictions.rows()[1]
    {'file': 'b.png', 'class': 'dog'}
    >>> print(predictions.csv(), end="")
    file,class
    a.png,cat
    b.png,dog
    """

    def __init__(self, columns: dict[str, list[Any]], lines: Sequence[str] = ()) -> None:
        self.columns = columns
        self.lines = list(lines)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"Predictions({len(self)} samples: {', '.join(self.columns)})"

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each sample.

        Returns
        -------
        list of dict
            The values of each sample by the name of the column.
        """
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def csv(self, safe: bool = False) -> str:
        """Return a CSV table, with numbers to their last digit.

        Parameters
        ----------
        safe : bool, default False
            Whether to put an apostrophe before each string that a spreadsheet would take for a formula.

        Returns
        -------
        str
            The table with its header. Several labels of a sample are joined by semicolons.
        """
        lines = []
        for row in (list(self.columns), *zip(*self.columns.values(), strict=True)):
            cells = [";".join(x) if isinstance(x, list) else x for x in row]
            lines.append(_csv_line(map(_without_formula, cells) if safe else cells))
        return "".join(lines)

    def json(self) -> str:
        """Return the rows as a JSON list of objects.

        Returns
        -------
        str
            The text, which ends with a line break.
        """
        return json.dumps(self.rows(), indent=1, ensure_ascii=False) + "\n"


class Predictor:
    """A trained model that predicts in the terms of its data: class names, or numbers in their units.

    Parameters
    ----------
    trained : TrainedModel
        The model, as `load_trained` returns it. `load` does both steps.

    Attributes
    ----------
    trained : TrainedModel
        The parameter.
    model : Module
        The network with the trained weights, in evaluation mode.
    task : str
        "regression", "binary", "multiclass", "multilabel" or "sequence".
    classes : list of str
        Names of the classes or labels, in the order of probabilities. It is empty if numbers are
        predicted.
    goal : Goal
        The task, and the meaning of the outputs.
    preparation : Preparation
        What was learned about the training data.

    See Also
    --------
    load_trained : The raw outputs of a model.

    Notes
    -----
    A run folder is all it needs: checkpoints contain class names, means, categories and everything else
    that was learned about the data. Nothing is written, and random numbers stay as they are.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> from pathlib import Path
    >>> rows = [f"{i % 7},{'large' if i % 7 > 3 else 'small'}" for i in range(70)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "parts.csv").write_text("\\n".join(["length,size", *rows]))
    ...     config = {"data": {"train": f"{folder}/parts.csv"}, "epochs": 8, "optimizer": {"lr": 0.1}}
    ...     _ = ex.train.experiment(config, folder=f"{folder}/run", callbacks=[]).fit()
    ...     predictor = ex.train.Predictor.load(f"{folder}/run")
    >>> predictor.classes, predictor.predict({"length": [0, 6]}).tolist()
    (['large', 'small'], ['small', 'large'])
    >>> predictor.predict_proba({"length": [0, 3, 6]}).shape
    (3, 2)
    >>> predictor.table({"length": [0, 6]})
    Predictions(2 samples: row, class, probability, p(large), p(small))
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
        """Load the model of a run. The data of the run are not needed.

        Parameters
        ----------
        run : str or Path
            Folder of the run, or its name in ``runs/``.
        checkpoint : str or Path, optional
            "latest", the name of a checkpoint in the run, or a file. Default: the best epoch if the run has
            early stopping, otherwise the latest.
        wording : Wording, optional
            Terms of error messages, for the command line. Default: those of Python.
        trust : bool, default False
            Whether to allow the functions that the configuration of the run names as
            ``module:function``. They run, so allow only those of a source you trust.

        Returns
        -------
        Predictor
            The model, ready to predict.

        Raises
        ------
        ValueError
            If there is no such run or checkpoint, the file is damaged, or functions are named without
            `trust`.
        """
        return cls(_load("load", run, checkpoint, None, wording, trust))

    def __repr__(self) -> str:
        classes = f", {len(self.classes)} classes" if self.classes else ""
        return f"Predictor({type(self.model).__name__}, {self.task}{classes}, {self.trained.checkpoint})"

    @property
    def goal(self) -> Goal:
        """The task, and the meaning of the outputs."""
        return self.preparation.goal

    @property
    def task(self) -> str:
        """The task: regression, binary, multiclass, multilabel or sequence."""
        return self.goal.task

    @property
    def classes(self) -> list[str]:
        """The names of the classes or labels. It is empty if numbers are predicted."""
        return list(self.goal.classes)

    def outputs(self, inputs: Any, batch_size: int = 256) -> Tensor:
        """Compute the raw outputs of the model: scores, or numbers on the scale of training.

        Parameters
        ----------
        inputs : str, Path, DataFrame, dict or array_like
            Inputs like those of `predict`.
        batch_size : int, default 256
            Number of samples that are computed at once.

        Returns
        -------
        Tensor, (samples, ...)
            The outputs.
        """
        return self.trained.predict(inputs, batch_size)

    def predict(self, inputs: Any, batch_size: int = 256) -> Any:
        """Predict the class, the labels or the numbers of each sample.

        Parameters
        ----------
        inputs : str, Path, DataFrame, dict or array_like
            A file or folder like those of the training data, with or without targets. Or its contents:
            a DataFrame, a dict of columns, or an array of shape (samples, ...). The columns of a table
            may be in any order, and further ones are ignored.
        batch_size : int, default 256
            Number of samples that are computed at once.

        Returns
        -------
        numpy.ndarray or list
            The name of the most probable class of each sample, (samples,); a list of the labels of each
            sample; or its numbers in their own units, (samples, ...).

        Raises
        ------
        ValueError
            If a column is missing, shapes differ from those of training, or a file cannot be read.
        """
        return self._goal_for(outputs := self.outputs(inputs, batch_size).numpy()).answers(outputs)

    def predict_proba(self, inputs: Any, batch_size: int = 256) -> Any:
        """Compute the probability of each of ``classes``.

        Parameters
        ----------
        inputs : str, Path, DataFrame, dict or array_like
            Inputs like those of `predict`.
        batch_size : int, default 256
            Number of samples that are computed at once.

        Returns
        -------
        numpy.ndarray, (samples, classes)
            The probabilities.

        Raises
        ------
        ValueError
            If the model predicts numbers.
        """
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
        """Predict each sample, with its name and with probabilities.

        Parameters
        ----------
        inputs : str, Path, DataFrame, dict or array_like
            Inputs like those of `predict`.
        batch_size : int, default 256
            Number of samples that are computed at once.

        Returns
        -------
        Predictions
            The columns, which can be written as CSV or JSON. Probabilities of single classes are left
            out if there are more than 50.

        Raises
        ------
        ValueError
            If the model is one of texts. Use `generate` then.
        """
        if self.task == "sequence":
            requirement = "a model of texts continues a prompt: generate(prompt)"
            raise value_error("predict", requirement, task=self.task)
        samples = self.preparation.unlabelled(inputs)
        outputs = self.outputs(samples, batch_size).numpy()
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
        """Compute the loss and the metrics.

        Parameters
        ----------
        source : str or Path, optional
            A file or folder with targets. Default: the test data of the run.

        Returns
        -------
        dict of str to object
            "loss" and the metrics by name.
        """
        if source is None:
            return self.trained.evaluate()
        return {key: plain(value) for key, value in self.trained.evaluate_on(source).items()}

    def unknown(self, prompt: str) -> list[str]:
        """Return the characters of a prompt that do not occur in the training text.

        Parameters
        ----------
        prompt : str
            The text.

        Returns
        -------
        list of str
            The characters, sorted, each once.

        Raises
        ------
        ValueError
            If the model is not one of texts.
        """
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
        """Continue a text with a model of texts.

        Parameters
        ----------
        prompt : str, default a line break
            Beginning of the text. Characters that did not occur in training are replaced.
        count : int, default 200
            Number of characters, or bytes, to add.
        temperature : float, default 0.8
            Randomness of the choice. 0 always takes the most probable character.
        seed : int, default 0
            Seed of the random numbers. The same seed gives the same text.

        Returns
        -------
        str
            The prompt and its continuation.

        Raises
        ------
        ValueError
            If the model is not one of texts.
        """
        vocabulary = self._vocabulary("generate")
        tokens = vocabulary.encode(arguments.text("generate", "prompt", prompt), replace=True)
        model: Any = self.model
        written = model.generate(tokens, count, temperature, generator=Generator(seed))
        return str(vocabulary.decode(written))


def load_trained(
    run: str | Path,
    checkpoint: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
) -> TrainedModel:
    """Load the model that a run has trained, for its raw outputs or its score.

    Nothing is written, and random numbers stay as they are. If the run keeps averages of the parameters,
    they are loaded instead of the parameters.

    Parameters
    ----------
    run : str or Path
        Folder of the run, or its name in ``runs/``.
    checkpoint : str or Path, optional
        "latest", the name of a checkpoint in the run, or a file. Default: the best epoch if the run has
        early stopping, otherwise the latest.
    changes : dict of str to object, optional
        Entries of the configuration to set, such as ``{"data.test": "other.npz"}``.
    trust : bool, default False
        Whether to allow the functions that the configuration of the run names as ``module:function``.
        They run, so allow only those of a source you trust.

    Returns
    -------
    TrainedModel
        The model with its weights.

    Raises
    ------
    ValueError
        If there is no such run or checkpoint, the file is damaged, an entry is unknown, or functions
        are named without `trust`.

    See Also
    --------
    Predictor : Classes, probabilities and numbers in their own units instead of outputs.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> config = {
    ...     "epochs": 1,
    ...     "data": {"name": "digits"},
    ...     "model": {"name": "mlp", "sizes": [64, 16, 10]},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ex.train.experiment(config, folder=f"{folder}/run", callbacks=[]).fit()
    ...     trained = ex.train.load_trained(f"{folder}/run")
    ...     path = trained.checkpoint
    >>> path.name, trained.model.training, sorted(trained.evaluate())
    ('step-000000046.safetensors', False, ['accuracy', 'f1', 'loss'])
    """
    return _load("load_trained", run, checkpoint, changes, PYTHON, trust)


def _load(
    op: str,
    run: str | Path,
    checkpoint: str | Path | None,
    changes: Mapping[str, Any] | None,
    wording: Wording,
    trust: bool,
) -> TrainedModel:
    entries = listed_changes(op, changes)
    trust = arguments.flag(op, "trust", trust)
    folder = find_run(run)
    path = find_checkpoint(folder, checkpoint, wording)
    config = read_config(folder.config, entries)
    own = [key for key, _ in entries]
    return TrainedModel(folder, config, path, wording, trust=trust, changes=own)
