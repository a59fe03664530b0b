"""Mails as they are sent (RFC 5322, MIME): parsed by the standard library, which forgives much and trusts nothing."""

import datetime as dt
import email
import email.errors
import email.policy
import mimetypes
import re
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypeVar

from rag.parsing.conversion import cleaning, flowing
from rag.parsing.conversion.message import Attachment, Body, Message
from rag.parsing.pdf.mupdf import FAILURES

SHOWN_HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
POLICY = email.policy.default.clone(refold_source="none")
"""What is in the mail is written as it came."""
_FAILURES = (*FAILURES, email.errors.MessageError)
"""What the library trips over in malformed headers."""
_URL = re.compile(r"<?\bhttps?://\S+")
_META_CHARSET = re.compile(r"<meta[^>]{0,200}charset=[\"']?([\w-]{1,40})", re.IGNORECASE)
_META_CHARS = 4096
_Value = TypeVar("_Value")


def read(source: Path) -> Message:
    """The mail in the file at `source`."""
    content = source.read_bytes().removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return _message(email.message_from_bytes(content, policy=POLICY))


def _message(mail: EmailMessage) -> Message:
    bodies: list[Body] = []
    attachments: list[Attachment] = []
    for part in _parts(mail):
        if isinstance(part, Body):
            bodies.append(part)
        else:
            attachments.append(part)
    shown = ((name, value) for name in SHOWN_HEADERS if (value := header(mail, name)))
    return Message(
        headers=tuple(shown),
        bodies=tuple(bodies),
        attachments=tuple(attachments),
        subject=header(mail, "Subject"),
        author=_author(mail),
        dated=date_of(header(mail, "Date")),
    )


# --- headers ---


def header(mail: EmailMessage, name: str) -> str:
    """A header's value, decoded, in one line; "" if there is none."""
    value = _tried(lambda: str(mail[name] or ""))
    if value is None:
        raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
        value = str(raw).encode(errors="surrogateescape").decode(errors="replace")
    return " ".join(value.split())


def date_of(value: str) -> dt.datetime | None:
    """The time that a header tells, if it does."""
    return _tried(lambda: parsedate_to_datetime(value))


def _author(mail: EmailMessage) -> str:
    sender = _tried(lambda: mail["From"].addresses[0])
    return " ".join(str(sender.display_name or sender.addr_spec).split()) if sender else ""


def _tried(read: Callable[[], _Value]) -> _Value | None:
    try:
        return read()
    except _FAILURES:
        return None


# --- what is in it ---


def _parts(part: EmailMessage) -> Iterator[Body | Attachment]:
    """Texts and files, in their order; a mail within the mail is a file."""
    kind = part.get_content_type()
    children = _children(part)
    if kind in {"message/rfc822", "message/global"} and children:
        yield from (_mail_in(child, name_of(part)) for child in children)
    elif kind == "message/delivery-status" and children:
        yield Body("\n".join(f"{name}: {value}" for child in children for name, value in child.raw_items()))
    elif not children:
        yield _leaf(part, kind)
    elif kind == "multipart/alternative":
        yield from _best([list(_parts(child)) for child in children])
    else:
        for child in children:
            yield from _parts(child)


def _children(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, EmailMessage)] if isinstance(payload, list) else []


def _best(alternatives: list[list[Body | Attachment]]) -> Iterator[Body | Attachment]:
    """The text that says most, and the files beside each."""
    yield from fullest([[part for part in parts if isinstance(part, Body)] for parts in alternatives])
    for parts in alternatives:
        yield from (part for part in parts if isinstance(part, Attachment))


def fullest(alternatives: list[list[Body]]) -> list[Body]:
    """Of the same text in several forms, the better ones last, the last that says no less than those before it."""
    chosen: list[Body] = []
    for bodies in alternatives:
        if bodies and _characters(bodies) >= _characters(chosen):
            chosen = bodies
    return chosen


def _characters(bodies: list[Body]) -> int:
    """Without white space and the addresses that plain texts write out behind links."""
    texts = (cleaning.clean(body.text, {}).text if body.is_html else body.text for body in bodies)
    return sum(len("".join(_URL.sub("", text).split())) for text in texts)


def _leaf(part: EmailMessage, kind: str) -> Body | Attachment:
    name = name_of(part)
    content = _content(part)
    # What says that it has parts and has none is text, too.
    is_text = kind.startswith(("text/plain", "text/html", "multipart/")) and not name
    is_text = is_text and _disposition(part) != "attachment"
    if is_text:
        return Body(_text(part, content), is_html=kind == "text/html")
    content_id = re.sub(r"[<>\s]", "", header(part, "Content-ID")) or None
    return Attachment(name or f"attachment{mimetypes.guess_extension(kind) or ''}", content, kind, content_id)


def _content(part: EmailMessage) -> bytes:
    """Decoded as its header says, as far as that goes."""
    content = _tried(lambda: part.get_payload(decode=True))
    if isinstance(content, bytes):
        return content
    return str(part.get_payload()).encode(errors="surrogateescape")


def _text(part: EmailMessage, content: bytes) -> str:
    """By its character set, if it is known and fits, else as any text."""
    charset = _tried(part.get_content_charset)
    if charset is None and part.get_content_type() == "text/html":
        named = _META_CHARSET.search(content[:_META_CHARS].decode("ascii", errors="replace"))
        charset = named[1] if named else None
    text = _tried(lambda: content.decode(charset or "")) if charset else None
    text = flowing.decode(content) if text is None else text
    return _unflowed(text) if _tried(lambda: part.get_param("format")) == "flowed" else text


def _unflowed(text: str) -> str:
    """Lines that end with a space go on in the next (RFC 3676), but for the mark of a signature."""
    return re.sub(r"(?<!^--) \r?\n(?![>\s])", " ", text, flags=re.MULTILINE)


def _disposition(part: EmailMessage) -> str | None:
    return _tried(part.get_content_disposition)


def name_of(part: EmailMessage) -> str:
    """The file name that a part has, or ""."""
    return " ".join((_tried(part.get_filename) or "").split())


def _mail_in(mail: EmailMessage, name: str) -> Attachment:
    content = _tried(lambda: mail.as_bytes(policy=POLICY)) or str(mail).encode(errors="surrogateescape")
    name = name or header(mail, "Subject") or "mail"
    return Attachment(name if name.lower().endswith(".eml") else f"{name}.eml", content, "message/rfc822")
