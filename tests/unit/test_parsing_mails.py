"""Mails: what is shown of them, what is taken out of them, and that hostile ones do no harm."""

import base64
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing import file_types
from rag.parsing.mail import eml
from rag.parsing.mail.msg import decompress
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, ParsedDocument, ParsingConfig
from tests import mails, outlook, pdfs

HEAD = b"From: a@b.example\nTo: c@d.example\nSubject: Tides\nDate: Thu, 05 Mar 2026 10:00:00 +0100\n"
SENT = 134_170_560_000_000_000
"""4 March 2026, in units of 100 ns since 1601."""


def read(folder: Path, content: bytes, name: str = "Offer.eml", **more: int) -> ParsedDocument:
    source, parts = folder / "source", folder / "parts"
    source.write_bytes(content)
    parts.mkdir()
    config = ParsingConfig(**more)
    return parsing.read_file(source, name=name, rendition=folder / "r.pdf", config=config, parts_folder=parts)


def text(document: ParsedDocument) -> str:
    return "\n".join(block.text for block in document.blocks)


def told(document: ParsedDocument) -> dict[str, str | None]:
    return {part.name: part.reason for part in document.parts}


def outlook_mail(**more: object) -> bytes:
    inner = outlook.mail(
        strings={0x0037: "Older offer", 0x1000: "The older crane lifts 12 tonnes."},
        attachments=[outlook.attachment("deep.txt", b"deep")],
        inner=True,
    )
    values = {
        "strings": {0x0037: "Offer for a crane", 0x1000: "Dear Ada", 0x0C1A: "Grace", 0x5D01: "grace@harbour.example"},
        "binaries": {0x1013: mails.HTML_BODY.encode()},
        "sent": SENT,
        "recipients": [(1, "Ada", "ada@works.example"), (2, "Carol", "carol@works.example")],
        "attachments": [
            outlook.attachment("Report.pdf", pdfs.plain()),
            outlook.attachment("tides.txt", b"high water at nine " * 400),
            outlook.attachment("logo.png", mails.picture(), cid="logo@harbour", mime_type="image/png"),
            outlook.attached_mail(inner),
        ],
    }
    return outlook.pack(outlook.mail(**{**values, **more}))  # type: ignore[arg-type]  # made for it


# --- what it is ---


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (HEAD + b"\nhello", "a.eml", file_types.EML),
        (HEAD + b"\nhello", "no suffix", file_types.EML),
        (HEAD.replace(b"\n", b"\r\n") + b"\r\nhello", "a.pdf", file_types.EML),
        (b"\xef\xbb\xbf\r\n" + HEAD, "a.eml", file_types.EML),
        (b"Received: from x\n\tby y\n" + HEAD + b"\nhello", "a.txt", file_types.EML),
        (HEAD + b"\nhello", "a.txt", file_types.TEXT),
        (HEAD + b"\nhello", "a.md", file_types.MARKDOWN),
        (b"Dear Ada,\nFrom: here\nTo: there\n", "a", file_types.TEXT),
        (b"Subject: only one of them\n\nhello", "a.eml", file_types.TEXT),
        (outlook.pack(outlook.mail(strings={0x0037: "x"})), "a.doc", file_types.MSG),
    ],
)
def test_mails_are_told_by_their_content(tmp_path: Path, content: bytes, name: str, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert parsing.detect_mime_type(path, name) == kind


def test_other_files_of_outlooks_family_are_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(outlook.pack({"WordDocument": b"x", "ObjectPool": {"_1": outlook.mail(strings={0x0037: "x"})}}))
    assert parsing.detect_mime_type(path, "a.msg") == file_types.DOC
    path.write_bytes(outlook.pack(outlook.mail(strings={0x0037: "x"}))[:700])
    with pytest.raises(errors.SourceError):
        parsing.detect_mime_type(path, "a.msg")


# --- what is shown ---


def test_a_mail_is_shown_with_its_head_its_text_and_its_attachments(tmp_path: Path) -> None:
    document = read(tmp_path, mails.rich())
    assert document.title == "Offer for a crane"
    shown = text(document)
    assert "From\tGrace Höpper <grace@harbour.example>" in shown
    assert "To\tAda Lovelace <ada@works.example>, bob@works.example" in shown
    assert "Cc\tcarol@works.example" in shown
    assert "Date\tThu, 05 Mar 2026 10:00:00 +0100" in shown
    assert "It holds until the last day of May." in shown
    assert "Crane\t18,400 euros" in [
        line.text for block in document.blocks if block.kind is BlockKind.TABLE for line in block.lines
    ]
    assert "alert" not in shown
    assert "color" not in shown
    assert shown.endswith("Report 2026.pdf\t1 KB\ta document of its own")
    with pymupdf.open(tmp_path / "r.pdf") as rendition:
        assert rendition.metadata["author"] == "Grace Höpper"
        assert rendition.metadata["creationDate"].startswith("D:20260305100000")
        assert len(rendition[0].get_images()) == 1, "its own picture, and none from outside"


def test_attachments_are_taken_out_and_shown_pictures_are_not(tmp_path: Path) -> None:
    (part,) = read(tmp_path, mails.rich()).parts
    assert part.name == "Report 2026.pdf"
    assert part.file
    assert part.file.read_bytes().startswith(b"%PDF-")
    assert part.size == part.file.stat().st_size > 1000


@pytest.mark.parametrize(
    ("plain", "rich", "expected"),
    [
        ("The fee is 7 francs.", "<p>The fee is 7 francs.</p>", True),
        (
            "The fee is 7 francs, see http://a.example/very/long/address/of/a/page",
            "<p>The fee is 7 francs, see</p>",
            True,
        ),
        ("The fee is 7 francs.", "<p>Your program shows no HTML?</p>"[:12], False),
    ],
)
def test_the_form_that_says_more_is_shown(tmp_path: Path, plain: str, rich: str, expected: bool) -> None:
    mail = mails.message(text=plain)
    mail.add_alternative(f"{rich}<table><tr><td>cell</td></tr></table>", subtype="html")
    assert ("cell" in text(read(tmp_path, mail.as_bytes()))) is expected


def test_all_that_a_mail_says_stands_on_its_pages(tmp_path: Path) -> None:
    """What it says is read by another way than its pages."""
    completeness = read(tmp_path, mails.rich()).completeness
    assert completeness
    assert completeness.missing == ()
    assert completeness.source_characters == completeness.kept_characters > len(mails.DEFAULT_BODY)


def test_all_texts_of_a_mail_are_shown(tmp_path: Path) -> None:
    body = (
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nThe first text.\n"
        b"--x\nContent-Type: application/pdf; name=a.pdf\n\n%PDF-broken\n"
        b"--x\nContent-Type: text/plain\n\nThe last text.\n--x--\n"
    )
    shown = text(read(tmp_path, HEAD + body))
    assert "The first text." in shown
    assert "The last text." in shown


def test_an_outlook_mail_is_shown_like_any_other(tmp_path: Path) -> None:
    document = read(tmp_path, outlook_mail(), "Offer.msg")
    shown = text(document)
    assert document.title == "Offer for a crane"
    assert "From\tGrace <grace@harbour.example>\nTo\tAda <ada@works.example>\nCc\tCarol <carol@works.example>" in shown
    assert "Date\tWed, 04 Mar 2026" in shown
    assert "Crane\t18,400 euros" in shown
    assert told(document) == {"Report.pdf": None, "tides.txt": None, "Older offer.eml": None}
    inner = document.parts[2].file
    assert inner
    (tmp_path / "inner").mkdir()
    within = read(tmp_path / "inner", inner.read_bytes())
    assert "The older crane lifts 12 tonnes." in text(within)
    assert told(within) == {"deep.txt": None}


def test_the_rtf_of_an_outlook_mail_without_other_text_is_a_part(tmp_path: Path) -> None:
    rtf = rb"{\rtf1 The tide table says nine.}"
    packed = len(rtf).to_bytes(4, "little") * 2 + b"MELA" + bytes(4) + rtf
    content = outlook.pack(outlook.mail(strings={0x0037: "Tides"}, binaries={0x1009: packed}))
    assert list(told(read(tmp_path, content, "a.msg"))) == ["text of the mail.rtf"]


def test_packed_rtf_is_unpacked() -> None:
    """The first example of MS-OXRTFCP, 3.1."""
    packed = "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    expected = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert decompress(bytes.fromhex(packed)) == expected


# --- hostile and broken ones ---

BROKEN: Mapping[str, tuple[bytes, str]] = {
    "a header without end": (
        b'From: "a <b@c\nTo: ((((((\nSubject: =?utf-8?b?////?= Tides\n\nhigh water at nine',
        "nine",
    ),
    "an unknown character set": (
        HEAD + b"Content-Type: text/plain; charset=klingon\n\nhigh w\xe4ter at nine",
        "high wäter",
    ),
    "a wrong character set": (HEAD + b"Content-Type: text/plain; charset=us-ascii\n\nhigh w\xc3\xa4ter", "high wäter"),
    "no boundary": (HEAD + b"Content-Type: multipart/mixed\n\nhigh water at nine", "high water"),
    "a boundary that never comes": (HEAD + b"Content-Type: multipart/mixed; boundary=x\n\nhigh water at nine", "Tides"),
    "broken base64": (HEAD + b"Content-Transfer-Encoding: base64\n\naGlnaCB3YXRlcg==!!\n@@", "high water"),
    "markup in headers": (HEAD.replace(b"Tides", b"<script>x</script> <b>Tides"), "<script>x</script> <b>Tides"),
    "folded injection": (HEAD.replace(b"Tides", b"Tides\n Bcc: spy@evil.example"), "Tides Bcc: spy@evil.example"),
    "encoded injection": (HEAD.replace(b"Tides", b"=?utf-8?q?Tides=0D=0ABcc:_spy@evil?="), "Tides"),
    "a date from nowhere": (HEAD.replace(b"Thu, 05 Mar 2026 10:00:00 +0100", b"99 Foo 99999 +9999999"), "99 Foo"),
    "a name that leads out": (
        HEAD + b'Content-Type: text/plain; name="../../etc/passwd"\n\nroot of all',
        "etc/passwd\t1 KB",
    ),
    "an empty mail": (HEAD, "Tides"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_mails_are_read_as_far_as_they_go(tmp_path: Path, what: str) -> None:
    content, expected = BROKEN[what]
    document = read(tmp_path, content)
    assert expected in text(document)
    assert document.title != "Bcc: spy@evil"


def test_each_text_is_closed_in_itself(tmp_path: Path) -> None:
    """Markup that never ends must not swallow what is shown below it."""
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@b.example", "Tides"
    mail.set_content("<p>before</p><style><!-- <table><tr><td>", subtype="html")
    mail.add_attachment(b"high water", maintype="text", subtype="plain", filename="tides.txt")
    assert "tides.txt" in text(read(tmp_path, mail.as_bytes()))


def test_a_mail_with_many_attachments(tmp_path: Path) -> None:
    files = {f"note {number}.txt": b"note %d" % number for number in range(200)}
    document = read(tmp_path, mails.eml(files), max_parts=150)
    kept = [part for part in document.parts if part.file]
    assert [part.name for part in kept] == [f"note {number}.txt" for number in range(150)]
    assert {part.reason for part in document.parts[150:]} == {"more than 150 files"}
    assert "note 199.txt" in text(document)


def test_mails_in_mails_are_files_and_too_deep_ones_an_error(tmp_path: Path) -> None:
    document = read(tmp_path, mails.nested(20))
    assert told(document) == {"level 19.eml": None}
    content = b"".join(HEAD + b"Content-Type: message/rfc822\n\n" for _ in range(5000))
    (tmp_path / "deep").mkdir()
    with pytest.raises(errors.UnreadableFileError, match=r"Offer\.eml"):
        read(tmp_path / "deep", content)


def test_a_large_attachment_is_left_out(tmp_path: Path) -> None:
    mail = mails.message({"large.txt": b"word " * 500_000, "small.txt": b"word"})
    document = read(tmp_path, mail.as_bytes(), max_parts_mb=1)
    assert told(document)["large.txt"] == "more than 1 MB unpacked"


@pytest.mark.parametrize("step", [97, 499, 997, 4999])
def test_forged_outlook_mails_do_no_harm(tmp_path: Path, step: int) -> None:
    content = bytearray(outlook_mail())
    for place in range(512, len(content), step):
        content[place] ^= 0xFF
    found: object
    try:
        found = read(tmp_path, bytes(content), "a.msg").blocks
    except errors.SourceError as error:
        found = error.message
    assert found


def test_without_a_folder_parts_are_told_and_gone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(mails.rich())
    document = parsing.read_file(source, name="Offer.eml", rendition=tmp_path / "r.pdf")
    assert [(part.name, part.file) for part in document.parts] == [("Report 2026.pdf", None)]


def test_base64_of_any_length_is_decoded(tmp_path: Path) -> None:
    lines = base64.b64encode(b"high water at nine. " * 200_000)
    content = HEAD + b"Content-Type: text/plain; name=t.txt\nContent-Transfer-Encoding: base64\n\n" + lines
    (part,) = read(tmp_path, content).parts
    assert part.size == 4_000_000


# --- character sets ---


def test_headers_are_read_in_the_character_sets_that_are_meant(tmp_path: Path) -> None:
    split = "見積書①".encode("cp932")
    words = [base64.b64encode(part).decode() for part in (split[:3], split[3:])]  # cut within a character
    head = (
        f"From: =?ks_c_5601-1987?B?{base64.b64encode('똠방'.encode('cp949')).decode()}?= <k@example.org>\n"
        f"Subject: =?shift_jis?B?{words[0]}?=\n =?shift_jis?B?{words[1]}?= for =?iso-2022-jp?B?GyRCLSEbKEI=?=\n"
        "To: =?us-ascii?Q?Andr=E9?= <a@example.org>\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=x\n"
    )
    body = (
        "\n--x\nContent-Type: text/plain\n\nhello\n--x\nContent-Type: application/pdf\n"
        "Content-Disposition: attachment; filename*=gb2312''%D6%EC%E9F.pdf\n\n%PDF-1\n--x--\n"
    )
    raw = b"Cc: " + "Иван Петров".encode("koi8-r") + b" <i@example.org>\n"
    document = read(tmp_path, head.encode() + raw + body.encode())
    shown = text(document)
    assert "From\t똠방 <k@example.org>" in shown
    assert "Subject\t見積書① for ①" in shown
    assert "To\tAndré <a@example.org>" in shown
    assert "Cc\tИван Петров <i@example.org>" in shown
    assert list(told(document)) == ["朱镕.pdf"]


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/plain; charset=gb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("text/plain; charset=shift_jis", "①番の髙橋。".encode("cp932"), "①番の髙橋。"),
        ("text/plain; charset=iso-2022-jp", b"\x1b$B-!\x1b(B end", "① end"),
        (
            "text/plain; charset=utf-8",
            "Die Löhne für Müller\nEnde".encode() + b" \xc3",
            "Die Löhne für Müller\nEnde \ufffd",
        ),
        ("text/plain; charset=utf-8", "Größe".encode("cp1252"), "Größe"),
        ("text/html", '<meta charset="gb2312"><p>朱镕基</p>'.encode("gbk"), "朱镕基"),
    ],
)
def test_bodies_are_read_in_the_character_sets_that_are_meant(
    tmp_path: Path, content_type: str, body: bytes, expected: str
) -> None:
    head = f"MIME-Version: 1.0\nContent-Type: {content_type}\nContent-Transfer-Encoding: 8bit\n\n"
    (path := tmp_path / "a.eml").write_bytes(HEAD + head.encode() + body)
    (found,) = eml.read(path).bodies
    assert "\n".join(found.paragraphs()).strip() == expected


@pytest.mark.parametrize(("code_page", "name"), [(1251, "Иван Петров"), (932, "髙橋①"), (936, "朱镕基")])
def test_outlook_mails_in_a_code_page(tmp_path: Path, code_page: int, name: str) -> None:
    strings = {0x0037: f"Offer of {name}", 0x1000: f"Dear {name}", 0x0C1A: name, 0x5D01: "g@harbour.example"}
    content = outlook.pack(outlook.mail(strings=strings, code_page=code_page, recipients=[(1, name, "a@b.example")]))
    shown = text(read(tmp_path, content, "a.msg"))
    for expected in (f"Offer of {name}", f"Dear {name}", f"{name} <g@harbour.example>", f"{name} <a@b.example>"):
        assert expected in shown


def test_html_of_an_outlook_mail_in_its_code_page(tmp_path: Path) -> None:
    html = "<p>Выручка выросла</p>".encode("koi8-r") + b"<p>\xff</p>"
    mail = outlook.mail(strings={0x0037: "x"}, binaries={0x1013: html}, numbers={0x3FDE: 20866})
    assert "Выручка выросла" in text(read(tmp_path, outlook.pack(mail), "a.msg"))


# --- appointments and mailboxes ---

EVENT = (
    "BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Board meeting\\, first quarter\r\nDTSTART;TZID=Europe/Zurich:20260304T090000\r\n"
    "DURATION:PT1H30M\r\nLOCATION:Room 5\\nBasel\r\nORGANIZER;CN=Grace Höpper:mailto:grace@harbour.example\r\n"
    "ATTENDEE;CN=Ada:MAILTO:ada@works.example\r\nATTENDEE:mailto:bob@works.example\r\n"
    "RRULE:FREQ=WEEKLY;COUNT=4\r\nSTATUS:CANCELLED\r\nDESCRIPTION:Bring the budget.\r\nEND:VEVENT\r\n"
)
HOLIDAY = "BEGIN:VEVENT\r\nSUMMARY:Closed\r\nDTSTART;VALUE=DATE:20260401\r\nDTEND;VALUE=DATE:20260403\r\nEND:VEVENT\r\n"
ROWS = [
    "Appointment\tBoard meeting, first quarter",
    "Start\t2026-03-04 09:00 (UTC+01:00)",
    "End\t2026-03-04 10:30 (UTC+01:00)",
    "Repeats\tFREQ=WEEKLY;COUNT=4",
    "Place\tRoom 5 Basel",
    "Organizer\tGrace Höpper <grace@harbour.example>",
    "Attendees\tAda <ada@works.example>, bob@works.example",
    "Status\tcancelled",
]


def calendar(*events: str) -> bytes:
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{''.join(events)}END:VCALENDAR\r\n".encode()


def test_a_calendar_shows_each_appointment(tmp_path: Path) -> None:
    document = read(tmp_path, calendar(EVENT, HOLIDAY), "a.ics")
    expected = [*ROWS, "Description\tBring the budget.", "Appointment\tClosed", "Start\t2026-04-01", "End\t2026-04-02"]
    assert text(document).splitlines() == expected
    assert document.completeness
    assert not document.completeness.missing


@pytest.mark.parametrize("content", [b"BEGIN:VCALENDAR\nbroken", calendar()])
def test_a_calendar_without_appointments_is_unreadable(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(errors.UnreadableFileError, match="calendar"):
        read(tmp_path, content, "a.ics")


def test_an_invitation_says_when_and_where(tmp_path: Path) -> None:
    mail = mails.message(text="Please come.")
    mail.add_alternative(calendar(EVENT).decode(), subtype="calendar", params={"method": "REQUEST"})
    document = read(tmp_path, mail.as_bytes())
    assert "\n".join(ROWS) in text(document)
    assert "Please come." in text(document)
    assert document.parts == ()


def test_a_whole_calendar_in_a_mail_is_a_part(tmp_path: Path) -> None:
    document = read(tmp_path, mails.eml({"year.ics": calendar(EVENT, HOLIDAY)}))
    assert told(document) == {"year.ics": None}


def test_an_appointment_of_outlook_says_when_and_where(tmp_path: Path) -> None:
    start, end = SENT, SENT + 90 * 60 * 10_000_000
    mail = outlook.mail(
        strings={0x001A: "IPM.Appointment", 0x0037: "Board", 0x8002: "Room 5", 0x8003: "Ada; Bob"},
        times={0x8000: start, 0x8001: end},
        names=[0x820D, 0x820E, 0x8208, 0x8238],
    )
    shown = text(read(tmp_path, outlook.pack(mail), "a.msg"))
    assert "Start\t2026-03-04 00:00 (UTC)\nEnd\t2026-03-04 01:30 (UTC)\nPlace\tRoom 5\nAttendees\tAda; Bob" in shown


def test_each_mail_of_a_mailbox_is_a_part(tmp_path: Path) -> None:
    line = b"From grace@harbour.example Thu Mar  5 10:00:00 2026\n"
    first, second = (
        mails.eml(subject="First offer", text="\n>From here on, prices rise.\n"),
        mails.eml(subject="Second"),
    )
    document = read(tmp_path, line + first + b"\n" + line + second + b"\n", "box.mbox")
    assert document.title == "box.mbox"
    assert told(document) == {"0001 First offer.eml": None, "0002 Second.eml": None}
    assert "2 mails" in text(document)
    part = document.parts[0].file
    assert part
    (tmp_path / "inner").mkdir()
    assert "From here on, prices rise." in text(read(tmp_path / "inner", part.read_bytes()))
