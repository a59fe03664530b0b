"""Passages around chunks."""

import uuid

import pytest

from rag.retrieval.places import MAX_PASSAGE_CHARS, around
from rag.types import Chunk, Line, Rect

LINE_CHARS = 100


def line(number: int) -> Line:
    return Line(number=number, page_number=1, bbox=Rect(0, 0, 1, 1), text="x" * LINE_CHARS)


def chunk(first: int, last: int) -> Chunk:
    lines = tuple(line(number) for number in range(first, last + 1))
    return Chunk(id=uuid.uuid4(), document_id=uuid.uuid4(), ordinal=0, lines=lines)


@pytest.mark.parametrize("end", [60, 61, 200])
def test_a_chunk_that_goes_on_behind_the_last_line_has_all_lines_before_it_around_it(end: int) -> None:
    page = [line(number) for number in range(1, 61)]
    assert around(page, chunk(50, end)) == tuple(page)


def test_a_passage_too_long_is_cut_around_its_chunk() -> None:
    page = [line(number) for number in range(1, 1001)]
    numbers = [item.number for item in around(page, chunk(500, 510))]
    assert set(range(500, 511)) <= set(numbers)
    assert len(numbers) * LINE_CHARS <= MAX_PASSAGE_CHARS + 2 * LINE_CHARS
