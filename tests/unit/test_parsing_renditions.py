import uuid
from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing import renditions
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, ParsedDocument, ParsingConfig, Passage, Unpacked
from tests import pdfs


def convert(folder: Path, content: bytes, name: str, config: ParsingConfig | None = None) -> ParsedDocument:
    source, rendition = folder / "source", folder / "rendition.pdf"
    source.write_bytes(content)
    config = config or ParsingConfig(office="builtin")
    renditions.make_rendition(
        source,
        parsing.detect_mime_type(source, name),
        rendition,
        name=name,
        password=None,
        config=config,
        unpacking=Unpacking(name, folder, Unpacked(), config),
        on_open=lambda _: None,
        on_recognised=lambda _: None,
    )
    return parsing.parse_rendition(rendition)


def text(document: ParsedDocument) -> str:
    return "\n".join(block.text for block in document.blocks)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_plain_text_of_any_encoding(tmp_path: Path, encoding: str) -> None:
    content = "Café “Zur Möwe”\r\nopens at 8 €".encode(encoding)
    assert text(convert(tmp_path, content, "note.txt")).split("\n") == ["Café “Zur Möwe”", "opens at 8 €"]


def test_plain_text_that_looks_like_markdown_stays_as_it_is(tmp_path: Path) -> None:
    content = "# no heading\n* no _list_"
    assert text(convert(tmp_path, content.encode(), "note.txt")) == content


def test_markdown_keeps_its_headings(tmp_path: Path) -> None:
    document = convert(tmp_path, b"# Tides\n\nHigh at noon, low at six.\n\n## Spring\n\nHigher than ever.\n", "a.md")
    levels = [(block.text, block.level) for block in document.blocks if block.kind is BlockKind.HEADING]
    assert levels == [("Tides", 1), ("Spring", 2)]
    assert document.title == "Tides"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_character_stays_also_without_a_line_end(tmp_path: Path, name: str, end: str) -> None:
    content = f"High at noon, low at six.{end}"
    assert text(convert(tmp_path, content.encode(), name)) == "High at noon, low at six."


def test_html_draws_in_nothing_from_outside(tmp_path: Path) -> None:
    picture = tmp_path / "secret.png"
    with pymupdf.open(stream=pdfs.plain()) as document:
        document[0].get_pixmap().save(picture)
    html = f'<h1>Report</h1><img src="secret.png"><img src="{picture}"><img src="{picture.as_uri()}"><p>End</p>'
    html += f'<style>@import url("{picture.as_uri()}"); p {{background: url({picture.as_uri()})}}</style>'
    converted = convert(tmp_path, f"<html><body>{html}".encode(), "a.html")
    assert "Report" in text(converted)
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        assert [page.get_image_info() for page in rendition] == [[]]


def test_a_presentation_has_a_page_for_each_slide(tmp_path: Path) -> None:
    document = convert(tmp_path, pdfs.presentation(), "deck.pptx")
    assert len(document.pages) == 3
    by_page = [[block.text for block in document.blocks if block.page_number == n] for n in (1, 2, 3)]
    first = "\n".join(by_page[0])
    assert " ".join(first.split()).startswith("Harbour <Review> & Outlook")
    for words in ("Cranes were replaced", "Quays were widened", "Remember the harbour."):
        assert words in first
    assert "Ships" in "".join(by_page[1])
    assert by_page[2] == []


def test_a_repaired_file_is_written_anew(tmp_path: Path) -> None:
    assert text(convert(tmp_path, pdfs.broken_table_of_objects(), "a.pdf")).split("\n") == list(pdfs.SENTENCES)
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        assert not rendition.is_repaired


def test_a_sound_file_stays_as_it_is(tmp_path: Path) -> None:
    convert(tmp_path, content := pdfs.plain(), "a.pdf")
    assert (tmp_path / "rendition.pdf").read_bytes() == content


def test_rights_of_the_owner_do_not_hinder_reading(tmp_path: Path) -> None:
    assert text(convert(tmp_path, pdfs.encrypted(""), "a.pdf")).split("\n") == list(pdfs.SENTENCES)
    with pymupdf.open(tmp_path / "rendition.pdf") as rendition:
        assert rendition.metadata["encryption"] is None


def test_too_many_pages(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match="3 pages; the limit is 2"):
        convert(tmp_path, pdfs.pages(3), "a.pdf", ParsingConfig(max_pages=2))


@pytest.mark.parametrize("rotation", [0, 270])
def test_a_scanned_page_gets_its_words_where_they_are_seen(tmp_path: Path, rotation: int) -> None:
    document = convert(tmp_path, pdfs.scanned(rotation), "scan.pdf")
    assert text(document).split("\n") == list(pdfs.SENTENCES)
    passage = Passage(document_id=uuid.uuid4(), lines=tuple(line for block in document.blocks for line in block.lines))
    start = passage.text.index("Copper")
    ((box,),) = (region.rects for region in parsing.locate(tmp_path / "rendition.pdf", passage, start, start + 6))
    assert box.x0 == pytest.approx(72, abs=2)
    assert box.y0 < 112 < box.y1 < 122


@pytest.mark.parametrize("rotation", [90, 180])
def test_a_stamp_does_not_keep_a_scan_from_being_read_and_is_not_read_twice(tmp_path: Path, rotation: int) -> None:
    document = convert(tmp_path, pdfs.stamped(rotation), "scan.pdf")
    assert text(document).split("\n") == [pdfs.STAMP, *pdfs.SENTENCES]


def test_a_scan_in_strips_is_read(tmp_path: Path) -> None:
    document = convert(tmp_path, pdfs.stamped(strips=7), "scan.pdf")
    assert set(pdfs.SENTENCES) <= set(text(document).split("\n"))


def test_a_watermark_across_the_page_hides_nothing_beside_it(tmp_path: Path) -> None:
    found = text(convert(tmp_path, pdfs.stamped(slanted="COPY"), "scan.pdf"))
    assert [sentence for sentence in pdfs.SENTENCES if sentence not in found] == []


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (pdfs.slide(), pdfs.SENTENCES),
        (pdfs.figure(), ["Figure 1. Tides."]),
        (pdfs.recognised_before(), pdfs.SENTENCES[:1]),
    ],
    ids=["slide", "figure", "recognised before"],
)
def test_pages_with_pictures_that_are_no_unread_scans_stay(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    assert text(convert(tmp_path, content, "a.pdf")).split("\n") == list(lines)
    assert (tmp_path / "rendition.pdf").read_bytes() == content


def test_the_layer_of_recognised_text_is_not_seen(tmp_path: Path) -> None:
    convert(tmp_path, pdfs.scanned(), "scan.pdf")
    assert parsing.page_image(tmp_path / "rendition.pdf", 1) == parsing.page_image(tmp_path / "source", 1)


def test_without_data_for_the_language_nothing_is_recognised(tmp_path: Path) -> None:
    document = convert(tmp_path, pdfs.scanned(), "scan.pdf", ParsingConfig(ocr_language="xyz"))
    assert document.blocks == ()
