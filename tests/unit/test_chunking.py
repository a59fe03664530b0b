import itertools
import uuid
from collections.abc import Sequence

import pytest

from rag.ingestion import document_heading, flowing_text, search_text, split_blocks
from rag.types import BlockKind, Chunk, ChunkingOptions, Rect, TextBlock

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


def test_a_long_table_repeats_its_header_row_in_the_context_only() -> None:
    rows = ["Year\tSales"] + [f"{year}\t{year * 3} million" for year in range(1980, 2020)]
    chunks = split(make_blocks((BlockKind.TABLE, "\n".join(rows))))
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert "Year\tSales" in chunk.context
        assert "Year" not in chunk.text
    numbers = [line.number for chunk in chunks for line in chunk.lines]
    assert len(numbers) == len(set(numbers))


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
