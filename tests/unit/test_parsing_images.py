"""Pictures as documents: a page for each, of its size, upright."""

import io
import struct
from pathlib import Path
from typing import Any

import pillow_heif
import pytest
from PIL import Image, ImageDraw

from rag import errors, parsing
from rag.parsing import detect_mime_type, file_types, images
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import ParsingConfig
from tests import pdfs

KINDS = ["png", "jpeg", "tiff", "gif", "bmp", "webp", "heif", "avif"]
ORIENTATION = 0x0112


def page_picture(dpi: int = 200) -> Image.Image:
    """The page of `pdfs.plain`."""
    with pymupdf.open(stream=pdfs.plain(), filetype="pdf") as document:
        picture = document[0].get_pixmap(dpi=dpi)
    return Image.frombytes("RGB", (picture.width, picture.height), picture.samples)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    pillow_heif.register_heif_opener()
    content = io.BytesIO()
    image.save(content, kind.upper(), **options)
    return content.getvalue()


def convert(folder: Path, content: bytes) -> Any:
    source = folder / "nameless"
    source.write_bytes(content)
    assert detect_mime_type(source, "nameless") in file_types.IMAGES
    return images.to_pdf(source).document


def corner() -> Image.Image:
    """White, and black at the top left."""
    image = Image.new("RGB", (300, 200), "white")
    ImageDraw.Draw(image).rectangle((0, 0, 60, 60), fill="black")
    return image


def colour(page: Any, x: float, y: float) -> tuple[int, ...]:
    """At a place given in shares of the page."""
    picture = page.get_pixmap()
    pixel: tuple[int, ...] = picture.pixel(int(x * (picture.width - 1)), int(y * (picture.height - 1)))
    return pixel


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_told_by_their_content(tmp_path: Path, kind: str) -> None:
    with convert(tmp_path, encoded(corner(), kind)) as document:
        assert document.page_count == 1
        assert max(colour(document[0], 0.05, 0.05)) < 40
        assert min(colour(document[0], 0.9, 0.9)) > 220


@pytest.mark.parametrize(
    ("pixels", "dpi", "points"),
    [
        ((1654, 2339), (200, 200), (595.44, 842.04)),
        ((1728, 1145), (204, 98), (609.88, 841.22)),  # a fax
        ((400, 300), None, (300.0, 225.0)),
        ((4032, 3024), (72, 72), (842.0, 631.5)),  # a photograph
        ((9933, 14043), (300, 300), (2383.92, 3370.32)),  # a plan
        ((100_000, 10), (150, 150), (14_400.0, 1.44)),
        ((300, 300), (0, 0), (225.0, 225.0)),
        ((300, 300), (1e9, 1e9), (225.0, 225.0)),
    ],
)
def test_a_page_has_the_size_that_the_file_gives(
    pixels: tuple[int, int], dpi: tuple[float, float] | None, points: tuple[float, float]
) -> None:
    assert images.page_size(pixels, dpi) == pytest.approx(points, abs=0.01)


def test_every_picture_of_a_file_has_a_page(tmp_path: Path) -> None:
    turned = corner().rotate(90, expand=True)
    with convert(tmp_path, encoded(corner(), "tiff", save_all=True, append_images=[turned, corner()])) as document:
        assert [page.rect.width > page.rect.height for page in document] == [True, False, True]


@pytest.mark.parametrize(("orientation", "place"), [(1, (0.05, 0.05)), (3, (0.95, 0.95)), (6, (0.95, 0.05))])
def test_a_camera_that_was_turned(tmp_path: Path, orientation: int, place: tuple[float, float]) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    with convert(tmp_path, encoded(corner(), "jpeg", exif=exif)) as document:
        assert max(colour(document[0], *place)) < 40


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_colours_of_all_kinds(tmp_path: Path, mode: str) -> None:
    grey = corner().convert("L")
    image = grey.point([256 * value for value in range(256)], "I").convert("I;16") if mode == "I;16" else None
    with convert(tmp_path, encoded(image or corner().convert(mode), "tiff")) as document:
        assert max(colour(document[0], 0.05, 0.05)) < 40
        assert min(colour(document[0], 0.9, 0.9)) > 220


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
    with convert(tmp_path, encoded(clear, "png")) as document:
        assert min(colour(document[0], 0.5, 0.5)) > 220


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    content = bytearray(encoded(corner(), "bmp"))
    content[18:26] = struct.pack("<ii", 60_000, 60_000)
    with pytest.raises(errors.UnreadableFileError, match="pixels"):
        convert(tmp_path, bytes(content))


def test_a_bomb_behind_a_picture_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_PIXELS", 100_000)
    content = encoded(corner(), "tiff", save_all=True, append_images=[corner().resize((600, 400))])
    with pytest.raises(errors.UnreadableFileError, match="pixels"):
        convert(tmp_path, content)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_picture_is_named(tmp_path: Path, kind: str) -> None:
    content = encoded(page_picture(72), kind)
    with pytest.raises(errors.UnreadableFileError, match="damaged"):
        convert(tmp_path, content[: len(content) // 3])


def test_text_that_begins_like_a_bitmap_is_text(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("BMW built a plant in 1916.")
    assert detect_mime_type(source, "a.txt") == "text/plain"


def read(folder: Path, content: bytes, **settings: object) -> list[str]:
    source = folder / "source"
    source.write_bytes(content)
    config = ParsingConfig.model_validate(settings)
    document = parsing.read_file(source, name="photo.png", rendition=folder / "rendition.pdf", config=config)
    assert [page.ocr for page in document.pages] == [True] * len(document.pages)
    return [line.text for block in document.blocks for line in block.lines]


@pytest.mark.parametrize("kind", ["png", "jpeg", "heif"])
def test_words_in_a_picture_are_read(tmp_path: Path, kind: str) -> None:
    assert read(tmp_path, encoded(page_picture(), kind, dpi=(200, 200))) == list(pdfs.SENTENCES)


def test_without_tesseract_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match=r"“photo\.png” has no text.*apt-get install tesseract-ocr"):
        read(tmp_path, encoded(page_picture(), "png"), ocr_language="xyz")
