import uuid
from collections.abc import Sequence

import pytest

from rag.answering.generation.context import hit_tokens
from rag.answering.generation.part_reading import Part, split_into_parts
from rag.types import Hit
from tests import sources

DOCUMENT = uuid.uuid4()


def page(number: int, *, section: str | None = None, lines: int = 10) -> Hit:
    text = "\n".join(f"Line {line} of page {number} tells of the harbour." for line in range(lines))
    hit = sources.hit(text, document_id=DOCUMENT, first=1 + 1000 * number, page_number=number)
    return hit.model_copy(update={"chunk": hit.chunk.model_copy(update={"section": section})})


def ids(parts: Sequence[Part]) -> list[list[str]]:
    return [[source.citation_id for source in part.context.sources] for part in parts]


def pages_of(parts: Sequence[Part]) -> list[list[int]]:
    return [[source.hit.passage.page_number for source in part.context.sources] for part in parts]


PAGE_TOKENS = hit_tokens(page(1))


def test_pages_are_read_in_order_within_the_budget_with_ids_numbered_through() -> None:
    parts = split_into_parts(map(page, range(1, 8)), 3 * PAGE_TOKENS + 5)
    assert pages_of(parts) == [[1, 2, 3], [4, 5, 6], [7]]
    assert ids(parts) == [["S1", "S2", "S3"], ["S4", "S5", "S6"], ["S7"]]
    assert [part.tokens for part in parts] == pytest.approx([3 * PAGE_TOKENS, 3 * PAGE_TOKENS, PAGE_TOKENS], abs=9)
    assert "[S4] [Source: report.pdf, Page 4" in parts[1].context.text


def test_what_fits_is_one_part() -> None:
    assert pages_of(split_into_parts(map(page, range(1, 4)), 100 * PAGE_TOKENS)) == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("begins_at", "expected"),
    [(4, [[1, 2, 3], [4, 5, 6, 7]]), (5, [[1, 2, 3, 4], [5, 6, 7]]), (2, [[1, 2, 3, 4], [5, 6, 7]])],
)
def test_a_part_ends_where_a_section_begins_late_in_it(begins_at: int, expected: list[list[int]]) -> None:
    pages = [page(number, section="Fees" if number >= begins_at else "Berths") for number in range(1, 8)]
    assert pages_of(split_into_parts(pages, 4 * PAGE_TOKENS + 5)) == expected


def test_a_page_that_is_longer_than_a_part_is_divided_and_nothing_of_it_is_lost() -> None:
    long = page(1, lines=100)
    parts = split_into_parts([long, page(2)], 2 * PAGE_TOKENS)
    assert len(parts) > 4
    assert all(part.tokens <= 2 * PAGE_TOKENS for part in parts)
    read = [line.number for part in parts for source in part.context.sources for line in source.lines]
    assert read == [line.number for hit in (long, page(2)) for line in hit.passage.lines]
