"""``extensor report``: the page and the plots of a run, from what lies in its folder."""

from __future__ import annotations

import argparse

import numpy as np

from extensor.cli.config import read_config
from extensor.cli.runs import found_checkpoint, found_run, read_checkpoint
from extensor.cli.session import Session, load_weights, opened
from extensor.cli.targets import OF_LOGITS
from extensor.ops import sigmoid
from extensor.report import examine, write_plots, write_report
from extensor.train import RunFolder


def run(options: argparse.Namespace) -> None:
    """Examine the model of a checkpoint, and write what is known of the run."""
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint)
    session = opened(read_config(folder.config))
    load_weights(session.model, read_checkpoint(folder, checkpoint))
    print("\n".join(written(session, folder)))


def written(session: Session, folder: RunFolder) -> list[str]:
    """Write the report and the plots. Returns lines that say where they are."""
    outputs = session.trainer.predict(session.test_loader).numpy()
    if session.config["loss"]["name"] in OF_LOGITS:
        outputs = sigmoid(outputs).numpy()  # what is compared with 0 and 1
    targets = np.concatenate([batch[-1].numpy() for batch in session.test_loader])
    examination = examine(session.test_data, outputs, targets)
    report = write_report(folder, examination, session.model.summary(session.example))
    plots = write_plots(folder) or "need Matplotlib: pip install 'extensor[plot]'"
    return [f"report      {report}", f"plots       {plots}"]
