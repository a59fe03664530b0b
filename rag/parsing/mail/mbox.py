"""Convert mailboxes (mbox, RFC 4155) to PDF: a list of their mails, which become documents of their own."""

import email
import io
import mailbox
import re
from pathlib import Path

from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.mail import eml

_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
"""Lines of a mail that would begin another one in a mailbox."""
MAX_SUBJECT_CHARS = 80


def to_pdf(source: Path, unpacking: Unpacking) -> Conversion:
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
