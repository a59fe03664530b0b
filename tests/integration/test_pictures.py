"""Words in pictures of pages that have text: read after the text, found, and lit where they stand."""

from typing import Any

import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, Document, DocumentStatus
from tests import pdfs


@pytest.fixture
def chart(engine: RAGEngine) -> Document:
    """A ready document with a chart whose words are not read yet."""
    added = engine.documents.add(pdfs.charts(), "ships.pdf", enqueue=False)
    return engine.documents.process(added.id)


def found(engine: RAGEngine, words: str) -> list[Any]:
    hits = engine.search({"query": words}).results
    return [hit for hit in hits if words in hit.chunk.text]


def test_labels_of_a_chart_are_found_and_lit_after_the_second_reading(engine: RAGEngine, chart: Document) -> None:
    assert chart.status is DocumentStatus.READY
    assert chart.pictures_waiting
    assert found(engine, "Lindmark 4812") == []
    before = {chunk.text for chunk in engine.store.chunks.of_document(chart.id)}
    after = engine.documents.read_pictures(chart.id)
    assert (after.status, after.pictures_waiting) == (DocumentStatus.READY, False)
    assert before < {chunk.text for chunk in engine.store.chunks.of_document(chart.id)}
    (hit,) = found(engine, "Lindmark 4812")
    assert {line.kind for line in hit.chunk.lines} == {BlockKind.PICTURE}
    response = engine.answer({"question": "How many ships has Lindmark?"})
    citation = next(citation for citation in response.citations if "Lindmark 4812" in (citation.quote or ""))
    (region,) = citation.regions
    x, y = pdfs.CHART["Lindmark 4812"]
    assert region.rects[0].x0 == pytest.approx(100 + x, abs=2)
    assert region.rects[0].y0 < 300 + y - 18 < region.rects[0].y1


@pytest.mark.parametrize("rotation", [0, 90])
def test_words_of_a_scan_are_found_where_they_stand(engine: RAGEngine, rotation: int) -> None:
    added = engine.documents.add(pdfs.scanned(rotation), "scan.pdf", enqueue=False)
    assert engine.documents.process(added.id).status is DocumentStatus.READY
    words = "northern bridge"
    with pymupdf.open(stream=pdfs.plain(), filetype="pdf") as drawn:
        (where,) = drawn[0].search_for(words)
    assert [(page.page_number, page.count) for page in engine.pages.find(added.id, words.upper())] == [(1, 1)]
    ((region,),) = engine.pages.found_on(added.id, 1, words.upper())
    (rect,) = region.rects
    assert tuple(rect) == pytest.approx(tuple(where), abs=5)  # of the letters, not of the line


def test_words_of_a_picture_in_a_page_are_found_once_it_is_read(engine: RAGEngine, chart: Document) -> None:
    assert engine.pages.find(chart.id, "ostrand 1730") == []
    engine.documents.read_pictures(chart.id)
    assert [(page.page_number, page.count) for page in engine.pages.find(chart.id, "ostrand 1730")] == [(1, 1)]
    ((region,),) = engine.pages.found_on(chart.id, 1, "1730")
    (rect,) = region.rects
    x, y = pdfs.CHART["Ostrand 1730"]
    assert 100 + x + 30 < rect.x0 < rect.x1 < 100 + x + 90
    assert rect.y0 < 300 + y - 18 < rect.y1


def test_pictures_are_read_once(engine: RAGEngine, chart: Document) -> None:
    once = engine.documents.read_pictures(chart.id)
    assert engine.documents.read_pictures(chart.id) == once


def test_pictures_that_cannot_be_read_leave_the_document_as_it_was(engine: RAGEngine, chart: Document) -> None:
    engine.files.rendition(chart.id).write_bytes(b"%PDF-1.7\nnothing more")
    after = engine.documents.read_pictures(chart.id)
    assert (after.status, after.pictures_waiting, after.error) == (DocumentStatus.READY, False, None)
    assert after.chunk_count == chart.chunk_count


def test_of_a_document_that_is_gone(engine: RAGEngine, chart: Document) -> None:
    engine.documents.trash([chart.id])
    engine.documents.purge([chart.id])
    with pytest.raises(errors.NotFoundError):
        engine.documents.read_pictures(chart.id)
