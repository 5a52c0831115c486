"""A program in the making: its sections, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Draft:
    """Sections of text, and facts that decide what may be combined and compared."""

    notes: list[str] = field(default_factory=list)
    # Sections, in their order.
    data: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    optimizer: list[str] = field(default_factory=list)
    loss: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    # Arguments of the trainer: of all of them, and where batches are cut into parts.
    options: list[str] = field(default_factory=list)
    parts_options: list[str] = field(default_factory=list)
    # What the sections agree on.
    dtype: str = "float64"
    amp: str = ""
    inputs: str = "normal"
    input_shape: str = "6"
    is_classification: bool = True
    samples: int = 16
    batch_size: int = 8
    micro_batches: int = 3
    epochs: int = 2
    layers: list[str] = field(default_factory=list)  # of the model, which changes may touch
    penalties: list[str] = field(default_factory=list)  # terms that the loss adds
    factor: str = ""  # that the loss multiplies with
    fit_data: str = "loader"
    validates: bool = False
    resumes: bool = False
    by_gradients: bool = False  # a loop around ex.distributed.Gradients
    schedule: str = ""
    clip_norm: float | None = None
    has_ema: bool = False
    has_extra: bool = False  # a parameter that the optimizer gets later
    has_batch_norm: bool = False
    has_flat_directions: bool = False  # gradients that are zero but for rounding
    has_own_buffer: bool = False
    has_foreign_state: bool = False  # counters, and random numbers that are not the library's
    is_in_batch: bool = False  # a loss that compares the samples of a batch
    is_random: bool = False
    is_synchronised: bool = False

    def note(self, text: str) -> None:
        """Say in a word what was drawn."""
        self.notes.append(text)

    @property
    def accumulates(self) -> bool:
        """True if two batches make one step."""
        return "accumulate=2" in self.options

    @property
    def batches_can_be_joined(self) -> bool:
        """True if a step of two batches must be that of one batch of twice the size."""
        text = "\n".join(self.data)
        depends_on_size = "drop_last" in text or "transform=" in text
        is_plain = self.parts_equal_batch and not self.has_batch_norm
        return self.accumulates and is_plain and not depends_on_size

    @property
    def parts_equal_batch(self) -> bool:
        """True if a batch in parts must train as the whole batch does, up to rounding.

        A loop around ``Gradients`` chooses the weights of the parts itself.
        """
        depends_on_parts = self.has_own_buffer or self.has_foreign_state or self.is_in_batch
        if self.is_random or depends_on_parts or self.amp:
            return False
        sees_all = self.is_synchronised and not self.accumulates
        return not self.by_gradients and (sees_all or not self.has_batch_norm)
