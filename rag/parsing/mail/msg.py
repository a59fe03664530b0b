"""Read Outlook mails (MSG files, MS-OXMSG)."""

import contextlib
import datetime as dt
import email.parser
import email.utils
import functools
import struct
import uuid
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import olefile
from oxmsg.domain import constants as pid
from oxmsg.domain import encodings
from oxmsg.domain.model import ATTACH_HDR_OFFSET, MSG_HDR_OFFSET, RECIP_HDR_OFFSET
from oxmsg.properties import Properties
from oxmsg.storage import Storage

from rag import errors
from rag.messages import N_
from rag.parsing.encoding import decode
from rag.parsing.mail import appointments, eml
from rag.parsing.mail.eml import Attachment, Body, Message

MSG_IN_MSG_HDR_OFFSET = 24
"""Offset in an embedded mail (MS-OXMSG, 2.4.1.2)."""
FIRST_YEAR = 1601
_EMBEDDED = f"__substg1.0_{pid.PID_ATTACH_DATA_BINARY:04X}000D"
_RECIPIENTS = {1: "To", 2: "Cc", 3: "Bcc"}
"""Kinds of recipients (MS-OXOMSG, 2.2.3.1.2)."""
_APPOINTMENT_GUID = uuid.UUID("00062002-0000-0000-c000-000000000046").bytes_le
_STANDARD_GUIDS = 3
"""Property sets that need no entry in the list of their ids, and the number of the first in it."""
_FIRST_NAMED = 0x8000
_START, _END, _LOCATION, _RECURRENCE, _ATTENDEES = 0x820D, 0x820E, 0x8208, 0x8232, 0x8238
"""Named properties of appointments (MS-OXPROPS: PidLidAppointmentStartWhole …)."""
_START_DATE, _END_DATE = 0x0060, 0x0061
_HEADER = struct.Struct("<4I")
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D  # LZFu, MELA
_WINDOW_BYTES = 4096
_RTF_START = bytes(_WINDOW_BYTES) + (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What stands before the text: an empty window, and its initial content (MS-OXRTFCP, 2.1.3.1.2)."""
_SHORTEST = 2


def read(source: Path) -> Message:
    """Read the mail in the file at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    try:
        with olefile.OleFileIO(source) as file:
            storage = Storage.from_ole(file)
        return _message(storage, MSG_HDR_OFFSET)
    except RecursionError:
        raise
    except eml.FAILURES as error:
        raise errors.UnreadableFileError(
            N_("The mail is damaged ({error}). Open it in Outlook and save it again."), error=type(error).__name__
        ) from error


class _Properties(Properties):
    """Properties, "", b"" or None if they are missing or damaged.

    8-bit texts are decoded by the code page of the whole message, as far as they are valid.
    """

    def __init__(self, storage: Storage, offset: int, charset: str | None = None) -> None:
        super().__init__(storage, properties_header_offset=offset)
        self._bytes = {stream.name: stream.bytes_ for stream in storage.streams}
        self.charset = (
            charset or self.charset_of(pid.PID_MESSAGE_CODEPAGE) or self.charset_of(pid.PID_INTERNET_CODEPAGE)
        )

    def str_prop_value(self, pid_: int) -> str | None:
        content = self._bytes.get(f"__substg1.0_{pid_:04X}{pid.PTYP_STRING8:04X}")
        return super().str_prop_value(pid_) if content is None else decode(content.rstrip(b"\0"), self.charset)

    def text(self, *numbers: int) -> str:
        """Return the first text of several properties that is not empty."""
        for number in numbers:
            text = eml.tried(functools.partial(self.str_prop_value, number)) or ""
            if stripped := text.strip("\0 \t\r\n"):
                return stripped
        return ""

    def content(self, number: int) -> bytes:
        return eml.tried(lambda: self.binary_prop_value(number)) or b""

    def number(self, number: int) -> int | None:
        return eml.tried(lambda: self.int_prop_value(number))

    def moment(self, number: int | None) -> dt.datetime | None:
        """Return a time; that of the first year of Outlook's calendar, which drafts have, is none."""
        moment = eml.tried(lambda: self.date_prop_value(number)) if number else None
        return moment if isinstance(moment, dt.datetime) and moment.year > FIRST_YEAR else None

    def charset_of(self, number: int) -> str | None:
        """Return the character set of the code page in a property."""
        code_page = self.number(number)
        return eml.tried(lambda: encodings.encoding_from_codepage(code_page)) if code_page else None


def _message(storage: Storage, offset: int) -> Message:
    properties = _Properties(storage, offset)
    sent = email.parser.HeaderParser(policy=eml.POLICY).parsestr(properties.text(pid.PID_TRANSPORT_MESSAGE_HEADERS))
    subject = properties.text(pid.PID_SUBJECT)
    author = properties.text(pid.PID_SENDER_NAME, pid.PID_SENT_REPRESENTING_NAME)
    dated = properties.moment(pid.PID_CLIENT_SUBMIT_TIME) or eml.date_of(eml.header(sent, "Date"))
    # Mails that were never sent through the internet have no headers.
    address = properties.text(pid.PID_SENDER_SMTP_ADDRESS, pid.PID_SENDER_EMAIL_ADDRESS)
    replacements = {"From": _address(author, address), "Date": email.utils.format_datetime(dated) if dated else ""}
    for part in storage.iter_recipient_storages():
        recipient = _Properties(part, RECIP_HDR_OFFSET, properties.charset)
        kind = _RECIPIENTS.get(recipient.number(pid.PID_RECIPIENT_TYPE) or 1, "To")
        address = recipient.text(pid.PID_SMTP_ADDRESS, pid.PID_EMAIL_ADDRESS)
        person = _address(recipient.text(pid.PID_DISPLAY_NAME), address)
        replacements[kind] = f"{replacements[kind]}, {person}" if kind in replacements else person
    headers = {name: eml.header(sent, name) or replacements.get(name, "") for name in eml.SHOWN_HEADERS}
    bodies, attachments = _bodies(properties), list(_attachments(storage, properties.charset))
    rtf = None if bodies else properties.content(pid.PID_RTF_COMPRESSED)
    if rtf:
        attachments.append(Attachment("text of the mail.rtf", decompress(rtf), "application/rtf"))
    rows = (*(headers | {"Subject": subject}).items(), *_appointment(storage, properties))
    return Message(
        headers=tuple((name, value) for name, value in rows if value),
        bodies=tuple(bodies),
        attachments=tuple(attachments),
        subject=subject,
        author=author,
        dated=dated,
    )


def _bodies(properties: _Properties) -> list[Body]:
    """Return the HTML text if it has no fewer characters than the plain text."""
    plain = properties.text(pid.PID_BODY)
    content = properties.content(pid.PID_HTML)
    declared = properties.charset_of(pid.PID_INTERNET_CODEPAGE)
    rich = decode(content, declared, is_html=True) if content else properties.text(pid.PID_BODY_HTML)
    alternatives = [Body(plain), Body(rich, is_html=True)]
    return eml.fullest([[body] for body in alternatives if body.text.strip()])


def _appointment(storage: Storage, properties: _Properties) -> Iterator[tuple[str, str]]:
    """Yield what an appointment, or a request for one, says beside its text."""
    if not properties.text(pid.PID_MESSAGE_CLASS).lower().startswith(("ipm.appointment", "ipm.schedule.meeting")):
        return
    numbers = _named_properties(storage)
    for name, tagged, named in (("Start", _START_DATE, _START), ("End", _END_DATE, _END)):
        moment = properties.moment(numbers.get(named)) or properties.moment(tagged)
        yield name, appointments.shown(moment)
    for name, named in (("Place", _LOCATION), ("Repeats", _RECURRENCE), ("Attendees", _ATTENDEES)):
        yield name, " ".join(properties.text(numbers[named]).split()) if named in numbers else ""


def _named_properties(storage: Storage) -> dict[int, int]:
    """Return the numbers under which this file has the named properties of appointments (MS-OXMSG, 2.2.3)."""
    names = next((inner for inner in storage.storages if inner.name == "__nameid_version1.0"), None)
    streams = {stream.name: stream.bytes_ for stream in names.streams} if names else {}
    guids, entries = (streams.get(f"__substg1.0_{number:08X}", b"") for number in (0x00020102, 0x00030102))
    numbers = {}
    for name, kind, position in struct.iter_unpack("<IHH", entries[: len(entries) // 8 * 8]):
        guid = (kind >> 1) - _STANDARD_GUIDS
        if not kind & 1 and guid >= 0 and guids[guid * 16 : guid * 16 + 16] == _APPOINTMENT_GUID:
            numbers[name] = _FIRST_NAMED + position
    return numbers


def _address(name: str, address: str) -> str:
    """Return name and address, without internal addresses of Exchange."""
    return f"{name} <{address}>".strip() if "@" in address and address != name else name or address


def _attachments(storage: Storage, charset: str | None) -> Iterator[Attachment]:
    for part in storage.iter_attachment_storages():
        properties = _Properties(part, ATTACH_HDR_OFFSET, charset)
        name = properties.text(pid.PID_ATTACH_LONG_FILENAME, pid.PID_ATTACH_FILENAME)
        mime_type = properties.text(pid.PID_ATTACH_MIME_TAG) or "application/octet-stream"
        embedded = next((inner for inner in part.storages if inner.name == _EMBEDDED), None)
        content = properties.content(pid.PID_ATTACH_DATA_BINARY)
        if embedded and "__properties_version1.0" in {stream.name for stream in embedded.streams}:
            yield _mail_in(_message(embedded, MSG_IN_MSG_HDR_OFFSET))
        else:
            name = name or properties.text(pid.PID_DISPLAY_NAME) or "attachment"
            content_id = properties.text(pid.PID_ATTACH_CONTENT_ID).strip("<>") or None
            yield Attachment(name, content, mime_type, content_id)


def _mail_in(mail: Message) -> Attachment:
    mail_file = EmailMessage(policy=eml.POLICY)
    mail_file["MIME-Version"] = "1.0"
    for name, value in mail.headers:
        mail_file[name] = " ".join(value.split())
    for body in mail.bodies:
        mail_file.add_alternative(body.text, subtype="html" if body.is_html else "plain")
    for attachment in mail.attachments:
        main, _, sub = attachment.mime_type.partition("/")
        mail_file.add_attachment(
            attachment.content,
            maintype=main if main not in {"message", "multipart", "text"} else "application",
            subtype=sub or "octet-stream",
            filename=" ".join(attachment.name.split()),
            cid=f"<{attachment.content_id}>" if attachment.content_id else None,
        )
    return Attachment(f"{mail.subject or 'mail'}.eml", mail_file.as_bytes(), "message/rfc822")


def decompress(content: bytes) -> bytes:
    """Return the decompressed RTF, b"" if the compression is unknown.

    Each bit of a control byte tells whether an item is a literal or a reference into the window of the last 4096 bytes.
    An item has at most 17 bytes, so the output is at most eight times as long as the input.
    """
    if len(content) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(content)
    if kind == _PLAIN:
        return content[_HEADER.size : _HEADER.size + size]
    if kind != _PACKED:
        return b""
    items = iter(content[_HEADER.size :])
    text = bytearray(_RTF_START)
    with contextlib.suppress(StopIteration):  # of a text that is cut off
        while True:
            control = next(items)
            for bit in range(8):
                if not control >> bit & 1:
                    text.append(next(items))
                    continue
                reference = next(items) << 8 | next(items)
                distance = (len(text) - (reference >> 4)) % _WINDOW_BYTES
                if not distance:  # the end
                    return bytes(text[len(_RTF_START) :][:size])
                for _ in range((reference & 0xF) + _SHORTEST):
                    text.append(text[-distance])
    return bytes(text[len(_RTF_START) :][:size])
