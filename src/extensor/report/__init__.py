"""What a person looks at after training: a page, plots, and a small plot in the terminal."""

from extensor.report.curves import Chart, Series, charts
from extensor.report.examination import Examination, Sample, examine, examine_experiment
from extensor.report.terminal import terminal_plot
from extensor.report.writing import write_plots, write_report

__all__ = [
    "Chart",
    "Examination",
    "Sample",
    "Series",
    "charts",
    "examine",
    "examine_experiment",
    "terminal_plot",
    "write_plots",
    "write_report",
]
