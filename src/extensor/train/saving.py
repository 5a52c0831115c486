"""Where a run is, its checkpoints, and going on from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extensor import random
from extensor.core import entries
from extensor.data.loader import DataLoader
from extensor.data.samplers import SequentialSampler
from extensor.distributed.joining import workers as found_workers
from extensor.errors import arguments, value_error
from extensor.io.paths import as_path, make_folder
from extensor.io.state import DamagedFileError
from extensor.random.generator import Generator
from extensor.train.callback import Callback
from extensor.train.checkpoints import Checkpoints
from extensor.train.folders import NEW_ONES, TIME, claimed, move_aside, named_folder
from extensor.train.history import History
from extensor.train.lock import check_free
from extensor.train.metrics import Mean
from extensor.train.nonfinite import NotFiniteError
from extensor.train.resuming import Split, checked_progress, load_callbacks
from extensor.train.run import RunFolder, in_order
from extensor.train.running import RunningMetrics
from extensor.train.step import TrainStep
from extensor.train.together import shared_state


class Resumable:
    """The part of a trainer that a checkpoint holds, and the folder that the checkpoints are in."""

    def __init__(
        self,
        take_step: TrainStep,
        callbacks: Sequence[Callback],
        running_metrics: RunningMetrics,
        folder: str | Path | None,
        overwrite: bool,
        keep: int,
        config: Mapping[str, Any] | None,
    ) -> None:
        self.take_step = take_step
        self.callbacks = list(callbacks)
        self.running_metrics = running_metrics
        self.keep = arguments.integer("Checkpoints", "keep", keep, 1)
        self.overwrite = arguments.flag("Trainer", "overwrite", overwrite)
        if self.overwrite and folder is None:
            raise value_error("Trainer", "overwrite needs a folder", folder=None)
        self.run: RunFolder | None = None
        self.checkpoints: Checkpoints | None = None
        if folder is not None:
            self._set_folder(named_folder("Trainer", folder))
        # Whether the next free name is taken if another run has this one when training begins.
        self.is_timed = folder is not None and TIME in str(folder)
        self.config = {} if config is None else dict(entries.mapping("Trainer", config, "config"))
        self.preparation: dict[str, Any] | None = None  # what was learnt about the data
        self.epoch = 0  # those that are over
        self.step = 0
        self.batch = 0  # those of this epoch that are over
        self.running_loss = Mean()
        self.history = History()
        self.split: Split | None = None  # what chose the validation data, if chance did
        self.stopped = False
        self._resumed = False
        self.seen = self._stamp()  # the checkpoints in the folder when this trainer last looked
        self._loader: Any = None
        self._validation: Any = None
        self._restored: dict[str, Any] = {}  # of the checkpoint, what waits for fit

    def _set_folder(self, path: Path) -> None:
        self.run = RunFolder(path)
        self.checkpoints = Checkpoints(self.run.checkpoints, self.keep)
        self.seen = self._stamp()

    def save(self, name: str | None = None) -> Path:
        """Write a checkpoint: of this step, or one that is called ``name``."""
        if self.checkpoints is None:
            raise value_error("save", "the trainer must have a folder", folder=None)
        if not self.take_step.is_finite():
            error = NotFiniteError("a parameter is not finite, so no checkpoint was written")
            raise NotFiniteError(self._stopped_by(error))
        state = self._state(copied=False)
        if not found_workers().is_first:
            return self.checkpoints.of(self.step)
        if name is not None:
            return self.checkpoints.save_as(name, state)
        path = self.checkpoints.save(state, self.step)
        self.seen = self._stamp()
        return path

    def _stopped_by(self, error: NotFiniteError) -> str:
        text = f"step {self.step + 1} of epoch {self.epoch + 1}: {error}"
        latest = None if self.checkpoints is None else self.checkpoints.latest()
        return text if latest is None else f"{text}; the last good checkpoint is {latest}"

    def resume(self, path: str | Path | None = None) -> bool:
        """Go on from ``path``, or from the last checkpoint in the folder; False if there is none.

        What trainer, optimizer and schedules are made with now counts, if it is not what they were
        made with then: another ``lr`` takes effect from here on, under a schedule as the rate it
        begins with, while its count stays. What was changed by hand while it trained is kept.
        """
        if path is None and self.checkpoints is None:
            raise value_error("resume", "the trainer must have a folder", folder=None)
        seen = self._stamp()
        if path is None and self.checkpoints is not None:
            path = self.checkpoints.latest()
        try:
            state = shared_state(None if path is None else as_path("resume", path))
        except DamagedFileError as error:
            raise self._damaged(error) from None
        if state is not None:
            if "progress" not in state:
                raise value_error("resume", "path must be a checkpoint of a run", path=str(path))
            self.load_state_dict(state)
        self._resumed = True
        self.seen = seen
        return state is not None

    def _damaged(self, error: DamagedFileError) -> DamagedFileError:
        good = None if self.checkpoints is None else self.checkpoints.latest_good()
        if good is None:
            return error
        return DamagedFileError(f"{error}; the last good one is for resume({str(good)!r})")

    def _stamp(self) -> Any:
        is_here = self.checkpoints is not None and found_workers().is_first
        return self.checkpoints.stamp() if is_here and self.checkpoints is not None else None

    def _make_folder(self) -> None:
        """Make the folder of the run; of one that begins, as a new one if that is asked for."""
        if self.run is None or not found_workers().is_first:
            return
        if self.step == 0 and not self._resumed:
            if self.overwrite and move_aside("fit", self.run) is not None:
                self.seen = None
            if self.is_timed:
                self.is_timed = False
                self._set_folder(claimed(self.run.path))
        try:
            self._check_folder()
        except ValueError:
            check_free(self.run.path, "fit")  # whoever is there now says more
            raise
        self.run.check_links()
        make_folder("fit", self.run.path)

    def _check_folder(self) -> None:
        """Refuse to train where another run is, or where others have trained meanwhile."""
        if self.run is None or not found_workers().is_first:
            return
        if self.step == 0 and not self._resumed and self.run.holds_a_run():
            requirement = f"folder must be new, or resume() be called first ({NEW_ONES})"
            raise value_error("fit", requirement, folder=str(self.run.path))
        if self._stamp() != self.seen:
            raise value_error(
                "fit",
                "folder must be as resume() or the last fit left it (someone else has trained "
                "there since; call resume() again)",
                folder=str(self.run.path),
            )

    def _open_folder(self, restored: bool) -> None:
        """Describe the run in its folder, and make the checkpoints there its own."""
        if self.run is None or self.checkpoints is None or not found_workers().is_first:
            return
        self.run.write_descriptions(self.config)
        if restored and not self.checkpoints.of(self.step).exists():
            self.save()  # it came from elsewhere: what is killed now must go on from here
        self.checkpoints.set_aside(self.step)
        self.checkpoints.tidy(self.step)
        self.seen = self._stamp()

    def _chance_in_validation(self) -> Generator | None:
        """What validation data are drawn with, if chance plays a part in their order or transforms."""
        loader = self._validation
        if not isinstance(loader, DataLoader):
            return None
        is_fixed = isinstance(loader.sampler, SequentialSampler) and not loader.transforms
        return None if is_fixed else loader.generator

    def _go_on_with(self, train: Any, validation: Any) -> None:
        """Bring the loaders, and random numbers, to where the checkpoint or the last fit left off."""
        self._validation = validation
        if self._restored:
            # Not earlier: whoever makes loaders and models after resume() draws random numbers.
            if self._restored["loader"]:
                train.load_state_dict(self._restored["loader"])
            chance, state = self._chance_in_validation(), self._restored["validation"]
            # One generator may serve both: within an epoch the order to train in is drawn again first.
            is_drawn_again = self.batch and chance is getattr(train, "generator", None)
            if chance is not None and state is not None and not is_drawn_again:
                chance.set_state(state)
            random.set_state(self._restored["generators"]["default"])
            self._restored = {}
        elif self.batch and train is self._loader and hasattr(train, "state_dict"):
            train.load_state_dict(train.state_dict())
        elif self.batch:
            self.batch = 0
            self.running_loss.reset()
            self.running_metrics.reset()
        self._loader = train

    def state_dict(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on."""
        return self._state(copied=True)

    def _state(self, copied: bool) -> dict[str, Any]:
        has_state = hasattr(self._loader, "state_dict")
        more: dict[str, Any] = {}
        # Only where they are in use: checkpoints of other runs stay as they were.
        if self.running_metrics.given:
            more["train_metrics"] = self.running_metrics.state_dict()
        if (chance := self._chance_in_validation()) is not None:
            more["validation"] = {"generator": list(chance.get_state())}
        if self.split is not None:
            more["split"] = self.split._asdict()
        if self.preparation is not None:
            more["preparation"] = self.preparation
        return {
            **self.take_step.state_dict(copied),
            "generators": {"default": list(random.get_state())},
            "loader": self._loader.state_dict() if has_state else {},
            "progress": {
                "epoch": self.epoch,
                "step": self.step,
                "batch": self.batch,
                "stopped": self.stopped,
                "running_loss": self.running_loss.state_dict(),
            },
            "history": {str(i): record for i, record in enumerate(self.history)},
            "callbacks": {
                f"{i}-{type(callback).__name__}": callback.state_dict()
                for i, callback in enumerate(self.callbacks)
            },
            "config": in_order(self.config),
            **more,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; random numbers and the loader when training begins."""
        op = "Trainer.load_state_dict"
        names = [f"{i}-{type(callback).__name__}" for i, callback in enumerate(self.callbacks)]
        progress = checked_progress(op, state, names)
        commits = [
            self.take_step.prepared_state(op, state),
            self.running_loss._prepared_state(progress.pop("running_loss"), op, "running_loss"),
            self.running_metrics.prepared_state(
                op, state.get("train_metrics", {}), progress["batch"]
            ),
        ]
        load_callbacks(self.callbacks, state["callbacks"])
        for commit in commits:
            commit()
        self.__dict__.update(progress)
