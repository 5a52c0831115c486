"""The default run on a person's table beside scikit-learn's: ``python -m benchmarks.own_data``.

Each table is written as CSV and trained on with nothing said but the column to be learned. The rows
that the run keeps for its test are those that scikit-learn is tested on; it learns from all the
others, behind a StandardScaler, an imputer and one-hot columns. The figures are means of five seeds:
the fraction that is right, or R2.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import extensor as ex

SEEDS = 5


def known(load: Callable[..., Any]) -> Callable[[], pd.DataFrame]:
    """A data set of scikit-learn's, its classes by name."""

    def table() -> pd.DataFrame:
        found = load(as_frame=True)
        frame = found.data.copy()
        names = getattr(found, "target_names", None)
        words = names is not None and len(names) > 1 and isinstance(names[0], str)
        frame["target"] = found.target.map(lambda i: names[int(i)]) if words else found.target
        return frame

    return table


def _gaps(frame: pd.DataFrame, rng: np.random.Generator, share: float) -> pd.DataFrame:
    for name in frame.columns[:-1]:
        frame.loc[rng.random(len(frame)) < share, name] = None
    return frame


def drawn_loans() -> pd.DataFrame:
    """Two classes, one of them rare, by numbers and words."""
    rng = np.random.default_rng(1)
    n = 1500
    income, debt = rng.lognormal(10, 0.5, n), rng.lognormal(9, 0.8, n)
    work = rng.choice(["employed", "self", "none", "retired"], n, p=[0.6, 0.2, 0.1, 0.1])
    home = rng.choice(["own", "rent", "family"], n)
    risk = np.log(debt / income) + 1.2 * (work == "none") - 0.8 * (home == "own")
    late = risk + rng.logistic(0, 0.5, n) > 0.4
    frame = pd.DataFrame({"income": income.round(0), "debt": debt.round(0), "work": work,
                          "home": home, "late": np.where(late, "yes", "no")})  # fmt: skip
    return _gaps(frame, rng, 0.08)


def drawn_prices() -> pd.DataFrame:
    """A number, by an area, a place, an age and a condition."""
    rng = np.random.default_rng(2)
    n = 1200
    area, age = rng.gamma(6, 15, n), rng.integers(0, 90, n)
    place = rng.choice([f"district {i}" for i in range(12)], n)
    level = {f"district {i}": 1500 + 250 * i for i in range(12)}
    state = rng.choice(["new", "good", "poor"], n, p=[0.2, 0.5, 0.3])
    factor = np.select([state == "new", state == "good"], [1.2, 1.0], 0.75)
    price = area * np.vectorize(level.get)(place) * factor * np.exp(-age / 150)
    price *= rng.lognormal(0, 0.08, n)
    frame = pd.DataFrame({"area": area.round(1), "age": age, "place": place, "state": state,
                          "price": price.round(-2)})  # fmt: skip
    return _gaps(frame, rng, 0.05)


def drawn_plants() -> pd.DataFrame:
    """Four classes, by measures and by words of which some are rare."""
    rng = np.random.default_rng(3)
    n = 1000
    kind = rng.integers(0, 4, n)
    size = rng.normal(3 + kind, 1.2, n)
    weight = rng.normal(size * (1 + 0.3 * (kind % 2)), 0.7, n)
    colours = np.array([["red", "blue", "white"], ["blue", "white", "red"], ["white", "red", "blue"],
                        ["green", "red", "white"]])  # fmt: skip
    colour = colours[kind, rng.choice(3, n, p=[0.6, 0.3, 0.1])]
    soil = rng.choice(["clay", "sand", "loam"], n)
    names = np.array(["ash", "birch", "cedar", "dogwood"])
    frame = pd.DataFrame({"size": size.round(2), "weight": weight.round(2), "colour": colour,
                          "soil": soil, "plant": names[kind]})  # fmt: skip
    return _gaps(frame, rng, 0.1)


def drawn_demand() -> pd.DataFrame:
    """A number that follows the season, the weekday and the weather."""
    rng = np.random.default_rng(4)
    days = pd.date_range("2019-01-01", periods=1400)
    warm = 10 - 12 * np.cos(2 * np.pi * days.dayofyear / 365.25) + rng.normal(0, 3, len(days))
    weather = np.where(rng.random(len(days)) < 0.3, "rain", "dry")
    demand = 200 + 6 * warm - 60 * (weather == "rain") + 40 * (days.weekday >= 5)
    demand = demand * (1 + 0.1 * (warm > 18)) + rng.normal(0, 15, len(days))
    frame = pd.DataFrame({"date": days.strftime("%Y-%m-%d"), "warm": np.round(warm, 1),
                          "weather": weather, "demand": np.round(demand, 0)})  # fmt: skip
    frame.loc[rng.random(len(frame)) < 0.06, "warm"] = None
    return frame


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "iris": known(datasets.load_iris),
    "wine": known(datasets.load_wine),
    "breast cancer": known(datasets.load_breast_cancer),
    "digits": known(datasets.load_digits),
    "diabetes": known(datasets.load_diabetes),
    "loans (drawn)": drawn_loans,
    "prices (drawn)": drawn_prices,
    "plants (drawn)": drawn_plants,
    "demand (drawn)": drawn_demand,
}


def ours(path: Path, target: str, seed: int) -> tuple[float, np.ndarray, bool]:
    """The figure of the default run, the rows of its test, and whether it is about classes."""
    made = ex.train.experiment(
        {"seed": seed, "data": {"train": str(path), "target": target}}, callbacks=[]
    )
    made.fit()
    found = made.evaluate()
    rows = np.array([int(name.split()[1]) - 1 for name in made.sample_names or ()])
    classes = made.goal.task != "regression"
    return float(found["accuracy" if classes else "r2"]), rows, classes


def theirs(frame: pd.DataFrame, target: str, rows: np.ndarray, classes: bool, seed: int) -> float:
    """The figure of scikit-learn's network, its inputs made numbers as its users do it."""
    inputs, answers = frame.drop(columns=target), frame[target]
    if "date" in inputs:
        day = pd.to_datetime(inputs["date"])
        angle = 2 * np.pi * day.dt.day_of_year / 365.25
        inputs = inputs.drop(columns="date").assign(
            sin=np.sin(angle), cos=np.cos(angle), weekday=day.dt.day_of_week.astype(str)
        )
    numbers = inputs.select_dtypes("number").columns
    words = [name for name in inputs.columns if name not in numbers]
    encoded = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        ("words", make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"),
                                OneHotEncoder(handle_unknown="ignore")), words),
    ])  # fmt: skip
    network = (MLPClassifier if classes else MLPRegressor)(random_state=seed)
    model = make_pipeline(encoded, network)
    is_test = np.zeros(len(frame), bool)
    is_test[rows] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged after 200 epochs
        model.fit(inputs[~is_test], answers[~is_test])
    return float(model.score(inputs[is_test], answers[is_test]))


def main(names: list[str], seeds: int) -> None:
    print("| table | measure | default run | MLP of scikit-learn | seconds, ours | theirs |")
    print("|---|---|---|---|---|---|")
    for name in names:
        frame = TABLES[name]()
        target = str(frame.columns[-1])
        figures, times = [], []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            frame.to_csv(path, index=False)
            for seed in range(seeds):
                begin = time.perf_counter()
                own, rows, classes = ours(path, target, seed)
                middle = time.perf_counter()
                other = theirs(frame, target, rows, classes, seed)
                figures.append((own, other))
                times.append((middle - begin, time.perf_counter() - middle))
        own, other = np.mean(figures, axis=0)
        mine, peer = np.mean(times, axis=0)
        measure = "accuracy" if classes else "R2"
        print(f"| {name} | {measure} | {own:.4f} | {other:.4f} | {mine:.1f} | {peer:.1f} |",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all unless told")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    main(given.tables or list(TABLES), given.seeds)
