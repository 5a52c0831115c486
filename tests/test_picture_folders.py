"""Pictures in folders: found, counted, refused, and decoded by a loader."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data import DataLoader, ImageFolder, PictureFiles, find_pictures, picture_sizes

Image = pytest.importorskip("PIL.Image")


def raises(text: str) -> Any:
    return pytest.raises((ValueError, TypeError, IndexError), match=f"^{re.escape(text)}$")


def put(folder: Path, *names: str) -> None:
    """Small pictures under these names, whatever their ending."""
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (2, 3)).save(place, format="PNG")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for work in (
        lambda: PictureFiles([tmp_path / "none.png"], 8)[0],
        lambda: picture_sizes([tmp_path / "none.png"]),
        lambda: find_pictures(tmp_path / "none.png"),
        lambda: ImageFolder(tmp_path / "none"),
    ):
        with pytest.raises(FileNotFoundError, match=r"^.*\w+: could not read .*none"):
            work()


def test_pictures_are_found(tmp_path: Path) -> None:
    put(tmp_path, "b.png", "a/2.JPG", "a/10.jpeg", "a/deep/x.TIFF", ".hidden.png", ".git/c.png")
    (tmp_path / "notes.txt").write_text("no picture")
    found = find_pictures(tmp_path)
    names = ["a/10.jpeg", "a/2.JPG", "a/deep/x.TIFF", "b.png"]
    assert [str(path.relative_to(tmp_path)) for path in found] == names
    assert find_pictures(str(tmp_path / "b.png")) == [tmp_path / "b.png"]


def test_links_are_followed(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/1.png", "root/a/2.png", "root/b/3.png")
    root = tmp_path / "root"
    (root / "a" / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "a" / "file.png").symlink_to(root / "b" / "3.png")
    (root / "a" / "back").symlink_to(root)
    (root / "c").symlink_to(tmp_path / "elsewhere")
    names = [str(path.relative_to(root)) for path in find_pictures(root / "a")]
    assert names == ["a/2.png", "a/back/b/3.png", "a/back/c/1.png", "a/file.png", "a/linked/1.png"]
    (root / "a" / "back").unlink()
    folder = ImageFolder(root)
    assert folder.classes == ["a", "b", "c"]
    assert [number for _, number in folder.samples] == [0, 0, 0, 1, 2]
    assert folder[4][0].shape == (3, 3, 2)


def test_a_link_to_nothing_is_a_picture_that_is_missing(tmp_path: Path) -> None:
    put(tmp_path, "a/1.png")
    (tmp_path / "a" / "2.png").symlink_to(tmp_path / "gone.png")
    folder = ImageFolder(tmp_path)
    assert len(folder) == 2
    with pytest.raises(FileNotFoundError, match=r"ImageFolder: could not read .*2[.]png"):
        folder[1]


def test_nothing_to_find(tmp_path: Path) -> None:
    known = ".bmp, .gif, .jfif, .jpeg, .jpg, .pbm, .pgm, .png, .pnm, .ppm, .tif, .tiff, .webp"
    with raises(f"find_pictures: folder must have pictures ({known}), got path={str(tmp_path)!r}"):
        find_pictures(tmp_path)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n")
    with raises(f"find_pictures: file must be a picture ({known}), got path={str(path)!r}"):
        find_pictures(path)


def test_sizes_of_some(tmp_path: Path) -> None:
    paths = []
    for number in range(11):
        paths.append(tmp_path / f"{number:02}.png")
        Image.new("L", (number + 1, 20 - number)).save(paths[-1])
    sizes = [[20 - number, number + 1] for number in range(11)]
    assert picture_sizes(paths).tolist() == sizes
    assert picture_sizes(paths, most=3).tolist() == [sizes[0], sizes[5], sizes[10]]
    assert picture_sizes(paths, most=1).tolist() == [sizes[0]]
    assert picture_sizes([str(paths[2])]).tolist() == [sizes[2]]


def test_what_a_folder_ignores_is_counted(tmp_path: Path) -> None:
    put(tmp_path, "b/1.PNG", "b/deep/2.Jpg", "a/3.png", "a/.4.png", ".cache/5.png", "b/.6/7.png")
    (tmp_path / "a" / "notes.txt").write_text("no picture")
    (tmp_path / "labels.csv").write_text("a,b\n")
    folder = ImageFolder(tmp_path)
    assert folder.classes == ["a", "b"]
    assert [str(path.relative_to(tmp_path)) for path in folder.paths] == [
        "a/3.png", "b/1.PNG", "b/deep/2.Jpg",
    ]  # fmt: skip
    # The hidden file and folders, the notes and the labels.
    assert folder.ignored == 5


def test_folders_that_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "a/1.png", "b/1.png")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "notes.txt").write_text("no picture")
    with raises(
        f"ImageFolder: the folder of a class must have pictures, got folder={str(tmp_path / 'c')!r}"
    ):
        ImageFolder(tmp_path)
    put(tmp_path, "c/1.png", "z.png", "y.png")
    with raises(
        "ImageFolder: pictures must lie in the folders of their classes, "
        f"got path={str(tmp_path / 'y.png')!r}"
    ):
        ImageFolder(tmp_path)


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: PictureFiles("a.png", 8),
            "PictureFiles: paths must be a list of files, as find_pictures gives it, got paths='a.png'",
        ),
        (
            lambda: PictureFiles(Path("a.png"), 8),
            "PictureFiles: paths must be a list of files, as find_pictures gives it, "
            f"got paths={type(Path()).__name__!r}",
        ),
        (lambda: PictureFiles([], 8), "PictureFiles: paths must have at least one file, got paths=[]"),
        (
            lambda: PictureFiles(["a.png", 3], 8),  # type: ignore[list-item]
            "PictureFiles: paths[1] must be a string or a Path, got paths[1]='int'",
        ),
        (lambda: PictureFiles(["a.png"], 0), "PictureFiles: size must be 1 or more, got size=0"),
        (
            lambda: PictureFiles(["a.png"], 8)[1],
            "PictureFiles: index must be in [-1, 0], got index=1",
        ),
        (lambda: picture_sizes(["a.png"], 0), "picture_sizes: most must be 1 or more, got most=0"),
        (
            lambda: picture_sizes([]),
            "picture_sizes: paths must have at least one file, got paths=[]",
        ),
    ],
)  # fmt: skip
def test_errors(work: Any, text: str) -> None:
    with raises(text):
        work()


def test_a_loader_decodes_in_its_threads(
    tmp_path: Path, rng: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = rng.integers(0, 256, (12, 6, 5, 3), np.uint8)
    (tmp_path / "a").mkdir()
    for number, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / "a" / f"{number:02}.png")
    opened = Image.open
    names = []

    def noted(*arguments: Any, **keywords: Any) -> Any:
        names.append(threading.current_thread().name)
        return opened(*arguments, **keywords)

    monkeypatch.setattr(Image, "open", noted)
    files = PictureFiles(find_pictures(tmp_path), None)
    assert len(files) == 12
    batches = [x.numpy() for (x,) in DataLoader(files, 4, workers=2)]
    np.testing.assert_array_equal(np.concatenate(batches), np.moveaxis(pixels, -1, 1))
    batches = [x.numpy() for x, _ in DataLoader(ImageFolder(tmp_path), 4, workers=2)]
    np.testing.assert_array_equal(np.concatenate(batches), np.moveaxis(pixels, -1, 1))
    assert len(names) == 24
    assert all(name.startswith("extensor-loader") for name in names)


def test_an_error_in_a_thread_reaches_the_loop(tmp_path: Path) -> None:
    put(tmp_path, "a/1.png")
    (tmp_path / "a" / "2.png").write_bytes(b"")
    with pytest.raises(ValueError, match=r"^ImageFolder: file must be a picture [(]it is empty[)]"):
        list(DataLoader(ImageFolder(tmp_path), 1, workers=2))
