"""Packing of pictures, tables and texts into shards."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from extensor import random
from extensor.data.packing.packed_table import TableRequest, pack_table
from extensor.data.packing.shard_writer import (
    OP,
    ArrayShards,
    NewFolder,
    TarShards,
    checked_folder,
    new_folder,
)
from extensor.data.picture_files import MODES, ImageFolder, decode_picture
from extensor.data.streaming.index import Index, TableEncoding, read_index, write_index
from extensor.data.streaming.tar_shards import PICTURE
from extensor.data.table.reading import ENDINGS, table_suffix
from extensor.data.window_datasets import WIDE_MARKS, Vocabulary
from extensor.errors import arguments, value_error
from extensor.io.paths import as_path, check_unicode, explain_unreadable
from extensor.io.regular_files import file_bytes, open_regular
from extensor.random.generator import Generator

_PNG_MODES = ("L", "LA", "RGB", "RGBA")
Item = TypeVar("Item")
Result = TypeVar("Result")


def pack_pictures(
    source: Path,
    folder: NewFolder,
    shard_size: int,
    form: str,
    size: tuple[int, int] | None,
    mode: str,
    seed: int,
) -> Index:
    """The pictures of an :class:`ImageFolder` in random order, as blocks should have all classes."""
    pictures = ImageFolder(source, size, mode)
    for name in pictures.classes:
        check_unicode(OP, "the folder of a class", name)
    if form == "tar" and size is not None and mode not in _PNG_MODES:
        requirement = f"mode must be one of {', '.join(_PNG_MODES)}, as PNG has, in tar shards"
        raise value_error(OP, requirement, mode=mode)
    order = random.permutation(len(pictures), Generator(seed)).numpy()
    samples = [pictures.samples[number] for number in order.tolist()]
    packed = _arrays if form == "npy" else _archives
    return packed(pictures, samples, folder, shard_size)


Samples = list[tuple[Path, int]]


def _arrays(pictures: ImageFolder, samples: Samples, folder: NewFolder, shard_size: int) -> Index:
    first = _decode(pictures, samples[0][0])
    parts = (("x", str(first.dtype), first.shape), ("y", "int64", ()))
    shards = ArrayShards(folder, parts, len(samples), shard_size)
    found = _by_threads(lambda sample: _decode(pictures, sample[0]), samples)
    requirement = f"pictures must have the shape of the first, {first.shape} (size= resizes)"
    for image, (path, label) in zip(found, samples, strict=True):
        if image.shape != first.shape:
            raise value_error(OP, requirement, path=str(path), shape=image.shape)
        shards.write((image[None], [label]))
    return Index("pictures", parts, tuple(shards.written), tuple(pictures.classes))


def _archives(pictures: ImageFolder, samples: Samples, folder: NewFolder, shard_size: int) -> Index:
    shards = TarShards(folder, shard_size)
    digits = len(str(len(samples) - 1))
    shapes = set()

    def member(sample: tuple[Path, int]) -> tuple[str, bytes, tuple[int, ...]]:
        path = sample[0]
        if pictures.size is None:
            with explain_unreadable(OP, path):
                content = file_bytes(path)
            # One that is damaged is better found now than in the middle of training.
            shape = decode_picture(OP, path, None, pictures.mode, content).shape
            return path.suffix.lower(), content, shape
        image = _decode(pictures, path)
        return ".png", _png(image), image.shape

    for number, (found, (_, label)) in enumerate(
        zip(_by_threads(member, samples), samples, strict=True)
    ):
        ending, content, shape = found
        shapes.add(shape)
        key = f"{number:0{digits}d}"
        shards.write([(key + ending, content), (f"{key}.cls", str(label).encode())])
    shards.close()
    common = shapes.pop() if len(shapes) == 1 else None
    parts = ((PICTURE, "uint8", common), ("cls", "int64", ()))
    return Index("pictures", parts, tuple(shards.written), tuple(pictures.classes))


def _decode(pictures: ImageFolder, path: Path) -> Any:
    return decode_picture(OP, path, pictures.size, pictures.mode)


def _png(image: Any) -> bytes:
    """A picture as PNG, which loses nothing."""
    from PIL import Image

    pixels = image[0] if len(image) == 1 else np.ascontiguousarray(np.moveaxis(image, 0, -1))
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def _by_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results of ``function`` for each item, in order, with a few computed ahead."""
    threads = min(8, (os.cpu_count() or 1) + 1)
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads, "extensor-pack")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_CHARACTERS = 1 << 20  # that are read together


def pack_text(source: Path, folder: NewFolder, shard_size: int, kind: str) -> Index:
    """The tokens of a text, numbered as :class:`~extensor.data.Vocabulary` does."""
    vocabulary, tokens = _survey(source, kind)
    size = len(vocabulary)
    dtype = "uint8" if size <= 2**8 else "uint16" if size <= 2**16 else "uint32"
    parts = (("tokens", dtype, ()),)
    shards = ArrayShards(folder, parts, tokens, shard_size)
    done = 0
    for text in _chunks(source):
        row = vocabulary.encode(text)
        done += len(row)
        if done > tokens:
            break
        shards.write((row,))
    if done != tokens:
        raise value_error(OP, "file must not change while it is packed", path=str(source))
    return Index("text", parts, tuple(shards.written), vocabulary=vocabulary)


def _survey(source: Path, kind: str) -> tuple[Vocabulary, int]:
    """The vocabulary, and how many tokens there are."""
    characters: set[str] = set()
    tokens = 0
    for text in _chunks(source):
        tokens += len(text.encode() if kind == "byte" else text)
        if kind != "byte":
            characters.update(text)
    if tokens == 0:
        raise value_error(OP, "file must not be empty", path=str(source))
    is_bytes = kind == "byte"
    return Vocabulary("byte") if is_bytes else Vocabulary.of("".join(characters)), tokens


def _chunks(source: Path) -> Iterator[str]:
    """The text of a file in UTF-8, a part at a time, its lines ended by ``\\n`` alone."""
    refusal = partial(value_error, OP, path=str(source))
    try:
        with explain_unreadable(OP, source):
            with open(source, "rb", opener=open_regular) as file:
                if file.read(2) in WIDE_MARKS:
                    raise refusal("file must be text in UTF-8, not in UTF-16")
            with open(source, encoding="utf-8-sig", opener=open_regular) as text:
                while chunk := text.read(_CHARACTERS):
                    if "\0" in chunk:
                        raise refusal("file must be text, without bytes of 0")
                    yield chunk
    except UnicodeDecodeError:
        raise refusal("file must be text in UTF-8") from None


__all__ = ["Packed", "pack"]

_SHARD = 1 << 28  # bytes


class Packed(NamedTuple):
    """The result of :func:`pack`.

    Attributes
    ----------
    kind : {"pictures", "table", "text"}
        The kind of data.
    samples, shards, size : int
        The numbers of samples (of a text: tokens), shards and bytes.
    lines : tuple of str
        How a table was read, and the encoding of its columns.
    """

    kind: str
    samples: int
    shards: int
    size: int
    lines: tuple[str, ...] = ()


def pack(
    source: str | Path,
    folder: str | Path,
    *,
    shard_size: int = _SHARD,
    form: str = "tar",
    size: int | tuple[int, int] | None = None,
    mode: str = "RGB",
    seed: int = 0,
    target: str | int | Sequence[str | int] | None = None,
    with_target: bool = True,
    kinds: Mapping[str, str] | None = None,
    like: str | Path | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    tokens: str = "character",
) -> Packed:
    """Pack pictures, a table or a text into a folder of shards for `ShardedDataset`.

    A folder of class folders is packed as pictures, a file with the ending of a table as a table, and any
    other file as a text. Tables in text and texts need not fit into memory. The folder gets its name only
    when it is complete.

    The features of a table become the part "x", its targets the part "y". The encoder is fitted to all
    rows and stored with the shards; rows without a target are left out.

    Parameters
    ----------
    source : str or Path
        The folder or file.
    folder : str or Path
        The new folder. It must not exist.
    shard_size : int, default 2**28
        Approximate number of bytes in a shard.
    form : {"tar", "npy"}, default "tar"
        Whether pictures are stored as files in archives or as arrays.
    size : int or (int, int), optional
        Height and width to which pictures are resized. Archives store resized pictures as PNG. Default:
        pictures keep their sizes.
    mode : str, default "RGB"
        Pillow's mode of pictures.
    seed : int, default 0
        Seed of the random order of pictures.
    target : str, int or sequence of them, optional
        Target columns of a table, by name or number. Default: they are inferred.
    with_target : bool, default True
        Whether the table has targets.
    kinds : dict of str to str, optional
        Kinds of some columns, as for `TableEncoder.fit`. Default: they are inferred.
    like : str or Path, optional
        A folder of shards whose encoding and targets are used, as for rows to test on. It excludes
        ``target`` and ``kinds``.
    delimiter : str, optional
        Character between cells. Default: comma, semicolon, tab or bar, whichever the file has.
    decimal : {".", ","}, optional
        Sign before a fraction. Default: it is inferred.
    encoding : str, optional
        Encoding of a table in text. Default: it is inferred.
    header : bool, optional
        Whether the first line has the names of the columns. Default: it is inferred.
    tokens : {"character", "byte"}, default "character"
        Meaning of a token of a text.

    Returns
    -------
    Packed
        The kind of data, the numbers of samples, shards and bytes, and remarks on a table.

    Raises
    ------
    ValueError
        If the folder exists already, or if the data cannot be packed.
    ImportError
        If Pillow is missing for pictures, or pyarrow for columnar files.

    See Also
    --------
    ShardedDataset : Read the shards.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import ShardedDataset, pack
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = [f"{i / 8},{i % 3},{i % 2}" for i in range(100)]
    ...     _ = Path(folder, "a.csv").write_text("\\n".join(["size,legs,kind", *rows]))
    ...     packed = pack(f"{folder}/a.csv", f"{folder}/shards", target="kind")
    ...     sample = ShardedDataset(f"{folder}/shards")[0]
    >>> packed.kind, packed.samples, packed.shards, [part.shape for part in sample]
    ('table', 100, 1, [(2,), ()])
    """
    place = as_path(OP, source, name="source")
    to = checked_folder(folder)
    shard_size = arguments.integer(OP, "shard_size", shard_size, 1)
    arguments.choice(OP, "form", form, ("tar", "npy"))
    arguments.choice(OP, "mode", mode, MODES)
    arguments.choice(OP, "tokens", tokens, ("character", "byte"))
    seed = arguments.integer(OP, "seed", seed, 0)
    pair = None if size is None else arguments.pair(OP, "size", size, 1)
    if not place.exists():
        raise value_error(OP, "source must exist", source=str(source))
    if not (place.is_dir() or place.is_file()):
        requirement = "source must be a file or a folder, not a pipe or a device"
        raise value_error(OP, requirement, source=str(source))
    with_target = arguments.flag(OP, "with_target", with_target)
    if not with_target and target is not None:
        requirement = "target must be None if there is none"
        raise value_error(OP, requirement, target=arguments.briefly(target))
    options = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding, "header": header}
    request = TableRequest(
        options, target, with_target, kinds or {}, _encoding(like, target, kinds)
    )
    lines: list[str] = []
    with new_folder(to) as partial:
        if place.is_dir():
            index = pack_pictures(place, partial, shard_size, form, pair, mode, seed)
        elif place.name.lower().endswith(ENDINGS):
            index, lines = pack_table(place, partial, shard_size, request)
        else:
            table_suffix(OP, place)
            index = pack_text(place, partial, shard_size, tokens)
        write_index(partial.path, index)
    samples = sum(shard.samples for shard in index.shards)
    bytes_in_all = sum(file.size for shard in index.shards for file in shard.files)
    return Packed(index.kind, samples, len(index.shards), bytes_in_all, tuple(lines))


def _encoding(like: Any, target: Any, kinds: Any) -> TableEncoding | None:
    """The encoding of shards that others should be like."""
    if like is None:
        return None
    if target is not None or kinds:
        requirement = "like defines the columns and targets, so target and kinds must be left out"
        raise value_error(OP, requirement, like=str(like))
    index = read_index(as_path(OP, like, name="like"))
    if index is None or index.encoding is None:
        raise value_error(OP, "like must be a folder of shards of a table", like=str(like))
    return index.encoding


def __dir__() -> list[str]:
    return sorted(__all__)
