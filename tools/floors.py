"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python tools/floors.py > build/floors.txt
    pip install -c build/floors.txt dist/extensor-*.whl --group test

Only the requirements of the package, its extras and its tests count: their own requirements are as new
as pip finds them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def floors(project: Path = PROJECT) -> list[str]:
    """One line for each requirement, such as ``numpy==2.2.2``; other comparisons stay as they are."""
    data = tomllib.loads(project.read_text())
    extras = data["project"]["optional-dependencies"].values()
    groups = [data["project"]["dependencies"], *extras, data["dependency-groups"]["test"]]
    lines = [
        line for group in groups for line in group if isinstance(line, str)
    ]  # not other groups
    return sorted({re.sub(r"\s*>=\s*", "==", line) for line in lines})


if __name__ == "__main__":
    print(*floors(), sep="\n")
