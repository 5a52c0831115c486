"""Shards of pictures: as they are or resized, in archives or as arrays."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from extensor import random
from extensor.data.decoding import decoded
from extensor.data.folder import ImageFolder
from extensor.data.packing.writing import OP, ArrayShards, NewFolder, TarShards
from extensor.data.streaming.index import Index
from extensor.data.streaming.members import PICTURE
from extensor.errors import value_error
from extensor.io.paths import check_unicode, unreadable
from extensor.io.regular_files import file_bytes
from extensor.random.generator import Generator

_ROWS = 32  # pictures that are written together
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
    first = _decoded(pictures, samples[0][0])
    parts = (("x", str(first.dtype), first.shape), ("y", "int64", ()))
    shards = ArrayShards(folder, parts, len(samples), shard_size)
    images: list[Any] = []
    labels: list[int] = []

    def flush() -> None:
        shards.write((np.stack(images), np.array(labels, np.int64)))
        images.clear()
        labels.clear()

    found = _by_threads(lambda sample: _decoded(pictures, sample[0]), samples)
    for image, (path, label) in zip(found, samples, strict=True):
        if image.shape != first.shape:
            requirement = (
                f"pictures must have the shape of the first, {first.shape} (size= resizes)"
            )
            raise value_error(OP, requirement, path=str(path), shape=image.shape)
        images.append(image)
        labels.append(label)
        if len(images) == _ROWS:
            flush()
    if images:
        flush()
    return Index("pictures", parts, tuple(shards.written), tuple(pictures.classes))


def _archives(pictures: ImageFolder, samples: Samples, folder: NewFolder, shard_size: int) -> Index:
    shards = TarShards(folder, shard_size)
    digits = len(str(len(samples) - 1))
    shapes = set()

    def member(sample: tuple[Path, int]) -> tuple[str, bytes, tuple[int, ...]]:
        path = sample[0]
        if pictures.size is None:
            content = _content(path)
            # One that is damaged is better found now than in the middle of training.
            shape = decoded(OP, path, None, pictures.mode, content).shape
            return path.suffix.lower(), content, shape
        image = _decoded(pictures, path)
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


def _decoded(pictures: ImageFolder, path: Path) -> Any:
    return decoded(OP, path, pictures.size, pictures.mode)


def _content(path: Path) -> bytes:
    try:
        return file_bytes(path)
    except OSError as error:
        raise unreadable(OP, path, error) from error


def _png(image: Any) -> bytes:
    """A picture as PNG, which loses nothing."""
    from PIL import Image

    pixels = image[0] if len(image) == 1 else np.ascontiguousarray(np.moveaxis(image, 0, -1))
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def _by_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """What ``function`` gives for each item, in order, with a few computed ahead."""
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
