"""Well-known data sets as arrays: in the package, found on the system, or downloaded."""

from __future__ import annotations

import hashlib
import io
import os
import urllib.request
from collections.abc import Sequence
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.array_files import read_cifar10, read_idx
from extensor.data.dataset import ArrayDataset
from extensor.errors import is_ours, value_error
from extensor.io.atomic import write_atomically
from extensor.io.limits import check_decoded, read_content
from extensor.io.paths import as_path

# Debian's packages dataset-fashion-mnist and the like, and what other systems do.
SYSTEM_FOLDERS = (Path("/usr/share/datasets"), Path("/usr/local/share/datasets"))
_TIMEOUT = 60  # seconds without an answer


class Remote(NamedTuple):
    """A file of a data set: its name, where it can be downloaded, and its SHA-256."""

    name: str
    url: str
    digest: str


def cache_folder() -> Path:
    """``$EXTENSOR_DATA``, or the folder ``extensor`` where the system keeps caches."""
    chosen = os.environ.get("EXTENSOR_DATA")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "extensor"


def find(folder: str, names: Sequence[Sequence[str]], root: str | Path | None) -> list[Path] | None:
    """The first place that has every file, each under one of its names; None if there is none.

    With ``root`` only that is looked at, and the folder inside it.
    """
    if root is not None:
        places = [Path(root), Path(root) / folder]
    else:
        places = [base / folder for base in (*SYSTEM_FOLDERS, cache_folder())]
    for place in places:
        found = [[place / name for name in same if (place / name).is_file()] for same in names]
        if all(found):
            return [paths[0] for paths in found]
    return None


def download(folder: str, remotes: Sequence[Remote], root: str | Path | None) -> list[Path]:
    """Fetch the files that are not there, and check what came before it is given its name."""
    place = (cache_folder() if root is None else Path(root)) / folder
    paths = [place / remote.name for remote in remotes]
    for path, remote in zip(paths, remotes, strict=True):
        if path.is_file():
            continue
        try:
            with urllib.request.urlopen(remote.url, timeout=_TIMEOUT) as answer:
                content = answer.read()
        except OSError as error:
            wanted = "\n".join(f"  {other.url}" for other in remotes)
            raise FileNotFoundError(
                f"{folder}: the files are not here and could not be downloaded ({error}); "
                f"put these into {place}:\n{wanted}"
            ) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != remote.digest:
            raise OSError(
                f"{folder}: what came from {remote.url} is not the file that was expected, "
                f"got sha256={digest}"
            )
        place.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    return paths


def unpack(archive: Path, names: Sequence[str]) -> list[Path]:
    """The files called ``names`` in a tar archive, written beside it."""
    import tarfile

    op = "unpack"
    content = read_content(op, archive, cost=1)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            members = {Path(member.name).name: member for member in tar if member.isfile()}
            absent = [name for name in names if name not in members]
            if absent:
                requirement = f"archive must have the files {', '.join(absent)}"
                raise value_error(op, requirement, path=str(archive))
            # A sparse file may be larger than the archive.
            needed = sum(members[name].size for name in names)
            check_decoded(op, archive, needed, archive.stat().st_size)
            for name in names:
                stream = tar.extractfile(members[name])
                assert stream is not None  # as it is a file
                write_atomically(archive.parent / name, stream.read())
            return [archive.parent / name for name in names]
    except (tarfile.TarError, ValueError) as error:
        if is_ours(error):
            raise
        raise value_error(op, f"archive must be whole ({error})", path=str(archive)) from None


Pair = tuple[ArrayDataset, ArrayDataset]

_IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_MNIST_DIGESTS = (
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
)
_FASHION_URL = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"
_FASHION_DIGESTS = (
    "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
)
_CIFAR_ARCHIVE = Remote(
    "cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)
_CIFAR_NAMES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")


def digits() -> Pair:
    """Load handwritten digits of 8x8 pixels from 0 to 16, which are part of the package.

    The file ``digits.md`` in ``extensor/data`` describes their origin and the split.

    Returns
    -------
    train : ArrayDataset
        1,442 samples: images of shape (1, 8, 8), and classes of int64.
    test : ArrayDataset
        355 further samples.

    Examples
    --------
    >>> from extensor.data import digits
    >>> train, test = digits()
    >>> train.arrays[0].shape, test.arrays[1].shape
    ((1442, 1, 8, 8), (355,))
    """
    with (
        (package_files("extensor.data") / "digits.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        names = ("train_images", "train_labels", "test_images", "test_labels")
        return _pair(*(stored[name] for name in names))


def mnist(root: str | Path | None = None) -> Pair:
    """Load MNIST: handwritten digits of 28x28 bytes, 60,000 for training and 10,000 for testing.

    Parameters
    ----------
    root : str or Path, optional
        Folder with the files, into which they are downloaded if they are missing. Default: the folders
        where operating systems keep data sets, then a cache folder, ``EXTENSOR_DATA`` or
        ``~/.cache/extensor``. Missing files are downloaded into the cache folder.

    Returns
    -------
    train : ArrayDataset
        60,000 samples: images of uint8, (1, 28, 28), and classes from 0 to 9 of int64.
    test : ArrayDataset
        10,000 further samples.

    Raises
    ------
    FileNotFoundError
        If the files are neither there nor can be downloaded. The message lists their addresses.
    OSError
        If a downloaded file is not the one that was expected.

    Examples
    --------
    The files are found or downloaded, so the example is not run:

    >>> from extensor.data import mnist
    >>> train, test = mnist()  # doctest: +SKIP
    >>> train.arrays[0].shape, train.arrays[1].shape  # doctest: +SKIP
    ((60000, 1, 28, 28), (60000,))
    """
    return _idx("mnist", _MNIST_URL, _MNIST_DIGESTS, root)


def fashion_mnist(root: str | Path | None = None) -> Pair:
    """Load Fashion-MNIST: pictures of clothes of 28x28 bytes in ten classes.

    Debian has it in the package ``dataset-fashion-mnist``.

    Parameters
    ----------
    root : str or Path, optional
        Folder with the files, into which they are downloaded if they are missing. Default: the folders
        where operating systems keep data sets, then a cache folder, ``EXTENSOR_DATA`` or
        ``~/.cache/extensor``. Missing files are downloaded into the cache folder.

    Returns
    -------
    train : ArrayDataset
        60,000 samples: images of uint8, (1, 28, 28), and classes from 0 to 9 of int64.
    test : ArrayDataset
        10,000 further samples.

    Raises
    ------
    FileNotFoundError
        If the files are neither there nor can be downloaded. The message lists their addresses.
    OSError
        If a downloaded file is not the one that was expected.

    Examples
    --------
    The files are found or downloaded, so the example is not run:

    >>> from extensor.data import fashion_mnist
    >>> train, test = fashion_mnist()  # doctest: +SKIP
    >>> train.arrays[0].shape, train.arrays[1].shape  # doctest: +SKIP
    ((60000, 1, 28, 28), (60000,))
    """
    return _idx("fashion-mnist", _FASHION_URL, _FASHION_DIGESTS, root)


def _idx(folder: str, url: str, digests: tuple[str, ...], root: str | Path | None) -> Pair:
    root = None if root is None else as_path(folder, root, name="root")
    paths = find(folder, [(f"{name}.gz", name) for name in _IDX_NAMES], root)
    if paths is None:
        remotes = [
            Remote(f"{name}.gz", f"{url}{name}.gz", digest)
            for name, digest in zip(_IDX_NAMES, digests, strict=True)
        ]
        paths = download(folder, remotes, root)
    images, labels, test_images, test_labels = (read_idx(path) for path in paths)
    return _pair(images[:, None], labels, test_images[:, None], test_labels)


def cifar10(root: str | Path | None = None) -> Pair:
    """Load CIFAR-10: color pictures of shape (3, 32, 32) in ten classes.

    There are 50,000 samples for training and 10,000 for testing.

    Parameters
    ----------
    root : str or Path, optional
        Folder with the files, into which they are downloaded if they are missing. Default: the folders
        where operating systems keep data sets, then a cache folder, ``EXTENSOR_DATA`` or
        ``~/.cache/extensor``. Missing files are downloaded into the cache folder.

    Returns
    -------
    train : ArrayDataset
        50,000 samples: pictures of uint8, (3, 32, 32), and classes from 0 to 9 of int64.
    test : ArrayDataset
        10,000 further samples.

    Raises
    ------
    FileNotFoundError
        If the files are neither there nor can be downloaded. The message lists their addresses.
    OSError
        If a downloaded file is not the one that was expected.

    Examples
    --------
    The files are found or downloaded, so the example is not run:

    >>> from extensor.data import cifar10
    >>> train, test = cifar10()  # doctest: +SKIP
    >>> train.arrays[0].shape, train.arrays[1].shape  # doctest: +SKIP
    ((50000, 3, 32, 32), (50000,))
    """
    root = None if root is None else as_path("cifar10", root, name="root")
    paths = find("cifar-10-batches-bin", [(name,) for name in _CIFAR_NAMES], root)
    if paths is None:
        (archive,) = download("cifar-10-batches-bin", [_CIFAR_ARCHIVE], root)
        paths = unpack(archive, _CIFAR_NAMES)
    *train, test = paths
    return _pair(*read_cifar10(*train), *read_cifar10(test))


def _pair(images: Any, labels: Any, test_images: Any, test_labels: Any) -> Pair:
    return (
        ArrayDataset(images, labels.astype(np.int64)),
        ArrayDataset(test_images, test_labels.astype(np.int64)),
    )
