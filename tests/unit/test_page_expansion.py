"""From chunks to pages, and passages around chunks."""

import uuid

import pytest

from rag.retrieval.nodes import HitNode, to_hits
from rag.retrieval.postprocessors import MAX_PASSAGE_CHARS, PageExpansion, page_passage
from rag.types import Chunk, Hit, Line, Passage, Rect

LINE_CHARS = 100
ONE, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)


def line(number: int, page_number: int = 1, chars: int = LINE_CHARS) -> Line:
    return Line(number=number, page_number=page_number, bbox=Rect(0, 0, 1, 1), text="x" * chars)


def chunk(first: int, last: int) -> Chunk:
    return holding(*(line(number) for number in range(first, last + 1)))


def holding(*lines: Line, document_id: uuid.UUID = ONE) -> Chunk:
    return Chunk(id=uuid.uuid4(), document_id=document_id, ordinal=0, lines=lines)


def on(page_number: int, document_id: uuid.UUID = ONE) -> Chunk:
    """A chunk of one line on a page."""
    return holding(line(page_number, page_number), document_id=document_id)


class Pages:
    """A store in which every page has one line."""

    chunks: "Pages"

    def __init__(self) -> None:
        self.chunks = self

    def page_lines(self, places: list[tuple[uuid.UUID, int]]) -> dict[tuple[uuid.UUID, int], list[Line]]:
        return {place: [line(1, place[1])] for place in places}


def expanded(ranked: list[Chunk]) -> list[Chunk]:
    """The chunks of the pages to which `ranked` ones are expanded."""
    hits = [
        Hit(
            chunk=one,
            passage=Passage(document_id=one.document_id, lines=one.lines),
            document_name="tides.pdf",
            mime_type="application/pdf",
            final_score=1.0,
        )
        for one in ranked
    ]
    nodes = PageExpansion(store=Pages(), top_k=5).postprocess_nodes([HitNode.of(hit) for hit in hits])
    return [hit.chunk for hit in to_hits(nodes)]


@pytest.mark.parametrize(
    ("ranked", "pages"),
    [
        ([], []),
        ([on(3), on(3)], [(ONE, 3)]),
        ([on(4), on(3)], [(ONE, 4), (ONE, 3)]),
        ([on(3), on(4, OTHER), on(3, OTHER), on(3)], [(ONE, 3), (OTHER, 4), (OTHER, 3)]),
        ([holding(line(1, 7, 10), line(2, 8, 90)), on(7)], [(ONE, 8), (ONE, 7)]),
    ],
)
def test_each_page_is_returned_once(ranked: list[Chunk], pages: list[tuple[uuid.UUID, int]]) -> None:
    assert [(one.document_id, one.main_page) for one in expanded(ranked)] == pages


def test_a_page_keeps_the_chunk_that_found_it_best() -> None:
    best, other = on(3), on(3)
    assert expanded([best, other]) == [best]


def test_what_a_chunk_has_on_another_page_is_read_with_the_page() -> None:
    found = holding(line(3, 7, 10), line(4, 8, 90), line(5, 8, 90), line(6, 9, 10))
    passage = page_passage([line(4, 8, 90), line(5, 8, 90)], found)
    assert [read.number for read in passage] == [3, 4, 5, 6]


def test_a_chunk_belongs_to_the_page_with_most_of_it() -> None:
    assert holding(line(1, 1, 30), line(2, 2, 20), line(3, 2, 20), line(4, 3, 35)).main_page == 2


@pytest.mark.parametrize("end", [60, 61, 200])
def test_a_chunk_that_goes_on_behind_the_last_line_has_all_lines_before_it_around_it(end: int) -> None:
    page = [line(number) for number in range(1, 61)]
    assert page_passage(page, chunk(50, end)) == tuple(page)


@pytest.mark.parametrize("found", [(1, 2), (30, 30), (59, 60), (90, 95)])
def test_what_is_short_enough_is_handed_on_whole(found: tuple[int, int]) -> None:
    page = [line(number) for number in range(1, 61)]
    assert page_passage(page, chunk(*found)) == tuple(page)
    assert page_passage(page[:1], chunk(*found)) == (page[0],)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        ((1, 10), (1, 120)),
        ((500, 509), (444, 564)),  # the chunk, then as much before as after
        ((500, 700), (500, 619)),  # more than there is room for
        ((991, 1000), (881, 1000)),
        ((1000, 1000), (881, 1000)),
    ],
)
def test_a_passage_too_long_is_cut_around_its_chunk(found: tuple[int, int], kept: tuple[int, int]) -> None:
    page = [line(number) for number in range(1, 1001)]
    numbers = [item.number for item in page_passage(page, chunk(*found))]
    assert numbers == [*range(kept[0], kept[1] + 1)]
    assert len(numbers) * LINE_CHARS <= MAX_PASSAGE_CHARS + 2 * LINE_CHARS  # one at each end may go beyond
