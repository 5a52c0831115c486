"""Pictures and arrays that cannot be learned."""

from __future__ import annotations

import numpy as np

from odd.running import Files, array, arrays, folder, pictures

ROWS: dict[str, tuple[Files, str, str]] = {
    "empty folder": (
        {"p": folder},
        "p",
        "ImageFolder: root must have folders of images, one for each class, got",
    ),
    "pictures without folders": (
        {"p": pictures(with_classes=False)},
        "p",
        "ImageFolder: pictures must lie in the folders of their classes, got path='p/00.png'",
    ),
    "one folder": (
        {"p/only": pictures(with_classes=False)},
        "p",
        "data: the target must have at least two different values, got path='p', values=['only']",
    ),
    "folder without pictures": (
        {"p": pictures(), "p/left": folder},
        "p",
        "ImageFolder: the folder of a class must have pictures, got folder='p/left'",
    ),
    "damaged picture": (
        {"p": pictures(), "p/up/99.png": b"\x89PNG\r\n\x1a\nxxxx"},
        "p",
        "picture_sizes: file must be a picture (",
    ),
    "empty picture": (
        {"p": pictures(), "p/up/99.png": b""},
        "p",
        "picture_sizes: file must be a picture (it is emp",
    ),
    "a folder of bytes": (
        {"p": pictures(), "p/\udcff": pictures(2, with_classes=False)},
        "p",
        r"data: the folder of a class must be a name in Unicode, got name='\\udcff'",
    ),
    "a picture alone": (
        {"p": pictures()},
        "p/up/01.png",
        "data: pictures must lie in folders, one for each class; train on the one around them, got",
    ),
    "four pictures": (
        {"p": pictures(4)},
        "p",
        "data: p must have classes of 3 samples or more, for each part some",
    ),
    "size of 0": (
        {"p": pictures()},
        "p --set data.size=0",
        "config: data.size must be 1 or more, got data.size",
    ),
    "size of three": (
        {"p": pictures()},
        "p --set data.size=[8,8,8]",
        "config: data.size must be an integer, or two",
    ),
    "size of a million": (
        {"p": pictures()},
        "p --set data.size=1000000",
        "config: data.size must be at most 4096 pixel",
    ),
    "no such mode": (
        {"p": pictures()},
        "p --set data.mode=XYZ",
        "PictureFiles: mode must be 'L', ",
    ),
    "numbers of pictures": (
        {"p": pictures()},
        "p --task regression",
        "data: targets must be numbers for the task regression, got path='p', values=['down', 'up']",
    ),
    "pictures of other classes to test on": (
        {"p": pictures(), "o/left": pictures(2, with_classes=False)},
        "p --set data.test=o",
        "data: folders must be classes of the training data, ['down', 'up'], got folder='o/left'",
    ),
    "other names of arrays": (
        {"d.npz": lambda path: np.savez(path, a=np.ones((4, 3)), b=np.arange(4))},
        "d.npz",
        "data: file must have the array 'x', got path='d.npz', arrays=['a', 'b']",
    ),
    "no such array": (
        {"d.npz": arrays()},
        "d.npz --target z",
        "data: file must have the array 'z', got path='d.npz', arrays=['x', 'y']",
    ),
    "two arrays as targets": (
        {"d.npz": arrays()},
        "d.npz --target x --target y",
        "config: data.target must be the name of one array, or an .npy file of targets, got target=",
    ),
    "objects in an array": (
        {"d.npz": arrays(x=np.array([{}] * 40, object))},
        "d.npz",
        "read_arrays: file must hold arrays of numbers, as a whole .npy or .npz, got path='d.npz'",
    ),
    "an array without axes": (
        {"d.npz": arrays(y=np.int64(3))},
        "d.npz",
        "data: there must be an axis of samples, got path='d.npz', array='y', shape=()",
    ),
    "inputs of one axis": (
        {"d.npz": arrays(x=np.arange(40.0))},
        "d.npz",
        "data: inputs must have columns, as x[:, None] has one, got path='d.npz', shape=",
    ),
    "arrays of other lengths": (
        {"d.npz": arrays(y=np.arange(30) % 2)},
        "d.npz",
        "data: arrays must have as many samples each (d.npz), got samples={'x': 40, 'y': 30}",
    ),
    "words in an array": (
        {"d.npz": arrays(y=np.array(["a", "b"] * 20))},
        "d.npz",
        "data: arrays must be of numbers (numpy.unique(y, return_inverse=True)[1] numbers words), "
        "got path='d.npz', array='y', dtype='<U1'",
    ),
    "complex numbers": (
        {"d.npz": arrays(x=np.ones((40, 3), complex))},
        "d.npz",
        "data: arrays must be of numbers, got path='d.npz', array='x', dtype='complex128'",
    ),
    "nan in an array": (
        {"d.npz": arrays(x=np.where(np.arange(40)[:, None] == 7, np.nan, 1.0))},
        "d.npz",
        "data: train must have no NaN or infinity, got sample=7, value=nan",
    ),
    "1e300 in an array": (
        {"d.npz": arrays(x=np.where(np.arange(40)[:, None] == 7, 1e300, 1.0))},
        "d.npz",
        "data: train must have no NaN or infinity, got sample=7, value=inf, dtype='float32'",
    ),
    "labels beyond 2**63": (
        {"d.npz": arrays(y=np.array([2, 2**63 + 5] * 20, np.uint64))},
        "d.npz",
        "data: targets must be whole numbers below 2**63, or floats, got target=9223372036854775813",
    ),
    "arrays of nothing": (
        {"d.npz": arrays(x=np.ones((0, 3)), y=np.ones(0, int))},
        "d.npz",
        "data: train must have at least one sample, got samples=0",
    ),
    "an array that is cut off": (
        {"d.npz": b"PK\x03\x04xxxx"},
        "d.npz",
        "read_arrays: file must hold arrays of numbers, as a",
    ),
    "inputs alone": (
        {"x.npy": array(np.ones((40, 3)))},
        "x.npy",
        "data: file must be .npz with x and y, or data.target (--target) the .npy file of targets",
    ),
    "no such file of targets": (
        {"x.npy": array(np.ones((40, 3)))},
        "x.npy --target y.npy",
        "read_arrays: could not read y.npy (No such file or directory)",
    ),
    "inputs as targets": (
        {"x.npy": array(np.ones((40, 3)))},
        "x.npy --target x.npy",
        "config: data.target must be another file than that of the inputs, got target='x.npy'",
    ),
    "several arrays as targets": (
        {"x.npy": array(np.ones((40, 3))), "y.npz": arrays()},
        "x.npy --target y.npz",
        "config: data.target must be an .npy file, which has one array, got target='y.npz'",
    ),
    "test arrays of other columns": (
        {"d.npz": arrays(), "o.npz": arrays(x=np.ones((40, 2)))},
        "d.npz --set data.test=o.npz",
        "data: test must have samples of the shape (3,), as those to train on, got shape=(2,)",
    ),
    "test arrays of other classes": (
        {"d.npz": arrays(), "o.npz": arrays(y=np.arange(40) % 3)},
        "d.npz --set data.test=o.npz",
        "data: targets must be classes of the training data (0, 1), got path='o.npz', sample=2, "
        "target=2",
    ),
    "arrays validated by nothing": (
        {"d.npz": arrays()},
        "d.npz --set data.validation_fraction=0",
        "config: data.validation_fraction must be above 0 and leave samples to train on, got",
    ),
}
