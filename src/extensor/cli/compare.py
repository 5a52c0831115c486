"""``extensor compare``: runs beside each other, in the terminal and as a page."""

from __future__ import annotations

import argparse

from extensor.cli.outputs import new_file
from extensor.io.atomic import write_atomically
from extensor.report import compare, comparison_page, comparison_table


def run(options: argparse.Namespace) -> None:
    """Print a table, and write the page if it is asked for."""
    output = None if options.output is None else new_file(options.output, (".html",))
    found = compare(options.runs)
    if output is not None:
        write_atomically(output, comparison_page(found).encode())
    print(comparison_table(found))
    if output is not None:
        print(f"\npage  {output}")
