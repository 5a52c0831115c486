"""Odd files, columns and targets: what means something works as it is meant, the rest is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from odd import arrays as of_arrays
from odd import sequences, tables, targets, working
from odd.running import arrays, refused, rows, series, works, write
from own_files import write_pictures

from extensor.train import experiment

REFUSED = targets.ROWS | tables.ROWS | sequences.ROWS | of_arrays.ROWS


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("extensor.cli.report_command.write_plots", lambda _: None)
    return tmp_path


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    given, command, message = REFUSED[case]
    write(given)
    refused(f"train {command}", message)


@pytest.mark.parametrize("case", working.ROWS)
def test_what_is_odd_but_means_something(case: str) -> None:
    given, command, lines = working.ROWS[case]
    write(given)
    works(f"train {command} --name a", *lines)


def test_columns_that_are_too_many_to_be_read() -> None:
    names = [f"x{i}" for i in range(60)]
    write(
        {
            "t.csv": rows(
                ",".join([*names, "y"]),
                lambda i: ",".join(f"{i * (k + 3) % 17}.5" for k in range(60)) + f",{'uv'[i % 2]}",
            )
        }
    )
    out = works("train t.csv --name a", "  and 30 more columns, in the log of the run").out
    assert len(out.splitlines()) < 80


def test_labels_come_back_as_they_were() -> None:
    write({"d.npz": arrays(y=np.arange(40) % 2 * 2 - 1)})
    works("train d.npz --name a")
    found = works("predict a d.npz").out.splitlines()
    assert found[0] == "sample,class,probability,p(-1),p(1)"
    assert {line.split(",")[1] for line in found[1:]} <= {"-1", "1"}
    works("evaluate a d.npz", "40 samples")


def test_a_series_looks_at_its_own_past() -> None:
    """A column that counts is no id where it is foretold."""
    write(series(lambda i: i))
    data = {"train": "s.csv", "target": "load", "window": 6, "horizon": 2}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    assert "load" in made.preparation.encoder.features  # type: ignore[attr-defined]


def test_a_mean_that_is_said_is_what_pictures_are_normalized_by() -> None:
    write_pictures("p")
    data = {"train": "p", "size": 8, "normalize": {"mean": 0.5, "std": 0.25, "scale": 255.0}}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    pixels = np.asarray(made.test_data[0][0])
    found = next(iter(made.test_loader))[0].numpy()[0]
    np.testing.assert_allclose(found, (pixels / 255 - 0.5) / 0.25, rtol=1e-5, atol=1e-6)
