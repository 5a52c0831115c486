"""Hive's folders, ``year=2020/country=de``: their names are columns of the files within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extensor.data.streaming.shard import OP, missing_pyarrow
from extensor.errors import value_error

_ENDING = ".parquet"


def partition_values(folder: Path, files: Sequence[Path]) -> dict[Path, Mapping[str, Any]] | None:
    """The values of the partition columns for each file, as pyarrow types them.

    None if the files do not lie in such folders. A value is a pyarrow scalar; Hive's word for a
    missing one, ``__HIVE_DEFAULT_PARTITION__``, is null.
    """
    keys = [_keys(path.relative_to(folder)) for path in files]
    if not all(keys):
        return None
    for path, names in zip(files, keys, strict=True):
        if path.suffix.lower() != _ENDING:
            requirement = "shards in folders such as year=2020 must be Parquet files"
            raise value_error(OP, requirement, path=str(path))
        if names != keys[0] or len(set(names)) < len(names):
            requirement = (
                f"shards must all lie in folders for {', '.join(keys[0])}, in this order and once"
            )
            raise value_error(OP, requirement, path=str(path), folders=names)
    try:
        import pyarrow
    except ImportError:
        raise missing_pyarrow(files[0]) from None
    folders = [path.relative_to(folder).parent.as_posix() for path in files]
    columns = {}
    for name in keys[0]:
        # pyarrow's own inference: 32-bit integers if all values are such, else words.
        for kind in (pyarrow.int32(), pyarrow.string()):
            parsed = [_parsed(name, kind, inner) for inner in folders]
            if None not in parsed:
                columns[name] = parsed
                break
        if name not in columns or not any(value.is_valid for value in columns[name]):
            requirement = "folders of a partition must have a value that can be read"
            raise value_error(OP, requirement, path=str(files[0]), column=name)
    return {path: {name: columns[name][i] for name in columns} for i, path in enumerate(files)}


def _keys(path: Path) -> list[str]:
    """The names before ``=`` in a path; none if a folder of it has no such name."""
    pairs = [folder.partition("=") for folder in path.parts[:-1]]
    return [key for key, _, _ in pairs] if all(key and equals for key, equals, _ in pairs) else []


def _parsed(name: str, kind: Any, folders: str) -> Any:
    """The value of a column in the names of folders, a scalar; None if it is not of ``kind``."""
    import pyarrow
    from pyarrow import dataset

    schema = pyarrow.schema([(name, kind)])
    try:
        found = dataset.HivePartitioning(schema).parse(f"{folders}/")
        value = dataset.get_partition_keys(found).get(name)
    except (pyarrow.ArrowException, ValueError, UnicodeError):
        return None
    return pyarrow.scalar(value, kind)
