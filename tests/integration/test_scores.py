"""What a score means: the same for every question and in every library."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import Hit, SearchResponse
from tests import pdfs

SMALL = {
    "harbour.pdf": ("The harbour of Lindmark handled 4,812 ships in 2019.", "Its largest crane lifts 95 tonnes."),
    "ferries.pdf": ("Ferries of the harbour carry 2,300 passengers a day.", "They leave from the northern quay."),
}
OTHERS = {
    f"{name}.pdf": (f"The {name} of Eskdale {verb} for {number} years.", f"It {verb} well, says the {name} keeper.")
    for number, (name, verb) in enumerate(
        [("orchard", "grew"), ("mill", "ground"), ("brewery", "brewed"), ("school", "taught"), ("forge", "worked")], 40
    )
}
SHIPS, PASSENGERS = "How many ships did the harbour handle?", "How many passengers do the ferries carry a day?"


@pytest.fixture(scope="module")
def engine(module_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    folder: Path = tmp_path_factory.mktemp("scores")
    config = load_config(rag_data_dir=folder, rag_database_url=module_url, rag_embed_model="local")
    with RAGEngine(config, user_id="scorer") as opened:
        take_in(opened, SMALL, "small")
        take_in(opened, SMALL | OTHERS, "large")
        yield opened


def take_in(engine: RAGEngine, files: Mapping[str, tuple[str, ...]], index_name: str) -> None:
    for name, lines in files.items():
        document = engine.documents.add(pdfs.plain(lines), name, index_name=index_name, enqueue=False)
        engine.documents.process(document.id)


def search(engine: RAGEngine, query: str, index_name: str = "small", **retrieval: Any) -> SearchResponse:
    return engine.search({"query": query, "index_name": index_name, "retrieval": retrieval})


def of(response: SearchResponse, name: str) -> Hit:
    (hit,) = [hit for hit in response.results if hit.document_name == name]
    return hit


@pytest.mark.parametrize(("question", "name"), [(SHIPS, "harbour.pdf"), (PASSENGERS, "ferries.pdf")])
@pytest.mark.parametrize("min_score", [0.2, 0.5])
def test_in_a_library_of_two_files_the_right_answer_stays(
    engine: RAGEngine, question: str, name: str, min_score: float
) -> None:
    assert search(engine, question, min_score=min_score).results[0].document_name == name


def test_the_second_of_two_right_answers_stays(engine: RAGEngine) -> None:
    """The worse of two candidates is not therefore bad."""
    found = search(engine, "What is known of the harbour?")
    assert {hit.document_name for hit in found.results} == set(SMALL)


@pytest.mark.parametrize("query", ["xylophone quasar", "dinosaur asteroid", "recipe for lemon pie"])
@pytest.mark.parametrize("index_name", ["small", "large"])
def test_what_nothing_speaks_of_scores_low(engine: RAGEngine, query: str, index_name: str) -> None:
    assert search(engine, query, index_name).results == ()
    best = search(engine, query, index_name, min_score=0.0).results[0]
    assert best.final_score < 0.1
    assert search(engine, SHIPS, index_name).results[0].final_score > 0.5


def test_more_documents_do_not_change_a_score(engine: RAGEngine) -> None:
    for question, name in ((SHIPS, "harbour.pdf"), (PASSENGERS, "ferries.pdf"), (SHIPS, "ferries.pdf")):
        small, large = (of(search(engine, question, index, min_score=0.0), name) for index in ("small", "large"))
        assert large.vector_score == pytest.approx(small.vector_score, abs=1e-6)
        assert large.lexical_score == pytest.approx(small.lexical_score, abs=0.03)
        assert large.final_score == pytest.approx(small.final_score, abs=0.03)


def test_the_vector_of_a_query_is_looked_up_once(engine: RAGEngine) -> None:
    def lookups() -> int:
        return sum(cache.hits for cache in engine.store.caches.stats() if cache.kind == "embeddings")

    engine.retrieval_api.retrieve({"query": SHIPS, "collection": "small"})  # now the vector is kept
    before = lookups()
    response = engine.retrieval_api.retrieve({"query": SHIPS, "collection": "small"})
    assert lookups() - before == 1
    assert len(response.query_embedding.vector) == 384
