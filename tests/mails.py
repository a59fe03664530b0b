"""Generated mails and archives. All functions return the file's bytes."""

import io
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage

from rag.parsing.pdf.mupdf import pymupdf
from tests import pdfs

DEFAULT_BODY = "Dear Ada,\n\nthe offer for the crane is attached. It holds until the last day of May.\n\nGrace"
HTML_BODY = (
    "<html><head><title>not shown</title><style>p {color: red}</style></head><body><p>Dear Ada,</p>"
    "<p>the offer for the <b>crane</b> is attached. It holds until the last day of May.</p>"
    "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Crane</td><td>18,400 euros</td></tr></table>"
    '<img src="cid:logo@harbour"><img src="http://evil.example/pixel.png" alt="seen"><script>alert(1)</script>'
    "<p>Grace</p></body></html>"
)


def picture() -> bytes:
    """A small red PNG."""
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 30))
    pixels.set_rect(pixels.irect, (255, 0, 0))
    content: bytes = pixels.tobytes("png")
    return content


def message(
    files: Mapping[str, bytes] | None = None, *, subject: str = "Offer for a crane", text: str = DEFAULT_BODY
) -> EmailMessage:
    """A mail with attachments by name, without content types."""
    mail = EmailMessage()
    mail["From"] = "Grace Höpper <grace@harbour.example>"
    mail["To"] = "Ada Lovelace <ada@works.example>, bob@works.example"
    mail["Cc"] = "carol@works.example"
    mail["Date"] = "Thu, 05 Mar 2026 10:00:00 +0100"
    mail["Subject"] = subject
    mail["Message-ID"] = "<1@harbour.example>"
    mail.set_content(text)
    for name, content in (files or {}).items():
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return mail


def eml(
    files: Mapping[str, bytes] | None = None, *, subject: str = "Offer for a crane", text: str = DEFAULT_BODY
) -> bytes:
    """See `message`."""
    return message(files, subject=subject, text=text).as_bytes()


def rich() -> bytes:
    """A mail in text and HTML with an embedded and a remote picture, a script, and a PDF attachment."""
    mail = message()
    mail.add_alternative(HTML_BODY, subtype="html")
    html = list(mail.iter_parts())[1]
    assert isinstance(html, EmailMessage)
    html.add_related(picture(), "image", "png", cid="<logo@harbour>", filename="logo.png")
    mail.add_attachment(pdfs.plain(), maintype="application", subtype="pdf", filename="Report 2026.pdf")
    return mail.as_bytes()


def nested(depth: int) -> bytes:
    """A mail within mails, `depth` levels deep; the innermost has a text file."""
    mail = message({"deep.txt": b"the innermost file speaks of amber"}, subject="level 0")
    for level in range(1, depth + 1):
        outer = message(subject=f"level {level}")
        outer.add_attachment(mail)
        mail = outer
    return mail.as_bytes()


def archive(files: Mapping[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP file of `files` by path; paths may be invalid."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content, compression)
    return target.getvalue()
