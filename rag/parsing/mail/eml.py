"""A mail as read from a file of any format, and the reader of EML files (RFC 5322, MIME)."""

import base64
import datetime as dt
import email
import email.errors
import email.header
import email.policy
import functools
import mimetypes
import re
import struct
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from rag.parsing.encoding import codec_of, decode
from rag.parsing.html import text_files
from rag.parsing.mail import appointments
from rag.parsing.pdf.mupdf import MUPDF_ERRORS

SHOWN_HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
FAILURES = (*MUPDF_ERRORS, email.errors.MessageError, OSError, struct.error)
"""Exceptions of the libraries for malformed headers, and damaged or forged files."""
_URL = re.compile(r"<?\bhttps?://\S+")
_ENCODED_WORDS = re.compile(
    r"=\?([\w.:-]+)(?:\*[\w-]*)?\?([bq])\?[^?]*\?=(?:\s*=\?\1(?:\*[\w-]*)?\?\2\?[^?]*\?=)*", re.IGNORECASE
)
"""Matches words in one character set (RFC 2047); a character may have its bytes in two of them."""
_PARAMETER_CHARSET = re.compile(r"(?<=\*=)[\w.:-]+(?='[\w-]*')")
"""Matches the character set of a parameter (RFC 2231)."""
_Value = TypeVar("_Value")


class Body(NamedTuple):
    """A text of a mail."""

    text: str
    is_html: bool = False

    def paragraphs(self) -> list[str]:
        """Return the visible text."""
        return [part.text for part in text_files.read_html(self.text)] if self.is_html else [self.text]


class Attachment(NamedTuple):
    """A file in a mail. HTML may show it as a picture by its `content_id`."""

    name: str
    content: bytes
    mime_type: str = "application/octet-stream"
    content_id: str | None = None


class Message(NamedTuple):
    """A mail with its decoded `headers` in display order; `author` is the sender's name."""

    headers: tuple[tuple[str, str], ...]
    bodies: tuple[Body, ...]
    attachments: tuple[Attachment, ...]
    subject: str = ""
    author: str = ""
    dated: dt.datetime | None = None


class _Policy(email.policy.EmailPolicy):
    """Reads headers by the character sets that are meant, and those of raw bytes as text of unknown encoding."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        if not value.isascii():
            value = decode(value.encode(errors="surrogateescape"))
        value = _PARAMETER_CHARSET.sub(lambda label: codec_of(label[0]) or label[0], value)
        return super().header_fetch_parse(name, _ENCODED_WORDS.sub(_to_utf8, value))


def _to_utf8(words: re.Match[str]) -> str:
    try:
        [(content, _)] = email.header.decode_header(words[0])
    except (ValueError, email.errors.HeaderParseError):
        return words[0]
    text = decode(content, words[1]) if isinstance(content, bytes) else content
    return f"=?utf-8?b?{base64.b64encode(text.encode()).decode()}?="


POLICY = cast("email.policy.EmailPolicy[EmailMessage]", _Policy(refold_source="none"))
"""Embedded mails are written without refolding their headers."""


def read(source: Path) -> Message:
    """Read the mail in the file at `source`."""
    content = source.read_bytes().removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return _message(email.message_from_bytes(content, policy=POLICY))


def _message(mail: EmailMessage) -> Message:
    bodies: list[Body] = []
    attachments: list[Attachment] = []
    invitation: list[appointments.Row] = []
    for part in _parts(mail):
        if isinstance(part, Body):
            bodies.append(part)
        elif part.mime_type == "text/calendar" and len(events := appointments.read(part.content)) == 1:
            invitation = events[0]
        else:
            attachments.append(part)
    sender = tried(lambda: mail["From"].addresses[0])
    headers = ((name, value) for name in SHOWN_HEADERS if (value := header(mail, name)))
    return Message(
        headers=(*headers, *(row for row in invitation if row[0] != appointments.DESCRIPTION or not bodies)),
        bodies=tuple(bodies),
        attachments=tuple(attachments),
        subject=header(mail, "Subject"),
        author=" ".join(str(sender.display_name or sender.addr_spec).split()) if sender else "",
        dated=date_of(header(mail, "Date")),
    )


# --- headers ---


def header(mail: EmailMessage, name: str) -> str:
    """Return a header's decoded value in one line, "" if there is none."""
    value = tried(lambda: str(mail[name] or ""))
    if value is None:
        raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
        value = str(raw).encode(errors="surrogateescape").decode(errors="replace")
    return " ".join(value.split())


def date_of(value: str) -> dt.datetime | None:
    """Parse the time of a Date header; return None if it is invalid."""
    return tried(lambda: parsedate_to_datetime(value))


def tried(read: Callable[[], _Value]) -> _Value | None:
    """Read a value; return None if it is missing or damaged."""
    try:
        return read()
    except FAILURES:
        return None


# --- content ---


def _parts(part: EmailMessage) -> Iterator[Body | Attachment]:
    """Yield texts and files in order; an embedded mail is a file."""
    kind, payload = part.get_content_type(), part.get_payload()
    children = [child for child in payload if isinstance(child, EmailMessage)] if isinstance(payload, list) else []
    if not children:
        yield _leaf(part, kind)
    elif kind in {"message/rfc822", "message/global"}:
        for mail in children:
            content = tried(functools.partial(mail.as_bytes, policy=POLICY))
            name = name_of(part) or header(mail, "Subject") or "mail"
            yield Attachment(
                name if name.lower().endswith(".eml") else f"{name}.eml",
                content or str(mail).encode(errors="surrogateescape"),
                "message/rfc822",
            )
    elif kind == "message/delivery-status":
        yield Body("\n".join(f"{name}: {value}" for child in children for name, value in child.raw_items()))
    elif kind == "multipart/alternative":
        # The most complete alternative text, and the files of all alternatives.
        alternatives = [list(_parts(child)) for child in children]
        yield from fullest([[text for text in parts if isinstance(text, Body)] for parts in alternatives])
        yield from (file for parts in alternatives for file in parts if isinstance(file, Attachment))
    else:
        for child in children:
            yield from _parts(child)


def _leaf(part: EmailMessage, kind: str) -> Body | Attachment:
    name, is_html = name_of(part), kind == "text/html"
    content = tried(lambda: part.get_payload(decode=True))
    if not isinstance(content, bytes):  # its transfer encoding is damaged
        content = str(part.get_payload()).encode(errors="surrogateescape")
    # A multipart without parts is text, too.
    is_text = kind.startswith(("text/plain", "text/html", "multipart/")) and not name
    if not is_text or tried(part.get_content_disposition) == "attachment":
        content_id = re.sub(r"[<>\s]", "", header(part, "Content-ID")) or None
        return Attachment(name or f"attachment{mimetypes.guess_extension(kind) or ''}", content, kind, content_id)
    text = decode(content, tried(part.get_content_charset), is_html=is_html)
    if tried(lambda: part.get_param("format")) == "flowed":
        # Lines that end with a space go on in the next one (RFC 3676), except the signature separator.
        text = re.sub(r"(?<!^--) \r?\n(?![>\s])", " ", text, flags=re.MULTILINE)
    return Body(text, is_html=is_html)


def fullest(alternatives: list[list[Body]]) -> list[Body]:
    """Return the last alternative (the richest form) that has no fewer characters than those before it."""
    chosen: list[Body] = []
    for bodies in alternatives:
        if bodies and _characters(bodies) >= _characters(chosen):
            chosen = bodies
    return chosen


def _characters(bodies: list[Body]) -> int:
    """Count characters without white space, and without URLs, which plain texts add to links."""
    return sum(len("".join(_URL.sub("", text).split())) for body in bodies for text in body.paragraphs())


def name_of(part: EmailMessage) -> str:
    """Return a part's file name, "" if there is none."""
    return " ".join((tried(part.get_filename) or "").split())
