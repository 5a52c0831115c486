"""``extensor compare``: runs beside each other, in the terminal and as a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from extensor.errors import value_error
from extensor.io.atomic import write_atomically
from extensor.report import compare, comparison_page, comparison_table


def run(options: argparse.Namespace) -> None:
    """Print a table, and write the page if it is asked for."""
    output = None if options.output is None else _new_page(options.output)
    found = compare(options.runs)
    if output is not None:
        write_atomically(output, comparison_page(found).encode())
    print(comparison_table(found))
    if output is not None:
        print(f"\npage  {output}")


def _new_page(name: str) -> Path:
    path = Path(name)
    if path.suffix != ".html":
        raise value_error("--output", "file must end with .html", output=name)
    if path.exists():
        raise value_error("--output", "file must be new", output=name)
    if not path.parent.is_dir():
        raise value_error("--output", "the folder must be there", output=name)
    return path
