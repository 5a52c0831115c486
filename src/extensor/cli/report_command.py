"""``extensor report``: the page and the plots of a run, from the files in its folder."""

from __future__ import annotations

import argparse

from extensor.cli.shared_options import COMMAND
from extensor.report import examine_experiment, write_plots, write_report
from extensor.train import Experiment, Predictor, RunFolder


def run(options: argparse.Namespace) -> None:
    """Examine the model of a checkpoint, and write the report and the plots of the run."""
    predictor = Predictor.load(options.run, options.checkpoint, COMMAND, trust=options.trust)
    print("\n".join(write_pages(predictor.trained.experiment, predictor.trained.run)))


def write_pages(experiment: Experiment, folder: RunFolder) -> list[str]:
    """Write the report and the plots. Returns lines with their places."""
    examination = examine_experiment(experiment)
    report = write_report(folder, examination, experiment.model.summary(experiment.example))
    plots = write_plots(folder) or "need Matplotlib: pip install 'extensor[plot]'"
    return [f"report      {report}", f"plots       {plots}"]
