"""DOCX, ODT, RTF and EPUB: everything that is written in them stands on a page."""

import contextlib
import uuid
import zipfile
from pathlib import Path

import psutil
import pytest

from rag import errors, parsing
from rag.parsing import completeness, file_types
from rag.parsing.office import package, pandoc
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, ParsedDocument, ParsingConfig, Passage
from tests import offices, pdfs

BUILTIN = ParsingConfig(office="builtin")
NOTE = '<w:footnote w:id="2">' + offices.p("The tide was a spring tide.") + "</w:footnote>"
REFERENCE = '<w:p><w:r><w:t>See the note</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'


def read(folder: Path, content: bytes, name: str, config: ParsingConfig = BUILTIN) -> ParsedDocument:
    (folder / "source").write_bytes(content)
    return parsing.read_file(folder / "source", name=name, rendition=folder / "rendition.pdf", config=config)


def text(document: ParsedDocument) -> str:
    return "\n".join(block.text for block in document.blocks)


def lost(folder: Path, content: bytes, name: str) -> list[str]:
    """What the rendition lacks of the file's own text."""
    (folder / name).write_bytes(content)
    converted = offices.convert(folder, content, parsing.detect_mime_type(folder / name, name), BUILTIN)
    assert converted.texts
    found = completeness.measure(converted.texts, [page.get_text() for page in converted.document])
    return [missing.text for missing in found.missing]


def tables(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks if block.kind is BlockKind.TABLE]


def full_word_document() -> bytes:
    """Everything that stands elsewhere than in the paragraphs of the body."""
    cell = offices.word_cell
    body = (
        offices.p("Report of the Harbour", "Heading1")
        + offices.p("Ships came &amp; went.")
        + offices.word_table(cell("Both years", 2) + cell("Port"), cell("2024") + cell("1,812") + cell("Brest"))
        + offices.text_box("Quays are closed on Sundays.")
        + "<w:p><w:fldSimple w:instr=' DATE '><w:r><w:t>4 May 1999</w:t></w:r></w:fldSimple></w:p>"
        + "<w:p><w:ins w:id='1'><w:r><w:t>Inserted words.</w:t></w:r></w:ins>"
        + "<w:del w:id='2'><w:r><w:delText>Deleted words.</w:delText></w:r></w:del></w:p>"
        + REFERENCE
    )
    comment = '<w:comment w:id="0" w:author="Ann">' + offices.p("Is this figure right?") + "</w:comment>"
    return offices.docx(
        body,
        parts={
            "header1.xml": offices.p("Harbour Board, confidential"),
            "footer1.xml": offices.p("Printed in Brest"),
            "comments.xml": comment,
            "footnotes.xml": NOTE,
        },
    )


WORDS_OF_ALL = (
    "Harbour Board, confidential",
    "Ships came & went.",
    "Quays are closed on Sundays.",
    "4 May 1999",
    "Inserted words.",
    "The tide was a spring tide.",
    "Is this figure right?",
    "Printed in Brest",
)


def test_everything_in_a_word_document_is_there_once(tmp_path: Path) -> None:
    document = read(tmp_path, full_word_document(), "report.docx")
    found = text(document)
    assert [found.count(words) for words in WORDS_OF_ALL] == [1] * len(WORDS_OF_ALL)
    assert "Deleted words" not in found
    assert lost(tmp_path, full_word_document(), "report.docx") == []


def test_a_text_box_stands_behind_the_paragraph_that_it_hangs_on(tmp_path: Path) -> None:
    body = offices.p("First.") + offices.text_box("In the box.") + offices.p("Last.")
    found = text(read(tmp_path, offices.docx(body), "a.docx"))
    assert found.split("\n") == ["First.", "Anchor of the box.", "In the box.", "Last."]


def test_tables_keep_their_grid(tmp_path: Path) -> None:
    (table,) = tables(read(tmp_path, full_word_document(), "report.docx"))
    assert "2024\t1,812\tBrest" in table
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        rules = [pymupdf.Rect(drawn["rect"]) for drawn in rendition[0].get_drawings()]
    places = {(round(rule.x0), round(rule.x1)) for rule in rules}
    assert len(places) >= 3  # around each of its columns


def test_a_quote_is_found_with_its_box(tmp_path: Path) -> None:
    document = read(tmp_path, full_word_document(), "report.docx")
    passage = Passage(document_id=uuid.uuid4(), lines=tuple(line for block in document.blocks for line in block.lines))
    quote = "Quays are closed on Sundays."
    start = passage.text.index(quote)
    (region,) = parsing.locate(tmp_path / "rendition.pdf", passage, start, start + len(quote))
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        found = rendition[region.page_number - 1].get_textbox(pymupdf.Rect(*region.rects[0]))
    assert quote in found


def test_title_author_and_date_are_those_of_the_file(tmp_path: Path) -> None:
    core = (
        "<dc:title>Tides</dc:title><dc:creator>Ann Mair</dc:creator>"
        "<dcterms:created>2021-03-04T05:06:07Z</dcterms:created>"
    )
    content = offices.docx(offices.p("Text."), core=core)
    metadata = offices.convert(tmp_path, content, file_types.DOCX, BUILTIN).document.metadata
    assert (metadata["title"], metadata["author"]) == ("Tides", "Ann Mair")
    assert metadata["creationDate"].startswith("D:20210304050607")


def test_pictures_of_the_file_are_shown_and_others_are_not_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(offices.picture())
    own = offices.docx(
        offices.p("Seen:") + offices.word_picture(),
        parts={"media/p.png": offices.picture()},
        relations=offices.image_relation("media/p.png"),
    )
    linked = offices.docx(
        offices.p("Not seen:") + offices.word_picture(linked=True),
        relations=offices.image_relation(secret.as_uri(), external=True),
    )
    counts = []
    for content in (own, linked):
        read(tmp_path, content, "a.docx")
        with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
            counts.append(len(rendition[0].get_image_info()))
    assert counts == [1, 0]


def test_a_document_that_pandoc_does_not_understand_keeps_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise pandoc.NotUnderstood

    monkeypatch.setattr(pandoc, "to_html", refuse)
    assert lost(tmp_path, full_word_document(), "report.docx") == []


def test_an_open_document(tmp_path: Path) -> None:
    table = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in pdfs.TABLE
    )
    body = (
        "<text:h text:outline-level='1'>The Pier</text:h>"
        "<text:p>Built<text:s text:c='2'/>in 1901<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Or 1902.</text:p></text:note-body></text:note>.</text:p>"
        f"<table:table><table:table-column table:number-columns-repeated='3'/>{table}</table:table>"
        "<text:p>Checked<office:annotation><text:p>By whom?</text:p></office:annotation>.</text:p>"
    )
    content = offices.odt(body, header="Piers of the coast", meta="<dc:title>Piers</dc:title>")
    document = read(tmp_path, content, "pier.odt")
    found = text(document)
    assert [words for words in ("The Pier", "Or 1902.", "By whom?", "Piers of the coast") if words not in found] == []
    assert "\n".join("\t".join(row) for row in pdfs.TABLE) in tables(document)
    assert lost(tmp_path, content, "pier.odt") == []


def test_rich_text(tmp_path: Path) -> None:
    row = "\\trowd\\cellx2000\\cellx4000 "
    content = offices.rtf(
        "{\\b Caf\\'e9 by the sea}\\par Opens at \\u8364\\'80 8.\\par "
        f"{row}\\intbl Year\\cell Ships\\cell\\row {row}\\intbl 2024\\cell 1,812\\cell\\row\\pard End.\\par"
    )
    document = read(tmp_path, content, "a.rtf")
    assert "Café by the sea\nOpens at € 8." in text(document)
    assert tables(document) == ["Year\tShips\n2024\t1,812"]
    assert lost(tmp_path, content, "a.rtf") == []


def test_a_book_is_read_in_its_order(tmp_path: Path) -> None:
    content = offices.epub("<h1>One</h1><p>It began.</p>", f"<h1>Two</h1><pre>{'x' * 400}</pre><p>It ended.</p>")
    document = read(tmp_path, content, "book.epub")
    headings = [block.text for block in document.blocks if block.kind is BlockKind.HEADING]
    assert headings == ["One", "Two"]
    assert document.title == "A Book"
    assert text(document).index("It began.") < text(document).index("It ended.")
    assert lost(tmp_path, content, "book.epub") == []


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (full_word_document()[:900], "cut.docx"),
        (offices.docx("<w:p><w:r>"), "open.docx"),
        (offices.epub("<p>x</p>").replace(b"OPS/book.opf", b"OPS/look.opf"), "a.epub"),
        (offices.archive({"mimetype": "application/vnd.oasis.opendocument.text"}), "empty.odt"),
    ],
)
def test_damaged_files_are_told(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(errors.UnreadableFileError):
        read(tmp_path, content, name)


def test_entities_are_refused(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    with pytest.raises(errors.UnreadableFileError, match="entities"):
        read(tmp_path, offices.docx(offices.p("&b;"), prolog=laughs), "a.docx")
    outside = f'<!DOCTYPE d [<!ENTITY a SYSTEM "{Path(__file__).as_uri()}">]>'
    with pytest.raises(errors.UnreadableFileError, match="entities"):
        read(tmp_path, offices.docx(offices.p("&a;"), prolog=outside), "a.docx")


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("word/document.xml", b" " * (package.MAX_PART_BYTES + 1))
    with pytest.raises(errors.UnreadableFileError, match="unpacks"):
        package.Package(path)


def test_pandoc_stays_within_its_memory(tmp_path: Path) -> None:
    content = offices.docx("".join(offices.p(f"Paragraph {number} of many.") for number in range(20_000)))
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(errors.UnreadableFileError, match="memory"):
        pandoc.to_html(tmp_path / "a.docx", "docx", ParsingConfig(memory_limit_mb=20))


def test_older_formats_need_libreoffice(tmp_path: Path) -> None:
    compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512 + "WordDocument".encode("utf-16-le") + b"\0" * 512
    with pytest.raises(errors.UnsupportedFileError, match="LibreOffice"):
        read(tmp_path, compound, "a.doc")


AUTO = ParsingConfig(office="auto")


@pytest.mark.needs_libreoffice
def test_libreoffice_converts_where_it_is_installed(tmp_path: Path) -> None:
    document = read(tmp_path, pdfs.word_document(), "a.docx", AUTO)
    assert [sentence for sentence in pdfs.SENTENCES if sentence not in text(document)] == []
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        assert "LibreOffice" in rendition.metadata["producer"]


@pytest.mark.needs_libreoffice
@pytest.mark.parametrize("suffix", ["docx", "pptx"])
def test_what_libreoffice_leaves_out_is_there_all_the_same(tmp_path: Path, suffix: str) -> None:
    content = full_word_document() if suffix == "docx" else pdfs.presentation()
    document = read(tmp_path, content, f"a.{suffix}", AUTO)
    words = WORDS_OF_ALL if suffix == "docx" else ("Quays were widened", "Ships", "Remember the harbour.")
    assert [one for one in words if one not in text(document)] == []


def test_a_libreoffice_that_fails_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "soffice"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    document = read(tmp_path, pdfs.word_document(), "a.docx", AUTO)
    assert [sentence for sentence in pdfs.SENTENCES if sentence not in text(document)] == []


def test_what_a_converter_starts_ends_with_the_parsing_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, mark = tmp_path / "soffice", tmp_path / "process"
    program.write_text(f"#!/bin/sh\nsh -c 'echo $$ > {mark}; exec sleep 300' &\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    hurried = ParsingConfig(office="auto", timeout_seconds_base=8, timeout_seconds_per_page=0)
    with contextlib.suppress(errors.UnreadableFileError):  # unless there is time left to read it without
        read(tmp_path, pdfs.word_document(), "a.docx", hurried)
    with contextlib.suppress(psutil.NoSuchProcess):  # it is gone already
        process = psutil.Process(int(mark.read_text()))
        assert process.status() == psutil.STATUS_ZOMBIE or process.wait(timeout=60) is None


# --- RTF in code pages ---


def _codes(text: str, codec: str) -> bytes:
    """Text in RTF; the second byte of a character may be a letter or an escaped sign."""
    signs = {byte: b"\\" + bytes((byte,)) for byte in b"\\{}"}
    codes = {byte: b"\\'%02x" % byte for byte in range(0x80, 0x100)}
    return b"".join((signs | codes).get(byte, bytes((byte,))) for byte in text.encode(codec))


@pytest.mark.parametrize(
    ("head", "text", "codec"),
    [
        (rb"\ansicpg1251", "Выручка 412 млн", "cp1251"),
        (rb"\ansicpg932", "売上高は412百万円、表示", "cp932"),
        (rb"\ansicpg936", "合同金额为412万元", "gbk"),
        (rb"\ansicpg1252{\fonttbl{\f0\fnil\fcharset161 Arial Greek;}}\f0", "Έσοδα 412", "cp1253"),
        (rb"\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fnil\fcharset238 Arial;}}\f1", "Łódź", "cp1250"),
        (rb"\mac", "Café Größe", "mac_roman"),
        (rb"\ansicpg1252", "Größe 5 €", "cp1252"),
    ],
)
def test_rtf_in_any_code_page(tmp_path: Path, head: bytes, text: str, codec: str) -> None:
    content = b"{\\rtf1\\ansi" + head + b" " + _codes(text, codec) + b"\\par}"
    document = read(tmp_path, content, "a.rtf")
    assert [block.text for block in document.blocks] == [text]
    assert lost(tmp_path, content, "a.rtf") == []


def test_rtf_with_several_code_pages_and_unicode(tmp_path: Path) -> None:
    content = (
        rb"{\rtf1\ansi\ansicpg1251\uc1{\fonttbl{\f0\fcharset204 Arial;}{\f1\fcharset0 Arial;}}\f0 \u1042\'c2\u1099\'fb "
        rb"\'f0\'f3\'e1 {\f1 M\'fcller} \uc2\u8364 \'80\'805 \'f0{\*\bin4 \'e4x} \plain\'e4"
        + "сыр".encode("cp1251")
        + rb"\par}"
    )
    document = read(tmp_path, content, "a.rtf")
    assert [block.text for block in document.blocks] == ["Вы руб Müller €5 р дсыр"]
