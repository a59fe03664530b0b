"""Every character of a file stands in its rendition and in its blocks, or is told to be missing."""

import html
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag import parsing
from rag.parsing.completeness import CompletenessCheck, SecondReading, measure
from rag.parsing.conversion import Conversion
from rag.parsing.html import text_files
from rag.parsing.html.layout import MAX_SIDE_PT
from rag.parsing.pdf.document import iter_pages
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.types import BlockKind, Completeness, Line, ParsedDocument, Passage
from tests import pdfs

CODE_LINE = "".join(f"value{number}={number};" for number in range(40))[:515]
THAI = "ที่นี่มีน้ำและคำมากมายภาษาไทยไม่มีช่องว่างระหว่างคำ" * 9
SENTENCES = (
    "High at noon, low at six.",
    "हिन्दी में पाठ बहुत लंबा है",
    "العربية لغة جميلة",
    "עברית היא שפה",
    "ที่นี่มีน้ำและคำมากมาย",
    "தமிழ் மொழி மிகவும் பழமையானது",
    "漢字仮名交じり文の例です",
    "한국어 문서입니다",
    "Ёлка и ещё Ωμέγα",
    "😀 🎉 👩🏽‍🚀",
    "office affine ﬁne co\u00adoperate",
    "c\x00d\x1b[0m\x07 \ufeff",
    "<b> & &amp; </pre>",
)


def read(folder: Path, content: str, name: str) -> ParsedDocument:
    """What the app makes of a file."""
    source = folder / name
    source.write_bytes(content.encode())
    return parsing.read_file(source, name=name, rendition=folder / "rendition.pdf")


def kept(conversion: Conversion) -> Completeness:
    """What the blocks of a rendition have of the file's own text."""
    tally = CompletenessCheck(conversion.texts)
    with conversion.document as document:
        for page in iter_pages(document):
            tally.add(page)
    return tally.result()


def table(columns: int, rows: int = 3) -> str:
    cells = [[f"Column{column}value{row}" for column in range(columns)] for row in range(rows)]
    return "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells) + "</table>"


def lines(document: ParsedDocument) -> tuple[Line, ...]:
    return tuple(line for block in document.blocks for line in block.lines)


def squashed(texts: Sequence[str]) -> str:
    return "".join("".join(text.split()) for text in texts)


# --- what was cut off at the edge of the page -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.txt", CODE_LINE, CODE_LINE),
        ("a.md", f"```\n{CODE_LINE}\n```\n", CODE_LINE),
        ("a.html", f"<html><body><pre style='white-space: pre'>{CODE_LINE}</pre>", CODE_LINE),
        ("b.html", f"<html><body><p style='white-space: nowrap'>https://tides.example/{CODE_LINE}", CODE_LINE),
        ("b.md", f"See <https://tides.example/{'deep/' * 60}>.", "deep/" * 60),
        ("c.txt", THAI, THAI),
        ("c.html", f"<html><body><p>{THAI}</p>", THAI),
        ("d.txt", "=" * 400, "=" * 400),
    ],
)
def test_a_long_run_is_broken_and_stays_whole(tmp_path: Path, name: str, content: str, text: str) -> None:
    document = read(tmp_path, content, name)
    assert document.completeness is not None
    assert document.completeness.is_complete
    assert document.completeness.source_characters >= len(text)
    if text is not THAI:  # a vowel of two parts is laid out as two characters
        assert squashed([text]) in squashed([line.text for line in lines(document)])


@pytest.mark.parametrize("columns", [10, 20, 60])
def test_a_table_of_many_columns_keeps_every_cell_and_its_rows(tmp_path: Path, columns: int) -> None:
    document = read(tmp_path, f"<html><body><p>Before</p>{table(columns)}<p>After</p>", "a.html")
    assert document.completeness is not None
    assert document.completeness.is_complete
    rows = [line.text.split("\t") for line in lines(document) if line.kind is BlockKind.TABLE]
    assert {cell for row in rows for cell in row} == {f"Column{c}value{r}" for c in range(columns) for r in range(3)}
    assert {row[0] for row in rows} == {f"Column0value{r}" for r in range(3)}
    assert (document.pages[0].width, document.pages[-1].width) == (595, 595)


def test_a_wide_table_keeps_its_caption_and_cells_that_span_others() -> None:
    head = "<caption>Ships by month</caption><tr><th rowspan=2>Port</th><th colspan=59>All months of the year</th></tr>"
    conversion = text_files.from_html(table(60, 150).replace("<table>", f"<table>{head}"))
    pages = [page.get_text() for page in conversion.document]
    assert "Ships by month" in "".join(pages)
    assert kept(conversion).is_complete


def test_a_table_wider_than_any_page_is_scaled_down() -> None:
    conversion = text_files.from_html(table(600))
    assert max(page.rect.width for page in conversion.document) <= MAX_SIDE_PT
    assert kept(conversion).is_complete


def test_markdown_tables_are_tables(tmp_path: Path) -> None:
    document = read(tmp_path, "| Port | Ships |\n| --- | --- |\n| Kiel | 12 |\n| Emden | 7 |\n", "a.md")
    assert [line.text for line in lines(document)] == ["Port\tShips", "Kiel\t12", "Emden\t7"]
    assert {line.kind for line in lines(document)} == {BlockKind.TABLE}


def test_a_cell_that_is_longer_than_a_page(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(2000))
    document = read(tmp_path, f"<html><body><table><tr><td>a</td><td>{words}</td></tr></table>", "a.html")
    assert document.completeness is not None
    assert document.completeness.is_complete
    assert len(document.pages) > 1


def test_what_a_style_hides_is_shown() -> None:
    conversion = text_files.from_html('<p style="display: none">under</p><div style="margin-left: 9999px">beside</div>')
    assert "beside" in conversion.document[0].get_text()
    assert "under" in conversion.document[0].get_text()


def test_a_quote_from_the_far_end_of_a_long_line_is_lit_on_the_page(tmp_path: Path) -> None:
    document = read(tmp_path, f"First line\n{CODE_LINE}\nLast line", "a.txt")
    passage = Passage(document_id=uuid.uuid4(), lines=lines(document))
    quote = passage.lines[-2].text
    assert CODE_LINE.endswith(quote)
    start = passage.text.rindex(quote)
    regions = parsing.locate(tmp_path / "rendition.pdf", passage, start, start + len(quote))
    ((box,),) = (region.rects for region in regions)
    page = document.pages[0]
    assert 0 < box.x0 < box.x1 < page.width
    assert 0 < box.y0 < box.y1 < page.height
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        assert quote in rendition[0].get_textbox(pymupdf.Rect(box))


def test_shaped_scripts_and_emoji_can_be_searched(tmp_path: Path) -> None:
    wanted = ["हिन्दी में पाठ", "العربية هنا", "😀", "office"]
    document = read(tmp_path, "\n\n".join(wanted), "a.md")
    assert [line.text for line in lines(document)] == wanted


# --- whatever the file ------------------------------------------------------------------------------

words = st.sampled_from(SENTENCES) | st.text(st.characters(codec="latin-1"), min_size=1, max_size=12)
long_runs = st.builds(lambda text, times: text.replace(" ", "") * times, st.sampled_from(SENTENCES), st.integers(2, 40))
prose = st.lists(words | long_runs, max_size=12).map(" ".join)
plain_texts = st.lists(prose | st.sampled_from(["", "\t\tx", "-" * 300, "a\fb"]), max_size=8).map("\n".join)
tables = st.builds(
    lambda columns, rows, cell: table(columns, rows).replace("value1", html.escape(cell)),
    st.integers(1, 30),
    st.integers(1, 5),
    words,
)
blocks = st.recursive(
    prose.map(lambda text: f"<p>{html.escape(text)}</p>")
    | plain_texts.map(lambda text: f"<pre>\n{html.escape(text)}</pre>")
    | words.map(lambda text: f"<h2>{html.escape(text)}</h2>")
    | tables,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"<ul>{''.join(f'<li>{item}' for item in items)}</ul>")
        | inner.map(lambda block: f"<div style='display: none; width: 9999px'>{block}</div>")
        | inner.map(lambda block: f"<blockquote>{block}</blockquote>")
        | inner.map(lambda block: f"<table><tr><td>{block}<td>beside</table>")
    ),
    max_leaves=5,
)
slow = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])


@slow
@given(plain_texts)
def test_every_character_of_a_text_is_kept_or_told(text: str) -> None:
    check(text_files.from_text(text))


@slow
@example("<p>العربية لغة جميلة [0</p>")  # drawn, and so read, as "]0"
@given(st.lists(blocks, max_size=3).map("".join))
def test_every_character_of_a_web_page_is_kept_or_told(markup: str) -> None:
    check(text_files.from_html(markup))


def check(conversion: Conversion) -> None:
    """All is kept but what no font has, and that is named."""
    completeness = kept(conversion)
    lost = "".join(missing.text for missing in completeness.missing)
    assert sum(missing.characters for missing in completeness.missing) == (
        completeness.source_characters - completeness.kept_characters
    )
    assert completeness.is_complete, lost


@pytest.mark.long
def test_a_paragraph_of_a_megabyte(tmp_path: Path) -> None:
    text = " ".join(f"tide {number}" for number in range(90_000))
    conversion = text_files.from_text(text)
    assert kept(conversion).summary == f"{len(text.replace(' ', '')):,} of {len(text.replace(' ', '')):,} (100 %)"


@pytest.mark.long
def test_elements_nested_by_the_thousand() -> None:
    conversion = text_files.from_html("".join(f"<ul><li>level {number}" for number in range(900)))
    assert kept(conversion).is_complete


# --- the measure ------------------------------------------------------------------------------------


def test_what_is_missing_is_told_with_its_place() -> None:
    source = [("line 1", "High at noon,"), ("line 2", "low at six."), ("line 3", "Higher in spring.")]
    found = measure(source, ["High at noon,", "Higher in spring."])
    assert [(missing.place, missing.characters, missing.text) for missing in found.missing] == [
        ("line 2", 9, "low at six.")
    ]
    assert found.summary == "26 of 35 (74.2 %)"


def test_a_line_that_stands_twice_and_is_read_once_is_missed() -> None:
    found = measure([("line 1", "Total 1,200"), ("line 2", "Total 1,200")], ["Total 1,200"])
    assert (found.kept_characters, found.missing[0].place) == (10, "line 2")


def test_another_order_is_no_loss() -> None:
    cells = [(f"line {number}", f"cell {number}") for number in range(200)]
    assert measure(cells, [text for _, text in reversed(cells)]).is_complete


def test_the_end_of_a_line_that_was_cut_off() -> None:
    (missing,) = measure([("line 1", CODE_LINE)], [CODE_LINE[:85]]).missing
    assert missing.characters == len(CODE_LINE) - 85


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("ﬁne oﬃce", "fine office"),
        ("co\u00adoperate", "cooperate"),
        ("Cafe\u0301", "Café"),
        ("a\u200bb\ufeff", "ab"),
        ("long-run", "long-\nrun"),
    ],
)
def test_what_has_no_shape_of_its_own_is_no_loss(source: str, found: str) -> None:
    assert measure([("line 1", source)], [found]).is_complete


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert Completeness(source_characters=100_000, kept_characters=99_999).summary == "99,999 of 100,000 (99.9 %)"


def test_many_places_are_told_together() -> None:
    found = measure([(f"line {number}", f"word{number:04}") for number in range(80)], [])
    assert len(found.missing) == 51
    assert found.missing[-1].place == "30 more places"
    assert sum(missing.characters for missing in found.missing) == found.source_characters


def test_what_the_parser_drops_of_a_page_is_told(tmp_path: Path) -> None:
    with pymupdf.open(stream=pdfs.plain()) as document:
        page = parse_page(document, 0)
        whole, cut = CompletenessCheck(None), CompletenessCheck(None)
        whole.add(page)
        first, *others = page.blocks
        cut.add(page._replace(blocks=others))
    assert whole.result().is_complete
    assert whole.result().source_characters == len(squashed(pdfs.SENTENCES))
    assert [missing.place for missing in cut.result().missing] == ["page 1"]
    assert cut.result().missing[0].characters == len(squashed([line.text for line in first.lines]))


def test_a_pdf_is_measured_by_its_own_text(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdfs.plain())
    document = parsing.read_file(tmp_path / "a.pdf", name="a.pdf", rendition=tmp_path / "rendition.pdf")
    assert document.completeness is not None
    assert document.completeness.is_complete
    assert document.completeness.source_characters == len(squashed(pdfs.SENTENCES))


def test_hidden_and_struck_out_text_is_told_with_its_pages() -> None:
    with pymupdf.open(stream=pdfs.pages(2)) as document:
        document[1].insert_text((72, 600), "It is 99 months.", color=(1, 1, 1))
        document[1].add_strikeout_annot(document[1].search_for("Copper prices"))
        tally = CompletenessCheck(None)
        for index in range(2):
            tally.add(parse_page(document, index))
    found = tally.result()
    assert {remark.kind: (remark.characters, remark.pages) for remark in found.remarks} == {
        "struck": (12, (2,)),
        "hidden": (13, (2,)),
    }
    assert found.is_complete
    assert "13 characters that are not visible on page 2" in found.summaries


def test_a_glyph_without_a_character_is_missing() -> None:
    with pymupdf.open(stream=pdfs.plain()) as document:
        tally = CompletenessCheck(None)
        tally.add(parse_page(document, 0)._replace(unknown_glyphs=7))
    found = tally.result()
    assert found.missing_characters == 7
    assert not found.is_complete


def test_what_another_program_reads_and_we_do_not_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "rendition.pdf"
    path.write_bytes(pdfs.pages(12))
    whole, cut = SecondReading(path), SecondReading(path)
    with pymupdf.open(path) as document:
        for index in range(12):
            lines = [line.text for block in parse_page(document, index).blocks for line in block.lines]
            whole.add(index + 1, lines)
            cut.add(index + 1, [line for line in lines if "Copper" not in line])
    assert (whole.missing, whole.compared_pages) == ([], 2)
    assert [missing.place for missing in cut.missing] == [f"page {number}" for number in range(1, 13)]
    assert cut.missing[0].text == "Copper prices rose by 14 percent second quarter."
    assert cut.missing[0].characters == len("Copperpricesroseby14percentsecondquarter.")
    check = CompletenessCheck(None, cut)
    assert not check.result().is_complete


def test_a_file_that_the_other_program_cannot_read_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "rendition.pdf"
    path.write_bytes(b"no PDF")
    second = SecondReading(path)
    second.add(1, ["words"])
    assert (second.missing, second.compared_pages) == ([], 0)


@pytest.mark.parametrize(("missing", "is_complete"), [(0, True), (3, True), (4, False)])
def test_a_character_in_a_thousand_can_be_neglected(missing: int, *, is_complete: bool) -> None:
    completeness = Completeness(source_characters=3500, kept_characters=3500 - missing)
    assert completeness.missing_characters == missing
    assert completeness.is_complete == is_complete
