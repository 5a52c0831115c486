"""What trained models are asked to predict, that they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from extensor.errors.messages import COLUMN_NOT_FOUND, PATH_NOT_FOUND, known, meant
from odd.running import Files, array, folder

FINE = "a,b,word,day\n1,2,p,2024-01-01\n"
CELLS = "encode: cells must be"
NO_HEADER = "read_table: file must have a line of cells below its names"
A_PICTURE = "find_pictures: file must be a picture (.bmp, .gif, .jfif, .jpeg, .jpg,"
AXES = "data: inputs must have the same shape as in training, (samples, 3), got shape="


def _cut(path: str) -> None:
    Path(path).write_bytes(Path("pictures/up/01.png").read_bytes()[:200])


def _of_32_bits(path: str) -> None:
    from PIL import Image

    Image.new("I", (9, 9), 70000).save(path)


def hours(load: str = "{i}", time: str = "{i:02d}", count: int = 12) -> str:
    row = f"2024-01-01T{time}:00,{load},1\n"
    return "time,load,hour\n" + "".join(row.format(i=i, back=23 - i) for i in range(count))


ROWS: dict[str, tuple[Files, str, str]] = {
    "missing column": (
        {"n.csv": "a,word,day\n1,p,2024-01-01\n"},
        "classes n.csv",
        COLUMN_NOT_FOUND.text(known("a", "word", "day"), column="b", source="n.csv"),
    ),
    "misspelt column": (
        {"n.csv": FINE.replace("word", "wrd")},
        "classes n.csv",
        COLUMN_NOT_FOUND.text(meant("wrd"), column="word", source="n.csv"),
    ),
    "words in a column of numbers": (
        {"n.csv": f"{FINE}x,2,p,2024-01-01\n"},
        "classes n.csv",
        f"{CELLS} numbers, got source='n.csv', line=3, column='a', cell='x'",
    ),
    "infinity": (
        {"n.csv": FINE.replace("\n1", "\ninf")},
        "classes n.csv",
        "encode: numbers must be finite, got source='n.csv', line=2, column='a', cell='inf'",
    ),
    "a month of 13": (
        {"n.csv": FINE.replace("2024-01-01", "2024-13-01")},
        "classes n.csv",
        f"{CELLS} dates, year-month-day, got source='n.csv', line=2, column='day'",
    ),
    "dates in another order": (
        {"n.csv": FINE.replace("2024-01-01", "13/01/2024")},
        "classes n.csv",
        f"{CELLS} dates, year-month-day, got source='n.csv', line=2, column='day'",
    ),
    "empty file": ({"n.csv": ""}, "classes n.csv", "read_table: file must have at least one line"),
    "header only": ({"n.csv": "a,b,word,day\n"}, "classes n.csv", NO_HEADER),
    "no header": (
        {"n.csv": "1,2,p,2024-01-01\n"},
        "classes n.csv",
        COLUMN_NOT_FOUND.text(
            known(*(f"column {i}" for i in range(4))), column="a", source="n.csv"
        ),
    ),
    "columns twice": (
        {"n.csv": FINE.replace("b,", "a,")},
        "classes n.csv",
        "read_table: names of columns must differ, got source='n.csv', line=1, name='a'",
    ),
    "no such table": ({}, "classes n.csv", "read_table: could not read n.csv (No such file or dir"),
    "a folder for a table": (
        {},
        "classes pictures",
        "read_table: could not read pictures (Is a dir",
    ),
    "a configuration for a table": (
        {},
        "classes runs/classes/config.toml",
        COLUMN_NOT_FOUND.text(known("seed = 0"), column="a", source="runs/classes/config.toml"),
    ),
    "a picture for a table": (
        {},
        "classes pictures/up/01.png",
        "read_table: file must be text (data.encoding=",
    ),
    "a text for a table": ({}, "classes story.txt", NO_HEADER),
    "arrays for a table": (
        {},
        "classes points.npz",
        "read_table: file must be CSV, Parquet or Arrow (read_arrays reads",
    ),
    "a table for pictures": ({}, "pictures classes.csv", A_PICTURE),
    "a configuration for pictures": ({}, "pictures runs/pictures/config.toml", A_PICTURE),
    "a damaged picture": (
        {"d.png": b"\x89PNG\r\n\x1a\nxxxx"},
        "pictures d.png",
        "PictureFiles: file must be a picture (it has no format that Pillow knows), got path='d.png'",
    ),
    "a picture that is cut off": (
        {"d.png": _cut},
        "pictures d.png",
        "PictureFiles: file must be a picture (it is damaged or cut off), got path='d.png'",
    ),
    "an empty picture": (
        {"d.png": b""},
        "pictures d.png",
        "PictureFiles: file must be a picture (it is empty), got p",
    ),
    "a picture of 32 bits": (
        {"d.tif": _of_32_bits},
        "pictures d.tif",
        "PictureFiles: file must be a picture of 8 or 16 bits, got path='d.tif', mode='I'",
    ),
    "a folder without pictures": (
        {"d/notes.txt": "x"},
        "pictures d",
        "find_pictures: folder must have pictures (.bmp,",
    ),
    "an empty folder": (
        {"d": folder},
        "pictures d",
        "find_pictures: folder must have pictures (.bm",
    ),
    "no such picture": ({}, "pictures d.png", PATH_NOT_FOUND.text(path="d.png")),
    "nothing for pictures": (
        {},
        "pictures ''",
        "data: path must be the name of a file, got path=''",
    ),
    "an empty prompt": ({}, "story ''", "generate: prompt must not be empty, got prompt=''"),
    "a binary prompt": (
        {"b.bin": bytes(range(256))},
        "story b.bin",
        "read_text: file must be text, without bytes of 0, got path='b.bin', position=0",
    ),
    "a prompt in Latin-1": (
        {"p.txt": "Zürich".encode("latin-1")},
        "story p.txt",
        "read_text: file must be text in UTF-8, got path='p.txt', line=1, position=1, byte=0xfc",
    ),
    "an empty file as a prompt": (
        {"p.txt": ""},
        "story p.txt",
        "read_text: file must not be empty, got path='p.txt'",
    ),
    "no such prompt": ({}, "story p.txt", "predict: no such file, got path='p.txt'"),
    "half a character": ({}, "story 'a\udc80b'", "predict: the text must be Unicode, got text="),
    "a negative length": (
        {},
        "story the --length -3",
        "GPT.generate: count must be 0 or more, got count=-3",
    ),
    "a negative temperature": (
        {},
        "story the --temperature -1",
        "GPT.generate: temperature must be 0 or greater, got",
    ),
    "an infinite temperature": (
        {},
        "story the --temperature inf",
        "GPT.generate: temperature must be finite, got",
    ),
    "a negative seed": (
        {},
        "story the --seed -1",
        "Generator: seed must be from 0 to 2**64 - 1, got seed=-1",
    ),
    "a length for a table": (
        {},
        "classes classes.csv --length 5",
        "--length: is for models of texts, got task='multi",
    ),
    "a format for a text": (
        {},
        "story the --format json",
        "--format: is for tables, not for texts, got format='json'",
    ),
    "a short series": (
        {"n.csv": hours(count=1)},
        "series n.csv",
        "data: n.csv must have at least 6 rows of input, got rows=1",
    ),
    "a series of words": (
        {"n.csv": hours("abc")},
        "series n.csv",
        f"{CELLS} numbers, got source='n.csv', line=8, column='load', cell='abc'",
    ),
    "a series without its column": (
        {"n.csv": hours().replace("load", "lod")},
        "series n.csv",
        COLUMN_NOT_FOUND.text(meant("lod"), column="load", source="n.csv"),
    ),
    "a series from the end": (
        {"n.csv": hours(time="{back:02d}")},
        "series n.csv",
        "data: a series must be in the order of its column 'time' (sort the rows;",
    ),
    "too many columns of an array": (
        {"w.npy": array(np.ones((2, 5)))},
        "points w.npy",
        "data: inputs must have 3 columns, as in training, got columns=5",
    ),
    "an array of one axis": ({"w.npy": array(np.ones(3))}, "points w.npy", f"{AXES}(3,)"),
    "an array of three axes": (
        {"w.npy": array(np.ones((3, 3, 3)))},
        "points w.npy",
        f"{AXES}(3, 3, 3)",
    ),
    "an array without axes": (
        {"w.npy": array(np.float64(3))},
        "points w.npy",
        "data: there must be an axis of samples, got path='w.npy', shape=()",
    ),
    "an array of objects": (
        {"w.npy": array(np.array([{}], object), pickled=True)},
        "points w.npy",
        "read_arrays: file must hold arrays of numbers, as a whole .npy or .npz, got path='w.npy'",
    ),
    "an array of words": (
        {"w.npy": array(np.array([["a", "b", "c"]]))},
        "points w.npy",
        "data: arrays must be of numbers",
    ),
    "an array of nothing": (
        {"w.npy": array(np.ones((0, 3)))},
        "points w.npy",
        "data: inputs must have at least one sample, got samples=0",
    ),
    "nan in an array": (
        {"w.npy": array(np.full((1, 3), np.nan))},
        "points w.npy",
        "data: inputs must have no NaN or infinity, got sample=0, value=nan",
    ),
    "arrays of other names": (
        {"w.npz": lambda path: np.savez(path, a=np.ones((2, 3)))},
        "points w.npz",
        "data: file must have the array 'x', got path='w.npz', arrays=['a']",
    ),
    "output that is there": (
        {},
        "classes classes.csv --output numbers.csv",
        "--output: file must be new, got output='numbers.csv'",
    ),
    "output of a strange ending": (
        {},
        "classes classes.csv --output o.xlsx",
        "--output: file must end with .csv or .json or .npy, got output='o.xlsx'",
    ),
    "output of a text for a table": (
        {},
        "classes classes.csv --output o.txt",
        "--output: file must end with .csv or .json or .npy, got output='o.txt'",
    ),
    "output of a table for a text": (
        {},
        "story the --output o.csv",
        "--output: file must end with .txt, got output='o.csv'",
    ),
    "output without a folder": (
        {},
        "classes classes.csv --output nowhere/o.csv",
        "--output: the folder must exist, got output='nowhere/o.csv'",
    ),
    "output of another format": (
        {},
        "classes classes.csv --output o.csv --format json",
        "--format: must match the ending of --output, csv, or be left out, got format='json'",
    ),
    "a table in a file": (
        {},
        "classes classes.csv --output o.csv --format table",
        "--format: must match the ending of --output, csv, or be left out, got format='table'",
    ),
}
