"""Word documents: numbers, changes, hidden text, form fields and files inside them, as Word shows them."""

import struct
from pathlib import Path

import pytest

from rag import parsing
from rag.parsing.office.list_numbers import formatted
from rag.types import BlockKind, ParsedDocument, ParsingConfig
from tests import offices, outlook, pdfs

CLAUSES = (
    f'<w:abstractNum w:abstractNumId="0">{offices.list_level(0, "decimal", "%1.")}'
    f"{offices.list_level(1, 'decimal', '%1.%2')}{offices.list_level(2, 'lowerLetter', '(%3)')}"
    f"{offices.list_level(3, 'lowerRoman', '(%4)')}{offices.list_level(4, 'bullet', '•')}</w:abstractNum>"
)


def number(identity: int, definition: int = 0, more: str = "") -> str:
    """A list that uses a definition."""
    return f'<w:num w:numId="{identity}"><w:abstractNumId w:val="{definition}"/>{more}</w:num>'


def read(folder: Path, content: bytes, name: str = "a.docx") -> ParsedDocument:
    (folder / "source").write_bytes(content)
    config = ParsingConfig(office="builtin")
    return parsing.read_file(folder / "source", name=name, rendition=folder / "rendition.pdf", config=config)


def lines(document: ParsedDocument, *kinds: BlockKind) -> list[str]:
    """The lines of blocks of some kinds, by default of all; nothing else may be missing."""
    assert document.completeness is not None
    assert document.completeness.missing == ()
    blocks = [block for block in document.blocks if not kinds or block.kind in kinds]
    return [line for block in blocks for line in block.text.split("\n")]


def test_clauses_have_the_numbers_that_word_prints(tmp_path: Path) -> None:
    places = (0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 1)
    body = "".join(offices.item("Text", 1, level) for level in places)
    found = lines(read(tmp_path, offices.docx(body, lists=CLAUSES + number(1))))
    labels = ["1.", "1.1", "1.2", "2.", "2.1", "(a)", "(b)", "(i)", "(ii)", "(c)", "2.2"]
    assert found == [f"{label} Text" for label in labels]


def test_headings_are_numbered_by_their_styles(tmp_path: Path) -> None:
    levels = offices.list_level(0, "upperRoman", "Article %1", '<w:pStyle w:val="Heading1"/>')
    levels += offices.list_level(1, "decimalZero", "Section %1.%2", '<w:pStyle w:val="Heading2"/><w:isLgl/>')
    styles = (
        '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:basedOn w:val="Heading1"/>'
        '<w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    lists = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{number(1)}'
    headings = (("Scope", 1), ("Terms", 2), ("Money", 1), ("Cap", 2), ("Fees", 2))
    body = "".join(offices.p(text, f"Heading{level}") + offices.p("Words.") for text, level in headings)
    document = read(tmp_path, offices.docx(body, lists=lists, styles=styles))
    numbered = ["Article I Scope", "Section 1.1 Terms", "Article II Money", "Section 2.1 Cap", "Section 2.2 Fees"]
    assert lines(document, BlockKind.HEADING) == numbered


def test_lists_begin_go_on_and_restart_as_defined(tmp_path: Path) -> None:
    other = f'<w:abstractNum w:abstractNumId="1">{offices.list_level(0, "ordinalText", "%1 case:")}</w:abstractNum>'
    never = offices.list_level(0, "decimal", "%1)") + offices.list_level(
        1, "lowerLetter", "%2)", '<w:lvlRestart w:val="0"/>'
    )
    other += f'<w:abstractNum w:abstractNumId="2">{never}</w:abstractNum>'
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    lists = CLAUSES + other + number(1) + number(2, more=override) + number(3, 1) + number(4, 2) + number(5)
    body = offices.item("One", 1) + offices.item("Between", 0) + offices.item("Same counters", 5)
    body += offices.item("Five", 2) + offices.item("Six", 2) + offices.item("Rain.", 3) + offices.item("Snow.", 3)
    body += offices.item("A", 4) + offices.item("B", 4, 1) + offices.item("C", 4) + offices.item("D", 4, 1)
    found = lines(read(tmp_path, offices.docx(body, lists=lists)))
    listed = ["1. One", "Between", "2. Same counters", "5. Five", "6. Six", "First case: Rain.", "Second case: Snow."]
    assert found == [*listed, "1) A", "a) B", "2) C", "b) D"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("decimal", "4 27"),
        ("lowerRoman", "iv xxvii"),
        ("upperLetter", "D AA"),
        ("ordinal", "4th 27th"),
        ("ordinalText", "Fourth Twenty-seventh"),
        ("cardinalText", "Four Twenty-seven"),
        ("decimalZero", "04 27"),
        ("none", " "),
        ("of another country", "4 27"),
    ],
)
def test_formats_of_numbers(kind: str, expected: str) -> None:
    assert f"{formatted(4, kind)} {formatted(27, kind)}" == expected


def test_a_paragraph_with_two_struck_out_parts_has_each_once(tmp_path: Path) -> None:
    struck = [offices.run(text, "<w:strike/>") for text in ("30 days", "5 percent")]
    body = f"<w:p>{offices.run('Pay within ')}{struck[0]}{offices.run(' 60 days. ')}{struck[1]}</w:p>"
    document = read(tmp_path, offices.docx(body))
    assert lines(document, BlockKind.TEXT) == ["Pay within 60 days."]
    assert " ".join(lines(document, BlockKind.STRUCK)) == "30 days 5 percent"
    assert lines(document, BlockKind.HEADING) == []


def test_deleted_text_is_struck_out_and_inserted_text_valid(tmp_path: Path) -> None:
    deleted = "<w:del w:id='1'><w:r><w:delText>4,500</w:delText></w:r></w:del>"
    inserted = f"<w:ins w:id='2'>{offices.run('5,200')}</w:ins>"
    body = f"<w:p>{offices.run('The rent is ')}{deleted}{inserted}{offices.run(' euro.')}</w:p>"
    body += "<w:p><w:pPr><w:rPr><w:del w:id='3'/></w:rPr></w:pPr>"
    body += "<w:del w:id='4'><w:r><w:delText>Subletting is free.</w:delText></w:r></w:del></w:p>"
    body += f"<w:p>{offices.run('Three months.', '<w:dstrike/>')}</w:p>"
    body += f"<w:p><w:moveFrom w:id='5'>{offices.run('The moved clause.')}</w:moveFrom></w:p>{offices.p('End.')}"
    body += f"<w:p><w:moveTo w:id='6'>{offices.run('The moved clause.')}</w:moveTo></w:p>"
    row = "<w:tr><w:trPr><w:del w:id='7'/></w:trPr>" + offices.word_cell("Berth") + offices.word_cell("120") + "</w:tr>"
    kept = "<w:tr>" + offices.word_cell("Crane") + offices.word_cell("90") + "</w:tr>"
    grid = "<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    document = read(tmp_path, offices.docx(f"{body}<w:tbl><w:tblPr/>{grid}{kept}{row}{kept}</w:tbl>"))
    assert lines(document, BlockKind.TEXT) == ["The rent is 5,200 euro.", "End.", "The moved clause."]
    assert lines(document, BlockKind.TABLE) == ["Crane\t90", "Crane\t90"]
    struck = " ".join(" ".join(lines(document, BlockKind.STRUCK)).split())
    assert struck == "4,500 Subletting is free. Three months. The moved clause. Berth 120"
    assert document.note is not None
    assert document.note.startswith("It has unaccepted changes (insertions: 2, deletions: 3).")


def test_a_deleted_clause_is_not_counted(tmp_path: Path) -> None:
    mark = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>'
    gone = f"<w:p>{mark}<w:del w:id='2'><w:r><w:delText>Gone.</w:delText></w:r></w:del></w:p>"
    body = offices.item("First.", 1) + gone + offices.item("Second.", 1)
    document = read(tmp_path, offices.docx(body, lists=CLAUSES + number(1)))
    assert lines(document, BlockKind.TEXT) == ["1. First.", "2. Second."]
    assert lines(document, BlockKind.STRUCK) == ["Gone."]


def test_a_document_without_changes_has_no_note(tmp_path: Path) -> None:
    assert read(tmp_path, offices.docx(offices.p("Words."))).note is None


def test_hidden_text_stands_apart_at_the_end(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Inner"><w:name w:val="Inner"/><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    shown = offices.run("Seen") + offices.run(" by nobody", '<w:rStyle w:val="Secret"/>') + offices.run(" by all.")
    again = (
        '<w:p><w:pPr><w:pStyle w:val="Inner"/></w:pPr>'
        + offices.run("Shown again.", '<w:vanish w:val="0"/>')
        + "</w:p>"
    )
    body = f"<w:p>{shown}</w:p>{offices.p('We would take 4,900.', 'Inner')}{again}"
    document = read(tmp_path, offices.docx(body, styles=styles))
    assert lines(document, BlockKind.TEXT) == ["Seen by all.", "Shown again."]
    assert lines(document, BlockKind.HIDDEN)[1:] == ["by nobody", "We would take 4,900."]


def test_a_table_without_columns_of_its_own_keeps_its_cells(tmp_path: Path) -> None:
    heads = offices.word_cell("Region") + offices.word_cell("H1", 2) + offices.word_cell("H2", 2)
    figures = "".join(map(offices.word_cell, ("North", "10", "11", "12", "13")))
    document = read(tmp_path, offices.docx(f"<w:tbl><w:tblPr/><w:tr>{heads}</w:tr><w:tr>{figures}</w:tr></w:tbl>"))
    assert lines(document, BlockKind.TABLE)[-1] == "North\t10\t11\t12\t13"


def test_text_that_its_style_makes_white_is_hidden(tmp_path: Path) -> None:
    white = '<w:style w:type="{0}" w:styleId="{0}"><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>'
    styles = white.format("character") + white.format("paragraph")
    styled = offices.run(" 99 months.", '<w:rStyle w:val="character"/>')
    body = f"<w:p>{offices.run('Term: 24 months.')}{styled}</w:p>"
    body += offices.p("98 months.", "paragraph")
    document = read(tmp_path, offices.docx(body, styles=styles))
    assert lines(document, BlockKind.TEXT) == ["Term: 24 months."]
    hidden = " ".join(lines(document, BlockKind.HIDDEN))
    assert "99 months." in hidden
    assert "98 months." in hidden


def test_white_and_tiny_text_is_hidden_but_not_on_a_background(tmp_path: Path) -> None:
    white, tiny = '<w:color w:val="FFFFFF"/>', '<w:sz w:val="2"/>'
    shaded = f"{white}<w:shd w:val='clear' w:fill='000080'/>"
    body = f"<w:p>{offices.run('Term: 24 months.')}{offices.run(' 99 months.', white)}{offices.run(' 98.', tiny)}</w:p>"
    body += f"<w:p>{offices.run('White on blue.', shaded)}</w:p>"
    head = f"<w:tc><w:tcPr/><w:p>{offices.run('Head', white)}</w:p></w:tc>"
    document = read(tmp_path, offices.docx(body + offices.word_table(head + head, head + head)))
    assert lines(document, BlockKind.TEXT) == ["Term: 24 months.", "White on blue."]
    assert lines(document, BlockKind.TABLE) == ["Head\tHead", "Head\tHead"]
    assert lines(document, BlockKind.HIDDEN)[1:] == ["99 months. 98."]


def test_the_state_of_form_fields_is_read(tmp_path: Path) -> None:
    def field(data: str, label: str) -> str:
        begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        end = '<w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
        return f"<w:p>{begin}{end}{offices.run(label)}</w:p>"

    def control(state: str, label: str) -> str:
        box = f'<w14:checkbox xmlns:w14="w14"><w14:checked w14:val="{state}"/></w14:checkbox>'
        mark = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
        content = f"<w:sdt><w:sdtPr>{box}</w:sdtPr><w:sdtContent>{mark}</w:sdtContent></w:sdt>"
        return f"<w:p>{content}{offices.run(label)}</w:p>"

    choices = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Red"/><w:listEntry w:val="Green"/></w:ddList>'
    body = field('<w:checkBox><w:default w:val="1"/></w:checkBox>', " Insured")
    body += field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', " Fragile")
    body += field(choices, " paint") + control("1", " Express") + control("0", " Return")
    document = read(tmp_path, offices.docx(body))
    assert lines(document) == ["☒ Insured", "☐ Fragile", "Green paint", "☒ Express", "☐ Return"]


def test_notes_and_raised_text_stand_apart_from_figures(tmp_path: Path) -> None:
    note = f'<w:footnote w:id="2">{offices.p("Without harbours.")}</w:footnote>'
    mark = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
    body = f"<w:p>{offices.run('Revenue was 812')}{mark}{offices.run(' million.')}</w:p>"
    raised = offices.run("6", '<w:position w:val="8"/>')
    body += f"<w:p>{offices.run('10')}{raised}{offices.run(' tonnes')}</w:p>"
    body += f"<w:p><w:r><w:sym w:font='Symbol' w:char='F0B3'/></w:r>{offices.run(' 40')}</w:p>"
    found = lines(read(tmp_path, offices.docx(body, parts={"footnotes.xml": note})))
    assert found[:3] == ["Revenue was 812¹ million.", "10⁶ tonnes", "≥ 40"]
    assert len(found) == 4  # the note, and nothing twice


PAGE = b"""MIME-Version: 1.0
Content-Type: multipart/related; boundary="b"

--b
Content-Type: text/html; charset="utf-8"
Content-Transfer-Encoding: quoted-printable

<p>A page says 11 =E2=82=AC.</p>
--b--
"""


def test_documents_imported_into_the_body_are_read_in_their_place(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "a.html": b"<p>HTML says <b>5.",
        "b.rtf": offices.rtf("RTF says 7.\\par"),
        "c.docx": offices.docx(offices.p("Word says 9.")),
        "d.txt": b"Text says 3.",
        "e.mht": PAGE,
        "f.bin": b"\0\1\2\3",
    }
    relations = "".join(offices.relation("aFChunk", name, f"chunk{name[0]}") for name in parts)
    chunks = "".join(f'<w:altChunk r:id="chunk{name[0]}"/>' for name in parts)
    document = read(
        tmp_path, offices.docx(offices.p("Begin") + chunks + offices.p("End"), parts=parts, relations=relations)
    )
    said = ["HTML says 5.", "RTF says 7.", "Word says 9.", "Text says 3.", "A page says 11 €."]
    assert lines(document, BlockKind.TEXT) == ["Begin", *said, "End"]
    assert [(part.name, part.reason) for part in document.parts] == [
        ("f.bin", "of a kind that cannot be read (“.bin”)")
    ]


def test_documents_imported_into_cells_notes_and_headers_are_read(tmp_path: Path) -> None:
    chunk = '<w:altChunk r:id="chunk"/>'
    relation = offices.relation("aFChunk", "a.html", "chunk")
    parts: dict[str, str | bytes] = {
        "header1.xml": chunk,
        "footnotes.xml": f'<w:footnote w:id="2">{chunk}</w:footnote>',
        **{f"_rels/{name}.xml.rels": f"<Relationships>{relation}</Relationships>" for name in ("header1", "footnotes")},
        "a.html": b"<p>In thousands",
    }
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = f"<w:p>{offices.run('Revenue')}{mark}</w:p><w:tbl><w:tr><w:tc>{chunk}</w:tc></w:tr></w:tbl>"
    document = read(tmp_path, offices.docx(body, parts=parts, relations=relation))
    assert lines(document) == ["In thousands", "Revenue¹", "In thousands", "1.", "In thousands", "↩"]


def test_a_document_that_imports_itself_ends(tmp_path: Path) -> None:
    content = offices.docx(offices.p("Innermost."))
    for _ in range(6):
        relations = offices.relation("aFChunk", "inner.docx", "chunk")
        body = offices.p("Outer.") + '<w:altChunk r:id="chunk"/>'
        content = offices.docx(body, parts={"inner.docx": content}, relations=relations)
    document = read(tmp_path, content)
    assert lines(document, BlockKind.TEXT) == ["Outer."] * 4
    assert [part.name for part in document.parts] == ["inner.docx"]


def test_embedded_files_are_parts(tmp_path: Path) -> None:
    relations = offices.relation("package", "embeddings/Prices.docx", "object")
    relations += offices.relation("subDocument", "file:///C:/book/chapter%201.docx", "sub", external=True)
    parts: dict[str, str | bytes] = {"embeddings/Prices.docx": offices.docx(offices.p("12 euro"))}
    document = read(tmp_path, offices.docx(offices.p("See the prices."), parts=parts, relations=relations))
    reasons = {part.name: part.reason for part in document.parts}
    assert reasons == {"Prices.docx": None, "chapter 1.docx": "it is not in the file: add it as well"}
    assert "Embedded files" in lines(document)


def test_files_in_ole_objects_are_parts_and_equations_are_none(tmp_path: Path) -> None:
    csv = b"Article,Price\nPallet,12\n"
    native = (
        b"\2\0prices.csv\0C:\\prices.csv\0\0\0\3\0" + struct.pack("<I", 2) + b"C\0" + struct.pack("<I", len(csv)) + csv
    )
    objects = {
        "1.bin": outlook.pack({"\1Ole10Native": struct.pack("<I", len(native)) + native}),
        "2.bin": outlook.pack({"Package": offices.docx(offices.p("Inner."))}),
        "3.bin": outlook.pack({"CONTENTS": pdfs.plain()}),
        "4.bin": outlook.pack({"Equation Native": b"x = y"}),
        "5.bin": outlook.pack({"\1Ole10Native": b"cut off"}),
    }
    relations = "".join(offices.relation("oleObject", name, f"ole{name[0]}") for name in objects)
    document = read(tmp_path, offices.docx(offices.p("See below."), parts=objects, relations=relations))
    names = [(part.name, part.reason is None) for part in document.parts]
    assert names == [("prices.csv", True), ("2", True), ("3", True), ("5.bin", False)]


def test_tables_inside_tables_keep_the_rows_of_both(tmp_path: Path) -> None:
    cell = offices.word_cell
    inner = offices.word_table(cell("Article") + cell("Price"), cell("Pallet") + cell("12"))
    holder = f"<w:tc><w:tcPr/>{inner}{offices.p('')}</w:tc>"
    rows = (
        cell("Customer") + cell("Birch"),
        cell("Prices") + holder,
        cell("Term") + cell("2 years"),
        cell("Port") + cell("Brest"),
    )
    document = read(tmp_path, offices.docx(offices.word_table(*rows)))
    assert [row for row in lines(document) if "\t" in row] == [
        "Customer\tBirch",
        "Article\tPrice",
        "Pallet\t12",
        "Term\t2 years",
        "Port\tBrest",
    ]


@pytest.mark.parametrize("backslashes", [False, True])
def test_the_names_of_parts_and_the_variant_of_the_format_do_not_matter(tmp_path: Path, backslashes: bool) -> None:
    content = offices.docx(offices.item("Clause.", 1), lists=CLAUSES + number(1))
    other = offices.rewritten(offices.strict(content), {"document.xml": "document2.xml"}, backslashes=backslashes)
    assert lines(read(tmp_path, other)) == ["1. Clause."]


def test_a_broken_list_definition_leaves_the_text(tmp_path: Path) -> None:
    lists = '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="99"/><w:lvl/></w:abstractNum><w:num/>' + number(1, 7)
    lists += '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="x"/></w:num>'
    body = offices.item("One.", 1) + offices.item("Two.", 2, 5) + offices.item("Three.", 3)
    assert lines(read(tmp_path, offices.docx(body, lists=lists))) == ["One.", "Two.", "Three."]
