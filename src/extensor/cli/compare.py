"""``extensor compare``: runs beside each other, in the terminal and as a page."""

from __future__ import annotations

import argparse

from extensor.cli.shared_options import new_file
from extensor.io.atomic import write_atomically
from extensor.report import compare, comparison_page, comparison_table


def run(options: argparse.Namespace) -> None:
    """Print a table, and write the page with ``--output``."""
    output = new_file(options.output, (".html",))
    comparison = compare(options.runs)
    if output is not None:
        write_atomically(output, comparison_page(comparison).encode())
    print(comparison_table(comparison))
    if output is not None:
        print(f"\npage  {output}")
