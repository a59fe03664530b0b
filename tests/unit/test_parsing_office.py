"""DOCX, ODT, RTF and EPUB: everything that is written in them stands on a page."""

import contextlib
import io
import struct
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
    assert [block.text for block in document.blocks if block.kind is BlockKind.STRUCK] == ["Deleted words."]
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


RTF_CLAUSES = (
    "{\\*\\listtable{\\list{\\listlevel\\levelnfc0}\\listid1}}"
    "{\\*\\listoverridetable{\\listoverride\\listid1\\ls1}}"
    "{\\stylesheet{\\s15\\v Hidden style;}}\\pard\\plain{\\listtext\\pard\\plain 4.\\tab}\\ls1\\ilvl0 Liability\\par "
    "{\\listtext\\pard 4.2\\tab}\\ls1\\ilvl1 The cap is 2 million.\\par {\\pntext (b)\\tab}Older list.\\par"
    "{\\listtext\\pard\\f3 \\'b7\\tab}\\ls2 A bullet.\\par\\pard "
    "The rent is {\\deleted 4,500}{\\revised 5,200} euro.\\par {\\strike Old deposit.}\\par "
    "{\\v We would take 4,900.}\\par Seen {\\v by nobody }by all \\v not this\\v0 .\\par "
    "Area 25 m{\\super 2} in C:\\\\v\\par"
)


def test_rich_text_has_its_numbers_and_what_is_struck_out_or_hidden_apart(tmp_path: Path) -> None:
    document = read(tmp_path, offices.rtf(RTF_CLAUSES), "a.rtf")
    kinds = {kind: [block.text for block in document.blocks if block.kind is kind] for kind in BlockKind}
    assert kinds[BlockKind.TEXT] == [
        "4. Liability",
        "4.2 The cap is 2 million.",
        "(b) Older list.",
        "• A bullet.",
        "The rent is 5,200 euro.",
        "Seen by all .",
        "Area 25 m² in C:\\v",
    ]
    assert kinds[BlockKind.STRUCK] == ["4,500", "Old deposit."]
    assert "\n".join(kinds[BlockKind.HIDDEN]).split("\n")[1:] == ["We would take 4,900.", "by nobody not this"]
    assert document.note is not None
    assert "(insertions: 1, deletions: 1)" in document.note


UNSEEN = ["99 months.", "tiny words"]


@pytest.mark.parametrize("name", ["a.rtf", "a.odt"])
def test_white_and_tiny_text_is_hidden(tmp_path: Path, name: str) -> None:
    if name == "a.rtf":
        colors = "{\\colortbl;\\red255\\green255\\blue255;\\red0\\green0\\blue0;}"
        content = offices.rtf(f"{colors}Term: {{\\cf1 99 months.\\par }}{{\\fs2 tiny words}}{{\\cf2 24}} months.\\par ")
    else:
        looks = {"W": "fo:color='#ffffff'", "T": "fo:font-size='1pt'"}
        looks["B"] = f"{looks['W']} fo:background-color='#000080'"
        automatic = "".join(
            f"<style:style style:name='{style}' style:family='text'><style:text-properties {look}/></style:style>"
            for style, look in looks.items()
        )
        spans = [f"<text:span text:style-name='{style}'>{{}}</text:span>" for style in looks]
        body = odt_p(spans[0].format(UNSEEN[0]) + spans[1].format(UNSEEN[1]) + f"Term: {spans[2].format('24')} months.")
        content = offices.odt(body, automatic=automatic)
    document = read(tmp_path, content, name)
    assert " ".join(block.text for block in document.blocks if block.kind is BlockKind.TEXT) == "Term: 24 months."
    hidden = " ".join(block.text for block in document.blocks if block.kind is BlockKind.HIDDEN)
    assert all(text in hidden for text in UNSEEN)


LIST_STYLE = (
    "<text:list-style style:name='L'><text:list-level-style-number text:level='1' style:num-format='1'"
    " style:num-suffix='.'/><text:list-level-style-number text:level='2' style:num-format='1' text:display-levels='2'/>"
    "<text:list-level-style-number text:level='3' style:num-format='a' style:num-prefix='(' style:num-suffix=')'/>"
    "</text:list-style><text:list-style style:name='B'><text:list-level-style-bullet text:level='1'/></text:list-style>"
)


def odt_list(*items: str, attributes: str = "text:style-name='L'") -> str:
    listed = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
    return f"<text:list {attributes}>{listed}</text:list>"


def odt_p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_an_open_document_has_its_numbers(tmp_path: Path) -> None:
    outline = "<text:outline-level-style text:level='1' style:num-format='I' style:num-prefix='Article '/>"
    inner = odt_list(odt_p("Left"), odt_p("Right"), attributes="")
    body = (
        "<text:h text:outline-level='1'>Scope</text:h>"
        + odt_list(odt_p("One") + odt_list(odt_p("Sub"), odt_p("Next") + inner, attributes=""), odt_p("Two"))
        + odt_p("Between.")
        + odt_list(odt_p("Three"), attributes="text:style-name='L' text:continue-numbering='true'")
        + odt_list(odt_p("Again"))
        + odt_list(odt_p("Bullet"), attributes="text:style-name='B'")
        + "<text:h text:outline-level='1'>Money</text:h>"
    )
    common = f"<text:outline-style style:name='Outline'>{outline}</text:outline-style>"
    document = read(tmp_path, offices.odt(body, automatic=LIST_STYLE, common=common), "a.odt")
    numbered = ["1. One", "1.1 Sub", "1.2 Next", "(a) Left", "(b) Right", "2. Two", "Between.", "3. Three", "1. Again"]
    assert text(document).split("\n") == ["Article I Scope", *numbered, "• Bullet", "Article II Money"]


def test_changes_and_hidden_text_of_an_open_document_stand_apart(tmp_path: Path) -> None:
    regions = (
        "<text:tracked-changes><text:changed-region text:id='c1'><text:deletion><text:p>4,500</text:p></text:deletion>"
        "</text:changed-region><text:changed-region text:id='c2'><text:insertion/></text:changed-region>"
        "<text:changed-region text:id='c3'><text:deletion><text:p>Subletting is free.</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    )
    rent = "The rent is <text:change text:change-id='c1'/><text:change-start text:change-id='c2'/>5,200 euro."
    body = regions + odt_p(rent) + "<text:change text:change-id='c3'/>"
    body += odt_p("Seen <text:span text:style-name='H'>by nobody </text:span>by all.")
    body += f"<text:section text:display='none'>{odt_p('A hidden section.')}</text:section>"
    body += odt_p("25 m<text:span text:style-name='U'>2</text:span>")
    looks = {"H": "text:display='none'", "U": "style:text-position='super 58%'"}
    automatic = "".join(
        f"<style:style style:name='{name}' style:family='text'><style:text-properties {look}/></style:style>"
        for name, look in looks.items()
    )
    document = read(tmp_path, offices.odt(body, automatic=automatic), "a.odt")
    kinds = {kind: [block.text for block in document.blocks if block.kind is kind] for kind in BlockKind}
    assert kinds[BlockKind.TEXT] == ["The rent is 5,200 euro.", "Seen by all.", "25 m²"]
    assert kinds[BlockKind.STRUCK] == ["4,500", "Subletting is free."]
    assert "\n".join(kinds[BlockKind.HIDDEN]).split("\n")[1:] == ["by nobody", "A hidden section."]
    assert document.note is not None
    assert "(insertions: 1, deletions: 2)" in document.note


def test_a_book_is_read_in_its_order(tmp_path: Path) -> None:
    content = offices.epub("<h1>One</h1><p>It began.</p>", f"<h1>Two</h1><pre>{'x' * 400}</pre><p>It ended.</p>")
    document = read(tmp_path, content, "book.epub")
    headings = [block.text for block in document.blocks if block.kind is BlockKind.HEADING]
    assert headings == ["One", "Two"]
    assert document.title == "A Book"
    assert text(document).index("It began.") < text(document).index("It ended.")
    assert lost(tmp_path, content, "book.epub") == []


def test_the_style_sheets_of_a_book_count(tmp_path: Path) -> None:
    chapter = (
        '<a id="x"/><p>We have 1,240<span class="note">4</span> employees.</p>'
        '<p>Pay in <span class="old">30 days</span> 60 days.</p><p class="gone">The rent is 1 euro.</p>'
    )
    look = ".note {vertical-align: super; font-size: .7em} .old {text-decoration: line-through} .gone {display: none}"
    document = read(tmp_path, offices.epub(chapter, look=look), "book.epub")
    kinds = {block.kind: block.text for block in document.blocks}
    found = [line.text for block in document.blocks if block.kind is BlockKind.TEXT for line in block.lines]
    assert found == ["We have 1,240⁴ employees.", "Pay in 60 days."]
    assert kinds[BlockKind.STRUCK] == "30 days"
    assert "The rent is 1 euro." in kinds[BlockKind.HIDDEN]


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


@pytest.mark.long
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


def ole1(kind: bytes, native: bytes) -> str:
    """An object of RTF (MS-OLEDS, 2.2.5)."""
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (kind + b"\0", b"\0", b"\0"))
    data = struct.pack("<II", 0x501, 2) + texts + struct.pack("<I", len(native)) + native
    return "{\\object{\\*\\objdata " + data.hex() + "}{\\result picture}}"


def test_files_embedded_in_rich_text_are_parts(tmp_path: Path) -> None:
    content = b"Article,Price\nPallet,12\n"
    native = (
        b"\2\0prices.csv\0C:\\prices.csv\0\0\0\3\0"
        + struct.pack("<I", 2)
        + b"C\0"
        + struct.pack("<I", len(content))
        + content
    )
    body = "See below.\\par" + ole1(b"Package", native) + ole1(b"Word.Document.12", pdfs.word_document())
    document = read(tmp_path, offices.rtf(body + "{\\object{\\*\\objdata 0105}}"), "a.rtf")
    assert [(part.name, part.reason) for part in document.parts][:2] == [("prices.csv", None), ("object 2", None)]


def test_sheets_embedded_in_an_open_document_are_parts(tmp_path: Path) -> None:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entry = f'<file-entry full-path="Object 1/" media-type="{kind}"/>'
    manifest = f'<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entry}</manifest>'
    parts = {"META-INF/manifest.xml": manifest.encode(), "Object 1/content.xml": b"<office/>"}
    with zipfile.ZipFile(io.BytesIO(offices.odt(odt_p("See the sheet.")))) as file:
        content = offices.archive({name: file.read(name) for name in file.namelist()} | parts)
    document = read(tmp_path, content, "a.odt")
    assert [(part.name, part.reason) for part in document.parts] == [("Object 1.ods", None)]


def test_a_chart_in_an_open_document_is_read(tmp_path: Path) -> None:
    rows = "".join(
        "<t:table-row>" + "".join(f"<t:table-cell><x:p>{cell}</x:p></t:table-cell>" for cell in row) + "</t:table-row>"
        for row in (("", "Ships"), ("2024", "1,812"))
    )
    spaces = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{kind}:1.0"'
        for prefix, kind in (("c", "chart"), ("t", "table"), ("x", "text"))
    )
    title = "<c:title><x:p>Ships by year</x:p></c:title>"
    chart = f"<o {spaces}><c:chart>{title}<t:table>{rows}</t:table></c:chart></o>"
    with zipfile.ZipFile(io.BytesIO(offices.odt(odt_p("See the chart.")))) as file:
        content = offices.archive(
            {name: file.read(name) for name in file.namelist()} | {"Object 1/content.xml": chart.encode()}
        )
    found = text(read(tmp_path, content, "a.odt"))
    assert [words in found for words in ("Ships by year", "2024 1,812")] == [True, True]


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
