"""HTML and Markdown are read as a person sees them: hidden, struck out and raised text, characters without a font."""

from pathlib import Path

import pytest

from rag import parsing
from rag.types import BlockKind, ParsedDocument


def read(folder: Path, content: str, name: str = "a.html") -> ParsedDocument:
    (folder / "source").write_text(content, encoding="utf-8")
    return parsing.read_file(folder / "source", name=name, rendition=folder / "r.pdf")


def text(document: ParsedDocument, kind: BlockKind | None = None) -> str:
    return "\n".join(block.text for block in document.blocks if kind is None or block.kind is kind)


def seen(document: ParsedDocument) -> str:
    """The words that are neither hidden nor struck out."""
    return "\n".join(block.text for block in document.blocks if block.kind in {BlockKind.TEXT, BlockKind.TABLE})


def is_complete(document: ParsedDocument) -> bool:
    return document.completeness is not None and not document.completeness.missing


def test_fields_of_forms_show_their_state(tmp_path: Path) -> None:
    html = (
        "<p><input type=checkbox checked> Fire cover</p><p><input type='checkbox'> Flood cover</p>"
        "<p><input type=radio checked>Monthly</p><p>Name: <input value='Miller'></p><input type=hidden value='secret'>"
    )
    (tmp_path / "a.html").write_text(html, encoding="utf-8")
    document = parsing.read_file(tmp_path / "a.html", name="a.html", rendition=tmp_path / "r.pdf")
    lines = [line.text for block in document.blocks for line in block.lines]
    assert lines == ["☒ Fire cover", "☐ Flood cover", "☒ Monthly", "Name: Miller"]


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">The rent is 1 euro.</p>',
        '<p style="DISPLAY:NONE !important">The rent is 1 euro.</p>',
        "<p hidden>The rent is 1 euro.</p>",
        '<p style="visibility: hidden">The rent is 1 euro.</p>',
        '<p style="opacity: 0">The rent is 1 euro.</p>',
        '<p style="font-size: 0">The rent is 1 euro.</p>',
        '<p style="font-size: 10%"><small style="font-size: 50%">The rent is 1 euro.</small></p>',
        '<p style="position: absolute; left: -9999px">The rent is 1 euro.</p>',
        '<p style="text-indent: -999em">The rent is 1 euro.</p>',
        '<p style="position: absolute; clip: rect(0, 0, 0, 0)">The rent is 1 euro.</p>',
        '<p style="max-height: 0; overflow: hidden">The rent is 1 euro.</p>',
        '<p style="clip-path: inset(50%)">The rent is 1 euro.</p>',
        '<p style="transform: scale(0)">The rent is 1 euro.</p>',
        '<p style="mso-hide: all">The rent is 1 euro.</p>',
        '<p style="color: white">The rent is 1 euro.</p>',
        '<p style="color: transparent">The rent is 1 euro.</p>',
        '<div style="background: #123456"><p style="color: rgb(18, 52, 86)">The rent is 1 euro.</p></div>',
        '<table bgcolor="navy"><tr><td><font color="#000080">The rent is 1 euro.</font></td></tr></table>',
        "<style>.h > p { display: none }</style><div class='h'><p>The rent is 1 euro.</p></div>",
        "<style><!-- @media screen { #x { visibility: hidden } } --></style><p id=x>The rent is <b>1</b> euro.</p>",
        "<style>p.a { display: block } p.a { display: none }</style><p class=a>The rent is 1 euro.</p>",
        "<style>.pale { color: #fff }</style><p class=pale>The rent is 1 euro.</p>",
        "<dialog>The rent is 1 euro.</dialog>",
        "<ul><li style='display:none'>The rent is 1 euro.</li><li>Other</li></ul>",
    ],
)
def test_what_nobody_sees_is_told_apart(tmp_path: Path, hidden: str) -> None:
    document = read(tmp_path, f"<html><body><p>The rent is 900 euro.</p>{hidden}<p>The end.</p></body></html>")
    assert "1 euro" not in seen(document)
    assert text(document, BlockKind.HIDDEN) == "Not visible in the original\nThe rent is 1 euro."
    assert is_complete(document)


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="display: block">The rent is 1 euro.</p>',
        '<div style="visibility: hidden"><p style="visibility: visible">The rent is 1 euro.</p></div>',
        '<div style="font-size: 0"><p style="font-size: 12px">The rent is 1 euro.</p></div>',
        '<p style="opacity: .6">The rent is 1 euro.</p>',
        '<div style="background: navy"><p style="color: white">The rent is 1 euro.</p></div>',
        '<div style="background: url(a.jpg)"><p style="color: white">The rent is 1 euro.</p></div>',
        '<div style="position: absolute"><p style="color: white">The rent is 1 euro.</p></div>',
        '<link rel="stylesheet" href="a.css"><p style="color: white">The rent is 1 euro.</p>',
        "<style>@media print { p { display: none } }</style><p>The rent is 1 euro.</p>",
        "<style>@media (max-width: 600px) { p { display: none } }</style><p>The rent is 1 euro.</p>",
        "<style>.t { display: none } .t.on { display: block }</style><p class='t on'>The rent is 1 euro.</p>",
        "<style>p::before { display: none }</style><p>The rent is 1 euro.</p>",
        "<style>p:hover, ((, { display: none }</style><p>The rent is 1 euro.</p>",
        "<style>.t { display: none }</style><p class=t style='display: block'>The rent is 1 euro.</p>",
        "<details><summary>More</summary><p>The rent is 1 euro.</p></details>",
        '<p style="text-indent: -20px; margin-left: -10px; height: 5px">The rent is 1 euro.</p>',
    ],
)
def test_what_is_seen_is_not_taken_for_hidden(tmp_path: Path, shown: str) -> None:
    document = read(tmp_path, f"<html><body><p>First.</p>{shown}</body></html>")
    assert "The rent is 1 euro." in seen(document)
    assert text(document, BlockKind.HIDDEN) == ""


def test_hidden_words_within_a_line_leave_it(tmp_path: Path) -> None:
    document = read(tmp_path, "<p>The rent is <span style='display:none'>1</span><b>900</b> euro.</p>")
    assert seen(document) == "The rent is 900 euro."
    assert text(document, BlockKind.HIDDEN).split("\n") == ["Not visible in the original", "1"]


@pytest.mark.parametrize(
    ("name", "struck"),
    [
        ("a.html", "<s>30 days</s>"),
        ("a.html", "<strike>30 days</strike>"),
        ("a.html", "<del>30 days</del>"),
        ("a.html", '<span style="text-decoration: red line-through">30 days</span>'),
        ("a.html", '<font style="text-decoration-line:line-through">30 <b>days</b></font>'),
        ("a.html", "<style>.old { text-decoration: underline line-through }</style><i class=old>30 days</i>"),
        ("a.md", "~~30 days~~"),
        ("a.md", "<del>30 days</del>"),
    ],
)
def test_what_is_struck_out_is_told_apart(tmp_path: Path, name: str, struck: str) -> None:
    document = read(tmp_path, f"Pay within {struck} 60 days.\n", name)
    assert seen(document) == "Pay within 60 days."
    assert text(document, BlockKind.STRUCK) == "30 days"
    assert is_complete(document)


@pytest.mark.parametrize(
    ("name", "markup"),
    [
        ("a.html", "<sup>8</sup>"),
        ("a.html", '<span style="vertical-align: super; font-size: 60%">8</span>'),
        ("a.html", '<font style="font-size:6pt;vertical-align:top">8</font>'),
        ("a.html", '<small style="vertical-align: 4pt">8</small>'),
        ("a.html", '<span style="position: relative; top: -4pt; font-size: 6pt">8</span>'),
        ("a.html", "<style>.n { vertical-align: super }</style><a class=n href='#8'>8</a>"),
        ("a.html", "<sup><a style='vertical-align: super'>8</a></sup>"),
        ("a.md", "<sup>8</sup>"),
    ],
)
def test_raised_marks_are_no_digits(tmp_path: Path, name: str, markup: str) -> None:
    assert seen(read(tmp_path, f"Revenue was 812{markup} million.\n", name)) == "Revenue was 812⁸ million."


def test_cells_aligned_at_the_top_are_not_raised(tmp_path: Path) -> None:
    cell = '<td style="vertical-align: top; font-size: 6pt">812</td>'
    assert seen(read(tmp_path, f"<table><tr><td>Revenue</td>{cell}</tr></table>")).split() == ["Revenue", "812"]


def test_hidden_facts_of_inline_xbrl_have_names_and_its_contexts_are_no_text(tmp_path: Path) -> None:
    header = (
        "<ix:header><ix:hidden><ix:nonNumeric name='dei:AmendmentFlag'>false</ix:nonNumeric>"
        "<ix:nonNumeric name='dei:DocumentFiscalYearFocus'>2023</ix:nonNumeric></ix:hidden><ix:references/>"
        "<ix:resources><xbrli:context id='c'><xbrli:period>1999-12-31</xbrli:period></xbrli:context></ix:resources>"
        "</ix:header>"
    )
    fact = "<p>We had <ix:nonFraction name='x:Staff'>1,240</ix:nonFraction><sup>1</sup> employees.</p>"
    document = read(tmp_path, f"<?xml version='1.0'?><html><body>{header}{fact}</body></html>")
    assert seen(document) == "We had 1,240¹ employees."
    assert text(document, BlockKind.HIDDEN).split("\n")[1:] == [
        "dei:AmendmentFlag: false",
        "dei:DocumentFiscalYearFocus: 2023",
    ]
    assert is_complete(document)


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.csv"])
def test_characters_without_a_font_keep_their_text(tmp_path: Path, name: str) -> None:
    line = "𠮷野家,𡈽,㐂,㉑,𗀀"
    document = read(tmp_path, f"{line}\n{line}\n", name)
    words = text(document).replace("\t", ",").split()
    assert words == [line, line]
    assert is_complete(document)


def test_words_in_a_square_that_no_font_has_are_spelled_out(tmp_path: Path) -> None:
    assert text(read(tmp_path, "25㎡ ㍿", "a.txt")) == "25m² 株式会社"


def test_each_flow_has_its_own_characters_without_a_font(tmp_path: Path) -> None:
    wide = "<td>wide column 𡈽</td>" * 40
    document = read(tmp_path, f"<p>one 𠮷 㐂</p><table><tr>{wide}</tr></table><p>two ㉑ 𗀀</p>")
    assert text(document).startswith("one 𠮷 㐂")
    assert text(document).count("𡈽") == 40
    assert text(document).endswith("two ㉑ 𗀀")
