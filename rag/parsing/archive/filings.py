"""Convert filings from the archive of the SEC (EDGAR's complete submissions) to PDF.

The pages show the header and the list of the filing's documents, which become documents of their own.
"""

import binascii
import io
import re
from pathlib import Path
from typing import NamedTuple

from rag.messages import N_
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.encoding import decode

_START = re.compile(rb"\s*(?:-----BEGIN PRIVACY-ENHANCED MESSAGE-----.*?)?<(?:SEC|IMS)-DOCUMENT>", re.DOTALL)
_HEADER = re.compile(rb"<(?:SEC|IMS)-HEADER>(.*?)</(?:SEC|IMS)-HEADER>", re.DOTALL)
_DOCUMENT = re.compile(rb"^<DOCUMENT>\s*?$(.*?)^<TEXT>[ \t]*\r?\n?(.*?)^</TEXT>", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(rb"^<(TYPE|SEQUENCE|FILENAME|DESCRIPTION)>(.*)$", re.MULTILINE)
_WRAPPER = re.compile(rb"\s*<(PDF|XML|XBRL|JSON)>\s*\n(.*?)\s*</\1>\s*", re.DOTALL)
_UUENCODED = re.compile(rb"\s*begin [0-7]{3,4} [^\n]*\n")
_LAYOUT_TAG = re.compile(r"</?(?:TABLE|CAPTION|S|C|FN|F\d+)>[ \t]*")
"""Marks of columns and tables in filings of plain text."""
_DATA = ("EX-101", "GRAPHIC", "ZIP", "EXCEL", "JSON", "XML")
"""Types of documents without text for readers: pictures of other documents, and data for programs."""


_NO_TEXT = N_("a picture of another document, or data for programs")


class _Part(NamedTuple):
    """A document of a filing."""

    type: str
    name: str
    content: bytes


def is_filing(head: bytes) -> bool:
    """Return whether a file that begins with `head` is a complete submission."""
    return _START.match(head) is not None


def to_pdf(source: Path, unpacking: Unpacking) -> Conversion:
    """Show the header of the filing at `source` and the list of its documents, and store these with `unpacking`."""
    content = source.read_bytes()
    for number, document in enumerate(_DOCUMENT.finditer(content), start=1):
        part = _part(document[1], document[2], number)
        if part.type.startswith(_DATA):
            unpacking.leave_out(part.name, len(part.content), _NO_TEXT)
        else:
            unpacking.take(part.name, io.BytesIO(part.content))
    header = _HEADER.search(content)
    lines = decode(header[1]).split("\n") if header else ()
    return file_list.to_pdf(unpacking.name, "document", unpacking.parts, preformatted="\n".join(lines).strip())


def _part(head: bytes, text: bytes, number: int) -> _Part:
    fields = {name.decode(): decode(value).strip() for name, value in _FIELD.findall(head)}
    kind, description = fields.get("TYPE", ""), fields.get("DESCRIPTION", "")
    name = fields.get("FILENAME") or f"{fields.get('SEQUENCE') or number} {description or kind or 'document'}.txt"
    wrapped = _WRAPPER.fullmatch(text)
    content = wrapped[2] if wrapped else text
    if start := _UUENCODED.match(content):
        content = _uudecoded(content[start.end() :])
    elif name.lower().endswith(".txt"):
        content = _LAYOUT_TAG.sub("", decode(content).replace("<PAGE>", "\f")).encode()
    return _Part(kind, name, content)


def _uudecoded(content: bytes) -> bytes:
    """Decode as far as the lines are valid."""
    lines = []
    for line in content.splitlines():
        if line.strip() in {b"end", b"`", b""}:
            break
        try:
            lines.append(binascii.a2b_uu(line))
        except binascii.Error:
            break
    return b"".join(lines)
