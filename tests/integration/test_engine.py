"""The engine over a real database, real files and the embedded models."""

import itertools
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.embeddings import MockEmbedding

from rag import errors, providers
from rag.config import load_config
from rag.contract import AnswerBody
from rag.engine import RAGEngine
from rag.engine.retrieval_api import RetrievalApi
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, DocumentStatus, EmbeddingSpace, Rect, Sentence, Support, TextBlock, Verdict
from tests import pdfs
from tests.embeddings import register

FACTS = {
    "harbour.pdf": "The harbour of Lindmark handled 4,812 ships in 2019.\nIts crane lifts 95 tonnes.",
    "orchard.pdf": "The orchard grows eleven kinds of pears.\nHarvest begins in the last week of August.",
}
HARVEST = "Harvest begins in the last week of August."


@pytest.fixture
def library(engine: RAGEngine) -> dict[str, uuid.UUID]:
    """Names and ids of two ready documents of ada's."""
    added = [engine.documents.add(pdfs.plain(text.split("\n")), name, enqueue=False) for name, text in FACTS.items()]
    ready = [engine.documents.process(document.id) for document in added]
    assert [document.status for document in ready] == [DocumentStatus.READY] * 2
    return {document.name: document.id for document in ready}


def names(engine: RAGEngine, query: str) -> list[str]:
    return [hit.document_name for hit in engine.search({"query": query}).results]


@pytest.mark.usefixtures("library")
def test_the_right_document_comes_first_with_scores_in_the_unit_interval(engine: RAGEngine) -> None:
    response = engine.search({"query": "How many ships did the harbour handle?"})
    assert response.results[0].document_name == "harbour.pdf"
    assert all(0 <= hit.final_score <= 1 for hit in response.results)
    assert response.results[0].vector_rank == 1
    assert response.results[0].lexical_rank == 1


@pytest.mark.usefixtures("library")
def test_a_chat_and_the_reasons_are_as_the_settings_say(engine: RAGEngine) -> None:
    by_meaning = RAGEngine(
        engine.config.model_copy(update={"rag_hybrid": False}),
        user_id="ada",
        store=engine.installation.store,
    )
    chat = by_meaning.chats.start("Pears")
    turn = by_meaning.chats.ask(chat.id, "When does the harvest of pears begin?")
    assert turn.response
    assert turn.response.retrieval.mode == "vector"
    assert {hit.lexical_score for hit in turn.response.contexts} == {None}
    explained = by_meaning.questions.explain(
        {"query": "When does the harvest begin?"}, "Harvest begins in the last week"
    )
    assert explained.candidate
    assert explained.candidate.lexical_score is None


@pytest.mark.usefixtures("library")
def test_an_answer_quotes_and_lights_the_very_words(engine: RAGEngine) -> None:
    response = engine.answer({"question": "When does the harvest of pears begin?"})
    assert response.status == "ok"
    assert "last week of August" in response.answer
    citation, hit = response.cited[0]
    assert citation.quote == "Harvest begins in the last week of August."
    (region,) = citation.regions
    with pymupdf.open(engine.files.rendition(hit.chunk.document_id)) as document:
        (expected,) = document[region.page_number - 1].search_for(citation.quote)
    (rect,) = region.rects
    assert tuple(rect) == pytest.approx(tuple(expected), abs=2.0)


def test_a_marked_copy_has_each_quote_with_its_sentence_and_verdict(
    engine: RAGEngine, library: dict[str, uuid.UUID]
) -> None:
    response = engine.answer({"question": "When does the harvest of pears begin?"})
    (quoted,) = [citation for citation in response.citations if citation.quote == HARVEST]
    copy = engine.pages.marked(response, library["orchard.pdf"])
    assert copy.page_numbers == (1,)
    with pymupdf.open(stream=copy.content) as document:
        page = document[0]
        (place,) = page.search_for(HARVEST)
        annotations = {annotation.info["content"]: annotation.vertices for annotation in page.annots()}
    (note,) = [note for note in annotations if HARVEST in note]
    label = response.labels[response.citations.index(quoted)]
    assert note == f"{label} · These are the document's own words.\n{HARVEST}"
    assert tuple(pymupdf.Quad(annotations[note]).rect) == pytest.approx(tuple(place), abs=2.0)


def test_words_quoted_twice_are_marked_once_with_both_notes(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    response = engine.answer({"question": "When does the harvest of pears begin?"})
    (quoted,) = [citation for citation in response.citations if citation.quote == HARVEST]
    doubtful = quoted.model_copy(update={"verdict": Verdict.UNVERIFIED, "unsupported_numbers": ("12",)})
    twice = response.model_copy(update={"citations": (quoted, doubtful)})
    with pymupdf.open(stream=engine.pages.marked(twice, library["orchard.pdf"]).content) as document:
        page = document[0]
        (annotation,) = page.annots()
        first, second = annotation.info["content"].split("\n\n")
    label = quoted.citation_id
    assert first == f"{label}a · These are the document's own words.\n{HARVEST}"
    assert second == f"{label}b · These are the document's own words.\n{HARVEST}"
    unquoted = response.model_copy(update={"citations": ()})
    with pytest.raises(errors.NotFoundError):
        engine.pages.marked(unquoted, library["orchard.pdf"])


def test_trash_hides_and_restore_brings_back(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    harbour = library["harbour.pdf"]
    assert engine.documents.trash([harbour]) == [harbour]
    assert "harbour.pdf" not in names(engine, "ships in the harbour")
    assert [document.name for document in engine.documents.list(in_trash=True)] == ["harbour.pdf"]
    assert engine.documents.restore([harbour]) == [harbour]
    assert names(engine, "ships in the harbour")[0] == "harbour.pdf"


def test_an_encrypted_file_waits_for_its_password_which_is_not_kept(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.encrypted("opensesame"), "vault.pdf", enqueue=False)
    assert document.status is DocumentStatus.NEEDS_PASSWORD
    with pytest.raises(errors.PasswordError):
        engine.documents.unlock(document.id, "wrong")
    engine.documents.unlock(document.id, "opensesame")
    assert engine.documents.process(document.id).status is DocumentStatus.READY
    assert names(engine, pdfs.SENTENCES[0])[0] == "vault.pdf"
    files = [path for path in engine.config.rag_data_dir.rglob("*") if path.is_file()]
    assert files
    assert not any(b"opensesame" in path.read_bytes() for path in files)


def test_a_question_to_no_index_is_refused_before_a_model_is_asked(engine: RAGEngine) -> None:
    generation = {"provider": "openai", "model": "gpt-4o"}  # for which there is no key
    with pytest.raises(errors.NotFoundError, match="nosuch"):
        engine.answer({"question": "Why?", "indexName": "nosuch", "generation": generation})


def test_a_damaged_file_fails_with_words_and_can_be_retried(engine: RAGEngine) -> None:
    document = engine.documents.add(b"%PDF-1.7\nnothing of a PDF follows", "broken.pdf", enqueue=False)
    failed = engine.documents.process(document.id)
    assert failed.status is DocumentStatus.FAILED
    assert failed.error
    assert failed.error_code == "unreadable_file"
    assert engine.documents.retry(document.id).status is DocumentStatus.QUEUED


def test_a_failing_embedder_leaves_the_old_version_searchable(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    class Refusing(MockEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            raise errors.ProviderError("The vendor is down.")

    space = EmbeddingSpace(provider="local", model="bge-small-en-v1.5", dimensions=384)
    assert engine.indexes.ensure().space == space
    broken = RAGEngine(engine.config, user_id="ada", embedders={space: Refusing(embed_dim=384)})
    line = TextBlock(
        page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text="New words.", kind=BlockKind.TEXT
    )
    with broken, pytest.raises(errors.ProviderError):
        broken.index_document(library["harbour.pdf"], [line])
    assert names(engine, "ships in the harbour")[0] == "harbour.pdf"


class Own(MockEmbedding):
    """A caller's function as a LlamaIndex embedding."""

    function: Any

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self.function([query])[0]
        return vector

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.function(texts)
        return vectors


BROKEN: dict[str, Callable[[list[str]], Any]] = {
    "raises": lambda texts: [[1.0][len(texts)]],
    "too few": lambda texts: [[1.0] * 4] * (len(texts) - 1),
    "too short": lambda texts: [[1.0] * 3 for _ in texts],
    "no vectors": lambda texts: [None for _ in texts],
    "no list": lambda _: None,
    "no numbers": lambda texts: [[float("nan")] * 4 for _ in texts],
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("registered", [True, False])
def test_an_embedder_of_the_caller_that_fails_is_our_error_and_a_failed_document(
    database_url: str, tmp_path: Path, kind: str, registered: bool
) -> None:
    registry = providers.Registry()
    space = register(registry, "own", 4, BROKEN[kind])
    given = None if registered else {space: Own(embed_dim=4, function=BROKEN[kind])}
    config = load_config(rag_data_dir=tmp_path, rag_database_url=database_url, rag_embed_model="own:model")
    with RAGEngine(config, registry=registry if registered else None, embedders=given) as engine:
        document = engine.documents.add(b"The harbour handled 4,812 ships.", "own.txt", enqueue=False)
        failed = engine.documents.process(document.id)
        assert (failed.status, failed.error_code) == (DocumentStatus.FAILED, "provider")
        block = TextBlock(page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text="New words.")
        for call in (
            lambda: engine.index_document(document.id, [block]),
            lambda: engine.search({"query": "How many ships?", "mode": "vector"}),
        ):
            with pytest.raises(errors.ProviderError, match="own") as caught:
                call()
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert engine.documents.get(document.id).status is DocumentStatus.FAILED


def test_blocks_of_the_caller_replace_what_was_parsed(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    box = Rect(72, 60, 300, 75)
    block = TextBlock(page_number=1, bbox=box, line_start=1, line_end=1, text="Zeppelins moor at the mast.")
    document = engine.index_document(library["harbour.pdf"], [block])
    assert document.chunk_count == 1
    best = engine.search({"query": "zeppelins"}).results[0]
    assert best.passage.text == "Zeppelins moor at the mast."
    assert best.passage.regions[0].rects == (box,)


@pytest.mark.parametrize("blocks", [[], ["", " \n\t"]])
def test_blocks_without_text_are_refused_and_take_no_ones_place(
    engine: RAGEngine, library: dict[str, uuid.UUID], blocks: list[str]
) -> None:
    before = engine.documents.get(library["harbour.pdf"])
    empty = [TextBlock(page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text=text) for text in blocks]
    with pytest.raises(errors.ValidationError, match="no text"):
        engine.index_document(library["harbour.pdf"], empty)
    assert engine.documents.get(library["harbour.pdf"]) == before
    assert names(engine, "ships in the harbour")[0] == "harbour.pdf"


def test_a_block_keeps_the_lines_that_it_names(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.plain(["Nothing of this is read."]), "own.pdf", enqueue=False)
    text = "The mill of Lindmark grinds 40 tonnes of rye a day."
    block = TextBlock(page_number=1, bbox=Rect(72, 60, 300, 75), line_start=1, line_end=2, text=text)
    engine.index_document(document.id, [block])
    (chunk,) = engine.store.chunks.of_document(document.id)
    assert (chunk.text, chunk.line_start, chunk.line_end) == (text, 1, 2)
    (found,) = engine.query("How much rye does the mill grind?")
    assert (found.chunk.metadata["line_start"], found.chunk.metadata["line_end"]) == (1, 2)
    answered = AnswerBody.of(engine.answer("How much rye does the mill grind?"))
    assert [(citation.line_start, citation.line_end) for citation in answered.citations] == [(1, 2)]
    assert engine.retrieval_api.validate({"test_queries": ["rye"]}).validation_results[0].metadata_correct


@pytest.mark.usefixtures("library")
def test_a_validation_ends_when_it_is_told(engine: RAGEngine) -> None:
    answers = iter([False, False, True])
    with pytest.raises(errors.CancelledError):
        engine.retrieval_api.validate({"test_queries": ["pears"] * 100}, lambda: next(answers))
    assert [*answers] == []


@pytest.mark.usefixtures("library")
def test_a_validation_ends_when_it_has_taken_too_long(engine: RAGEngine) -> None:
    hasty = RetrievalApi(engine.retrieval_api._workspace, max_seconds=0)
    with pytest.raises(errors.LimitError, match="fewer test queries") as refused:
        hasty.validate({"test_queries": ["pears"]})
    assert refused.value.details == {"max_seconds": 0}


@pytest.mark.usefixtures("library")
def test_a_validation_stops_judging_at_a_relevant_chunk(engine: RAGEngine) -> None:
    """The best one mostly is; the cross-encoder takes much longer than the search."""
    looks = itertools.count()
    request = {"test_queries": ["How many kinds of pears does the orchard grow?"], "consistency_runs": 2}
    (result,) = engine.retrieval_api.validate(request, lambda: next(looks) < 0).validation_results
    assert result.relevance_valid
    assert len(result.retrieved_chunks) == 2
    assert next(looks) == 3  # two searches and one judgement


@pytest.mark.usefixtures("library")
def test_an_answer_whose_document_cannot_be_read_any_more_is_a_grounding_error(engine: RAGEngine) -> None:
    (harbour,) = (document for document in engine.documents.list() if document.name == "harbour.pdf")
    engine.files.rendition(harbour.id).write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    with pytest.raises(errors.GroundingError, match=r"harbour\.pdf.*again") as caught:
        engine.answer("How many ships did the harbour of Lindmark handle in 2019?")
    assert (caught.value.code, caught.value.http_status) == ("grounding", 502)


def test_another_embedding_model_is_refused_with_the_word(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    assert library
    space = EmbeddingSpace(provider="local", model="another", dimensions=8)
    config = engine.config.model_copy(update={"rag_embed_model": "local:another"})
    other = RAGEngine(config, user_id="ada", embedders={space: MockEmbedding(embed_dim=8)})
    with other, pytest.raises(errors.IndexError, match="re-index"):
        other.search({"query": "ships"})


def test_blocks_of_a_document_that_was_never_rendered_are_cited_by_their_lines(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.plain(["Nothing of this is read."]), "own.pdf", enqueue=False)
    box = Rect(72, 60, 300, 75)
    text = "The mill of Lindmark grinds 40 tonnes of rye a day."
    block = TextBlock(page_number=1, bbox=box, line_start=1, line_end=1, text=text)
    engine.index_document(document.id, [block])
    (citation, *_) = engine.answer("How much rye does the mill grind?").citations
    assert citation.quote == text
    assert [(region.page_number, region.rects) for region in citation.regions] == [(1, (box,))]


def test_what_is_denied_goes_into_no_next_question_and_into_exports_and_copies_with_its_verdict(
    engine: RAGEngine, library: dict[str, uuid.UUID], tmp_path: Path
) -> None:
    chat = engine.chats.start("Pears")
    answered = engine.answer({"question": "When does the harvest of pears begin?"})
    proved = answered.sentences[0].model_copy(update={"support": Support.SUPPORTED})
    begin = len(answered.answer) + 1
    struck = Sentence(
        text="Pears are blue.", start=begin, end=begin + len("Pears are blue."), support=Support.CONTRADICTED
    )
    own = tuple(citation for citation in answered.citations if citation.sentence == 0)
    wrong = own[0].model_copy(update={"sentence": 1})
    response = answered.model_copy(
        update={
            "answer": f"{answered.answer} {struck.text}",
            "sentences": (proved, struck),
            "citations": (*own, wrong),
        }
    )
    engine.store.conversations.append(chat.id, "assistant", response.answer, response)
    (turn,) = engine.chats.request(chat.id, "And then?").history
    assert HARVEST in turn.content
    assert "blue" not in turn.content
    engine.exports.write(tmp_path / "out")
    kept = (tmp_path / "out" / "conversations.jsonl").read_text("utf-8")
    assert HARVEST in kept
    assert '"text": "Pears are blue."' in kept
    assert '"support": "contradicted"' in kept
    with pymupdf.open(stream=engine.pages.marked(response, library["orchard.pdf"]).content) as document:
        (note,) = [annotation.info["content"] for annotation in document[0].annots()]
    assert "✗ contradicted · The sources say otherwise.\nPears are blue." in note
