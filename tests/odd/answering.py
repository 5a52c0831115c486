"""What trained models are asked that is odd but means something: they answer, and say it."""

from __future__ import annotations

import numpy as np

from odd.predicting import FINE, hours
from odd.running import Files, array, pictures

ROWS: dict[str, tuple[Files, str, list[str], str]] = {
    "other delimiters": (
        {"n.csv": FINE.replace(",", ";")},
        "predict classes n.csv",
        ["row,class,probability,p(u)"],
        "",
    ),
    "another encoding": (
        {"n.csv": FINE.encode("utf-16")},
        "predict classes n.csv",
        ["row,class,probability"],
        "",
    ),
    "another order, and more": (
        {"n.csv": "note,day,word,b,a\nx,2024-01-01,p,2,1\n"},
        "predict classes n.csv",
        ["\n1,"],
        "",
    ),
    "a category that is new": (
        {"n.csv": FINE.replace(",p,", ",zebra,")},
        "predict classes n.csv",
        ["\n1,"],
        "extensor predict: word: 1 value that training did not have ('zebra'), taken as other\n",
    ),
    "cells that are missing": (
        {"n.csv": FINE + ",2,,\n"},
        "predict classes n.csv",
        ["\n2,"],
        "extensor predict: a: 1 missing, as none was in training; taken as the mean\n",
    ),
    "lines of nothing at the end": (
        {"n.csv": FINE + ",,,\n"},
        "predict classes n.csv",
        ["\n1,"],
        "extensor predict: lines from 3 on have no cells and are left out\n",
    ),
    "a single picture": ({}, "predict pictures pictures/up/01.png", ["\npictures/up/01.png,"], ""),
    "characters that are new": (
        {},
        "predict story 'the Zoo' --length 5",
        ["the Zoo"],
        "extensor predict: the model does not know 'Z', which did not occur in training\n",
    ),
    "nothing more of a text": ({}, "predict story the --length 0", ["the\n"], ""),
    "a gap before a forecast": (
        {"n.csv": hours().replace(",8,", ",,")},
        "predict series n.csv",
        ["\nafter the last row,"],
        "extensor predict: load: 1 missing, as none was in training; taken as the mean\n",
    ),
    "whole numbers for an array": (
        {"w.npy": array(np.ones((2, 3), int))},
        "predict points w.npy",
        ["sample,class,probability"],
        "",
    ),
    "endings in capitals": (
        {},
        "predict classes classes.csv --output O.CSV",
        [],
        "written to O.CSV\n",
    ),
    "rows without targets": (
        {"n.csv": "a,b,word,day,y\n1,2,p,2024-01-01,u\n1,2,p,2024-01-02,\n"},
        "evaluate classes n.csv",
        ["n.csv, 1 samples", "test accuracy"],
        "extensor evaluate: n.csv: 1 row without a target is left out, line 3\n",
    ),
    "what the run has learned from": (
        {},
        "evaluate classes classes.csv",
        ["classes.csv, 40 samples"],
        "extensor evaluate: classes.csv: the run was trained on it, so the scores say little about other",
    ),
    "a single class": (
        {"new/up": pictures(2, with_classes=False)},
        "evaluate pictures new",
        ["test roc auc undefined"],
        "",
    ),
    "other characters": (
        {"o.txt": "the zebra. " * 9},
        "evaluate story o.txt",
        ["test perplexity"],
        "extensor evaluate: o.txt: 9 characters did not occur in training; the model takes them as unknown",
    ),
    "other targets for an array": (
        {"w.npy": array(np.ones((4, 3))), "v.npy": array(np.arange(4) % 2)},
        "evaluate arrays w.npy --set data.target=v.npy",
        ["w.npy, 4 samples"],
        "",
    ),
}
