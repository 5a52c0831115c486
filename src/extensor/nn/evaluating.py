"""Modules as they are used: not trained meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extensor.nn.module import Module


@contextmanager
def evaluating(module: Module) -> Iterator[None]:
    """``module.eval()`` inside the block; afterwards every module below is what it was."""
    # Of each module: parts may have been frozen with eval() and must stay so.
    before = [(below, below.training) for below in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for below, training in before:
            below.training = training
