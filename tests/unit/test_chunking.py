import itertools
import uuid
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.ingestion import document_heading, flowing_text, search_text, split_blocks
from rag.types import BlockKind, Chunk, ChunkingOptions, Rect, TextBlock, pages_by_share

SMALL = ChunkingOptions(chunk_size_chars=200, chunk_overlap_chars=60, min_chunk_chars=40)


def make_blocks(*texts: tuple[BlockKind, str], page: int = 1) -> list[TextBlock]:
    blocks, line = [], 1
    for kind, text in texts:
        count = text.count("\n") + 1
        blocks.append(
            TextBlock(
                page_number=page,
                bbox=Rect(0, line, 100, line + count),
                line_start=line,
                line_end=line + count - 1,
                text=text,
                kind=kind,
                level=1 if kind is BlockKind.HEADING else None,
            )
        )
        line += count
    return blocks


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a", [(3, 5)]),
        ("a\nb", [(3, 3), (4, 5)]),
        ("a\nb\nc", [(3, 3), (4, 4), (5, 5)]),
        ("a\nb\nc\nd", [(3, 3), (4, 4), (5, 5), (5, 5)]),
    ],
)
def test_lines_of_a_callers_block_are_those_that_it_names(text: str, numbers: list[tuple[int, int]]) -> None:
    block = TextBlock(page_number=1, bbox=Rect(0, 0, 1, 1), line_start=3, line_end=5, text=text)
    assert [(line.number, line.end) for line in block.to_lines()] == numbers


def split(blocks: Sequence[TextBlock], options: ChunkingOptions = SMALL, title: str | None = None) -> list[Chunk]:
    return split_blocks(blocks, document_id=uuid.uuid4(), name="annual_report-2023.pdf", title=title, options=options)


def paragraph(word: str, lines: int) -> tuple[BlockKind, str]:
    return BlockKind.TEXT, "\n".join(f"{word} line {number} of some text" for number in range(lines))


def test_no_text_makes_no_chunks() -> None:
    assert split([]) == []
    assert split(make_blocks((BlockKind.TEXT, "  \n "))) == []


def test_every_line_is_in_a_chunk_and_chunks_keep_the_order() -> None:
    chunks = split(make_blocks(*(paragraph(word, 7) for word in ("alpha", "beta", "gamma"))))
    numbers = [line.number for chunk in chunks for line in chunk.lines]
    assert set(numbers) == set(range(1, 22))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.line_start <= following.line_start for chunk, following in itertools.pairwise(chunks))


def test_chunks_are_within_the_size_and_overlap_within_the_overlap() -> None:
    chunks = split(make_blocks(paragraph("alpha", 40)))
    assert len(chunks) > 3
    assert all(len(chunk.text) <= SMALL.chunk_size_chars for chunk in chunks)
    for chunk, following in itertools.pairwise(chunks):
        shared = [line for line in following.lines if line in chunk.lines]
        assert 0 < sum(len(line.text) + 1 for line in shared) <= SMALL.chunk_overlap_chars


def test_cuts_fall_between_paragraphs_where_possible() -> None:
    chunks = split(make_blocks(paragraph("alpha", 4), paragraph("beta", 4)))
    assert [chunk.lines[-1].text.split()[0] for chunk in chunks] == ["alpha", "beta"]


def test_a_section_of_its_own_size_is_never_mixed_with_the_next() -> None:
    chunks = split(
        make_blocks(
            (BlockKind.HEADING, "Risks"),
            paragraph("risk", 3),
            (BlockKind.HEADING, "Outlook"),
            paragraph("outlook", 3),
        )
    )
    assert [chunk.section for chunk in chunks] == ["Risks", "Outlook"]
    assert not any("risk" in chunk.text and "outlook" in chunk.text for chunk in chunks)


def test_short_sections_are_joined() -> None:
    headed = [
        (BlockKind.HEADING, "One"),
        (BlockKind.TEXT, "tiny"),
        (BlockKind.HEADING, "Two"),
        (BlockKind.TEXT, "small"),
    ]
    assert len(split(make_blocks(*headed))) == 1


def test_headings_nest_by_level() -> None:
    blocks = make_blocks((BlockKind.HEADING, "Part"), (BlockKind.HEADING, "Chapter"), paragraph("text", 3))
    blocks[1] = blocks[1].model_copy(update={"level": 2})
    (chunk,) = split(blocks)
    assert chunk.section == "Part > Chapter"
    assert chunk.text.startswith("Part\n\nChapter\n\ntext line 0")


def test_a_table_that_fits_stays_whole() -> None:
    table = BlockKind.TABLE, "\n".join(f"row {number}\t{number}" for number in range(15))
    chunks = split(make_blocks(paragraph("alpha", 4), table))
    assert table[1] in chunks[-1].text


def test_no_chunk_mixes_what_is_set_apart_with_other_text() -> None:
    kinds = (BlockKind.TEXT, BlockKind.STRUCK, BlockKind.TEXT, BlockKind.HIDDEN, BlockKind.NOTE, BlockKind.STRUCK)
    chunks = split(make_blocks(*((kind, f"{kind.value} {number}") for number, kind in enumerate(kinds))))
    assert [({line.kind for line in chunk.lines}, len(chunk.lines)) for chunk in chunks] == [
        ({BlockKind.TEXT}, 2),
        ({BlockKind.STRUCK}, 2),
        ({BlockKind.HIDDEN}, 1),
        ({BlockKind.NOTE}, 1),
    ]


def test_words_of_pictures_are_chunks_of_their_own_and_leave_the_others_as_they_are() -> None:
    text = [(BlockKind.HEADING, "Ships"), paragraph("ship", 3), (BlockKind.HEADING, "Quays"), paragraph("quay", 3)]
    pictures = [(BlockKind.PICTURE, "Lindmark 4812"), (BlockKind.PICTURE, "Ostrand 1730")]
    without = split(make_blocks(*text))
    chunks = split(make_blocks(*text[:2], *pictures, *text[2:]))
    (picture,) = [chunk for chunk in chunks if chunk.lines[0].kind is BlockKind.PICTURE]
    assert picture.text == "Lindmark 4812\n\nOstrand 1730"
    assert picture.section == "Ships"
    assert [chunk.text for chunk in chunks if chunk is not picture] == [chunk.text for chunk in without]
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


def test_a_long_table_repeats_its_header_row_in_the_context_only() -> None:
    rows = ["Year\tSales"] + [f"{year}\t{year * 3} million" for year in range(1980, 2020)]
    chunks = split(make_blocks((BlockKind.TABLE, "\n".join(rows))))
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert "Year\tSales" in chunk.context
        assert "Year" not in chunk.text
    numbers = [line.number for chunk in chunks for line in chunk.lines]
    assert len(numbers) == len(set(numbers))


def on_pages(*pages: tuple[BlockKind, str]) -> list[TextBlock]:
    """A block for each page."""
    blocks = make_blocks(*pages)
    return [block.model_copy(update={"page_number": page}) for page, block in enumerate(blocks, start=1)]


def main_pages(chunks: Sequence[Chunk]) -> list[int]:
    return [pages_by_share(chunk.lines)[0] for chunk in chunks]


def test_a_page_with_only_a_caption_has_a_chunk_of_its_own() -> None:
    caption = BlockKind.TEXT, "A photograph of the harbour."
    chunks = split(on_pages(paragraph("alpha", 3), caption, paragraph("beta", 3)))
    assert main_pages(chunks) == [1, 2, 3]
    assert chunks[1].text == caption[1]


def test_a_short_section_on_a_page_of_its_own_keeps_its_own_path() -> None:
    blocks = on_pages(
        (BlockKind.HEADING, "A heading that takes a whole page and is long enough"),
        (BlockKind.HEADING, "Plates"),
        (BlockKind.TEXT, "A photograph."),
        (BlockKind.HEADING, "Maps"),
        (BlockKind.TEXT, "A map of the harbour."),
    )
    pages = [1, 2, 2, 3, 3]
    blocks = [block.model_copy(update={"page_number": page}) for page, block in zip(pages, blocks, strict=True)]
    chunks = split(blocks)
    assert main_pages(chunks) == [1, 2, 3]
    assert chunks[-1].section == "Maps"


def test_lines_repeated_from_the_page_before_do_not_outweigh_a_page() -> None:
    options = SMALL.model_copy(update={"chunk_overlap_chars": 100})
    chunks = split(on_pages(paragraph("alpha", 9), (BlockKind.TEXT, "A short last page")), options)
    assert main_pages(chunks)[-1] == 2
    assert chunks[-1].text == "A short last page"


def test_a_page_with_its_number_only_needs_no_chunk() -> None:
    chunks = split(on_pages(paragraph("alpha", 3), (BlockKind.TEXT, "- 2 -"), paragraph("beta", 3)))
    assert main_pages(chunks) == [1, 3]


def test_a_short_rest_stays_with_the_page_that_is_cut_out() -> None:
    head = "Plates"
    blocks = make_blocks(
        paragraph("alpha", 3), (BlockKind.TEXT, "A photograph of the harbour."), (BlockKind.TEXT, head)
    )
    blocks += make_blocks((BlockKind.HEADING, "Beta"), paragraph("beta", 9), page=3)
    pages = [1, 2, 3, 3, 3]
    blocks = [block.model_copy(update={"page_number": page}) for page, block in zip(pages, blocks, strict=True)]
    chunks = split(blocks)
    assert set(main_pages(chunks)) == {1, 2, 3}
    assert chunks[1].text == f"A photograph of the harbour.\n\n{head}"


def test_text_that_flows_over_pages_is_cut_as_if_it_stood_on_one() -> None:
    texts = [paragraph(word, 9) for word in ("alpha", "beta", "gamma", "delta")]
    flowing, together = split(on_pages(*texts)), split(make_blocks(*texts))
    assert [chunk.text for chunk in flowing] == [chunk.text for chunk in together]
    assert any(len(chunk.pages) > 1 for chunk in flowing)


@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=12), st.integers(0, 199))
def test_every_page_with_words_is_the_main_page_of_a_chunk(pages: list[tuple[int, bool]], overlap: int) -> None:
    texts = [
        (BlockKind.HEADING, f"Heading {page}") if is_heading else paragraph(f"word{page}", lines)
        for page, (lines, is_heading) in enumerate(pages)
    ]
    blocks = on_pages(*texts)
    chunks = split(blocks, SMALL.model_copy(update={"chunk_overlap_chars": overlap}))
    assert set(main_pages(chunks)) == set(range(1, len(pages) + 1))
    numbers = [line.number for chunk in chunks for line in chunk.lines]
    assert set(numbers) == set(range(1, blocks[-1].line_end + 1))


@pytest.mark.parametrize("text", ["word " * 200, "x" * 1000])
def test_a_line_longer_than_a_chunk_is_cut_and_nothing_is_lost(text: str) -> None:
    chunks = split(make_blocks((BlockKind.TEXT, text)), SMALL.model_copy(update={"chunk_overlap_chars": 0}))
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(len(chunk.text) <= SMALL.chunk_size_chars for chunk in chunks)


@pytest.mark.parametrize(
    ("name", "title", "heading"),
    [
        ("annual_report-2023.pdf", None, "annual report 2023"),
        ("ACME_2023Q2_10K.pdf", None, "ACME 2023 Q 2 10 K"),
        ("report.pdf", "Report", "report"),
        ("x.pdf", "On the origin of species", "x · On the origin of species"),
    ],
)
def test_document_heading(name: str, title: str | None, heading: str) -> None:
    assert document_heading(name, title) == heading


def test_search_text_carries_the_context_and_whole_words() -> None:
    (chunk,) = split(
        make_blocks((BlockKind.HEADING, "Risks"), (BlockKind.TEXT, "an exam-\nple of\nit")), title="Annual"
    )
    assert search_text(chunk) == "annual report 2023 · Annual > Risks\n\nRisks\nan example of it"
    assert "exam-\nple" in chunk.text


def test_the_title_stands_in_the_context_once() -> None:
    blocks = make_blocks((BlockKind.HEADING, "ACME PLC"), (BlockKind.HEADING, "Risks"), paragraph("risk", 3))
    blocks[1] = blocks[1].model_copy(update={"level": 2})
    (chunk,) = split(blocks, title="Acme plc")
    assert chunk.section == "ACME PLC > Risks"
    assert chunk.context == "annual report 2023 · Acme plc > Risks"


@pytest.mark.parametrize(
    ("text", "flowing"),
    [
        ("well-\nknown", "wellknown"),
        ("Smith-\nJones", "Smith- Jones"),
        ("1990-\n1995", "1990- 1995"),
        ("one\ntwo\n\nthree", "one two\nthree"),
        ("a\tb\nc", "a b c"),
    ],
)
def test_flowing_text(text: str, flowing: str) -> None:
    assert flowing_text(text) == flowing
