from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing.pdf import text_lines
from rag.parsing.pdf.character_cleaning import correct_brackets
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import PageContent
from rag.parsing.pdf.text_runs import Direction, Piece
from rag.parsing.worker import protocol
from rag.types import BlockKind, Line, PageInfo, ParsedDocument, Rect
from tests import pdfs


def parse(folder: Path, content: bytes) -> ParsedDocument:
    path = folder / "rendition.pdf"
    path.write_bytes(content)
    return parsing.parse_rendition(path)


def lines(document: ParsedDocument) -> list[Line]:
    return [line for block in document.blocks for line in block.lines]


def texts(document: ParsedDocument) -> list[str]:
    return [line.text for line in lines(document)]


def test_lines_are_numbered_through_the_document(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.pages(3))
    assert [line.number for line in lines(document)] == list(range(1, document.line_count + 1))
    assert [line.page_number for line in lines(document)] == sorted(line.page_number for line in lines(document))
    for block in document.blocks:
        assert (block.line_start, block.line_end) == (block.lines[0].number, block.lines[-1].number)
        assert block.text == "\n".join(line.text for line in block.lines)
        assert [line.starts_block for line in block.lines] == [True] + [False] * (len(block.lines) - 1)


def test_spaces_beside_underlined_links_are_kept(tmp_path: Path) -> None:
    assert texts(parse(tmp_path, pdfs.underlined_links())) == ["".join(runs) for runs in pdfs.LINKED_LINES]


def test_a_space_stands_on_the_side_where_it_is_drawn() -> None:
    latin = Piece(Rect(40, 0, 60, 10), "PDF", 10, False, Direction.RIGHT, 0, space_right=True)
    hebrew = Piece(Rect(60, 0, 110, 10), "המגדלור", 10, False, Direction.RIGHT, 1)
    suffix = Piece(Rect(20, 0, 40, 10), "נבנה", 10, False, Direction.RIGHT, 2)
    assert text_lines.join([suffix, latin, hebrew]) == "המגדלור PDFנבנה"


def test_that_a_page_is_of_a_sheet_reaches_the_parent_process() -> None:
    info = PageInfo(number=1, width=10, height=10)
    page = protocol.load(protocol.dump(page=PageContent(info, [], has_grid=True))).page
    assert page is not None
    assert page.has_grid


def test_what_stands_below_the_end_of_a_line_is_another_word() -> None:
    first = Piece(Rect(0, 0, 200, 12), "a model aims to", 10, False, Direction.RIGHT, 0)
    second = Piece(Rect(0, 5, 200, 17), "predict a label", 10, False, Direction.RIGHT, 1)
    assert text_lines.join([first, second]) == "a model aims to predict a label"


@pytest.mark.parametrize("row_by_row", [False, True])
def test_columns_are_read_one_after_the_other(tmp_path: Path, row_by_row: bool) -> None:
    found = texts(parse(tmp_path, pdfs.two_columns(row_by_row=row_by_row)))
    columns = [f"{side} line {n} with words to fill the column" for side in ("left", "right") for n in range(1, 9)]
    assert found[0].startswith("A Title")
    assert found[1:17] == columns
    assert found[17].startswith("A closing remark")


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("unit", [1, 2])
def test_boxes_are_where_the_words_are_displayed(tmp_path: Path, rotation: int, unit: int) -> None:
    document = parse(tmp_path, pdfs.turned(rotation, user_unit=unit))
    assert (document.pages[0].width, document.pages[0].height) == (unit * pdfs.WIDTH, unit * pdfs.HEIGHT)
    assert texts(document) == list(pdfs.SENTENCES)
    for index, line in enumerate(lines(document)):
        baseline = (100 + 16 * index) * unit
        assert line.bbox.x0 == pytest.approx(72 * unit, abs=1.5)
        assert line.bbox.y0 < baseline - 7 * unit < baseline < line.bbox.y1


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_crop_box_is_the_origin_and_what_is_cut_off_is_not_read(tmp_path: Path, rotation: int) -> None:
    document = parse(tmp_path, pdfs.turned(rotation, crop=(40, 107, 500, 600)))
    assert texts(document) == list(pdfs.SENTENCES[1:])
    assert (document.pages[0].width, document.pages[0].height) == (460, 493)
    assert lines(document)[0].bbox.x0 == pytest.approx(32, abs=1)
    assert lines(document)[0].bbox.y0 == pytest.approx(116 - 107 - 11.8, abs=1)


def test_text_that_runs_upwards_is_read_in_order(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.sideways_text())
    assert texts(document) == list(pdfs.SENTENCES)
    assert all(line.bbox.y1 - line.bbox.y0 > 100 > line.bbox.x1 - line.bbox.x0 for line in lines(document))


@pytest.mark.parametrize("ruled", [True, False])
def test_tables_have_a_line_for_each_row(tmp_path: Path, ruled: bool) -> None:
    document = parse(tmp_path, pdfs.table(ruled=ruled))
    before, table, after = document.blocks
    assert (before.kind, table.kind, after.kind) == (BlockKind.TEXT, BlockKind.TABLE, BlockKind.TEXT)
    assert [line.text for line in table.lines] == ["\t".join(row) for row in pdfs.TABLE]


def test_a_wrapped_cell_of_a_ruled_table_is_one_cell(tmp_path: Path) -> None:
    table = parse(tmp_path, pdfs.table(ruled=True, wrapped=True)).blocks[1]
    assert [line.text for line in table.lines] == ["Region\tUnits\tRevenue"] + [
        f"{region} district\t{units}\t{revenue}" for region, units, revenue in pdfs.TABLE[1:]
    ]


def test_headings_have_levels_and_running_heads_are_text(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.headings())
    levels = {block.text: block.level for block in document.blocks if block.kind is BlockKind.HEADING}
    assert levels == {
        "An Outline of Everything": 1,
        **{f"Section {n}": 2 for n in range(1, 5)},
        "A bold minor matter": 3,
    }
    assert document.title == "An Outline of Everything"


def test_what_most_pages_begin_with_is_no_heading(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.low_running_head())
    assert [block.text for block in document.blocks if block.level is not None] == [f"Section {n}" for n in range(1, 5)]


def test_a_forms_title_is_the_name_on_its_cover(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.form())
    assert document.title == "Acme Harbours plc"
    assert [block.text for block in document.blocks if block.level is not None] == []


def test_parts_head_sections_though_they_are_no_titles(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.headings(sections="Part"))
    assert [block.text for block in document.blocks if block.level == 2] == [f"Part {n}" for n in range(1, 5)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("On Herons", "On Herons"), ("Microsoft Word - x.doc", None), ("untitled", None), ("draft.docx", None)],
)
def test_the_title_is_the_metadatas_if_a_person_wrote_it(tmp_path: Path, given: str, expected: str | None) -> None:
    assert parse(tmp_path, pdfs.plain(title=given)).title == expected


def test_printed_page_numbers(tmp_path: Path) -> None:
    assert [page.label for page in parse(tmp_path, pdfs.labelled()).pages] == ["i", "ii", "1", "2"]
    assert [page.label for page in parse(tmp_path, pdfs.plain()).pages] == [None]


def test_a_broken_page_costs_a_page(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.broken_page(3, broken=2))
    assert [page.error is None for page in document.pages] == [True, False, True]
    assert {block.page_number for block in document.blocks} == {1, 3}


def test_right_to_left_words_keep_their_logical_order(tmp_path: Path) -> None:
    assert texts(parse(tmp_path, pdfs.right_to_left())) == [
        "המגדלור נבנה לפני מאה שנה",
        "הים היה שקט מאוד",
        "The sea was calm.",
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p dir=rtl>המגדלור (2023) נבנה [1] מזמן</p>", "המגדלור (2023) נבנה [1] מזמן"),
        ("<p dir=rtl>היה (שקט) מאוד, near (calm) sea</p>", "היה (שקט) מאוד, near (calm) sea"),
        ("<p>The tower (המגדלור) fell.</p>", "The tower (המגדלור) fell."),
        ("<p>f(x) and )x( beside המגדלור</p>", "f(x) and )x( beside המגדלור"),
        ("<p>)x(</p>", ")x("),
    ],
)
def test_brackets_are_read_as_they_were_written(tmp_path: Path, markup: str, text: str) -> None:
    (line,) = texts(parse(tmp_path, pdfs.right_to_left(markup)))
    assert "".join(line.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("drawn", "written"),
    [
        ("המגדלור )2023( נבנה", "המגדלור (2023) נבנה"),
        ("1) המגדלור )2023(", "1) המגדלור (2023)"),
        ("1) המגדלור (x", "1) המגדלור (x"),
        ("א) המגדלור [x", "א) המגדלור [x"),
        ("המגדלור (x", "המגדלור (x"),
        ("המגדלור ]»א«[", "המגדלור [«א»]"),
        (")x( near the tower", ")x( near the tower"),
    ],
)
def test_brackets_are_turned_where_that_makes_pairs(drawn: str, written: str) -> None:
    assert correct_brackets(drawn) == written


def test_a_list_is_no_table(tmp_path: Path) -> None:
    document = parse(tmp_path, pdfs.bullets())
    assert texts(document) == [f"- {sentence}" for sentence in pdfs.SENTENCES]
    assert {block.kind for block in document.blocks} == {BlockKind.TEXT}


@pytest.mark.parametrize("mark", ["-", "−", "•", "☒", "☐", "(a)"])
def test_a_mark_far_before_a_line_is_no_cell(mark: str) -> None:
    first = Piece(Rect(0, 0, 8, 10), mark, 10, False, Direction.RIGHT, 0)
    second = Piece(Rect(40, 0, 200, 10), "annual report", 10, False, Direction.RIGHT, 1)
    (row,) = text_lines.make_rows([first, second])
    assert len(row.cells) == 1


def test_bold_text_that_is_no_heading_is_known(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    for index, sentence in enumerate(pdfs.SENTENCES):
        pdfs.write(page, 72, 100 + 40 * index, sentence, bold=index == 1)
    read = lines(parse(tmp_path, pdfs.finish(document)))
    assert [line.is_bold for line in read] == [index == 1 for index in range(len(pdfs.SENTENCES))]


def test_what_is_drawn_twice_is_read_once(tmp_path: Path) -> None:
    assert texts(parse(tmp_path, pdfs.drawn_twice())) == list(pdfs.SENTENCES)


def test_ligatures_come_apart(tmp_path: Path) -> None:
    assert texts(parse(tmp_path, pdfs.ligatures())) == ["The office was five miles away."]


def test_a_missing_file_and_a_file_that_is_no_pdf(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError):
        parsing.parse_rendition(tmp_path / "none.pdf")
    with pytest.raises(errors.UnreadableFileError):
        parse(tmp_path, b"no PDF at all")
