"""Experiments: from a configuration to a run that can be trained, resumed, measured and used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data import DataLoader, Dataset
from extensor.errors import arguments, value_error
from extensor.experiments.build import (
    build_loaders,
    build_loss,
    build_model,
    complete_spec,
    rehearse,
)
from extensor.experiments.factories import (
    BEST,
    BestWeights,
    TrainerBuilder,
    load_weights,
    write_test,
)
from extensor.experiments.goal import Goal
from extensor.experiments.sources import (
    Preparation,
    Samples,
    preparation_state,
    prepare_data,
    with_kind,
)
from extensor.experiments.sources.preparation import check_same_data, digest_of
from extensor.experiments.spec import (
    Config,
    ExperimentSpec,
    check_effect,
    listed_changes,
    read_config,
)
from extensor.experiments.stored_runs import (
    PYTHON,
    Changes,
    Wording,
    find_run,
    is_stored,
    load_into,
    read_resumption,
)
from extensor.experiments.user_functions import check_trust
from extensor.io.state_file import load
from extensor.io.toml import as_toml
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state
from extensor.train.callbacks import Callback, checked_callbacks
from extensor.train.evaluation import plain, predicted
from extensor.train.run_folder import TIME, RunFolder, check_free, folder_of_new_run
from extensor.train.trainer import Trainer


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """A run that is ready to begin or to continue: its data, its model and its trainer.

    `experiment` returns it; users do not create it. All parameters are attributes too.

    Parameters
    ----------
    spec : ExperimentSpec
        The whole configuration, with every default written out.
    train_data : Dataset
        Samples to train on.
    validation_data : Dataset or None
        Samples to validate with. Without them the test data are measured after each epoch.
    test_data : Dataset
        Samples to test on.
    train_loader : DataLoader
        Batches of the training data.
    validation_loader : DataLoader or None
        Batches of the validation data.
    test_loader : DataLoader
        Batches of the test data.
    model : Module
        The network.
    trainer : Trainer
        The trainer of ``model``.
    example : tuple of array_like
        Inputs of one sample, as a batch.
    generator_state : tuple of int
        State of the random numbers with which training begins.
    preparation : Preparation
        What was learned about the data, such as means and class names.
    lines : list of str
        Remarks on the data, as ``extensor train`` prints them.
    sample_names : sequence of str, optional
        Names of the test samples.
    changes : dict of str to tuple, optional
        For a resumed run the changed entries, with their values before and after.

    Attributes
    ----------
    config : dict
        The whole configuration, as tables of plain values.
    goal : Goal
        The task, and the meaning of targets and outputs.

    See Also
    --------
    experiment : Its examples show how to train and predict.

    Examples
    --------
    >>> import extensor as ex
    >>> config = {"data": {"name": "digits"}, "model": {"name": "mlp", "sizes": [64, 10]}}
    >>> experiment = ex.train.experiment(config)
    >>> experiment.goal.task, len(experiment.train_data), len(experiment.test_data)
    ('multiclass', 1442, 355)
    >>> experiment.config["loss"]["name"], experiment.trainer.epoch
    ('CrossEntropyLoss', 0)
    """

    spec: ExperimentSpec
    train_data: Dataset
    validation_data: Dataset | None
    test_data: Dataset
    train_loader: DataLoader
    validation_loader: DataLoader | None
    test_loader: DataLoader
    model: Module
    trainer: Trainer
    example: tuple[Any, ...]
    generator_state: tuple[int, int]
    preparation: Preparation
    lines: list[str]
    sample_names: Sequence[str] | None = None
    changes: Changes = field(default_factory=dict)

    @cached_property
    def config(self) -> Config:
        """The whole configuration as a dict."""
        return self.spec.to_dict()

    @property
    def goal(self) -> Goal:
        """The task, and the meaning of targets and outputs."""
        return self.preparation.goal

    def fit(self) -> list[dict[str, Any]]:
        """Train until the epochs of the configuration are over.

        The result depends on the configuration alone, not on random numbers drawn since the experiment was
        built. If there are validation data and a folder, the test data are measured once at the end, with the
        best weights. Signals end training as they end `Trainer.fit`.

        Returns
        -------
        History
            The record of each epoch, as in the log.

        Raises
        ------
        NotFiniteError, KeyboardInterrupt, SystemExit, WorkerLostError
            As `Trainer.fit` raises them.
        """
        history = self.train_until(self.spec.epochs)
        if self.trainer.run is not None and self.validation_loader is not None:
            all_workers = self.trainer.workers
            all_workers.barrier("best weights")  # which the first one has written by then
            with self._best_in_trainer() as trainer:
                values = trainer.evaluate_together(self.test_loader)
            if all_workers.is_first:
                values = {key: plain(value) for key, value in values.items()}
                write_test(self.trainer.run, self.trainer.step, values)
        return history

    def train_until(self, epochs: int) -> list[dict[str, Any]]:
        """Train until some epochs are over, and test nothing.

        The schedule stays that of the whole run, so training in parts gives the same bits.

        Parameters
        ----------
        epochs : int
            Number of epochs, counted from the beginning of the run.

        Returns
        -------
        History
            The record of each epoch, as in the log.
        """
        if self.trainer.step == 0:
            random.set_state(self.generator_state)
        validation = self.validation_loader or self.test_loader
        return self.trainer.fit(self.train_loader, epochs, validation)

    def evaluate(self) -> dict[str, Any]:
        """Compute the loss and the metrics on the test data.

        The weights of the best epoch are used if the run keeps them.

        Returns
        -------
        dict of str to object
            "loss" and the metrics by name.
        """
        with self._best_in_trainer() as trainer:
            return trainer.evaluate(self.test_loader)

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
            The outputs: scores, or numbers on the scale of training. The weights of the best epoch are
            used if the run keeps them.
        """
        return self._predict(input_loader(self.preparation, inputs, batch_size))

    def test_outputs(self) -> Any:
        """Compute the outputs for the test data.

        Returns
        -------
        numpy.ndarray, (samples, ...)
            The outputs, as of `predict`.
        """
        return self._predict(self.test_loader).numpy()

    def best_model(self) -> Module | None:
        """Return the model of the best epoch.

        Returns
        -------
        Module or None
            A copy of the model, or None if the run does not keep the best epoch or has trained none yet.
        """
        keeper = [x for x in self.trainer.callbacks if isinstance(x, BestWeights)]
        if not keeper:
            return None
        weights = keeper[0].weights
        if self.trainer.checkpoints is not None:
            path = self.trainer.checkpoints.folder / f"{BEST}.safetensors"
            weights = load(path, foreign=False) if path.is_file() else None
        if weights is None:
            return None
        model = deepcopy(self.model)
        load_weights(model, weights)
        return model

    def _predict(self, loader: DataLoader) -> Tensor:
        best = self.best_model()
        return self.trainer.predict(loader) if best is None else predicted(best, None, loader, 1)

    @contextmanager
    def _best_in_trainer(self) -> Iterator[Trainer]:
        """Within the block the trainer evaluates the model of the best epoch, if one is kept."""
        trainer, model = self.trainer, self.best_model()
        step = trainer.take_step
        before = (trainer.model, step.model, step.ema)
        if model is not None:
            trainer.model, step.model, step.ema = model, model, None
        try:
            yield trainer
        finally:
            trainer.model, step.model, step.ema = before


def input_loader(preparation: Preparation, inputs: Any, batch_size: int) -> DataLoader:
    """The batches of ``inputs``: samples, a file, a folder of pictures, an array or a data set."""
    batch_size = arguments.integer("predict", "batch_size", batch_size, 1)
    samples = inputs if isinstance(inputs, Samples) else preparation.unlabelled(inputs)
    return DataLoader(samples.dataset, batch_size, transform=preparation.transforms())


LATEST = "latest"


def experiment(
    config: str | Path | Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    folder: str | Path | None = None,
    overwrite: bool = False,
    resume: str | Path | None = None,
    checkpoint: str | Path = LATEST,
    callbacks: Sequence[Callback] | None = None,
    trust: bool = False,
) -> Experiment:
    """Build a run from a configuration, ready for `Experiment.fit`.

    This is what ``extensor train`` does. Everything is checked, and one sample passes through model and
    loss, before anything is written. Random numbers begin with the seed of the configuration.

    Parameters
    ----------
    config : str, Path or dict, optional
        A TOML file, or a dict of the same tables. Without it LeNet-5 learns the digits that come with the
        library. A configuration may name functions as ``module:function``, and they run: it is a program.
    changes : dict of str to object, optional
        Entries to set, such as ``{"optimizer.lr": 0.01}``. None removes an entry.
    folder : str or Path, optional
        Folder of the run, which must be new. ``{time}`` in its name is the date and time. Default:
        nothing is written.
    overwrite : bool, default False
        Whether to rename an earlier run in `folder` to ``<folder>-earlier`` when training begins.
    resume : str or Path, optional
        Folder of a run to continue, or its name in ``runs/``. It replaces `config` and `folder`.
        ``changes`` take effect from there on, and changes that would make it another run are refused.
    checkpoint : str or Path, default "latest"
        Where to resume: "latest", the name of a checkpoint, or a file.
    callbacks : sequence of Callback, optional
        Callbacks that replace the progress on standard error. Callbacks that write into the folder are
        always added.
    trust : bool, default False
        Whether to allow the functions that the configuration of a stored run names. It may come from
        somebody else.

    Returns
    -------
    Experiment
        The data, the model and the trainer.

    Raises
    ------
    ValueError
        If an entry is unknown or wrong, data, model and loss do not fit each other, or the folder has
        a run. If the run to resume or its checkpoint does not exist, or its data have changed.

    See Also
    --------
    Predictor : Predict with the model of a run.
    Trainer : The training loop, for your own data and model.

    Examples
    --------
    >>> import numpy as np, extensor as ex
    >>> config = {
    ...     "epochs": 3,
    ...     "data": {"name": "digits", "normalize": {"mean": 5, "std": 6}},
    ...     "model": {"name": "mlp", "sizes": [64, 32, 10]},
    ... }
    >>> experiment = ex.train.experiment(config, {"optimizer.lr": 0.01}, callbacks=[])
    >>> history = experiment.fit()
    >>> history[-1]["validation_accuracy"] > 0.9
    True
    >>> experiment.predict(np.zeros((2, 1, 8, 8))).shape
    (2, 10)
    >>> ex.train.experiment(config, {"optimizer.lrr": 0.01})
    Traceback (most recent call last):
    ValueError: unknown key 'optimizer.lrr' in the configuration; did you mean 'optimizer.lr'?
    """
    entries = listed_changes("experiment", changes)
    overwrite = arguments.flag("experiment", "overwrite", overwrite)
    trust = arguments.flag("experiment", "trust", trust)
    if callbacks is not None:
        callbacks = checked_callbacks(callbacks, "experiment")
    if resume is not None:
        if config is not None or folder is not None or overwrite:
            requirement = "a resumed run keeps its configuration and its folder"
            raise value_error("experiment", requirement, resume=str(resume))
        run = find_run(resume)
        return resumed_experiment(run, checkpoint, entries, PYTHON, callbacks, trust)
    if not isinstance(checkpoint, str) or checkpoint != LATEST:
        requirement = "checkpoint needs resume, which names the run"
        raise value_error("experiment", requirement, checkpoint=arguments.briefly(checkpoint))
    whole = read_config(config, entries)
    if not isinstance(config, Mapping) and is_stored(config):
        check_trust(whole, str(config), trust, PYTHON, [key for key, _ in entries])
    spec = with_kind(ExperimentSpec.from_dict(whole))
    spec = spec.without("resumed")  # of the run whose configuration this was
    check_effect({key: (None, value) for key, value in entries}, spec)
    if folder is None and spec.checkpoints is not None:
        requirement = "checkpoints need a folder, or changes={'checkpoints': None}"
        raise value_error("experiment", requirement, folder=None)
    if folder is None and overwrite:
        raise value_error("experiment", "overwrite needs a folder", folder=None)
    path = None if folder is None else folder_of_new_run("experiment", folder, overwrite)
    built = build_experiment(spec, path, callbacks)
    built.trainer.storage.overwrite = overwrite
    built.trainer.storage.is_timed = TIME in str(folder)
    return built


def resumed_experiment(
    run: RunFolder,
    checkpoint: str | Path,
    changes: Iterable[tuple[str, Any]],
    wording: Wording,
    callbacks: Sequence[Callback] | None = None,
    trust: bool = False,
) -> Experiment:
    """Build the experiment that continues ``run``, with the terms of ``wording`` in errors."""
    check_free(run.path, wording.resume)
    resumption = read_resumption(run, checkpoint, changes, wording, trust)
    learnt = None if resumption.state is None else resumption.state.get("preparation")
    built = build_experiment(resumption.spec, run.path, callbacks, learnt=learnt, is_new=False)
    load_into(built.trainer, resumption)
    return replace(built, changes=resumption.changes)


def build_experiment(
    spec: ExperimentSpec,
    folder: Path | None = None,
    callbacks: Sequence[Callback] | None = None,
    *,
    trained: Module | None = None,
    learnt: Any = None,
    is_new: bool = True,
) -> Experiment:
    """Build everything. Nothing is written before training begins.

    ``trained`` is a trained model that is only measured. ``learnt`` is the state of the preparation, if
    an earlier part of the run has learned it. Only a new configuration is completed.
    """
    prepared = prepare_data(spec, learnt)
    parts = (prepared.train, prepared.validation, prepared.test)
    if learnt is not None and trained is None:
        check_same_data(learnt.get("digest"), *parts)
    has_loss = spec.loss is not None and "name" in spec.loss.entries
    spec = complete_spec(prepared.spec, prepared) if is_new else prepared.spec
    random.manual_seed(spec.seed)
    train_loader, validation_loader, test_loader = build_loaders(spec, prepared)
    model = trained
    if model is None:
        model, spec = build_model(spec, prepared.preparation.arguments())
    as_toml(spec.to_dict())  # raises for values that cannot be written into the folder later
    loss = build_loss(spec, prepared.preparation.goal)
    sample, metrics = rehearse(spec, model, loss, prepared, test_loader, has_loss)
    trainer = TrainerBuilder(spec, prepared, folder, len(train_loader)).build(
        model, loss, metrics, callbacks, is_trained=trained is not None
    )
    if spec.amp is not None or (spec.compile is not None and trained is None):
        with preserve_state(model):
            trainer.evaluate([sample])  # other arithmetic, or a compiled program, may refuse more
    trainer.preparation = preparation_state(prepared.preparation, digest_of(*parts))
    return Experiment(
        spec=spec,
        train_data=prepared.train,
        validation_data=prepared.validation,
        test_data=prepared.test,
        train_loader=train_loader,
        validation_loader=validation_loader,
        test_loader=test_loader,
        model=model,
        trainer=trainer,
        example=sample[:-1],
        generator_state=random.get_state(),
        preparation=prepared.preparation,
        lines=prepared.lines,
        sample_names=prepared.names,
    )
