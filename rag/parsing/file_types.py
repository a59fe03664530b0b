"""Detect a file's type by its content, and by its name where the content is ambiguous."""

import codecs
import mmap
import re
import zipfile
import zlib
from pathlib import Path, PurePath

import olefile

from rag import errors, types
from rag.messages import N_
from rag.parsing import zips
from rag.parsing.archive import filings
from rag.parsing.encoding import decode
from rag.parsing.sheets.delimited import find_delimiter

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB = "application/epub+zip"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
RTF = "application/rtf"
DOC = "application/msword"
PPT = "application/vnd.ms-powerpoint"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLS = "application/vnd.ms-excel"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
CSV = "text/csv"
TSV = "text/tab-separated-values"
SHEETS = frozenset({XLSX, XLS, ODS, CSV, TSV})
EML, MSG, MBOX, ZIP = types.MAIL, types.OUTLOOK_MAIL, types.MAILBOX, types.ARCHIVE
ICS = "text/calendar"
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
    f".{suffix}": kind
    for suffixes, kind in (
        ("pdf", PDF), ("docx", DOCX), ("pptx", PPTX), ("epub", EPUB), ("odt", ODT), ("odp", ODP), ("rtf", RTF),
        ("doc", DOC), ("ppt", PPT), ("xlsx xlsm", XLSX), ("xls", XLS), ("ods", ODS), ("csv", CSV), ("tsv", TSV),
        ("html htm xhtml", HTML), ("md markdown", MARKDOWN), ("eml", EML), ("msg", MSG), ("mbox", MBOX), ("ics", ICS),
        ("zip", ZIP), ("txt text", TEXT), ("png", PNG), ("jpg jpeg", JPEG), ("tif tiff", TIFF), ("gif", GIF),
        ("bmp", BMP), ("webp", WEBP), ("heic heif", HEIC), ("avif", AVIF),
    )
    for suffix in suffixes.split()
}  # fmt: skip
_CONTENT_TYPES = "[Content_Types].xml"
MAX_CONTENT_TYPES_BYTES = 4 << 20
"""Most that is read of the list of an Office Open XML file's parts."""
_MAIN_PARTS = {
    re.compile(rb"(wordprocessingml|ms-word)\.[\w.]*main\+xml", re.I): DOCX,
    re.compile(rb"(presentationml|ms-powerpoint)\.[\w.]*main\+xml", re.I): PPTX,
    re.compile(rb"(spreadsheetml|ms-excel)\.[\w.]*main\+xml", re.I): XLSX,
}
"""Types of the main part of Office Open XML files, templates and files with macros included; its name is free."""
_ZIP_MEMBERS = {
    "word/document.xml": DOCX,
    "ppt/presentation.xml": PPTX,
    "META-INF/container.xml": EPUB,
    "xl/workbook.xml": XLSX,
}
"""Names of main parts, for files whose list of parts says nothing."""
_ZIP_KINDS = {ODT, ODP, ODS}
"""Types named in the member `mimetype`."""
_TEXT_SUFFIXES = frozenset(suffix for suffix, kind in MIME_TYPE_BY_SUFFIX.items() if kind in {HTML, MARKDOWN, TEXT})
_OLE2_STREAMS = {"Workbook": XLS, "Book": XLS, "WordDocument": DOC, "PowerPoint Document": PPT}
_HTML_START = re.compile(
    rb"^\s*(<!--.*?-->\s*)*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S
)
_SVG_START = re.compile(rb"^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg\b", re.I | re.S)
_CALENDAR_START = re.compile(rb"\s*BEGIN:VCALENDAR\s", re.I)
_OTHER_PACKAGES = {_CONTENT_TYPES, "mimetype"}
"""Members that mark Office Open XML, OpenDocument and EPUB."""
_BINARY = {
    b"%!PS": N_("a PostScript file"),
    b"\x1f\x8b": N_("a compressed file"),
    b"7z\xbc\xaf": N_("a compressed file"),
    b"Rar!": N_("a compressed file"),
    b"\x7fELF": N_("a program"),
    b"MZ": N_("a program"),
}
_IMAGE_STARTS = {
    b"\x89PNG": PNG,
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
"""Brands after "ftyp" (ISO/IEC 23008-12, AV1 Image File Format)."""
_RTF = b"{\\rtf"
_OLE2 = b"\xd0\xcf\x11\xe0"
_HEADERS = re.compile(rb"(?:[!-9;-~]+[ \t]*:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*(?:\r?\n|\Z))+")
"""Header fields (RFC 5322, 2.2): a name, a colon, a value; lines that begin with a space continue a field."""
_MACHINE_HEADERS = {b"received", b"message-id", b"mime-version", b"content-type", b"return-path", b"delivered-to"}
_USER_HEADERS = {b"from", b"to", b"subject", b"date"}
MIN_HEADERS = 2
_MAILBOX_START = re.compile(rb"From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""The line before each mail in a mailbox (RFC 4155): the sender and the time."""
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def detect_mime_type(path: Path, name: str) -> str:
    """Detect the MIME type of the file at `path`, whose name is `name`.

    Raises:
        errors.UnreadableFileError: the file is empty, or not what its name says.
        errors.UnsupportedFileError: the type is not supported.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    suffix = PurePath(name).suffix.lower()
    if not head.strip():
        raise errors.UnreadableFileError(
            N_("“{name}” is empty. Check that it was saved and copied completely."), name=name
        )
    if mail := _mail_type(path, head, named_as_text=suffix in _TEXT_SUFFIXES):
        return mail  # first, as its text may contain other signatures
    if b"%PDF-" in head[:PDF_HEADER_BYTES]:
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(path, name)
    if image := _image_type(head):
        return image
    if head.startswith(_OLE2):
        return _ole2_type(path, name)
    if head.lstrip().startswith(_RTF):
        return RTF
    for start, kind in _BINARY.items():
        if head.startswith(start):
            raise _unsupported(name, kind)
    if _is_text(head):
        return _text_type(head, name, suffix)
    if suffix == ".pdf":
        return PDF  # a damaged header: MuPDF may still repair the file, and says so if it cannot
    if suffix in MIME_TYPE_BY_SUFFIX:
        raise errors.UnreadableFileError(
            N_("“{name}” is damaged or not what its name says. Open it in another program and save it again."),
            name=name,
        )
    raise _unsupported(name, f"“{suffix}”" if suffix else "unknown")


def files_in(folder: Path) -> list[Path]:
    """Return the files in a folder whose names tell a kind that is read, but no hidden ones and no pictures."""
    suffixes = {suffix for suffix, kind in MIME_TYPE_BY_SUFFIX.items() if kind not in IMAGES}
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def _mail_type(path: Path, head: bytes, *, named_as_text: bool) -> str | None:
    """Return the MIME type of a mail at `path`, which begins with `head`; None if it is none."""
    if head.startswith(_OLE2):
        return types.OUTLOOK_MAIL if _is_outlook_mail(path) else None
    if (start := _MAILBOX_START.match(head)) and _is_mail(head[start.end() :], named_as_text=False):
        return types.MAILBOX
    return types.MAIL if _is_mail(head, named_as_text=named_as_text) else None


def _is_outlook_mail(path: Path) -> bool:
    """Whether the root storage has a message's properties; those of embedded mails are deeper."""
    try:
        with olefile.OleFileIO(path) as file:
            return bool(file.exists("__properties_version1.0"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _is_mail(head: bytes, *, named_as_text: bool) -> bool:
    """Whether `head` begins with mail headers, in text files also with some that only programs write."""
    block = _HEADERS.match(head.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n"))
    if not block:
        return False
    names = {line.partition(b":")[0].strip().lower() for line in block[0].splitlines() if line[:1] not in b" \t"}
    is_sent = bool(names & _MACHINE_HEADERS) or not named_as_text
    return is_sent and len(names & (_MACHINE_HEADERS | _USER_HEADERS)) >= MIN_HEADERS


def _zip_type(path: Path, name: str) -> str:
    with zips.opened(path, name) as archive:
        members = {member.replace("\\", "/") for member in archive.namelist()}
        named = _read_member(archive, "mimetype", 100).decode("ascii", errors="replace").strip()
        content_types = _read_member(archive, _CONTENT_TYPES, MAX_CONTENT_TYPES_BYTES)
    if named in _ZIP_KINDS:
        return named
    for pattern, kind in _MAIN_PARTS.items():
        if pattern.search(content_types):
            return kind
    for member, kind in _ZIP_MEMBERS.items():
        if member in members:
            return kind
    if members & _OTHER_PACKAGES:
        raise _unsupported(name, N_("an Office file of another kind"))
    if all(member.endswith("/") for member in members):
        raise errors.UnreadableFileError(
            N_("“{name}” has no files in it. Check that it was saved and copied completely."), name=name
        )
    return ZIP


def _image_type(head: bytes) -> str | None:
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return WEBP
    if head[4:8] == b"ftyp":
        return _HEIF_BRANDS.get(head[8:12])
    if head.startswith(b"BM") and head[6:10] == bytes(4):  # two letters alone begin many a text
        return BMP
    return next((kind for start, kind in _IMAGE_STARTS.items() if head.startswith(start)), None)


def _read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the beginning of a member, nothing if it is missing or damaged."""
    try:
        with archive.open(name) as member:
            return member.read(most)
    except (KeyError, RuntimeError, NotImplementedError, zlib.error):
        return b""


def _ole2_type(path: Path, name: str) -> str:
    """Return the type of an OLE2 compound file by the stream names in its directory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for stream, kind in _OLE2_STREAMS.items():
            # a directory entry begins with the name in UTF-16, filled with zeros (MS-CFB, 2.6.1)
            if content.find(stream.encode("utf-16-le") + bytes(4)) >= 0:
                return kind
    raise _unsupported(name, N_("an encrypted Office file, or one of another kind"))


def _text_type(head: bytes, name: str, suffix: str) -> str:
    if filings.is_filing(head):
        return types.FILING
    if _CALENDAR_START.match(_without_bom(head)):
        return ICS
    if _SVG_START.match(_without_bom(head)):
        raise _unsupported(name, N_("an SVG image"))
    if _HTML_START.match(_without_bom(head)):
        return HTML
    named = MIME_TYPE_BY_SUFFIX.get(suffix, TEXT)
    if named in {CSV, TSV}:
        text = decode(head)
        # a last line may be cut off
        if find_delimiter(text.rpartition("\n")[0] if len(head) == HEAD_BYTES else text) is not None:
            return named
    return named if named in {TEXT, MARKDOWN, HTML, PDF} else TEXT


def _without_bom(head: bytes) -> bytes:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="ignore").encode()
    return head.removeprefix(codecs.BOM_UTF8)


def _is_text(head: bytes) -> bool:
    """Whether there are next to no control characters, or a byte order mark; UTF-16 needs the mark."""
    if head.startswith(_BOMS):
        return True
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\0" not in head and controls <= len(head) // 200


def _unsupported(name: str, kind: str) -> errors.UnsupportedFileError:
    return errors.UnsupportedFileError(
        N_("“{name}” is {_kind}, which cannot be taken in. Save it as PDF, DOCX, PPTX, XLSX, HTML, Markdown or text."),
        name=name,
        _kind=kind,
        details={"kind": kind},
    )
