"""Tables of PDFs: cells, columns, heads, sections and captions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rag import parsing
from rag.parsing.html.text_files import from_html
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, Line
from tests import pdfs

Placed = Mapping[int, str]
"""The texts of a row by their right ends in points; those at 72 begin there."""


def draw(*pages: Sequence[tuple[float, Placed]], shaded: Sequence[tuple[float, ...]] = ()) -> bytes:
    """Draw rows at their baselines."""
    document = pymupdf.open()
    for rows in pages:
        page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
        for box in shaded:
            page.draw_rect(pymupdf.Rect(box), color=None, fill=(0.8, 0.9, 1))
        for y, cells in rows:
            for x, text in cells.items():
                width = 0 if x == 72 else pymupdf.get_text_length(text, "helv", 10)
                pdfs.write(page, x - width, y, text, size=10)
    return pdfs.finish(document)


def rows(top: float, *cells: Placed, step: float = 20) -> list[tuple[float, Placed]]:
    return [(top + step * index, row) for index, row in enumerate(cells)]


def table(folder: Path, content: bytes) -> list[Line]:
    path = folder / "table.pdf"
    path.write_bytes(content)
    blocks = parsing.parse_rendition(path).blocks
    return [line for block in blocks if block.kind is BlockKind.TABLE for line in block.lines]


def heads(line: Line) -> list[str]:
    assert line.row is not None
    return [cell.head for cell in line.row.cells]


YEARS: Placed = {300: "2024", 380: "2023", 460: "2022"}
ASSETS: Placed = {72: "Assets", 300: "512", 380: "498", 460: "471"}


@pytest.mark.parametrize(
    "figures",
    [
        ("(118)", "(96)", "35"),
        ("(18)", "42", "(7)"),
        ("(1,250)", "(15)", "(1,020)"),
        ("-", "(51)", "-"),
        ("A.", "B.", "C."),
        ("5.", "6.", "7."),
        ("n.m.", "(5)", "3%"),
    ],
)
def test_each_figure_of_a_row_is_a_cell(tmp_path: Path, figures: tuple[str, str, str]) -> None:
    row = dict(zip(YEARS, figures, strict=True))
    lines = table(tmp_path, draw(rows(100, YEARS, ASSETS, {72: "Change", **row}, {72: "Debt", **row})))
    assert lines[2].text == "\t".join(("Change", *figures))
    assert heads(lines[2]) == ["", "2024", "2023", "2022"]


def test_a_list_number_stays_with_its_text(tmp_path: Path) -> None:
    items = [{72: "(1)", 200: "The first of the items"}, {72: "(2)", 204: "The second of the items"}]
    path = tmp_path / "list.pdf"
    path.write_bytes(draw(rows(100, *items, items[0], step=14)))
    assert parsing.parse_rendition(path).blocks[0].kind is BlockKind.TEXT


def test_signs_in_columns_of_their_own_belong_to_their_figure(tmp_path: Path) -> None:
    signed: Placed = {72: "Income", 250: "$", 300: "(1,118", 306: ")", 330: "$", 380: "96", 410: "$", 460: "35"}
    shares: Placed = {72: "Share", 300: "12", 312: "%", 380: "9", 392: "%", 460: "8", 472: "%"}
    lines = table(tmp_path, draw(rows(100, YEARS, signed, ASSETS, shares)))
    assert [cell.replace(" ", "") for cell in lines[1].text.split("\t")] == ["Income", "$(1,118)", "$96", "$35"]
    assert [cell.replace(" ", "") for cell in lines[3].text.split("\t")] == ["Share", "12%", "9%", "8%"]
    assert heads(lines[3]) == ["", "2024", "2023", "2022"]


def test_figures_near_each_other_are_cells(tmp_path: Path) -> None:
    near = {72: "Rent", 300: "74,375", 330: "1,504", 360: "1,820"}
    content = draw(rows(100, {300: "2024", 330: "2023", 360: "2022"}, near, near, near))
    assert [line.text for line in table(tmp_path, content)][1:] == ["Rent\t74,375\t1,504\t1,820"] * 3


def test_an_empty_cell_moves_no_other(tmp_path: Path) -> None:
    lines = table(tmp_path, draw(rows(100, YEARS, ASSETS, {72: "Goodwill", 380: "17"}, ASSETS)))
    assert lines[2].text == "Goodwill\t17"
    assert heads(lines[2]) == ["", "2023"]


def test_a_wrapped_label_is_one_with_its_figures(tmp_path: Path) -> None:
    wrapped = [(140, {72: "Cash and deposits that are"}), (152, {72: "not pledged", 300: "7", 380: "6", 460: "5"})]
    lines = table(tmp_path, draw([*rows(100, YEARS, ASSETS), *wrapped, *rows(172, ASSETS, ASSETS)]))
    assert lines[2].text == "Cash and deposits that are not pledged\t7\t6\t5"


def test_a_row_without_figures_is_the_section_of_those_below(tmp_path: Path) -> None:
    lines = table(tmp_path, draw(rows(100, YEARS, {72: "Fixed assets"}, ASSETS, {72: "Liabilities"}, ASSETS, ASSETS)))
    assert [line.row and line.row.section for line in lines] == ["", "", "Fixed assets", "", *["Liabilities"] * 2]


def test_heads_of_several_columns_are_said_of_each(tmp_path: Path) -> None:
    above: Placed = {320: "2024", 480: "2023"}
    below: Placed = {72: "Region", 280: "North", 360: "South", 440: "North", 520: "South"}
    row: Placed = {72: "Sales", 280: "1,110", 360: "2,220", 440: "3,330", 520: "4,440"}
    lines = table(tmp_path, draw(rows(100, above, below, row, row, row)))
    assert [line.row is not None and line.row.is_head for line in lines] == [True, True, False, False, False]
    assert heads(lines[2]) == ["Region", "2024 · North", "2024 · South", "2023 · North", "2023 · South"]


@pytest.mark.parametrize("repeated", [True, False])
def test_heads_go_on_on_the_next_page(tmp_path: Path, repeated: bool) -> None:
    names: Placed = {72: "Station", **YEARS}
    first = rows(
        700, {72: "Stock by station (in thousands):"}, names, *[{**ASSETS, 72: f"Station {n}"} for n in (1, 2, 3)]
    )
    second = [names] * repeated + [{**ASSETS, 72: f"Station {n}"} for n in (4, 5, 6)]
    lines = table(tmp_path, draw(first, rows(60, *second)))
    assert lines[-1].text == "Station 6\t512\t498\t471"
    assert lines[-1].page_number == 2
    assert heads(lines[-1]) == ["Station", "2024", "2023", "2022"]
    assert lines[-1].row is not None
    assert lines[-1].row.caption == "Stock by station (in thousands):"


def test_another_table_on_the_next_page_has_no_heads_of_the_first(tmp_path: Path) -> None:
    other = [{72: f"Ship {n}", 250: "12", 520: "9"} for n in (1, 2, 3)]
    lines = table(tmp_path, draw(rows(700, YEARS, ASSETS, ASSETS, ASSETS), rows(60, {72: "Ships"}, *other)))
    assert lines[-1].text == "Ship 3\t12\t9"
    assert heads(lines[-1]) == ["", "", ""]


def test_shaded_parts_of_rows_are_no_columns(tmp_path: Path) -> None:
    shaded = [
        (left, top, right, top + 20)
        for top in (106, 126, 146, 166)
        for left, right in ((70, 240), (240, 252), (252, 304), (304, 330), (330, 384), (384, 410), (410, 466))
    ]
    signed: Placed = {72: "Income", 250: "$", 300: "118", 340: "$", 380: "96", 420: "$", 460: "35"}
    lines = table(tmp_path, draw(rows(100, YEARS, signed, ASSETS, ASSETS, signed), shaded=shaded))
    assert [cell.replace(" ", "") for cell in lines[-1].text.split("\t")] == ["Income", "$118", "$96", "$35"]
    assert heads(lines[-1]) == ["", "2024", "2023", "2022"]


def test_names_among_figures_are_heads_of_the_rows_below(tmp_path: Path) -> None:
    names: Placed = {72: "Issuer", 300: "S&P", 380: "Moody", 460: "Fitch"}
    rating: Placed = {72: "Acme", 300: "A.", 380: "B.", 460: "C."}
    remarks: Placed = {72: "Growth", 300: "n.m.", 380: "N/A", 460: "n.m."}
    lines = table(tmp_path, draw(rows(100, YEARS, ASSETS, remarks, ASSETS, names, rating)))
    assert heads(lines[3]) == ["", "2024", "2023", "2022"]
    assert heads(lines[5]) == ["Issuer", "S&P", "Moody", "Fitch"]


# --- tables of HTML ---


def table_of(folder: Path, markup: str) -> list[Line]:
    return table(folder, from_html(markup).document.tobytes())


def test_signs_in_columns_of_their_own_belong_to_their_figures(tmp_path: Path) -> None:
    lines = table_of(
        tmp_path,
        "<table><tr><th></th><th colspan=3>2024</th><th colspan=3>2023</th></tr>"
        "<tr><td>Net sales</td><td>$</td><td>4,812</td><td></td><td>$</td><td>4,301</td><td></td></tr>"
        "<tr><td>Net loss</td><td></td><td>(118</td><td>)</td><td></td><td>42</td><td></td></tr>"
        "<tr><td>Margin</td><td></td><td>4.5</td><td>%</td><td></td><td>3.9</td><td>%</td></tr></table>",
    )
    assert [line.text for line in lines[1:]] == [
        "Net sales\t$ 4,812\t$ 4,301",
        "Net loss\t(118)\t42",
        "Margin\t4.5%\t3.9%",
    ]
    assert [heads(line) for line in lines[1:]] == [["", "2024", "2023"]] * 3


def test_a_label_that_spans_rows_is_the_section_of_those_below(tmp_path: Path) -> None:
    lines = table_of(
        tmp_path,
        "<table><tr><th>Region</th><th>H1</th><th>H2</th></tr><tr><td rowspan=2>North</td><td>10</td><td>12</td></tr>"
        "<tr><td>13</td><td>14</td></tr><tr><td>South</td><td>7</td><td>9</td></tr></table>",
    )
    assert [(line.text, line.row and line.row.section) for line in lines[1:]] == [
        ("North\t10\t12", ""),
        ("13\t14", "North"),
        ("South\t7\t9", ""),
    ]
    assert heads(lines[2]) == ["H1", "H2"]


def test_two_tables_below_one_another_have_their_own_heads(tmp_path: Path) -> None:
    lines = table_of(
        tmp_path,
        "<table><tr><th>Article</th><th>Price</th></tr><tr><td>Pallet</td><td>12 euro</td></tr></table>"
        "<table><tr><th>Region</th><th>2024</th><th>2023</th></tr><tr><td>North</td><td>10</td><td>12</td></tr></table>",
    )
    assert heads(lines[1]) == ["Article", "Price"]
    assert heads(lines[3]) == ["Region", "2024", "2023"]


def test_the_first_row_above_shaded_ones_and_its_heads_are_of_the_table(tmp_path: Path) -> None:
    cells = [(x0, y, x1, y + 14) for y in (118, 132) for x0, x1 in ((60, 222), (222, 302), (302, 382))]
    years: Placed = {300: "2024", 380: "2023"}
    figures: list[Placed] = [
        {72: label, 300: str(first), 380: str(first + 1)}
        for label, first in (("Assets", 512), ("Cash", 7), ("Debt", 12))
    ]
    lines = table(tmp_path, draw(rows(100, years, *figures, step=14), shaded=cells))
    assert [line.text for line in lines] == ["2024\t2023", "Assets\t512\t513", "Cash\t7\t8", "Debt\t12\t13"]
    assert heads(lines[1]) == ["", "2024", "2023"]
