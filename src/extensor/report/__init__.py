"""Reports on training: pages, plots, comparisons, and a small plot in the terminal."""

from extensor.report.chart import Card, Chart, Mark, Series
from extensor.report.chart import TableCard as Table
from extensor.report.curves import charts, terminal_plot, write_plots
from extensor.report.examination import Examination, Sample
from extensor.report.examiners import examine, examine_experiment
from extensor.report.run_comparison import RunComparison as Comparison
from extensor.report.run_comparison import compare, comparison_page, comparison_table
from extensor.report.run_page import write_report

__all__ = [
    "Card",
    "Chart",
    "Comparison",
    "Examination",
    "Mark",
    "Sample",
    "Series",
    "Table",
    "charts",
    "compare",
    "comparison_page",
    "comparison_table",
    "examine",
    "examine_experiment",
    "terminal_plot",
    "write_plots",
    "write_report",
]


def __dir__() -> list[str]:
    return sorted(__all__)
