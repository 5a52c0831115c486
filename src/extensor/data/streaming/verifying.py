"""Whether packed shards are still what was packed."""

from __future__ import annotations

from pathlib import Path

from extensor.data.streaming.index import INDEX, check_digests, check_files
from extensor.data.streaming.shard_files import find_shards
from extensor.errors import value_error
from extensor.io.paths import as_path
from extensor.io.state import DamagedFileError


def verify(folder: str | Path) -> tuple[int, int]:
    """Compare all files with the digests of their index; how many shards and bytes there are.

    The error names every shard that is damaged or missing.
    """
    op = "verify"
    place = as_path(op, folder, name="folder")
    if not place.is_dir():
        raise value_error(op, "folder must be one of shards", folder=str(folder))
    found, index = find_shards(place)
    if index is None:
        requirement = f"folder must have the {INDEX} that extensor pack writes"
        raise value_error(op, requirement, folder=str(folder))
    faults = []
    for one in found:
        assert one.packed is not None
        try:
            check_files(place, one.packed)
            check_digests(place, one.packed)
        except (DamagedFileError, OSError) as error:
            faults.append(str(error.strerror if isinstance(error, OSError) else error))
    if faults:
        raise DamagedFileError("\n".join(faults))
    return len(found), sum(file.size for shard in index.shards for file in shard.files)
