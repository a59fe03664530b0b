"""Questions that name no word of the page that answers them find it: from the file to the hit, through the engine."""

from collections.abc import Iterator

import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import SearchResponse
from tests import pdfs
from tests.databases import Databases

SHEET = (
    "Consolidated Balance Sheets",
    "Cash and cash equivalents 81 66",
    "Total current assets 190 166",
    "Total assets 1,420 1,380",
    "Total current liabilities 133 128",
    "Total liabilities 700 690",
    "Retained earnings 512 498",
)
LETTER = ("To our shareholders", "The ratio of work to rest was never better.", "We thank our crews.")
NOTE = ("Note 7 - Leases", "The quays are let until 2041.", "No options to buy are held.")
NAMES = ("Northmoor.pdf", "Eastvale.pdf")


def report(name: str) -> bytes:
    texts = [(name.removesuffix(".pdf"), "Annual report"), LETTER, SHEET, NOTE]
    return pdfs.pages(4, line=lambda number: "\n".join(texts[number - 1]), others=())


@pytest.fixture(scope="module")
def engine(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    folder = tmp_path_factory.mktemp("understood")
    with (
        databases.lent() as url,
        RAGEngine(load_config(rag_data_dir=folder, rag_database_url=url), user_id="ann") as engine,
    ):
        for name in NAMES:
            engine.documents.process(engine.documents.add(report(name), name, enqueue=False).id)
        yield engine


def search(engine: RAGEngine, query: str, **options: object) -> SearchResponse:
    return engine.search({"query": query, "retrieval": {"min_score": 0.0, "trace": True, **options}})


def places(engine: RAGEngine, query: str, **options: object) -> list[tuple[str, int]]:
    return [(hit.document_name, hit.chunk.main_page) for hit in search(engine, query, **options).results]


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_looked_for_where_its_items_stand(engine: RAGEngine, name: str) -> None:
    question = f"What is the quick ratio of {name.removesuffix('.pdf')} in FY22?"
    found, as_asked = places(engine, question), places(engine, question, vocabulary=False, landmarks=False)
    assert found[0] == (name, 3)
    assert as_asked[0] != (name, 3)
    trace = search(engine, question).trace
    assert trace is not None
    (sheet,) = [one for one in trace.candidates if one.hit == found.index((name, 3)) + 1 and one.outcome == "returned"]
    assert sheet.landmark_score is not None
    assert sheet.document_score == max(one.document_score or 0.0 for one in trace.candidates)


@pytest.mark.parametrize(("words", "page"), [("on page 4", 4), ("on the second page", 2), ("in note 7", 4)])
def test_a_place_that_is_named_is_found(engine: RAGEngine, words: str, page: int) -> None:
    assert places(engine, f"What does the report of Eastvale say {words}?")[0] == ("Eastvale.pdf", page)


def test_each_hit_is_a_page_of_its_own(engine: RAGEngine) -> None:
    found = places(engine, "shareholders and assets")
    assert len(found) == len(set(found))
    assert all(len(hit.passage.pages) <= 2 for hit in search(engine, "shareholders and assets").results)
