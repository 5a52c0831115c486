"""One trial of a sweep, in a process of its own."""

from __future__ import annotations

from extensor.cli.jobs import end_with_parent
from extensor.cli.wording import COMMAND
from extensor.report import write_report
from extensor.train.signals import Ended
from extensor.train.sweeps.sweep import Sweep


def run_trial(sweep: Sweep, number: int, epochs: int, trust: bool) -> None:
    """Train a trial until ``epochs`` epochs are over, from where it was left.

    Its configuration has all the epochs, so that the schedule is that of the whole run, and a trial
    that goes on comes to the same bits as one that was never stopped. It tests nothing: the test is
    for the best one, when somebody trains or evaluates that.
    """
    try:
        end_with_parent()
        made = sweep.opened(number, trust, COMMAND)
        made.train_until(epochs)
        write_report(sweep.trial(number))
    except Ended as end:
        raise Ended(end.signal, f"trial {number} ended by {end.signal.name}") from None
