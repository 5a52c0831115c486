"""Pictures in files, measured and decoded: against Pillow by hand and NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data import ImageFolder, PictureFiles, picture_sizes

Image = pytest.importorskip("PIL.Image")

ORIENTATION = 274
WHITE = 255


def raises(text: str) -> Any:
    return pytest.raises((ValueError, TypeError, IndexError), match=f"^{re.escape(text)}$")


def decoded(path: Path, size: Any = None, mode: str = "RGB") -> Any:
    made = PictureFiles([path], size, mode)[0]
    assert made.dtype == np.uint8
    assert made.flags.c_contiguous
    return made


def drawn(rng: np.random.Generator, *shape: int) -> Any:
    return rng.integers(0, 256, shape, np.uint8)


def as_channels(pixels: Any) -> Any:
    return np.moveaxis(np.asarray(pixels), -1, 0)


FORMATS = {**dict.fromkeys(("png", "bmp", "tif", "gif"), "1 L P RGB"), "ppm": "1 L RGB"}


@pytest.mark.parametrize(
    ("ending", "mode"), [(ending, mode) for ending in FORMATS for mode in FORMATS[ending].split()]
)
def test_formats_without_loss(ending: str, mode: str, tmp_path: Path, rng: Any) -> None:
    picture = Image.fromarray(drawn(rng, 6, 5, 3) // 64 * 64).convert(mode)
    if ending == "gif" and mode == "RGB":
        picture = picture.quantize(256)
    expected = np.asarray(picture.convert("RGB"))
    path = tmp_path / f"a.{ending}"
    picture.save(path)
    np.testing.assert_array_equal(decoded(path), as_channels(expected))
    grey = np.asarray(picture.convert("RGB").convert("L"))
    np.testing.assert_array_equal(decoded(path, mode="L"), grey[None])


@pytest.mark.parametrize(("ending", "mode"), [("jpg", "L"), ("jpeg", "RGB"), ("jpg", "CMYK")])
def test_photographs(ending: str, mode: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    Image.linear_gradient("L").resize((20, 12)).convert(mode).save(path)
    with Image.open(path) as picture:
        expected = np.asarray(picture.convert("RGB"))
    np.testing.assert_array_equal(decoded(path), as_channels(expected))


@pytest.mark.parametrize("size", [8, (16, 5), (40, 60)])
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_sizes_are_bilinear(size: Any, mode: str, tmp_path: Path, rng: Any) -> None:
    pixels = drawn(rng, 20, 30, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    height, width = size if isinstance(size, tuple) else (size, size)
    by_hand = (
        Image.fromarray(pixels).convert(mode).resize((width, height), Image.Resampling.BILINEAR)
    )
    made = decoded(tmp_path / "a.png", size, mode)
    assert made.shape == (len(mode), height, width)
    np.testing.assert_array_equal(made.reshape(-1), as_channels_of(by_hand).reshape(-1))


def as_channels_of(picture: Any) -> Any:
    pixels = np.asarray(picture)
    return pixels[None] if pixels.ndim == 2 else as_channels(pixels)


def test_smaller_pictures_are_smoothed(tmp_path: Path) -> None:
    """A chessboard becomes grey; to pick every eighth pixel would give black or white."""
    board = (np.indices((64, 64)).sum(axis=0) % 2 * 255).astype(np.uint8)
    Image.fromarray(board).save(tmp_path / "a.png")
    made = decoded(tmp_path / "a.png", 8, "L")
    assert abs(made.astype(int) - 127).max() <= 8


def over_white(colour: Any, alpha: Any) -> Any:
    share = alpha[..., None] / 255
    return colour * share + WHITE * (1 - share)


def test_transparent_pictures_lie_over_white(tmp_path: Path, rng: Any) -> None:
    pixels = drawn(rng, 7, 9, 4)
    pixels[0, :, 3], pixels[1, :, 3] = 0, 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    made = decoded(tmp_path / "a.png")
    expected = as_channels(over_white(pixels[..., :3], pixels[..., 3]))
    assert abs(made - expected).max() <= 1
    assert (made[:, 0] == WHITE).all()
    np.testing.assert_array_equal(made[:, 1], as_channels(pixels[1:2, :, :3])[:, 0])
    np.testing.assert_array_equal(decoded(tmp_path / "a.png", mode="RGBA"), as_channels(pixels))


def test_grey_and_transparent(tmp_path: Path, rng: Any) -> None:
    pixels = drawn(rng, 7, 9, 2)
    bands = [Image.fromarray(pixels[..., band]) for band in range(2)]
    Image.merge("LA", bands).save(tmp_path / "a.png")
    expected = over_white(pixels[..., :1], pixels[..., 1])[..., 0]
    assert abs(decoded(tmp_path / "a.png", mode="L")[0] - expected).max() <= 1
    np.testing.assert_array_equal(decoded(tmp_path / "a.png", mode="LA"), as_channels(pixels))


@pytest.mark.parametrize(
    ("mode", "values", "transparency", "rgb"),
    [
        ("L", [[10, 20]], 20, [[[10, 10, 10], [255, 255, 255]]]),
        ("1", [[0, 255]], 0, [[[255, 255, 255], [255, 255, 255]]]),
        ("RGB", [[[1, 2, 3], [4, 5, 6]]], (1, 2, 3), [[[255, 255, 255], [4, 5, 6]]]),
        ("I;16", [[10 << 8, 20 << 8]], 20 << 8, [[[10, 10, 10], [255, 255, 255]]]),
        ("I;16", [[20 << 8, (20 << 8) + 1]], 20 << 8, [[[255, 255, 255], [20, 20, 20]]]),
    ],
)
def test_one_transparent_colour(
    mode: str, values: Any, transparency: Any, rgb: Any, tmp_path: Path
) -> None:
    dtype = np.uint16 if mode == "I;16" else np.uint8
    picture = Image.fromarray(np.array(values, dtype))
    (picture if mode == "I;16" else picture.convert(mode)).save(
        tmp_path / "a.png", transparency=transparency
    )
    np.testing.assert_array_equal(decoded(tmp_path / "a.png"), as_channels(rgb))


@pytest.mark.parametrize("ending", ["png", "gif"])
def test_palettes_with_transparency(ending: str, tmp_path: Path) -> None:
    picture = Image.new("P", (3, 1))
    picture.putpalette([9, 9, 9, 200, 100, 50, 0, 0, 255])
    picture.putdata([0, 1, 2])
    picture.save(tmp_path / f"a.{ending}", transparency=1)
    made = decoded(tmp_path / f"a.{ending}")
    assert np.moveaxis(made, 0, -1).tolist() == [[[9, 9, 9], [255, 255, 255], [0, 0, 255]]]


def test_palettes_with_shares_of_alpha(tmp_path: Path) -> None:
    picture = Image.new("P", (3, 1))
    picture.putpalette([0, 0, 0, 200, 100, 50, 0, 0, 255])
    picture.putdata([0, 1, 2])
    picture.save(tmp_path / "a.png", transparency=bytes([128, 0, 255]))
    made = np.moveaxis(decoded(tmp_path / "a.png"), 0, -1)[0]
    assert abs(made[0].astype(int) - 127).max() <= 1
    assert made[1:].tolist() == [[255, 255, 255], [0, 0, 255]]


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_keep_the_upper_eight(ending: str, tmp_path: Path, rng: Any) -> None:
    values = rng.integers(0, 65536, (5, 7), np.uint16)
    values[0, :3] = 0, 255, 65535
    Image.fromarray(values).save(tmp_path / f"a.{ending}")
    for mode, channels in (("L", 1), ("RGB", 3)):
        made = decoded(tmp_path / f"a.{ending}", mode=mode)
        expected = np.broadcast_to((values // 256)[None], (channels, 5, 7))
        np.testing.assert_array_equal(made, expected)


def test_sixteen_bits_of_colour(tmp_path: Path) -> None:
    """Written by hand, as Pillow writes no such file: PNG is chunks with a checksum each."""
    import struct
    import zlib

    values = np.array([[[0, 32768, 65535], [256, 511, 512]]], ">u2")

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    head = struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    content = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    np.testing.assert_array_equal(decoded(tmp_path / "a.png"), as_channels(values // 256))


@pytest.mark.parametrize("highest", [65535, 4095])
def test_grey_maps_of_more_than_a_byte(highest: int, tmp_path: Path) -> None:
    values = np.array([[0, highest // 2, highest]], ">u2")
    head = f"P5 3 1 {highest}\n".encode()
    (tmp_path / "a.PGM").write_bytes(head + values.tobytes())
    assert decoded(tmp_path / "a.PGM", mode="L")[0].tolist() == [[0, 127, 255]]


def tiff(
    path: Path, bits: int, photometric: int, content: bytes, width: int, kind: int = 1
) -> None:
    """A TIFF of one row by hand: a head, the directory of its tags, and the pixels."""
    import struct

    tags = [(256, width), (257, 1), (258, bits), (259, 1), (262, photometric), (273, 0), (277, 1)]
    tags += [(278, 1), (279, len(content)), (339, kind)]
    begin = 8 + 2 + 12 * len(tags) + 4
    entries = [
        struct.pack("<HHII", tag, 4, 1, begin if tag == 273 else value) for tag, value in tags
    ]
    directory = struct.pack("<H", len(tags)) + b"".join(entries) + bytes(4)
    path.write_bytes(b"II*\0" + struct.pack("<I", 8) + directory + content)


def test_twelve_bits(tmp_path: Path) -> None:
    tiff(tmp_path / "a.tif", 12, 1, bytes([0x00, 0x0F, 0xFF]), 2)
    assert decoded(tmp_path / "a.tif", mode="L")[0].tolist() == [[0, 255]]


@pytest.mark.parametrize(
    ("bits", "photometric", "kind", "text"),
    [
        (16, 0, 1, "a TIFF of 16 bits must have 0 for black, got path=PATH, photometric=0"),
        (16, 1, 2, "file must be a picture of 8 or 16 bits, got path=PATH, mode='I'"),
        (32, 1, 2, "file must be a picture of 8 or 16 bits, got path=PATH, mode='I'"),
        (32, 1, 3, "file must be a picture of 8 or 16 bits, got path=PATH, mode='F'"),
    ],
)
def test_numbers_that_say_nothing_of_black_and_white(
    bits: int, photometric: int, kind: int, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.tif"
    tiff(path, bits, photometric, bytes(bits // 8), 1, kind)
    with raises("PictureFiles: " + text.replace("PATH", repr(str(path)))):
        decoded(path)


def test_numbers_as_they_are(tmp_path: Path) -> None:
    values = np.array([[0.5, -3.0, 1e9]], np.float32)
    (tmp_path / "a").mkdir()
    Image.fromarray(values).save(tmp_path / "a" / "a.tiff")
    np.testing.assert_array_equal(ImageFolder(tmp_path, mode="F")[0][0], values[None])
    tiff(tmp_path / "a" / "b.tif", 16, 0, np.array([7, 60000], "<u2").tobytes(), 2)
    assert ImageFolder(tmp_path, mode="I")[1][0].tolist() == [[[7, 60000]]]
    with raises(
        "PictureFiles: mode must be 'L', 'LA', 'RGB', 'RGBA', 'CMYK', 'YCbCr', 'LAB' or 'HSV', "
        "got mode='F'"
    ):
        PictureFiles(["a.png"], 8, "F")


TURNS = {
    1: lambda x: x,
    2: np.fliplr,
    3: lambda x: np.rot90(x, 2),
    4: np.flipud,
    5: lambda x: x.swapaxes(0, 1),
    6: lambda x: np.rot90(x, -1),
    7: lambda x: np.rot90(x, 2).swapaxes(0, 1),
    8: np.rot90,
}


@pytest.mark.parametrize("ending", ["png", "tif", "webp"])
@pytest.mark.parametrize("orientation", TURNS)
def test_orientation(orientation: int, ending: str, tmp_path: Path, rng: Any) -> None:
    """What a camera notes of how it was held: the standard's eight ways to turn and mirror."""
    pixels = drawn(rng, 4, 6, 3)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / f"a.{ending}"
    options = {"lossless": True} if ending == "webp" else {}
    Image.fromarray(pixels).save(path, exif=exif, **options)
    expected = TURNS[orientation](pixels)
    np.testing.assert_array_equal(decoded(path), as_channels(expected))
    assert picture_sizes([path]).tolist() == [list(expected.shape[:2])]


@pytest.mark.parametrize("orientation", [3, 6])
def test_orientation_of_a_photograph(orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / "a.jpg"
    Image.linear_gradient("L").resize((24, 16)).save(path, exif=exif)
    with Image.open(path) as picture:
        stored = np.asarray(picture)
    np.testing.assert_array_equal(decoded(path, mode="L")[0], TURNS[orientation](stored))
    assert picture_sizes([path]).tolist() == [[24, 16] if orientation == 6 else [16, 24]]


def test_orientation_of_sixteen_bits(tmp_path: Path) -> None:
    values = (np.arange(6, dtype=np.uint16) * 256).reshape(2, 3)
    exif = Image.Exif()
    exif[ORIENTATION] = 8
    Image.fromarray(values).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(
        decoded(tmp_path / "a.png", mode="L")[0], np.rot90(np.arange(6).reshape(2, 3))
    )


@pytest.mark.parametrize("ending", ["gif", "png", "webp", "tiff"])
def test_the_first_of_several_frames(ending: str, tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 3), colour) for colour in ("red", "lime", "blue")]
    options = {"lossless": True} if ending == "webp" else {}
    path = tmp_path / f"a.{ending}"
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)
    assert np.unique(decoded(path).reshape(3, -1), axis=1).T.tolist() == [[255, 0, 0]]


def damaged(folder: Path) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    Image.fromarray(np.arange(3072, dtype=np.uint8).reshape(32, 32, 3)).save(folder / "good.png")
    Image.linear_gradient("L").save(folder / "good.jpg")
    png, jpg = ((folder / f"good.{ending}").read_bytes() for ending in ("png", "jpg"))
    contents = {
        "empty.png": b"",
        "text.png": b"no picture",
        "cut.png": png[: len(png) // 2],
        "cut.jpg": jpg[: len(jpg) // 2],
        "flipped.png": png[:60] + bytes([png[60] ^ 255]) + png[61:],
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


REASONS = {
    "empty.png": "it is empty",
    "text.png": "it has no format that Pillow knows",
    "cut.png": "it is damaged or cut off",
    "cut.jpg": "it is damaged or cut off",
    "flipped.png": "it is damaged or cut off",
}


@pytest.mark.parametrize("name", REASONS)
def test_damaged_pictures_are_named(name: str, tmp_path: Path) -> None:
    path = damaged(tmp_path / "a")[name]
    text = f"file must be a picture ({REASONS[name]}), got path={str(path)!r}"
    with raises(f"PictureFiles: {text}"):
        decoded(path)
    folder = ImageFolder(tmp_path)
    with raises(f"ImageFolder: {text}"):
        folder[folder.paths.index(path)]


@pytest.mark.parametrize("cut", range(0, 200, 9))
@pytest.mark.parametrize("ending", ["png", "jpg", "gif", "bmp", "tif", "webp"])
def test_files_that_are_cut_off(ending: str, cut: int, tmp_path: Path) -> None:
    """Whatever a decoder makes of it, it is told in our words."""
    path = tmp_path / f"a.{ending}"
    Image.linear_gradient("L").resize((9, 9)).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: cut * len(whole) // 200])
    for work in (lambda: decoded(path), lambda: picture_sizes([path])):
        text = said(work)
        assert text is None or re.match(
            r"^\w+: file must be a picture [(]it .*[)], got path=", text
        )


def said(work: Any) -> str | None:
    try:
        work()
    except ValueError as error:
        return str(error)
    return None


def test_a_picture_of_too_many_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (40, 40)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with raises(
        "PictureFiles: file must be a picture (it has more pixels than PIL.Image.MAX_IMAGE_PIXELS), "
        f"got path={str(tmp_path / 'a.png')!r}"
    ):
        decoded(tmp_path / "a.png")


def test_other_spaces_of_colour(tmp_path: Path, rng: Any) -> None:
    pixels = drawn(rng, 4, 5, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    for mode in ("HSV", "YCbCr", "CMYK", "LAB"):
        by_hand = Image.fromarray(pixels).convert(mode)
        made = decoded(tmp_path / "a.png", mode=mode)
        np.testing.assert_array_equal(made, as_channels(by_hand))


def test_a_conversion_that_pillow_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "a.tif"
    Image.new("LAB", (2, 2), (128, 128, 128)).save(path)
    with Image.open(path) as picture:
        grey = np.asarray(picture.convert("RGB").convert("L"))
    np.testing.assert_array_equal(decoded(path, mode="L")[0], grey)
    with raises(
        "ImageFolder: file must be a picture that Pillow converts to 'I', "
        f"got path={str(path)!r}, mode='LAB'"
    ):
        ImageFolder(tmp_path, mode="I")[0]
