"""What is odd but means something: it works, and is said."""

from __future__ import annotations

import numpy as np

from odd.running import (
    AHEAD,
    GOOD,
    LOSS,
    SMALL,
    TEXTS,
    Files,
    array,
    arrays,
    pictures,
    rows,
    series,
    table,
)

BOTH = "classes u 20, v 20"

ROWS: dict[str, tuple[Files, str, list[str]]] = {
    "target by number": (GOOD, "t.csv --target 2", ["target 'y', by number", BOTH]),
    "target named as a number": (
        table(head="7,8,9"),
        "t.csv --set data.header=true --target 9",
        ["t.csv: 40 rows, 3 columns", BOTH],
    ),
    "a row without a target": (
        table(lambda i: "" if i == 7 else i / 2),
        "t.csv",
        ["1 row without a target is left out, line 9", "39 different numbers"],
    ),
    "whole numbers with a point": (
        table(lambda i: float(i % 3)),
        "t.csv",
        ["task regression: 3 different numbers (classes: --task multiclass)"],
    ),
    "whole numbers with a point, said": (
        table(lambda i: float(i % 3)),
        "t.csv --task multiclass",
        ["classes 0 14, 1 13, 2 13"],
    ),
    "whole numbers": (
        table(lambda i: i % 3),
        "t.csv",
        ["task multiclass: 3 different whole numbers (numbers: --task regression)"],
    ),
    "equal numbers, said": (
        table(lambda _: 3.5),
        "t.csv --task regression",
        ["test mean absolute error"],
    ),
    "labels of True and False": (
        {"t.csv": rows("a,y,z", lambda i: f"{i % 7},{i % 2 == 0},{i % 3 == 0}")},
        "t.csv --target y --target z",
        ["task multilabel: 2 columns of 0 and 1"],
    ),
    "names of Python": (
        table(head="class,lambda,y"),
        "t.csv --target y",
        ["  class: number", BOTH],
    ),
    "names with commas and quotes": (
        table(head='"a,x","b ""q""",y'),
        "t.csv",
        ["  a,x: number", '  b "q": number'],
    ),
    "names with line ends": (table(head='"a\nx","b\ty",y'), "t.csv", [r"  a\nx: number"]),
    "names in other letters": (
        table(head="🙂,größe,y"),
        "t.csv",
        ["  🙂: number", "  größe: number"],
    ),
    "a name of 300 letters": (table(head=f"{'a' * 300},b,y"), "t.csv", [f"  {'a' * 300}: number"]),
    "no name": (table(head="a,,y"), "t.csv", ["columns without a name are called 'column 1'"]),
    "labels in two cases": (
        table(lambda i: ["yes", "Yes", "no", "no"][i % 4]),
        "t.csv",
        [
            "classes Yes 10, no 20, yes 10",
            "'Yes' and 'yes' are taken as two classes: they differ in",
        ],
    ),
    "labels with spaces": (
        table(lambda i: ["yes", "yes ", "no", " no"][i % 4]),
        "t.csv",
        ["no 20, yes 20"],
    ),
    "TRUE and True": (
        table(
            lambda i: ["TRUE", "True", "FALSE", "false"][i % 4], a=lambda i: str(i % 3 == 0).upper()
        ),
        "t.csv",
        ["classes False 20, True 20", "a: category, 2 values (False, True)"],
    ),
    "thousands": (
        table(a=lambda i: f'"{i % 7 + 1},{i * 17:03d}"'),
        "t.csv",
        ["column 'a' is taken as words: '1,000' could be thousands or a fraction"],
    ),
    "units": (
        table(a=lambda i: f"{i % 7} kg"),
        "t.csv",
        ["column 'a' is taken as words: '0 kg' is no number (units are not read)"],
    ),
    "dates in two forms": (
        table(a=lambda i: (f"2024-01-{i % 28 + 1:02d}", f"{i % 28 + 1:02d}/01/2024")[i % 2]),
        "t.csv",
        ["column 'a' is taken as words: its dates are not all in one order"],
    ),
    "numbers of 20 digits": (
        table(a=lambda i: 2**63 + i),
        "t.csv",
        [
            "  a: left out, numbers that differ in digits that no float has: an id (data.columns.a=cat"
        ],
    ),
    "classes of 22 digits": (
        table(lambda i: 2**70 + i % 2),
        "t.csv",
        [f"classes {2**70} 20, {2**70 + 1} 20"],
    ),
    "numbers of 1e300": (
        table(a=lambda i: "1e300" if i == 5 else i % 7),
        "t.csv",
        ["a: number, 0 to 1e+300"],
    ),
    "a rare class": (
        table(lambda i: "rare" if i == 5 else "uv"[i % 2]),
        "t.csv",
        ["few samples of rare: not in every"],
    ),
    "five rows": (
        table(count=5),
        "t.csv",
        ["divided: 3 to train on, 1 for validation, 1 for the te"],
    ),
    "rows in order": (GOOD, "t.csv --set data.in_order=true", ["divided: 28 to train on"]),
    "column left out by number": (GOOD, "t.csv --set data.drop=[0]", ["  a: left out, as asked"]),
    "loss of two scores": (
        GOOD,
        f"t.csv {LOSS}CrossEntropyLoss",
        ["task multiclass: for CrossEntr"],
    ),
    "file names with spaces": (
        {"my file ü 🙂.csv": GOOD["t.csv"]},
        "'my file ü 🙂.csv'",
        ["my file ü 🙂.csv: 40 rows"],
    ),
    "endings in capitals": ({"T.CSV": GOOD["t.csv"]}, "T.CSV", ["T.CSV: 40 rows, 3 columns"]),
    "a test file with a hole": (
        {**GOOD, "o.csv": "a,b,y\n1,2,u\n,2,v\n1,2,\n"},
        "t.csv --set data.test=o.csv",
        [
            "o.csv: 1 row without a target is left out, line 4",
            "o.csv: a: 1 missing, as none was in",
        ],
    ),
    "a series of one column": (
        {"s.csv": rows("load", lambda i: str(i % 24), 80)},
        "s.csv --target load --horizon 2",
        ["s.csv: 80 rows in order, 1 column\n", "load of the next 2 rows from the last 4"],
    ),
    "a series that counts": (
        series(lambda i: i),
        AHEAD,
        ["  load: number, 0 to 55; standardized", "  time: the order of the rows, not learned"],
    ),
    "a time twice": (
        series(time=lambda i: i - (i > 30)),
        AHEAD,
        ["time: 1 row has the same time as the row before, line"],
    ),
    "a time left out": (
        series(time=lambda i: i + 24 * (i > 40)),
        AHEAD,
        ["time: 1 row has a gap before it (the usual step is 1 hour), line 43"],
    ),
    "a time that is none": (
        series(time=lambda i: i * 7 % 80),
        f"{AHEAD} --set \"data.drop=['time']\"",
        ["time: left out, as as"],
    ),
    "text of many characters": (
        {"t.txt": "日本語 " * 100},
        f"t.txt {SMALL} --set data.vocabulary=byte",
        ["1,000 bytes, 9 diff"],
    ),
    "unknown characters to test on": (
        {**TEXTS, "o.txt": "the cät. " * 9},
        f"t.txt {SMALL} --set data.test=o.txt",
        ["o.txt: 9 characters did not occur in training; the model takes them as unknown"],
    ),
    "a note among pictures": (
        {"p": pictures(), "p/up/notes.txt": "x"},
        "p --set data.size=8",
        ["1 file that is no picture is left out"],
    ),
    "a mean for pictures": (
        {"p": pictures()},
        "p --set data.size=8 --set data.normalize.mean=0.5",
        ["learned as 8x8 pixe"],
    ),
    "labels of -1 and 1": (
        {"d.npz": arrays(y=np.arange(40) % 2 * 2 - 1)},
        "d.npz",
        [
            "d.npz: 40 samples of shape (3,)",
            "task binary: two values, -1 and 1",
            "classes -1 20, 1 20",
        ],
    ),
    "labels of 0 and 10**9": (
        {"d.npz": arrays(y=np.arange(40) % 2 * 10**9)},
        "d.npz",
        ["classes 0 20, 1000000000 20"],
    ),
    "labels from 1": (
        {"d.npz": arrays(y=np.arange(40) % 3 + 1)},
        "d.npz",
        ["classes 1 14, 2 13, 3 13"],
    ),
    "tiny pictures in an array": (
        {"d.npz": arrays(x=np.random.default_rng(0).normal(size=(40, 3, 2, 2)))},
        "d.npz",
        ["mlp: "],
    ),
    "bytes the other way round": (
        {"x.npy": array(np.ones((40, 3), ">f8")), "y.npy": array(np.arange(40, dtype=">i4") % 2)},
        "x.npy --target y.npy",
        ["task binary: two values, 0 and 1"],
    ),
}
