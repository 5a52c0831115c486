"""The grammar of training programs: a seed and a number give a program, as plain text."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from programs.changes import draw_changes, draw_holder
from programs.datasets import draw_data
from programs.draft import Draft
from programs.losses import draw_loss
from programs.models import draw_model
from programs.optimization import draw_optimizer, draw_options
from programs.text import written

# "joined" has one batch where the others accumulate two.
MODES = ("whole", "joined", "parts", "compiled", "step", "compiled step")


@dataclass(frozen=True)
class Program:
    """A training program, which can be written down for each way to run it."""

    seed: int
    number: int
    draft: Draft
    disagreement: str = ""  # what is done on one worker only

    @property
    def notes(self) -> str:
        """What was drawn, in a few words."""
        return ", ".join(self.draft.notes)

    def text(self, mode: str, epochs: int | None = None) -> str:
        """The whole program; with fewer ``epochs`` it is a run that is resumed later."""
        title = f"Program {self.number} of seed {self.seed}, {mode}: {self.notes}."
        return written(self.draft, title, mode, epochs or self.draft.epochs, self.disagreement)


def draw(seed: int, number: int) -> Program:
    """Program ``number`` of a seed, the same each time."""
    random = Random(f"{seed}/{number}")
    draft = Draft()
    draft.amp = random.choice(["bfloat16", "float16"]) if random.random() < 0.08 else ""
    draft.dtype = "float32" if draft.amp or random.random() < 0.1 else "float64"
    draft.is_classification = random.random() < 0.65
    draft.resumes = random.random() < 0.2
    draft.by_gradients = not draft.resumes and random.random() < 0.12
    draw_model(draft, random)
    draw_data(draft, random)
    late = draw_holder(draft, random)
    draw_options(draft, random)
    draw_optimizer(draft, random)
    draft.optimizer += late
    draw_loss(draft, random)
    draw_changes(draft, random)
    if draft.resumes:
        draft.note("resumed")
    if draft.by_gradients:
        draft.note("ex.distributed.Gradients")
    disagreement = ""
    if random.random() < 0.06:
        disagreement = random.choice(["rate", "seed", "data"])
        draft.note(f"another {disagreement} on one worker")
    return Program(seed, number, draft, disagreement)
