"""Which samples are for training, for validation and for the test: the same for a seed, always."""

from __future__ import annotations

from typing import Any, NamedTuple

from extensor.data.splitting import split_indices
from extensor.errors import value_error
from extensor.random.generator import Generator
from extensor.train.experiments.config import Config

VALIDATION, TEST = 0.1, 0.2


class Division(NamedTuple):
    """The numbers of the samples of each part; those in a file of their own are None."""

    train: Any
    validation: Any
    test: Any

    def said(self, config: Config) -> str:
        """Words for the division."""
        table = config["data"]
        sizes = [f"{len(self.train):,} to train on"]
        for name, part in (("validation", self.validation), ("test", self.test)):
            if name in table:
                sizes.append(f"{name} from {table[name]}")
            else:
                sizes.append(f"{len(part):,} for {'the ' if name == 'test' else ''}{name}")
        return ", ".join(sizes)


def divided(
    config: Config, count: int, classes: Any = None, groups: Any = None, in_order: bool = False
) -> Division:
    """Divide ``count`` samples of the training file as ``[data]`` says.

    Classes are divided alike, groups stay together, and what comes one after the other in time is
    cut: the future is for the test.
    """
    table = config["data"]
    fractions = {}
    for name, usual in (("validation", VALIDATION), ("test", TEST)):
        key = f"{name}_fraction"
        if name in table and key in table:
            raise value_error("config", f"data.{name} is a file, so data.{key} has no meaning")
        # Of a few samples at least one, unless somebody says how many.
        fractions[name] = 0.0 if name in table else table.get(key, max(usual, 1 / max(count, 2)))
        if name not in table and not 0 < fractions[name] < 1:
            requirement = f"data.{key} must be between 0 and 1"
            raise value_error("config", requirement, **{key: fractions[name]})
    stratified = classes if table.get("stratify", True) and not in_order else None
    train, validation, test = split_indices(
        count,
        validation=fractions["validation"],
        test=fractions["test"],
        generator=Generator(config["seed"]),
        stratify=stratified,
        groups=groups,
        in_order=in_order or table.get("in_order", False),
    )
    return Division(
        train, None if "validation" in table else validation, None if "test" in table else test
    )
