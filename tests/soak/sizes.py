"""Every op and rule with sizes, counts, axes and shapes that no memory can hold.

    PYTHONPATH=tests python -m soak.sizes

Nothing is drawn: the calls are those of the case table, with each number made extreme in turn.
"""

from __future__ import annotations

import sys

import extreme_sizes


def main() -> int:
    """0 if nothing was found."""
    code, found, end = extreme_sizes.ended(extreme_sizes.VALUES, 1, 1800)
    print("\n".join(found) or end)
    return int(code != 0)


if __name__ == "__main__":
    sys.exit(main())
