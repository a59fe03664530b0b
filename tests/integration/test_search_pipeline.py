"""Every stage of a search and every cache, over a real database and a language model behind its real client."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag import errors, prompts, providers
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import DEFAULT_INDEX, AnswerResponse, SearchResponse
from tests import embeddings, pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import VendorServer

HARBOUR = (
    "The harbour of Lindmark handled 4,812 ships in 2019.",
    "Its largest crane lifts 95 tonnes.",
)
PORT = (
    "The port of Lindmark handled 4,812 ships in 2019.",
    "Its largest crane lifts 95 tons.",
)
ORCHARD = ("The orchard grows eleven kinds of pears.", "Harvest begins in the last week of August.")
QUESTION = "How many ships did the harbour handle?"


@dataclass
class Desk:
    """An engine with a language model, and the server behind that."""

    engine: RAGEngine
    server: VendorServer

    def says(self, *lines: str) -> None:
        """What the model will say, whatever it is asked."""
        self.server.pieces = ["\n".join(lines)]

    def search(self, query: str = QUESTION, index_name: str = DEFAULT_INDEX, **retrieval: Any) -> SearchResponse:
        return self.engine.search(
            {"query": query, "index_name": index_name, "retrieval": {"min_score": 0.0, **retrieval}}
        )

    def take_in(self, name: str, text: str, index_name: str) -> None:
        documents = self.engine.documents
        documents.process(documents.add(text.encode(), name, index_name=index_name, enqueue=False).id)

    def answer(self, generation: dict[str, Any] | None = None, **options: Any) -> AnswerResponse:
        return self.engine.answer({"question": QUESTION, "generation": generation or {}, "options": options})

    def hits(self, kind: str) -> int:
        (found,) = [cache.hits for cache in self.engine.store.caches.stats() if cache.kind == kind]
        return found


@pytest.fixture(scope="module")
def opened(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Three documents of ann's, taken in once."""
    folder = tmp_path_factory.mktemp("desk")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local")
        with RAGEngine(config, user_id="ann") as engine:
            for name, lines in {"harbour.pdf": HARBOUR, "port.pdf": PORT, "orchard.pdf": ORCHARD}.items():
                engine.documents.process(engine.documents.add(pdfs.plain(lines), name, enqueue=False).id)
            yield Desk(engine, vendor.server)


@pytest.fixture
def desk(opened: Desk) -> Desk:
    """Nothing was asked before."""
    opened.engine.store.caches.clear()
    opened.server.requests.clear()
    return opened


def names(response: SearchResponse) -> list[str]:
    return [hit.document_name for hit in response.results]


def test_rewrites_and_hypothetical_answers_are_searched_and_asked_for_once(desk: Desk) -> None:
    desk.says("pears grown in the orchard", "harvest in August")
    first = desk.search(multi_query=2, trace=True)
    assert first.trace is not None
    assert [(variant.kind, variant.text) for variant in first.trace.variants] == [
        ("question", QUESTION),
        ("rewrite", "pears grown in the orchard"),
        ("rewrite", "harvest in August"),
    ]
    assert names(first)[0] == "orchard.pdf"  # two of the three texts speak of it
    assert names(desk.search())[0] == "harbour.pdf"
    again = desk.search(multi_query=2)
    assert names(again) == names(first)
    assert (first.usage.input_tokens, again.usage.input_tokens) == (11, 0), "rewrites are paid for once"
    assert len(desk.server.requests) == 1
    assert desk.hits("rewrites") == 1
    desk.says("Harvest of the pears begins in August.")
    with_answer = desk.search(hyde=True, trace=True)
    assert with_answer.trace is not None
    assert [variant.kind for variant in with_answer.trace.variants] == ["question", "hyde"]
    assert len(desk.server.requests) == 2
    assert desk.hits("embeddings") >= 3


def test_without_a_model_only_what_needs_one_is_refused(desk: Desk) -> None:
    config = load_config(
        rag_data_dir=desk.engine.config.rag_data_dir, rag_database_url=desk.engine.config.rag_database_url
    )
    with RAGEngine(config, user_id="ann") as engine:
        assert engine.search({"query": QUESTION}).results
        for asked in ({"hyde": True}, {"multi_query": 1}):
            with pytest.raises(errors.ConfigError, match="key"):
                engine.search({"query": QUESTION, "retrieval": asked})


def test_required_words_shut_out_what_lacks_them(desk: Desk) -> None:
    assert names(desk.search(must_include=["CRANE", "tons."])) == ["port.pdf"]
    assert set(names(desk.search(must_include=["tons.", "pears"], must_include_mode="any"))) == {
        "port.pdf",
        "orchard.pdf",
    }
    assert names(desk.search(must_include=["tons.", "pears"])) == []


GERMAN = "Im Hafen von Lindmark legten im Jahr 2019 genau 4812 Schiffe an. Der größte Kran hebt 95 Tonnen."


def test_the_language_of_a_document_decides_how_it_is_searched(desk: Desk) -> None:
    desk.take_in("hafen.md", GERMAN, "mixed")
    desk.take_in("harbour.md", " ".join(HARBOUR), "mixed")
    documents = {document.name: document for document in desk.engine.documents.list("mixed")}
    assert {name: document.language for name, document in documents.items()} == {
        "hafen.md": "german",
        "harbour.md": "english",
    }
    found = desk.search("Häfen mit großen Kränen", index_name="mixed")
    assert names(found)[0] == "hafen.md"
    assert (found.results[0].lexical_score or 0.0) > 0.5  # by German stems nearly all words are there


NEAR_BY_STOP_WORDS = {
    "english": (
        "That is not what it was, and that is it, too.",
        "The kestrel flew over the old harbour.",
        "that is it",
    ),
    "german": (
        "Das ist nicht das, was es war, und das ist es.",
        "Der Kestrel flog über den alten Hafen.",
        "das ist es",
    ),
}
"""Two texts, and words that only the vector of the first is near to."""


def test_vectors_count_little_in_languages_that_the_model_does_not_speak(database_url: str, tmp_path: Path) -> None:
    registry = providers.Registry()
    model = providers.EmbeddingModel("model", dimensions=64, languages=frozenset({"english"}))
    registry.register("bag", embeddings.bag_of_words(64), model)
    config = load_config(rag_data_dir=tmp_path, rag_database_url=database_url, rag_embed_model="bag:model")
    by_vector: dict[str, float] = {}
    with RAGEngine(config, user_id="ann", registry=registry) as engine:
        desk = Desk(engine, VendorServer())
        for language, (near, named, words) in NEAR_BY_STOP_WORDS.items():
            desk.take_in("near.md", near, language)
            desk.take_in("named.md", named, language)
            found = desk.search(f"{words} kestrel", index_name=language)
            assert {document.language for document in engine.documents.list(language)} == {language}
            (by_vector[language],) = [hit.final_score for hit in found.results if hit.lexical_score is None]
    assert 0 < by_vector["german"] < by_vector["english"] / 2**0.5  # scores are roots: half of what they are of


def test_diversity_takes_another_thing_before_the_same_again(desk: Desk) -> None:
    question = "ships handled by harbour and port of Lindmark, pears"
    assert set(names(desk.search(question))[:2]) == {"harbour.pdf", "port.pdf"}
    assert names(desk.search(question, diversity=0.7))[1] == "orchard.pdf"


def test_a_passage_is_the_page_or_the_chunk_alone(desk: Desk) -> None:
    sentences = "The harbour is old and its ships are many. " * 12
    text = "\n\n".join(f"Paragraph {number}. {sentences}" for number in range(6))
    desk.engine.documents.process(
        desk.engine.documents.add(text.encode(), "old.txt", index_name="old", enqueue=False).id
    )
    request = {"index_name": "old", "query": "an old harbour"}
    (page,) = desk.engine.search({**request, "retrieval": {"top_k": 1}}).results
    (chunk,) = desk.engine.search({**request, "retrieval": {"top_k": 1, "passage": "chunk"}}).results
    assert chunk.passage.text == chunk.chunk.text
    assert chunk.passage.text in page.passage.text
    assert len(page.passage.text) > len(chunk.passage.text)


def test_a_page_found_many_times_leaves_room_for_the_next_place(desk: Desk) -> None:
    paragraphs = (f"Ships at quay {number}. " + "The harbour handles its ships here. " * 15 for number in range(7))
    desk.take_in("harbour.txt", "\n\n".join(paragraphs), "crowded")
    desk.take_in("orchard.txt", "Pears are shipped abroad.", "crowded")
    request = {"index_name": "crowded", "query": QUESTION, "retrieval": {"top_k": 2, "min_score": 0.0, "trace": True}}
    response = desk.engine.search(request)
    assert response.trace is not None
    first, *others, last = [candidate.outcome for candidate in response.trace.candidates]
    assert names(response) == ["harbour.txt", "orchard.txt"]
    assert (first, {*others}, last) == ("returned", {"same_place"}, "returned")
    assert len(others) >= 5  # so many more chunks of the first page were found before the second


def test_the_trace_tells_of_every_candidate(desk: Desk) -> None:
    assert desk.search().trace is None
    response = desk.search(trace=True, top_k=1, rerank={"enabled": True})
    assert response.trace is not None
    candidates = response.trace.candidates
    assert [candidate.fused_rank for candidate in candidates] == [1, 2, 3]
    assert sorted(candidate.outcome for candidate in candidates) == ["beyond_top_k", "beyond_top_k", "returned"]
    (returned,) = [candidate for candidate in candidates if candidate.outcome == "returned"]
    (hit,) = response.results
    assert (returned.chunk_id, returned.hit, returned.final_score) == (hit.chunk.id, 1, hit.final_score)
    assert (returned.vector_rank, returned.vector_score) == (hit.vector_rank, hit.vector_score)
    assert all(candidate.rerank_score is not None for candidate in candidates)
    low = desk.search(trace=True, min_score=1.0, mode="vector").trace
    assert low is not None
    assert {candidate.outcome for candidate in low.candidates} == {"below_min_score"}


def test_an_answer_is_written_once_for_each_user_question_and_choice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = 'It handled 4,812 ships [S1] <quote id="S1">handled 4,812 ships</quote>.'
    verdicts = '{"verdicts": [{"claim": 1, "words": [], "missing": "", "verdict": "supported"}]}'
    reply = {True: verdicts, False: answer}
    monkeypatch.setattr(desk.server, "reply_to", lambda prompt: reply["Claims of the answer" in prompt])

    def written() -> int:
        """How many answers were written; each is also judged, by a request with a schema."""
        return sum("response_format" not in body for body in desk.server.bodies)

    first = desk.answer()
    again = desk.answer()
    assert written() == 1
    assert len(desk.server.requests) == 2  # it is judged once, too
    assert (again.answer, again.citations) == (first.answer, first.citations)
    assert (first.usage.input_tokens, first.usage.output_tokens) == (22, 14)  # of both requests, as the vendor says
    assert again.usage.output_tokens == 0
    desk.answer(use_cache=False)
    assert written() == 2
    desk.engine.store.caches.clear()
    desk.answer()
    assert written() == 3
    other = desk.engine.installation.for_user("bob")
    other.documents.process(other.documents.add(pdfs.plain(HARBOUR), "harbour.pdf", enqueue=False).id)
    other.answer({"question": QUESTION})
    assert written() == 4
    for choice in ({"temperature": 0.7}, {"maxOutputTokens": 99}, {"provider": "openai", "model": "gpt-4o"}):
        before = written()
        desk.answer(choice)
        desk.answer(choice)
        assert written() == before + 1
    monkeypatch.setattr(prompts, "ANSWER_PROMPT_VERSION", "next")
    desk.answer()
    assert written() == 8
    desk.engine.answer({"question": "What does the crane lift?"})
    assert written() == 9


def test_a_broken_off_answer_is_not_kept(desk: Desk) -> None:
    desk.says("It handled 4,812 ships [S1].")
    events = desk.engine.questions.stream({"question": QUESTION})
    next(iter(events))
    events.close()
    assert not any(cache.entries for cache in desk.engine.store.caches.stats() if cache.kind == "answers")


def test_little_room_leaves_out_the_last_sources(desk: Desk) -> None:
    lines = [f"Ship {number} called at the harbour on a fine day of the year and left again." for number in range(400)]
    for number in range(5):
        pdf = pdfs.plain(lines[40 * number : 40 * number + 40])
        desk.engine.documents.process(
            desk.engine.documents.add(pdf, f"{number}.pdf", index_name="ships", enqueue=False).id
        )
    desk.says("Many [S1].")
    for tokens in (600, 6000):
        desk.engine.answer({"question": QUESTION, "indexName": "ships", "options": {"maxContextTokens": tokens}})
    sources = [str(body["messages"]).count("[Source:") for body in desk.server.bodies]
    small, large = filter(None, sources)  # a plan of searches is made of none
    assert 1 <= small < large
