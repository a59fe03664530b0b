"""Convert mails, mailboxes (mbox, RFC 4155) and calendars to PDF.

A mail has headers, text, and the list of attachments, a mailbox the list of its mails; these become documents.
"""

import email
import html
import io
import mailbox
import re
from collections.abc import Iterable
from pathlib import Path

from rag import errors, types
from rag.messages import N_
from rag.parsing import file_types
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion, SourceText
from rag.parsing.html import markup
from rag.parsing.html.layout import lay_out
from rag.parsing.mail import appointments, eml
from rag.parsing.mail.eml import Attachment, Message

_SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/bmp", "image/tiff"})
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
"""Lines of a mail that would begin another one in a mailbox."""
MAX_SUBJECT_CHARS = 80


def to_pdf(source: Path, mime_type: str, unpacking: Unpacking) -> Conversion:
    """Convert the mail, mailbox or calendar at `source` to PDF, and store attachments and mails with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    if mime_type == file_types.ICS:
        return appointments.to_pdf(source)
    if mime_type == types.MAILBOX:
        return _mailbox_to_pdf(source, unpacking)
    mail = _read(source, mime_type, unpacking.name)
    pictures = _shown_pictures(mail)
    for attachment in mail.attachments:
        if attachment not in pictures.values():
            unpacking.take(attachment.name, io.BytesIO(attachment.content))
    images = {address: picture.content for address, picture in pictures.items()}
    files = file_list.section("Attachments", unpacking.parts)
    document = lay_out(*_fragments(mail), files.html, images=images)
    dated = {"creationDate": f"D:{mail.dated:%Y%m%d%H%M%S}"} if mail.dated else {}
    document.set_metadata({"title": mail.subject, "author": mail.author, **dated})
    headers = "\n".join([mail.subject, *(f"{name} {value}" for name, value in mail.headers)])
    texts = [SourceText("the mail's text", text) for body in mail.bodies for text in body.paragraphs()]
    return Conversion(document, (SourceText("the mail's headers", headers), *texts, *files.texts))


def _read(source: Path, mime_type: str, name: str) -> Message:
    try:
        if mime_type == types.OUTLOOK_MAIL:
            from rag.parsing.mail import msg  # costs each parsing process some milliseconds

            return msg.read(source)
        return eml.read(source)
    except RecursionError as error:
        raise errors.UnreadableFileError(
            N_("“{name}” has mails nested too deeply. Save the ones you need by themselves."), name=name
        ) from error


def _shown_pictures(mail: Message) -> dict[str, Attachment]:
    """Return the attachments that the text shows as pictures, by the addresses it uses for them."""
    by_id = {attachment.content_id: attachment for attachment in mail.attachments if attachment.content_id}
    pictures = {}
    for body in mail.bodies:
        for image in markup.read(body.text).iter("img") if body.is_html else ():
            address = image.get("src") or ""
            scheme, _, content_id = address.partition(":")
            picture = by_id.get(content_id.strip().strip("<>"))
            if scheme.lower() == "cid" and picture is not None and picture.mime_type in _SHOWN_TYPES:
                pictures[address] = picture
    return pictures


def _fragments(mail: Message) -> Iterable[str]:
    """Yield the HTML of the page, each text by itself so that unclosed tags have no effect on the others."""
    title = f"<h1>{html.escape(mail.subject)}</h1>" if mail.subject else ""
    yield title + markup.table(mail.headers, has_names=True)
    for body in mail.bodies:
        yield "<hr>"
        yield body.text if body.is_html else _plain_to_html(body.text)


def _plain_to_html(text: str) -> str:
    lines = [html.escape(line).replace("  ", " \N{NO-BREAK SPACE}") for line in text.expandtabs(4).splitlines()]
    return f"<div>{'<br>'.join(lines)}</div>"


def _mailbox_to_pdf(source: Path, unpacking: Unpacking) -> Conversion:
    """List the mails of the mailbox at `source` on pages, and store them with `unpacking`."""
    box = mailbox.mbox(source, create=False)
    try:
        for number, key in enumerate(box.iterkeys(), start=1):
            content = b"" if unpacking.full else _QUOTED.sub(rb"\1", box.get_bytes(key))
            subject = eml.header(email.message_from_bytes(content, policy=eml.POLICY), "Subject")
            unpacking.take(f"{number:04} {subject[:MAX_SUBJECT_CHARS] or 'mail'}.eml", io.BytesIO(content))
    finally:
        box.close()
    return file_list.to_pdf(unpacking.name, "mail", unpacking.parts)
