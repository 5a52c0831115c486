"""Targets that cannot be learned, and tasks and losses that do not fit."""

from __future__ import annotations

from extensor.errors.messages import COLUMN_NOT_FOUND, NAME_UNKNOWN, known, meant
from odd.running import GOOD, LOSS, REAL, Files, rows, table

THREE = table(lambda i: "uvw"[i % 3])
TWO_TARGETS = {"t.csv": rows("a,y,z", lambda i: f"{i % 7},{'uv'[i % 2]},{'no yes'.split()[i % 2]}")}
TWO_VALUES = "data: the target must have at least two different values, got path='t.csv', target="
FINITE = "data: numbers to be learned must be finite, and below 3.4e38, got source='t.csv', line="

ROWS: dict[str, tuple[Files, str, str]] = {
    "no such target": (
        GOOD,
        "t.csv --target z",
        COLUMN_NOT_FOUND.text(known("a", "b", "y"), column="z", source="t.csv"),
    ),
    "misspelt target": (
        table(head="age,size,colour"),
        "t.csv --target color",
        COLUMN_NOT_FOUND.text(meant("colour"), column="color", source="t.csv"),
    ),
    "target in capitals": (
        GOOD,
        "t.csv --target Y",
        COLUMN_NOT_FOUND.text(meant("y"), column="Y", source="t.csv"),
    ),
    "empty target": (
        GOOD,
        "t.csv --target ''",
        COLUMN_NOT_FOUND.text(known("a", "b", "y"), column="", source="t.csv"),
    ),
    "target twice": (
        GOOD,
        "t.csv --target y --target y",
        "config: data.target must be different columns of t.csv, and not all of them, got",
    ),
    "all columns are targets": (
        GOOD,
        "t.csv --target a --target b --target y",
        "config: data.target must be different columns of t.csv, and not all of them, got",
    ),
    "number of no column": (
        GOOD,
        "t.csv --target 7",
        "config: data.target must be one of the 3 columns of t.csv, got target=7",
    ),
    "all targets missing": (
        table(lambda _: ""),
        "t.csv",
        "data: t.csv must have targets, got column='y'",
    ),
    "all targets nan": (
        table(lambda _: "NaN"),
        "t.csv",
        "data: t.csv must have targets, got column='y'",
    ),
    "one class": (table(lambda _: "u"), "t.csv", f"{TWO_VALUES}'y', values=['u']"),
    "one number": (table(lambda _: 3.5), "t.csv", f"{TWO_VALUES}'y', values=[3.5]"),
    "one class, said": (
        table(lambda _: "u"),
        "t.csv --task multiclass",
        f"{TWO_VALUES}'y', values=['u']",
    ),
    "infinite target": (
        table(lambda i: "inf" if i == 7 else i / 2),
        "t.csv",
        f"{FINITE}9, column='y', cell='inf'",
    ),
    "1e400 as a target": (
        table(lambda i: "1e400" if i == 7 else i / 2),
        "t.csv",
        f"{FINITE}9, column='y'",
    ),
    "1e300 as a target": (
        table(lambda i: f"{i}e300"),
        "t.csv",
        f"{FINITE}3, column='y', cell='1e+300'",
    ),
    "5000 digits as a target": (
        table(lambda i: "9" * 5000 if i == 7 else i),
        "t.csv --task regression",
        f"{FINITE}9, column",
    ),
    "dates as a target": (
        table(lambda i: f"2024-01-{i % 28 + 1:02d}"),
        "t.csv",
        "data: the target must be a column of numbers or words, not of dates, got path='t.csv', "
        "target='y'",
    ),
    "text as a target": (
        table(lambda i: f"word{i}"),
        "t.csv",
        "data: the target must have words that occur again, or numbers, got path='t.csv', "
        "target='y', classes=40, rows=40",
    ),
    "numbers with units as a target": (
        table(lambda i: f"{i * 3} kg"),
        "t.csv",
        "data: the target must have words that occur again, or numbers: '0 kg' is no number "
        "(units are not read), got path='t.csv', target='y'",
    ),
    "thousands as a target": (
        table(lambda i: f'"{i % 7 + 1},{i * 17:03d}"'),
        "t.csv",
        "data: the target must have words that occur again, or numbers: '1,000' could be "
        "thousands or a fraction (which data.decimal=',' reads), got path='t.csv'",
    ),
    "a word among numbers": (
        table(lambda i: "x" if i == 9 else i / 2),
        "t.csv --task regression",
        "data: cells must be numbers, got source='t.csv', line=11, column='y', cell='x'",
    ),
    "regression of words": (
        GOOD,
        "t.csv --task regression",
        "data: targets must be numbers for the task regression, got path='t.csv', target='y', "
        "values=['u', 'v']",
    ),
    "binary of three": (
        THREE,
        "t.csv --task binary",
        "data: the target must be one column of two values for the task binary, got path='t.csv', "
        "target='y'",
    ),
    "multilabel of one": (
        GOOD,
        "t.csv --task multilabel",
        "data: targets must be two or more columns of 0 and 1 for the task multilabel, got path=",
    ),
    "multiclass of fractions": (
        REAL,
        "t.csv --task multiclass",
        "data: targets must be words or whole numbers for the task multiclass, got path='t.csv'",
    ),
    "multiclass of two columns": (
        TWO_TARGETS,
        "t.csv --target y --target z --task multiclass",
        "data: the target must be one column for the task multiclass, got path='t.csv', "
        "target=['y', 'z'], columns=2",
    ),
    "two columns of words": (
        TWO_TARGETS,
        "t.csv --target y --target z",
        "data: targets must be numbers for several columns, or 0 and 1, got path='t.csv', "
        "target=['y', 'z']",
    ),
    "sequence of a table": (
        GOOD,
        "t.csv --task sequence",
        "config: the task sequence is for texts (a .txt file), got",
    ),
    "task misspelt": (
        GOOD,
        "t.csv --set data.task=binry",
        "config: data.task must be one of ['regression', 'binary', 'multiclass', 'multilabel', "
        "'sequence'] (did you mean 'binary'?), got task='binry'",
    ),
    "loss of numbers for words": (
        GOOD,
        f"t.csv {LOSS}MSELoss",
        "data: targets must be numbers for MSELoss, got path='t.csv'",
    ),
    "loss of classes for fractions": (
        REAL,
        f"t.csv {LOSS}CrossEntropyLoss",
        "data: targets must be words or whole numbers for CrossEntropyLoss, got path='t.csv'",
    ),
    "loss of truth for three": (
        THREE,
        f"t.csv {LOSS}BCEWithLogitsLoss",
        "data: the target must be one column of two values for BCEWithLogitsLoss, got path='t.csv'",
    ),
    "loss of probabilities": (
        GOOD,
        f"t.csv {LOSS}BCELoss",
        "config: BCELoss takes probabilities, and mlp gives scores, which BCEWithLogitsLoss takes",
    ),
    "loss of logarithms": (
        GOOD,
        f"t.csv {LOSS}NLLLoss",
        "config: NLLLoss takes logarithms of probabilities, and mlp gives scores, which",
    ),
    "loss of distributions": (
        GOOD,
        f"t.csv {LOSS}KLDivLoss",
        "config: loss must be one of single targets, such as Cross",
    ),
    "loss of triples": (
        GOOD,
        f"t.csv {LOSS}TripletMarginLoss",
        "config: loss must be one of single targets, such",
    ),
    "hinge loss of words": (
        GOOD,
        f"t.csv {LOSS}HingeLoss",
        "data: targets must be -1 or 1 for HingeLoss, got path=",
    ),
    "loss beside the task": (
        GOOD,
        f"t.csv --task binary {LOSS}MSELoss",
        "config: loss must fit the task binary, as BCEWithLogitsLoss does, got loss='MSELoss'",
    ),
    "no such loss": (
        GOOD,
        f"t.csv {LOSS}MSE",
        NAME_UNKNOWN.text(meant("MSELoss"), name="MSE", entry="loss"),
    ),
}
