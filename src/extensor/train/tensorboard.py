"""The log for TensorBoard too, written by tensorboardX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from extensor.errors import arguments
from extensor.io.regular_files import open_own
from extensor.train.callback import Callback
from extensor.train.logs import run_of

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

_SUFFIX = ".extensor"  # of files that this callback has written, and may cut
_HEAD, _TAIL = 12, 4  # bytes around each record: its length and a checksum, another checksum


class TensorBoard(Callback):
    """Writes what the log says for TensorBoard too; ``pip install extensor[tensorboard]``.

    What was written after the checkpoint that training goes on from is cut off, so no step is there
    twice.
    """

    writes = ("events",)
    only_first = True

    def __init__(self, every: int = 50) -> None:
        self.every = arguments.integer("TensorBoard", "every", every, 1)
        self._writer: Any = None

    def fit_began(self, trainer: Trainer) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ImportError(
                "TensorBoard: tensorboardX must be installed, see pip install extensor[tensorboard]"
            ) from None
        folder = run_of(trainer, "TensorBoard").path
        for path in sorted(folder.glob(f"events.*{_SUFFIX}")):
            with open(path, "r+b", opener=open_own) as file:
                file.truncate(_length(file.read(), trainer.step))
        # Named by the second alone, a file of the same second would be written over.
        suffix = f".{trainer.step}{_SUFFIX}"
        self._writer = SummaryWriter(str(folder), filename_suffix=suffix)

    def step_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        if record["step"] % self.every == 0:
            self._write("step", record)

    def epoch_ended(self, trainer: Trainer, record: Mapping[str, Any]) -> None:
        self._write("epoch", record)

    def _write(self, kind: str, record: Mapping[str, Any]) -> None:
        for key, value in record.items():
            if isinstance(value, float):
                self._writer.add_scalar(f"{kind}/{key}", value, record["step"])

    def state_dict(self) -> dict[str, Any]:
        """Nothing; but what a checkpoint has behind it is on the disk too."""
        if self._writer is not None:
            self._writer.flush()
        return {}

    def fit_ended(self, trainer: Trainer) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _length(content: bytes, step: int) -> int:
    """How much of a file is of steps up to ``step``, and whole."""
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[import-untyped, unused-ignore]

    place = 0
    while place + _HEAD <= len(content):
        end = place + _HEAD + int.from_bytes(content[place : place + 8], "little") + _TAIL
        if end > len(content):
            break
        try:
            event = Event.FromString(content[place + _HEAD : end - _TAIL])
        except Exception:  # of a library that this one uses, by many names
            break
        if event.step > step:
            break
        place = end
    return place
