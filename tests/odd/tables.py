"""Tables that cannot be read, columns that are not there, and parts of nothing."""

from __future__ import annotations

import os

from extensor.errors.messages import COLUMN_NOT_FOUND, PATH_NOT_FOUND, known, meant
from odd.running import GOOD, LOSS, REAL, Files, rows, table

TWO_VALUES = "data: the target must have at least two different values, got path='t.csv', target="
DIVIDED = "data: t.csv must have samples for each part ("

ROWS: dict[str, tuple[Files, str, str]] = {
    "no such file": ({}, "t.csv", PATH_NOT_FOUND.text(path="t.csv")),
    "a link to itself": (
        {"t.csv": lambda path: os.symlink(path, path)},
        "t.csv",
        PATH_NOT_FOUND.text(path="t.csv"),
    ),
    "a name of bytes": (
        {"\udcff.csv": GOOD["t.csv"]},
        "'\udcff.csv'",
        r"config: data.train must be a name in Unicode, got name='\\udcff.csv'",
    ),
    "empty file": (
        {"t.csv": ""},
        "t.csv",
        "read_table: file must have at least one line, got sour",
    ),
    "blank lines": ({"t.csv": "\n\n \n"}, "t.csv", "read_table: file must have at least one line"),
    "header only": (
        {"t.csv": "a,b,y\n"},
        "t.csv",
        "read_table: file must have a line of cells below its names (data.header=false if it has "
        "none), got source='t.csv', line=1",
    ),
    "ragged": (
        {"t.csv": GOOD["t.csv"] + "1,2\n"},  # type: ignore[operator]
        "t.csv",
        "read_table: a line must have as many cells as the first, 3, got source='t.csv', line=42",
    ),
    "binary file": (
        {"t.csv": bytes(range(256)) * 4},
        "t.csv",
        "read_table: file must be text (data.encoding=",
    ),
    "damaged Parquet": (
        {"t.parquet": b"PAR1" + b"x" * 100 + b"PAR1"},
        "t.parquet",
        "read_table: file must be whole, as Parquet is, got source='t.parquet'",
    ),
    "CSV called Parquet": (
        {"t.parquet": "a,y\n1,2\n"},
        "t.parquet",
        "read_table: file must be whole, as Parquet is",
    ),
    "Excel": (
        {"t.xlsx": b"PK"},
        "t.xlsx",
        "data: file must be CSV, Parquet or Arrow (save the sheet as CSV), got path='t.xlsx'",
    ),
    "no ending": ({"t": "a,y\n1,2\n"}, "t", "data: file must end with one of .csv, .tsv, .tab,"),
    "wrong encoding": (
        {"t.csv": "größe,y\n1,2\n".encode()},
        "t.csv --set data.encoding=ascii",
        "read_table: file must be text in the encoding that is given, got source='t.csv'",
    ),
    "wrong delimiter": (
        GOOD,
        "t.csv --set \"data.delimiter=';'\"",
        'read_table: delimiter must be that of the file ("," splits every line into 3), got source=',
    ),
    "names twice": (
        table(head="a,a,y"),
        "t.csv",
        "read_table: names of columns must differ, got source='t.csv', line=1, name='a'",
    ),
    "the target twice": (
        table(head="a,y,y"),
        "t.csv --target y",
        "read_table: names of columns must differ, got source='t.csv', line=1, name='y'",
    ),
    "one column": (
        {"t.csv": rows("y", lambda i: "uv"[i % 2])},
        "t.csv --target y",
        "data: t.csv must have a column of targets beside the inputs, got columns=['y']",
    ),
    "constant columns": (
        {"t.csv": rows("a,b,y", lambda i: f"1,2,{'uv'[i % 2]}")},
        "t.csv",
        "fit: table must have a column to learn from, got source='t.csv', dropped={'a': \"constant",
    ),
    "all rows equal": ({"t.csv": rows("a,b,y", lambda _: "1,2,u")}, "t.csv", f"{TWO_VALUES}'y'"),
    "infinite input": (
        table(a=lambda i: "inf" if i == 5 else i % 7),
        "t.csv",
        "fit: numbers must be finite, got source='t.csv', line=7, column='a', cell='inf'",
    ),
    "1e400 as an input": (
        table(a=lambda i: "1e400" if i == 5 else i % 7),
        "t.csv",
        "fit: numbers must be finite, got source='t.csv', line=7, column='a'",
    ),
    "drop of no column": (
        table(head="age,size,y"),
        "t.csv --set \"data.drop=['siz']\"",
        COLUMN_NOT_FOUND.text(meant("size"), column="siz", source="t.csv (data.drop)"),
    ),
    "drop of the target": (
        GOOD,
        "t.csv --set \"data.drop=['y']\"",
        "config: data.drop is for inputs, not for the target",
    ),
    "drop of all": (
        GOOD,
        "t.csv --set \"data.drop=['a', 'b']\"",
        "data: t.csv must have a column to learn from beside those left out, got target=['y'], "
        "left_out=['a', 'b']",
    ),
    "drop of a list": (
        GOOD,
        "t.csv --set \"data.drop=[['a']]\"",
        "config: data.drop must be the name or the number of a column, got drop='list'",
    ),
    "kind of no column": (
        table(head="age,size,y"),
        "t.csv --set data.columns.siz=category",
        COLUMN_NOT_FOUND.text(meant("size"), column="siz", source="t.csv (data.columns)"),
    ),
    "no such kind": (
        GOOD,
        "t.csv --set data.columns.a=catgory",
        "config: data.columns.a must be 'number', 'category', 'date', 'text' or 'drop', got data.",
    ),
    "kind of the target": (
        GOOD,
        "t.csv --set data.columns.y=category",
        "config: data.columns is for inputs, not for",
    ),
    "words as numbers": (
        table(a=lambda i: "pq"[i % 2]),
        "t.csv --set data.columns.a=number",
        "fit: cells must be numbers, got source='t.csv', line=",
    ),
    "numbers as dates": (
        GOOD,
        "t.csv --set data.columns.a=date",
        "fit: cells must be dates, all written in one way, got source='t.csv', line=",
    ),
    "group of no column": (
        table(head="age,size,y"),
        "t.csv --set data.group=siz",
        COLUMN_NOT_FOUND.text(meant("size"), column="siz", source="t.csv (data.group)"),
    ),
    "the target as a group": (
        GOOD,
        "t.csv --set data.group=y",
        "config: data.group must be another column than the target",
    ),
    "one group": (
        table(a=lambda _: "one"),
        "t.csv --set data.group=a",
        "data: t.csv must have 3 groups or more, one for each part, got group='a', groups=1",
    ),
    "rows without a group": (
        table(a=lambda i: "" if i == 3 else i // 5),
        "t.csv --set data.group=a",
        "data: each row must have its group, got source='t.csv', line=5, column='a'",
    ),
    "groups in order": (
        table(a=lambda i: i // 5),
        "t.csv --set data.group=a --set data.in_order=true",
        "config: data.in_order must be without data.group, got in_order=True",
    ),
    "class_weight misspelt": (
        GOOD,
        "t.csv --set data.class_weight=balnced",
        "config: data.class_weight must be one of ['balanced'], got class_weight='balnced'",
    ),
    "class_weight of numbers": (
        REAL,
        "t.csv --set data.class_weight=balanced",
        "config: data.class_weight is for classes, not for the task regression, got class_weight=",
    ),
    "class_weight beside a loss without": (
        GOOD,
        f"t.csv --set data.class_weight=balanced {LOSS}FocalLoss",
        "config: data.class_weight needs a loss with weights, CrossEntropyLoss or",
    ),
    "sampling misspelt": (
        GOOD,
        "t.csv --set data.sampling=wieghted",
        "config: data.sampling must be one of ['weighted'], got sampling='wieghted'",
    ),
    "sampling of numbers": (
        REAL,
        "t.csv --set data.sampling=weighted",
        "config: data.sampling is for classes, whose",
    ),
    **{
        f"test_fraction {value}": (
            GOOD,
            f"t.csv --set data.test_fraction={value}",
            f"config: data.test_fraction must be between 0 and 1, got test_fraction={value}",
        )
        for value in ("0", "1", "-0.2", "nan", "inf")
    },
    "no validation": (
        GOOD,
        "t.csv --set data.validation_fraction=0",
        "config: data.validation_fraction must be between 0 and 1, got validation_fraction=0",
    ),
    "fractions of more than all": (
        GOOD,
        "t.csv --set data.validation_fraction=0.5 --set data.test_fraction=0.6",
        "config: data.validation_fraction and data.test_fraction must leave samples to train on",
    ),
    "a fraction of nothing": (
        GOOD,
        "t.csv --set data.test_fraction=0.001",
        f"{DIVIDED}data.validation_fraction=0.1, ",
    ),
    "two rows": (table(count=2), "t.csv", DIVIDED),
    "three rows of two classes": (
        table(count=3),
        "t.csv",
        "data: t.csv must have classes of 3 samples or more, for each part some (data.stratify=",
    ),
    "twenty classes of two": (
        table(lambda i: f"c{i % 20}"),
        "t.csv",
        "data: t.csv must have classes of 3 samples or more, for each part some (data.stratify=",
    ),
    "test file of other columns": (
        {**GOOD, "o.csv": "a,c,y\n1,2,u\n"},
        "t.csv --set data.test=o.csv",
        COLUMN_NOT_FOUND.text(known("a", "c", "y"), column="b", source="o.csv"),
    ),
    "test file of other classes": (
        {**GOOD, "o.csv": "a,b,y\n1,2,u\n1,2,w\n"},
        "t.csv --set data.test=o.csv",
        "data: targets must be classes of the training data (u, v), got source='o.csv', line=3, "
        "column='y', cell='w'",
    ),
    "test file without targets": (
        {**GOOD, "o.csv": "a,b\n1,2\n"},
        "t.csv --set data.test=o.csv",
        COLUMN_NOT_FOUND.text(known("a", "b"), column="y", source="o.csv"),
    ),
    "test on what is learned": (
        GOOD,
        "t.csv --set data.test=t.csv",
        "config: data.test must be another file than data.train, got test='t.csv'",
    ),
    "test file and fraction": (
        {**GOOD, "o.csv": "a,b,y\n1,2,u\n"},
        "t.csv --set data.test=o.csv --set data.test_fraction=0.3",
        "config: data.test is a file, so data.test_fraction has no meaning",
    ),
    "no such test file": (
        GOOD,
        "t.csv --set data.test=o.csv",
        "read_table: could not read o.csv (No such file or dir",
    ),
}
