"""What a file is, judged by its content first and its name second."""

import codecs
import re
import zipfile
from pathlib import Path, PurePath

from rag import errors

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB = "application/epub+zip"
HTML = "text/html"
MARKDOWN = "text/markdown"
TEXT = "text/plain"

PNG, JPEG, TIFF, GIF = "image/png", "image/jpeg", "image/tiff", "image/gif"
BMP, WEBP, HEIC, AVIF = "image/bmp", "image/webp", "image/heic", "image/avif"
IMAGES = frozenset({PNG, JPEG, TIFF, GIF, BMP, WEBP, HEIC, AVIF})

HEAD_BYTES = 4096
PDF_HEADER_BYTES = 1024
"""PDF readers look for the header this far into a file (PDF 1.7, implementation note 13)."""

MIME_TYPE_BY_SUFFIX = {
    ".pdf": PDF,
    ".docx": DOCX,
    ".pptx": PPTX,
    ".epub": EPUB,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": TEXT,
    ".text": TEXT,
    ".png": PNG,
    ".jpg": JPEG,
    ".jpeg": JPEG,
    ".tif": TIFF,
    ".tiff": TIFF,
    ".gif": GIF,
    ".bmp": BMP,
    ".webp": WEBP,
    ".heic": HEIC,
    ".heif": HEIC,
    ".avif": AVIF,
}
_ZIP_MEMBERS = {"word/document.xml": DOCX, "ppt/presentation.xml": PPTX, "META-INF/container.xml": EPUB}
_HTML_START = re.compile(
    rb"^\s*(<!--.*?-->\s*)*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S
)
_BINARY = {
    b"\xd0\xcf\x11\xe0": "a file of an older Office version or an encrypted Office file",
    b"{\\rtf": "an RTF file",
    b"%!PS": "a PostScript file",
    b"\x1f\x8b": "a compressed file",
    b"7z\xbc\xaf": "a compressed file",
    b"Rar!": "a compressed file",
    b"\x7fELF": "a program",
    b"MZ": "a program",
}
_IMAGE_STARTS = {
    b"\x89PNG\r\n\x1a\n": PNG,
    b"\xff\xd8\xff": JPEG,
    b"II*\0": TIFF,
    b"MM\0*": TIFF,
    b"II+\0": TIFF,
    b"MM\0+": TIFF,
    b"GIF87a": GIF,
    b"GIF89a": GIF,
}
_HEIF_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), HEIC),
    **dict.fromkeys((b"avif", b"avis"), AVIF),
}
"""What stands after "ftyp" (ISO/IEC 23008-12, AV1 Image File Format)."""
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def detect_mime_type(path: Path, name: str) -> str:
    """The MIME type of the file at `path`, which its owner calls `name`.

    Raises:
        errors.UnreadableFileError: it is empty, or its content contradicts its name beyond recognition.
        errors.UnsupportedFileError: it is of a kind that cannot be taken in.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    suffix = PurePath(name).suffix.lower()
    if not head.strip():
        raise errors.UnreadableFileError(f"“{name}” is empty. Check that it was saved and copied completely.")
    if b"%PDF-" in head[:PDF_HEADER_BYTES]:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _zip_type(path, name)
    if image := _image_type(head):
        return image
    for start, kind in _BINARY.items():
        if head.startswith(start):
            raise _unsupported(name, kind)
    if _is_text(head):
        return _text_type(head, suffix)
    if suffix == ".pdf":
        return PDF  # a damaged header: MuPDF may still repair the file, and says so if it cannot
    if suffix in MIME_TYPE_BY_SUFFIX:
        raise errors.UnreadableFileError(
            f"“{name}” is damaged or not what its name says. Open it in another program and save it again."
        )
    raise _unsupported(name, f"“{suffix}”" if suffix else "unknown")


def _zip_type(path: Path, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise errors.UnreadableFileError(
            f"“{name}” is damaged. Open it in another program and save it again."
        ) from error
    for member, kind in _ZIP_MEMBERS.items():
        if member in members:
            return kind
    raise _unsupported(name, "an archive or an Office file of another kind")


def _image_type(head: bytes) -> str | None:
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return WEBP
    if head[4:8] == b"ftyp":
        return _HEIF_BRANDS.get(head[8:12])
    if head.startswith(b"BM") and head[6:10] == bytes(4):  # two letters alone begin many a text
        return BMP
    return next((kind for start, kind in _IMAGE_STARTS.items() if head.startswith(start)), None)


def _text_type(head: bytes, suffix: str) -> str:
    if _HTML_START.match(_without_bom(head)):
        return HTML
    named = MIME_TYPE_BY_SUFFIX.get(suffix, TEXT)
    return named if named in {TEXT, MARKDOWN, HTML, PDF} else TEXT


def _without_bom(head: bytes) -> bytes:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="ignore").encode()
    return head.removeprefix(codecs.BOM_UTF8)


def _is_text(head: bytes) -> bool:
    """No control characters but white space, form feed and escape; UTF-16 only with a byte order mark."""
    if head.startswith(_BOMS):
        return True
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\0" not in head and controls <= len(head) // 200


def _unsupported(name: str, kind: str) -> errors.UnsupportedFileError:
    return errors.UnsupportedFileError(
        f"“{name}” is {kind}, which cannot be taken in. Save it as PDF, DOCX, PPTX, HTML, Markdown or text."
    )
