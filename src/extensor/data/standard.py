"""Well-known data sets as arrays: one of them in the package, the others found or downloaded."""

from __future__ import annotations

from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data.dataset import ArrayDataset
from extensor.data.files import Remote, download, find, unpack
from extensor.data.readers import read_cifar10, read_idx
from extensor.io.paths import as_path

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
    """Handwritten digits of 8x8 pixels from 0 to 16, 1,442 to train on and 355 to test.

    Part of the package; ``digits.md`` beside this file says where they come from and how they were
    divided.

    >>> from extensor.data import digits
    >>> train, test = digits()
    >>> train.arrays[0].shape, test.arrays[1].shape
    ((1442, 1, 8, 8), (355,))
    """
    with (
        (package_files("extensor.data") / "digits.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return tuple(
            ArrayDataset(stored[f"{part}_images"], stored[f"{part}_labels"].astype(np.int64))
            for part in ("train", "test")
        )  # type: ignore[return-value]


def mnist(root: str | Path | None = None) -> Pair:
    """Handwritten digits of 28x28 bytes, 60,000 to train on and 10,000 to test.

    They are looked for in ``root`` or, without it, where systems keep data sets and in a cache
    folder (``EXTENSOR_DATA``), then downloaded.
    """
    return _idx("mnist", _MNIST_URL, _MNIST_DIGESTS, root)


def fashion_mnist(root: str | Path | None = None) -> Pair:
    """Pictures of clothes of 28x28 bytes in ten classes, found as :func:`mnist` is.

    Debian has them in the package ``dataset-fashion-mnist``.
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
    """Colour pictures of 32x32 bytes in ten classes, found as :func:`mnist` is.

    50,000 to train on and 10,000 to test, of shape (3, 32, 32).
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
