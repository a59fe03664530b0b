"""Detect mails by their content."""

import codecs
import re
from pathlib import Path

import olefile

from rag import types

_HEADERS = re.compile(rb"(?:[!-9;-~]+[ \t]*:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*(?:\r?\n|\Z))+")
"""Header fields (RFC 5322, 2.2): a name, a colon, a value; lines that begin with a space continue a field."""
_MACHINE_HEADERS = {b"received", b"message-id", b"mime-version", b"return-path", b"delivered-to"}
_USER_HEADERS = {b"from", b"to", b"subject", b"date"}
MIN_HEADERS = 2
_MAILBOX_START = re.compile(rb"From [^\r\n]*\d{4}[^\r\n]*\r?\n")
"""The line before each mail in a mailbox (RFC 4155): the sender and the time."""


def detect(path: Path, head: bytes, *, named_as_text: bool) -> str | None:
    """Return the MIME type of a mail at `path`, which begins with `head`; None if it is none."""
    if head.startswith(olefile.MAGIC):
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
