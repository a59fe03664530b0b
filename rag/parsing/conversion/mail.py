"""Mails: who wrote what to whom on a page, and the list of the files in it, which become documents of their own."""

import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag import errors
from rag.parsing.conversion import cleaning, eml, flowing
from rag.parsing.conversion.archive import listed, listing
from rag.parsing.conversion.cleaning import Cleaned
from rag.parsing.conversion.message import Body, Message
from rag.parsing.conversion.source import Conversion, SourceText
from rag.parsing.conversion.unpacking import Unpacking
from rag.types import OUTLOOK_MAIL, UnpackedPart


def to_pdf(source: Path, mime_type: str, unpacking: Unpacking) -> Conversion:
    """The mail at `source`; the files in it are unpacked as far as they may be.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    mail = _read(source, mime_type, unpacking.name)
    pictures = {attachment.content_id: attachment for attachment in mail.attachments if attachment.content_id}
    mime_types = {content_id: picture.mime_type for content_id, picture in pictures.items()}
    bodies = [_clean(body, mime_types) for body in mail.bodies]
    shown = frozenset[str]().union(*(body.shown for body in bodies))
    for attachment in mail.attachments:
        if attachment.content_id not in shown:
            unpacking.take(attachment.name, io.BytesIO(attachment.content))
    images = {f"cid:{content_id}": pictures[content_id].content for content_id in shown}
    document = flowing.lay_out(_page(mail, bodies, unpacking.parts), images=images)
    document.set_metadata(_metadata(mail))
    return Conversion(document, tuple(_texts(mail, bodies, unpacking.parts)))


def _read(source: Path, mime_type: str, name: str) -> Message:
    try:
        if mime_type == OUTLOOK_MAIL:
            from rag.parsing.conversion import msg  # its readers cost each parsing process some milliseconds

            return msg.read(source)
        return eml.read(source)
    except RecursionError as error:
        raise errors.UnreadableFileError(
            f"“{name}” has mails in mails in mails, more than can be read. Save the ones you need by themselves."
        ) from error


def _clean(body: Body, pictures: Mapping[str, str]) -> Cleaned:
    return cleaning.clean(body.text, pictures) if body.is_html else cleaning.from_plain(body.text)


def _page(mail: Message, bodies: Sequence[Cleaned], parts: Sequence[UnpackedPart]) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in mail.headers
    )
    title = f"<h1>{html.escape(mail.subject)}</h1>" if mail.subject else ""
    files = f"<h2>Attachments</h2>{listing(parts)}" if parts else ""
    return f"{title}<table>{rows}</table><hr>{'<hr>'.join(body.html for body in bodies)}{files}"


def _texts(mail: Message, bodies: Sequence[Cleaned], parts: Sequence[UnpackedPart]) -> list[SourceText]:
    head = [mail.subject, *(f"{name} {value}" for name, value in mail.headers)]
    texts = [SourceText("the head of the mail", "\n".join(head))]
    texts += [SourceText("the text of the mail", body.text) for body in bodies]
    if parts:
        texts.append(SourceText("the list of attachments", "\n".join(["Attachments", *listed(parts)])))
    return texts


def _metadata(mail: Message) -> dict[str, str]:
    dated = {"creationDate": f"D:{mail.dated:%Y%m%d%H%M%S}"} if mail.dated else {}
    return {"title": mail.subject, "author": mail.author, **dated}
