"""Convert images to PDF, one page per frame; OCR reads them afterwards like scans."""

import io
import struct
import warnings
from pathlib import Path

import pillow_heif
from PIL import Image, ImageOps, ImageSequence

from rag import errors
from rag.messages import N_
from rag.parsing.conversion import Conversion
from rag.parsing.pdf.mupdf import pymupdf

POINTS_PER_INCH = 72
MAX_PIXELS = 178_956_970
"""Pillow's own limit, half a gigabyte in memory. An A0 plan scanned at 300 dpi has 140 million pixels."""
SCREEN_DPI = 96.0
"""Assumed where the file gives no resolution; the 72 or 96 of cameras and screens mean nothing."""
MIN_PRINT_DPI, MAX_PRINT_DPI = 100.0, 2400.0
"""Resolutions in this range are taken as the true size of a scan."""
MAX_SCREEN_PT = 842.0
"""Longer side of a page of unknown size: that of A4."""
MAX_SIDE_PT = 14_400.0
"""ISO 32000-1, annex C.2."""
JPEG_QUALITY = 92
_LOSSY = frozenset({"JPEG", "MPO", "WEBP", "HEIF", "AVIF"})
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, IndexError, KeyError, TypeError, AttributeError)
"""Exceptions of Pillow for damaged files."""


def to_pdf(source: Path) -> Conversion:
    """Convert the image at `source` to PDF with an upright page for each frame.

    Raises:
        errors.UnreadableFileError: the file is damaged, or has more than `MAX_PIXELS`.
    """
    pillow_heif.register_heif_opener()
    document = pymupdf.open()
    try:
        with warnings.catch_warnings(), Image.open(source) as image:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # of half as many pixels
            for frame in ImageSequence.Iterator(image):
                if frame.width * frame.height > MAX_PIXELS:  # Pillow checks the size of the first only
                    raise Image.DecompressionBombError
                upright = ImageOps.exif_transpose(frame)
                width, height = page_size(upright.size, upright.info.get("dpi"))
                page = document.new_page(width=width, height=height)
                page.insert_image(page.rect, stream=_encoded(upright, image.format or ""), keep_proportion=False)
    except Image.DecompressionBombError as error:
        raise errors.UnreadableFileError(
            N_("The picture has more than {limit} pixels. Save a smaller copy."), limit=f"{MAX_PIXELS:,}"
        ) from error
    except _BROKEN as error:
        raise errors.UnreadableFileError(
            N_("The picture is damaged. Open it in another program and save it again."),
            details={"reason": type(error).__name__},
        ) from error
    return Conversion(document)


def page_size(pixels: tuple[int, int], dpi: object) -> tuple[float, float]:
    """Return width and height in points of the page for an image, by the resolution given in its file."""
    x_dpi, y_dpi = _resolution(dpi)
    width, height = pixels[0] * POINTS_PER_INCH / x_dpi, pixels[1] * POINTS_PER_INCH / y_dpi
    most = MAX_SIDE_PT if min(x_dpi, y_dpi) >= MIN_PRINT_DPI else MAX_SCREEN_PT
    scale = min(1.0, most / max(width, height))
    return max(1.0, width * scale), max(1.0, height * scale)


def _resolution(dpi: object) -> tuple[float, float]:
    """Return horizontal and vertical dots per inch, which differ in faxes."""
    try:
        across, down = (float(number) for number in dpi)  # type: ignore[attr-defined]  # other types are caught
    except (TypeError, ValueError, ZeroDivisionError):
        return SCREEN_DPI, SCREEN_DPI
    plausible = min(across, down) >= SCREEN_DPI / 2 and max(across, down) <= MAX_PRINT_DPI
    return (across, down) if plausible else (SCREEN_DPI, SCREEN_DPI)


def _encoded(frame: Image.Image, kind: str) -> bytes:
    """Encode an image for PDF, on a white background; lossless unless the file was lossy."""
    content = io.BytesIO()
    flat = _flattened(frame)
    if kind in _LOSSY:
        flat.save(content, "JPEG", quality=JPEG_QUALITY)
    else:
        flat.save(content, "PNG", compress_level=3)
    return content.getvalue()


def _flattened(frame: Image.Image) -> Image.Image:
    if frame.mode in {"1", "L", "RGB"} and "transparency" not in frame.info:
        return frame
    if frame.mode.startswith(("I", "F")):  # 16 bits and more per channel
        low, high = (float(number) for number in frame.convert("F").getextrema())  # type: ignore[arg-type]  # one band
        scale = 255.0 / (high - low) if high > low else 0.0
        return frame.convert("F").point(lambda value: value * scale - low * scale).convert("L")
    if "A" in frame.mode or "a" in frame.mode or "transparency" in frame.info:
        visible = frame.convert("RGBA")
        white = Image.new("RGBA", visible.size, "white")
        return Image.alpha_composite(white, visible).convert("RGB")
    return frame.convert("RGB")
