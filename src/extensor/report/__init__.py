"""What a person looks at after training: a page, plots, and a small plot in the terminal."""

from extensor.report.curves import Chart, Series, charts
from extensor.report.examination import Examination, Sample, examine
from extensor.report.terminal import terminal_plot
from extensor.report.writing import write_plots, write_report

__all__ = [
    "Chart",
    "Examination",
    "Sample",
    "Series",
    "charts",
    "examine",
    "terminal_plot",
    "write_plots",
    "write_report",
]
