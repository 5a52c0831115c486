"""Which samples are for training, for validation and for the test: the same for a seed, always."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from extensor.data.splitting import split_indices
from extensor.errors import value_error
from extensor.random.generator import Generator
from extensor.train.experiments.config import Config

VALIDATION, TEST = 0.1, 0.2
_FEW = 20  # samples, of which each is worth 5 % or more


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
        is_rough = "test" not in table and len(self.test) < _FEW
        return ", ".join(sizes) + ("; so few to test on say little" if is_rough else "")


def fractions(
    config: Config, validation: float = VALIDATION, test: float = TEST
) -> tuple[float, float]:
    """The shares of validation and test, checked; that of one with a file of its own is 0."""
    table = config["data"]
    shares = []
    for name, usual in (("validation", validation), ("test", test)):
        key = f"{name}_fraction"
        if name in table and key in table:
            raise value_error("config", f"data.{name} is a file, so data.{key} has no meaning")
        shares.append(0.0 if name in table else table.get(key, usual))
        if name not in table and not 0 < shares[-1] < 1:
            requirement = f"data.{key} must be between 0 and 1"
            raise value_error("config", requirement, **{key: shares[-1]})
    if not sum(shares) < 1:
        requirement = (
            "data.validation_fraction and data.test_fraction must leave samples to train on"
        )
        given = {"validation_fraction": shares[0], "test_fraction": shares[1]}
        raise value_error("config", requirement, **given)
    return shares[0], shares[1]


def divided(config: Config, count: int, classes: Any = None, groups: Any = None) -> Division:
    """Divide ``count`` samples of the training file as ``[data]`` says.

    Classes are divided alike, groups stay together, and what comes one after the other in time is
    cut: the future is for the test.
    """
    table = config["data"]
    in_order = table.get("in_order", False)
    if in_order and groups is not None:
        raise value_error("config", "data.in_order must be without data.group", in_order=True)
    # Of a few samples at least one, unless somebody says how many.
    least = min(0.3, 1 / max(count, 1))
    validation, test = fractions(config, max(VALIDATION, least), max(TEST, least))
    stratified = classes if table.get("stratify", True) and not in_order else None
    try:
        parts = split_indices(
            count,
            validation=validation,
            test=test,
            generator=Generator(config["seed"]),
            stratify=stratified,
            groups=groups,
            in_order=in_order,
        )
    except ValueError:
        raise _too_few(config, count, (validation, test), stratified, groups) from None
    return Division(
        parts[0],
        None if "validation" in table else parts[1],
        None if "test" in table else parts[2],
    )


def _too_few(
    config: Config, count: int, shares: tuple[float, float], classes: Any, groups: Any
) -> ValueError:
    """Why samples cannot be divided, in words for those who gave the file."""
    source = config["data"]["train"]
    needed = 1 + sum(share > 0 for share in shares)
    if groups is not None and len(np.unique(groups)) < needed:
        requirement = f"{source} must have {needed} groups or more, one for each part"
        given = {"group": config["data"]["group"], "groups": len(np.unique(groups))}
        return value_error("data", requirement, **given)
    if classes is not None and np.bincount(classes).max() < needed <= count:
        requirement = (
            f"{source} must have classes of {needed} samples or more, for each part some "
            "(data.stratify=false lets chance divide them)"
        )
        return value_error("data", requirement, classes=len(np.unique(classes)), samples=count)
    wanted = [
        f"data.{name}_fraction={share:.3g}" for name, share in zip(_HELD, shares, strict=True)
    ]
    requirement = f"{source} must have samples for each part ({', '.join(wanted)})"
    return value_error("data", requirement, samples=count)


_HELD = ("validation", "test")
