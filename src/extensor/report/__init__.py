"""What a person looks at after training: a page, plots, and a small plot in the terminal."""

from extensor.report.chart import Card, Chart, Mark, Series, Table
from extensor.report.comparison import Comparison, compare
from extensor.report.comparison_writing import comparison_page, comparison_table
from extensor.report.curves import charts
from extensor.report.examination import examine, examine_experiment
from extensor.report.findings import Examination, Sample
from extensor.report.terminal import terminal_plot
from extensor.report.writing import write_plots, write_report

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
