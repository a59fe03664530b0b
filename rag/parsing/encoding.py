"""Decode text of unknown encoding."""

import codecs
import re

_CHARSET = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_CHARSET_BYTES = 4096
_MEANS_WINDOWS = frozenset(("ascii", "iso8859-1", "utf-8"))
"""Character sets that are often declared for text in Windows-1252; browsers treat them so, too."""
_SEVEN_BIT = "iso2022"
"""Character sets that switch alphabets by escape sequences, so that their bytes are valid UTF-8."""


def decode(content: bytes, *, is_html: bool = False) -> str:
    """Decode as UTF-16 with a byte order mark, else UTF-8, else the declared charset of HTML, else Windows-1252."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    said = _charset(content) if is_html else None
    if said and said.name.startswith(_SEVEN_BIT):
        return content.decode(said.name, errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        meant = said.name if said and said.name not in _MEANS_WINDOWS else "cp1252"
        return content.decode(meant, errors="replace")


def _charset(content: bytes) -> codecs.CodecInfo | None:
    """Return the character set that HTML declares."""
    found = _CHARSET.search(content, 0, _CHARSET_BYTES)
    if found is None:
        return None
    try:
        name = found[1].decode()
        "".encode(name)  # refuses codecs that are no character sets
        return codecs.lookup(name)
    except (LookupError, UnicodeError):
        return None
