"""Series and texts that cannot be learned."""

from __future__ import annotations

from own_files import TEXT

from odd.running import AHEAD, SMALL, TEXTS, Files, series

LEAST = "rows or more for training, or window and horizon be less, got rows="
ORDER = "data: a series must be in the order of its column 'time' (sort the rows;"
TOO_MUCH = "config: data.{} is for series, not for {}, got {}="

ROWS: dict[str, tuple[Files, str, str]] = {
    "window of 0": (
        series(),
        "s.csv --window 0",
        "config: data.window must be 1 or more, got data.window=0",
    ),
    "negative window": (
        series(),
        "s.csv --window -1",
        "config: data.window must be 1 or more, got data.window=-1",
    ),
    "horizon of 0": (
        series(),
        "s.csv --horizon 0",
        "config: data.horizon must be 1 or more, got data.horizon=0",
    ),
    "window larger than the file": (
        series(),
        "s.csv --target load --window 500",
        f"data: s.csv must have 501 {LEAST}80",
    ),
    "horizon larger than the file": (
        series(),
        "s.csv --target load --horizon 500",
        f"data: s.csv must have 1500 {LEAST}80",
    ),
    "horizon larger than a part": (
        series(),
        "s.csv --target load --window 6 --horizon 12",
        "data: s.csv must have 12 rows or more for validation, or window and horizon be less, got",
    ),
    "short series": (series(count=3), AHEAD, f"data: s.csv must have 8 {LEAST}3"),
    "series of words": (
        series(lambda i: "ab"[i % 2]),
        AHEAD,
        "data: targets must be numbers for the task regression, got path='s.csv', target='load'",
    ),
    "a word in a series": (
        series(lambda i: "x" if i == 9 else i),
        AHEAD,
        "data: cells must be numbers, got source='s.csv', line=11, column='load', cell='x'",
    ),
    "gap in a series": (
        series(lambda i: "" if i == 9 else i),
        AHEAD,
        "data: a series must have a number to learn in each row, got source='s.csv', line=11, "
        "column='load'",
    ),
    "infinity late in a series": (
        series(lambda i: "inf" if i == 75 else i),
        AHEAD,
        "data: numbers to be learned must be finite, and below 3.4e38, got source='s.csv', line=77",
    ),
    "unsorted series": (series(time=lambda i: i * 7 % 80), AHEAD, ORDER),
    "series from the end": (series(time=lambda i: 79 - i), AHEAD, ORDER),
    "two series in a file": (series(time=lambda i: i % 40), AHEAD, ORDER),
    "time as what is foretold": (
        series(),
        "s.csv --target time --horizon 2",
        "data: the target must be a column of numbers",
    ),
    "classes of a series": (
        series(),
        f"{AHEAD} --task binary",
        "config: data.task must be 'regression' for a series",
    ),
    "groups of a series": (
        series(),
        f"{AHEAD} --set data.group=hour",
        "config: data.group is for table, not for serie",
    ),
    "series tested on nothing": (
        series(),
        f"{AHEAD} --set data.test_fraction=nan",
        "config: data.test_fraction must be between 0 and 1, got test_fraction=nan",
    ),
    "short text": (
        {"t.txt": "the cat"},
        "t.txt",
        "data: t.txt must have at least 195 characters to be divided, or data.context be less, got",
    ),
    "empty text": ({"t.txt": ""}, "t.txt", "read_text: file must not be empty, got path='t.txt'"),
    "binary text": (
        {"t.txt": bytes(range(256))},
        "t.txt",
        "read_text: file must be text, without bytes of 0, got path='t.txt', position=0",
    ),
    "text in UTF-16": (
        {"t.txt": TEXT.encode("utf-16")},
        "t.txt",
        "read_text: file must be text in UTF-8, not in UTF",
    ),
    "text in Latin-1": (
        {"t.txt": ("Zürich " * 100).encode("latin-1")},
        "t.txt",
        "read_text: file must be text in UTF-8, got path='t.txt', line=1, position=1, byte=0xfc",
    ),
    "text of one character": (
        {"t.txt": "a" * 2000},
        "t.txt",
        "data: t.txt must have at least two different characters, got",
    ),
    "context of 0": (
        TEXTS,
        "t.txt --set data.context=0",
        "config: data.context must be 2 or more, got data.conte",
    ),
    "context of too much": (
        TEXTS,
        "t.txt --set data.context=5000",
        "data: t.txt must have at least 15,003 characters to be divided, or data.context be less",
    ),
    "vocabulary of words": (
        TEXTS,
        "t.txt --set data.vocabulary=word",
        "config: data.vocabulary must be 'character' or 'byte', got data.vocabulary='word'",
    ),
    "negative fraction of a text": (
        TEXTS,
        "t.txt --set data.test_fraction=-0.1",
        "config: data.test_fraction must be between 0 and 1, got test_fraction=-0.1",
    ),
    "classes of a text": (
        TEXTS,
        "t.txt --task binary",
        "config: data.task must be 'sequence' for a text",
    ),
    "target of a text": (
        TEXTS,
        "t.txt --target x",
        "config: data.target is for table, series, arra",
    ),
    "window of a text": (TEXTS, "t.txt --window 5", TOO_MUCH.format("window", "text", "window")),
    "weights of a text": (
        TEXTS,
        "t.txt --set data.class_weight=balanced",
        "config: data.class_weight is for table, pic",
    ),
    "samples of nothing": (
        TEXTS,
        f"t.txt {SMALL} --set \"samples.prompt=''\"",
        "config: samples.prompt must not be empty, got samples.prompt=''",
    ),
    "samples too cold": (
        TEXTS,
        f"t.txt {SMALL} --set samples.temperature=-1",
        "config: samples.temperature must be 0 or greater, got samples.temperature=-1",
    ),
    "short text to test on": (
        {**TEXTS, "o.txt": "the"},
        f"t.txt {SMALL} --set data.test=o.txt",
        "data: o.txt must have at least 9 characters, got characters=3",
    ),
}
