"""`rag.search(...)` and the others: one engine that the process shares, its settings, and registered providers."""

import logging
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import rag
from rag import errors
from rag.answering.generation.model_answer import final_answer
from rag.retrieval import UNRELATED_TEXTS
from rag.types import AdapterOptions, AnswerEvent, AnswerRequest, AnswerToken, IndexRequest, SearchRequest, Source
from tests import pdfs
from tests.embeddings import bag_of_words
from tests.vendor_servers import Refusal, Slow, gemini_server, openai_server

HARBOUR = "The harbour of Lindmark handled 4,812 ships in 2019."


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> dict[str, Any]:
    return {"RAG_DATABASE_URL": database_url, "rag_data_dir": tmp_path / "data"}


@pytest.fixture
def configured(settings: dict[str, Any]) -> Iterator[None]:
    rag.configure(settings)
    yield
    rag.clear_config()
    if "words" in rag.embedding_providers():
        rag.unregister_embedding_provider("words")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "reports"
    root.mkdir()
    (root / "harbour.txt").write_text(HARBOUR)
    return root


@pytest.mark.usefixtures("configured")
def test_from_a_folder_to_an_answer_in_camel_case(folder: Path) -> None:
    built = rag.build_index({"source": {"folderId": str(folder)}, "index": {"indexName": "project"}})
    assert (built.added, built.index_name) == (1, "project")
    found = rag.search({"indexFileId": built.index_file_id, "query": "How many ships?", "topK": 3, "mode": "vector"})
    assert (found.top_k, found.mode) == (3, "vector")
    assert found.results[0].text == HARBOUR
    assert found.results[0].lexical_score is None
    assert found.results[0].score == found.results[0].vector_score == found.results[0].final_score
    answered = rag.answer({"indexFileId": "project", "question": "How many ships were handled in 2019?"})
    assert answered.status == "ok"
    assert answered.citations[0].snippet == HARBOUR
    assert (answered.citations[0].page, answered.citations[0].slide) == (1, None)
    (folder / "harbour.txt").unlink()
    assert rag.sync_index({"source": {"folderId": str(folder)}, "index": {"indexName": "project"}}).removed == 1
    assert rag.inspect_index("project").documents == rag.inspect_index({"indexFileId": "project"}).documents == 0


@pytest.mark.usefixtures("configured")
def test_the_same_with_models(folder: Path) -> None:
    assert rag.sync_index(IndexRequest(source=Source(folder_id=str(folder)))).added == 1
    assert rag.search(SearchRequest(query="How many ships?")).results[0].text == HARBOUR
    assert "4,812" in rag.answer(AnswerRequest(question="How many ships were handled?")).answer
    assert rag.inspect_index().documents == 1


def test_how_is_searched_is_as_the_settings_say_unless_the_request_does(settings: dict[str, Any], folder: Path) -> None:
    (folder / "ships.txt").write_text("Ships are counted when they leave a harbour.")
    rag.configure({**settings, "RAG_FUSION": "rrf", "RAG_RRF_K": 1})
    try:
        rag.sync_index({"source": {"folderId": str(folder)}})
        asked = {"query": "How many ships?", "retrieval": {"minScore": 0}}
        usual = rag.search(asked)
        assert usual.mode == "hybrid"
        for given, is_usual in (
            ({"fusion": "rrf", "rrfK": 1}, True),
            ({"rrfK": 60}, False),
            ({"fusion": "weighted"}, False),
        ):
            found = rag.search({**asked, "retrieval": {"minScore": 0, **given}})
            assert ([hit.score for hit in found.results] == [hit.score for hit in usual.results]) == is_usual
        rag.configure({**settings, "RAG_HYBRID": False})
        by_meaning = rag.search(asked)
        assert (by_meaning.mode, {hit.lexical_score for hit in by_meaning.results}) == ("vector", {None})
        assert rag.answer({"question": "How many ships were handled?"}).retrieval.mode == "vector"
        assert rag.search({**asked, "mode": "hybrid"}).results[0].lexical_score is not None
    finally:
        rag.clear_config()


@pytest.mark.usefixtures("configured")
def test_an_answer_without_ground_says_so_in_the_asked_words() -> None:
    response = rag.answer({"question": "Why?", "options": {"insufficientEvidenceMessage": "No idea."}})
    assert (response.status, response.answer, response.citations) == ("insufficient_context", "No idea.", ())
    default = rag.answer({"question": "Why?"})
    assert default.answer == "I do not have enough grounded context to answer that."


def test_settings_are_shown_without_keys(settings: dict[str, Any]) -> None:
    rag.configure(
        {**settings, "openai_api_key": "sk-secret", "openai_base_url": "https://me:secret@host/v1", "RAG_RRF_K": 10},
        user_id="ada",
    )
    try:
        shown = rag.get_config()
    finally:
        rag.clear_config()
    assert (shown["user_id"], shown["rag_rrf_k"]) == ("ada", 10)
    assert "secret" not in str(shown)
    assert shown["openai_base_url"] == "https://**********@host/v1"
    assert shown["gemini_api_key"] is None


def test_configuring_anew_takes_another_user_and_clearing_forgets(settings: dict[str, Any], folder: Path) -> None:
    try:
        rag.configure(settings, user_id="ada")
        rag.build_index({"source": {"folderId": str(folder)}})
        assert rag.inspect_index().documents == 1
        rag.configure(settings, {"user_id": "bob"})
        assert (rag.get_config()["user_id"], rag.inspect_index().documents) == ("bob", 0)
        rag.configure(settings, {"user_id": "bob"}, user_id="cat")
        assert rag.get_config()["user_id"] == "cat"
        rag.clear_config()
        assert rag.get_config()["user_id"] == "local"
        rag.configure(rag.load_config(**{name.lower(): value for name, value in settings.items()}), user_id="ada")
        assert rag.inspect_index().documents == 1
    finally:
        rag.clear_config()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "word"),
    [
        ({"rag_rrf_k": 0}, {}, errors.ConfigError, "RAG_RRF_K"),
        ({"rag_no_such": 1}, {}, errors.ValidationError, "rag_no_such"),
        ({}, {"nosuch": 1}, errors.ValidationError, "nosuch"),
        ({}, {"user_id": ""}, errors.ValidationError, "user_id"),
    ],
)
def test_wrong_settings_are_refused(
    arguments: dict[str, Any], options: dict[str, Any], error: type[errors.Error], word: str
) -> None:
    with pytest.raises(error, match=word):
        rag.configure(arguments, **options)
    with pytest.raises(error, match=word):
        rag.configure(arguments, options)


# --- requests that are wrong ---


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("request_body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "q", "retrieval": {"topK": 0}}, "retrieval.topK"),
        ({"query": "q", "topK": "many"}, "retrieval.top_k"),
        ({"query": "q", "retrieval": {"mode": "magic"}}, "retrieval.mode"),
        ({"query": "q", "retrieval": {"filters": {"fileIds": ["no id"]}}}, "fileIds"),
        ({"query": "q", "retrieval": {"rerank": {"topN": 0}}}, "retrieval.rerank.topN"),
        ({"query": "q", "nosuch": 1}, "nosuch"),
        ({"query": "q", "indexFileId": ""}, "indexFileId"),
    ],
)
def test_a_wrong_search_names_its_field(request_body: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.ValidationError) as caught:
        rag.search(request_body)
    assert field in caught.value.message.replace("index_name", "indexFileId").replace("document_ids", "fileIds")
    assert caught.value.details["problems"]


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize(
    ("request_body", "field"),
    [
        ({"question": "q", "history": [{"role": "robot", "content": "x"}]}, "history.0.role"),
        ({"question": "q", "generation": {"options": {"temperature": 9}}}, "generation.temperature"),
        ({"question": "q", "generation": {"provider": "nobody"}}, "nobody"),
        ({"question": "q", "generation": {"auth": {"apiKey": "sk-secret"}}}, "generation.provider"),
        ({"question": "q", "generation": {"auth": {"token": "sk-secret"}}}, "generation.auth.token"),
    ],
)
def test_a_wrong_question_names_its_field_and_no_key(request_body: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.ValidationError) as caught:
        rag.answer(request_body)
    assert field in caught.value.message
    assert "secret" not in f"{caught.value} {dict(caught.value.details)} {caught.value.__cause__}"


# --- embedding providers ---


@pytest.mark.usefixtures("configured")
def test_a_registered_provider_embeds_an_index_until_it_is_unregistered(folder: Path) -> None:
    rag.register_embedding_provider("words", bag_of_words(384), {"model": "bag", "dimensions": 384, "maxBatch": 8})
    assert "words" in rag.embedding_providers()
    capabilities = rag.embedding_capabilities("words")
    assert (capabilities.embeds, capabilities.default_model) == (True, "bag")
    assert (capabilities.models[0].dimensions, capabilities.models[0].max_batch) == (384, 8)
    request = {
        "source": {"folderId": str(folder)},
        "index": {"indexName": "own"},
        "embedding": {"provider": "words", "model": "bag"},
    }
    assert rag.build_index(request).index.space.provider == "words"
    search = {"indexName": "own", "query": "ships of the harbour", "mode": "vector"}
    assert rag.search(search).results[0].text == HARBOUR
    rag.unregister_embedding_provider("words")
    assert "words" not in rag.embedding_providers()
    with pytest.raises(errors.EmbeddingCapabilityError, match="words"):
        rag.search(search)


@pytest.mark.usefixtures("configured")
def test_an_adapter_registered_anew_takes_the_place_of_the_former(folder: Path) -> None:
    asked: list[str] = []

    def recording(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return bag_of_words(384)(texts)

    rag.register_embedding_provider("words", bag_of_words(384), AdapterOptions(dimensions=384))
    rag.build_index({"source": {"folderId": str(folder)}, "embedding": {"provider": "words"}})
    rag.register_embedding_provider("words", recording, {"dimensions": 384})
    rag.search({"query": "a question never asked before"})
    assert asked == ["a question never asked before", *UNRELATED_TEXTS]  # what cosines mean here is measured once


def test_what_the_built_in_providers_can_embed() -> None:
    assert {"local", "openai", "gemini", "ollama"} <= set(rag.embedding_providers())
    assert rag.embedding_capabilities("local").models[0].dimensions == 384


@pytest.mark.parametrize(
    "call",
    [
        lambda: rag.embedding_capabilities("nobody"),
        lambda: rag.unregister_embedding_provider("nobody"),
        lambda: rag.unregister_embedding_provider("openai"),
        lambda: rag.register_embedding_provider("openai", bag_of_words(8)),
        lambda: rag.register_embedding_provider("words", bag_of_words(8), {"dimensions": 0}),
        lambda: rag.register_embedding_provider("", bag_of_words(8)),
        lambda: rag.register_embedding_provider("a:b", bag_of_words(8)),
        lambda: rag.register_embedding_provider("words", "no function"),  # type: ignore[arg-type]  # as a caller may
    ],
)
def test_providers_that_cannot_be_named(call: Any) -> None:
    with pytest.raises(errors.ValidationError):
        call()


# --- keys of a request ---


def keys(server: Any) -> list[str]:
    return [
        value.removeprefix("Bearer ")
        for request in server.requests
        for name, value in request.headers.items()
        if name.lower() == "authorization"
    ]


def test_a_requests_own_key_is_used_for_that_request_only(
    settings: dict[str, Any], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with openai_server() as server:
        rag.configure({**settings, "openai_base_url": server.url, "openai_api_key": "sk-of-the-house"})
        try:
            embedding = {"provider": "openai", "model": "text-embedding-3-small"}
            built = rag.build_index(
                {"source": {"folderId": str(folder)}, "embedding": embedding, "auth": {"apiKey": "sk-of-the-build"}}
            )
            assert (built.added, set(keys(server))) == (1, {"sk-of-the-build"})
            server.requests.clear()
            rag.search({"query": "ships", "mode": "vector", "minScore": 0, "auth": {"apiKey": "sk-of-the-search"}})
            rag.search({"query": "other ships", "mode": "vector", "minScore": 0})
            assert keys(server) == ["sk-of-the-search", "sk-of-the-house"]
            server.requests.clear()
            generation = {"provider": "openai", "model": "gpt-4o", "auth": {"apiKey": "sk-of-the-writer"}}
            ask = {"question": "How many ships were there?", "minScore": 0, "generation": generation}
            rag.answer({**ask, "auth": {"apiKey": "sk-of-the-search"}})
            # The question and once the scale of the cosines; then the model writes, and judges what it wrote.
            assert keys(server) == ["sk-of-the-search"] * 2 + ["sk-of-the-writer"] * 2
        finally:
            rag.clear_config()
    assert "sk-of-" not in caplog.text


def test_a_requests_own_key_that_is_refused_is_the_callers_to_correct(settings: dict[str, Any], folder: Path) -> None:
    generation = {"provider": "openai", "model": "gpt-4o", "auth": {"apiKey": "sk-wrong"}}
    ask = {"question": "How many ships did the harbour of Lindmark handle?", "generation": generation}
    with openai_server() as server:
        rag.configure({**settings, "openai_base_url": server.url, "openai_api_key": "sk-of-the-house"})
        try:
            rag.build_index({"source": {"folderId": str(folder)}, "embedding": {"provider": "local"}})
            server.faults.append(Refusal(401, "Incorrect API key provided: sk-wrong."))
            with pytest.raises(errors.AuthError, match="came with the request") as caught:
                rag.answer(ask)
            assert "sk-" not in caught.value.message
            server.faults.append(Refusal(401, "Incorrect API key provided."))
            with pytest.raises(errors.ProviderError):  # the key of the house is nothing the caller could correct
                rag.answer({**ask, "generation": {"provider": "openai", "model": "gpt-4o"}})
        finally:
            rag.clear_config()


def test_a_key_goes_to_the_provider_that_writes_only_if_it_cannot_be_meant_for_another(
    settings: dict[str, Any], folder: Path
) -> None:
    with openai_server() as server:
        rag.configure({**settings, "openai_base_url": server.url})
        try:
            rag.build_index({"source": {"folderId": str(folder)}})  # embedded by the local model, which needs no key
            rag.answer(
                {
                    "question": "How many ships did the harbour of Lindmark handle?",
                    "generation": {"provider": "openai", "model": "gpt-4o"},
                    "auth": {"apiKey": "sk-given"},
                }
            )
            assert keys(server) == ["sk-given"] * 2  # the model writes, and judges what it wrote
            with pytest.raises(errors.ConfigError, match="OPENAI_API_KEY"):
                rag.answer({"question": "How many ships?", "generation": {"provider": "openai", "model": "gpt-4o"}})
        finally:
            rag.clear_config()


def test_a_key_for_the_provider_that_embeds_serves_it_to_write_too_but_no_other_provider(
    settings: dict[str, Any], folder: Path
) -> None:
    ask = {"question": "How many ships were there?", "minScore": 0, "auth": {"apiKey": "sk-of-the-embedder"}}
    with openai_server() as embeds, gemini_server() as writes:
        house = {"openai_api_key": "sk-of-the-house", "gemini_api_key": "sk-of-the-house"}
        rag.configure({**settings, **house, "openai_base_url": embeds.url, "gemini_base_url": writes.url})
        try:
            embedding = {"provider": "openai", "model": "text-embedding-3-small"}
            rag.build_index({"source": {"folderId": str(folder)}, "embedding": embedding})
            embeds.requests.clear()
            rag.answer({**ask, "generation": {"provider": "gemini"}})
            assert keys(embeds) == ["sk-of-the-embedder"] * 2  # the question, and once the scale of the cosines
            assert {request.headers["x-goog-api-key"] for request in writes.requests} == {"sk-of-the-house"}
            assert not any("sk-of-the-embedder" in f"{request}" for request in writes.requests)
            embeds.requests.clear()
            rag.answer({**ask, "generation": {"provider": "openai", "model": "gpt-4o"}})
            assert set(keys(embeds)) == {"sk-of-the-embedder"}
        finally:
            rag.clear_config()


def test_a_request_may_be_less_patient_with_a_provider(settings: dict[str, Any], folder: Path) -> None:
    hasty = {"timeoutSeconds": 0.2, "maxRetries": 0}
    with openai_server() as server:
        rag.configure({**settings, "openai_base_url": server.url, "openai_api_key": "sk-of-the-house"})
        try:
            embedding = {"provider": "openai", "model": "text-embedding-3-small"}
            rag.build_index({"source": {"folderId": str(folder)}, "embedding": embedding})
            query = {"query": "ships", "mode": "vector", "minScore": 0}
            server.faults.append(Slow())
            with pytest.raises(errors.ProviderError, match="in time"):
                rag.search({**query, "embedding": {"providerOptions": hasty}})
            generation = {"provider": "openai", "model": "gpt-4o", "providerOptions": hasty}
            rag.search(query)  # now the question's vector is known, and only the writer is asked
            server.faults.append(Slow())
            with pytest.raises(errors.ProviderError, match="in time"):
                rag.answer({"question": "ships", "mode": "vector", "minScore": 0, "generation": generation})
        finally:
            rag.clear_config()


# --- what a response tells ---


@pytest.mark.usefixtures("configured")
def test_reranking_gives_each_result_its_score(folder: Path) -> None:
    (folder / "orchard.txt").write_text("The orchard grows eleven kinds of pears.")
    rag.build_index({"source": {"folderId": str(folder)}})
    request = {"query": "How many ships did the harbour handle?", "minScore": 0}
    plain = rag.search(request).model_dump(by_alias=True)["results"]
    assert not any("rerankScore" in result for result in plain)
    ranked = rag.search({**request, "rerank": {"enabled": True}}).model_dump(by_alias=True)["results"]
    assert len(ranked) == 2
    assert all(0 <= result["rerankScore"] <= 1 for result in ranked)
    only_one = rag.search({**request, "rerank": {"enabled": True, "topN": 1}}).model_dump(by_alias=True)["results"]
    assert sum("rerankScore" in result for result in only_one) == 1


@pytest.mark.usefixtures("configured")
def test_filters_of_files_and_types_hold(folder: Path) -> None:
    (folder / "notes.md").write_text("# Notes\nShips came to the harbour.")
    built = rag.build_index({"source": {"folderId": str(folder)}})
    ids = {Path(file.source).name: str(file.document_id) for file in built.files}
    request = {"query": "ships in the harbour", "minScore": 0}

    def names(**filters: list[str]) -> set[str]:
        return {hit.file_name for hit in rag.search({**request, "retrieval": {"filters": filters}}).results}

    assert names() == {"harbour.txt", "notes.md"}
    assert names(fileIds=[ids["notes.md"]]) == {"notes.md"}
    assert names(mimeTypes=["text/plain"]) == {"harbour.txt"}
    assert names(fileIds=[ids["notes.md"]], mimeTypes=["text/plain"]) == set()


@pytest.mark.usefixtures("configured")
def test_a_slide_of_a_presentation_is_no_page(folder: Path) -> None:
    (folder / "deck.pptx").write_bytes(pdfs.presentation())
    rag.build_index({"source": {"folderId": str(folder)}, "index": {"indexName": "slides"}})
    found = rag.search({"indexName": "slides", "query": "Which cranes were replaced?", "minScore": 0}).results
    slides = {(hit.page, hit.slide) for hit in found if hit.file_name == "deck.pptx"}
    assert slides
    assert all(page is None and slide is not None for page, slide in slides)
    assert {(hit.page, hit.slide) for hit in found if hit.file_name == "harbour.txt"} <= {(1, None)}


@pytest.mark.usefixtures("configured")
def test_usage_counts_tokens_and_time(folder: Path) -> None:
    rag.build_index({"source": {"folderId": str(folder)}})
    usage = rag.search({"query": "How many ships?", "mode": "vector"}).usage
    assert usage.embedding_tokens > 0
    assert usage.latency_ms > 0
    assert rag.search({"query": "ships", "mode": "lexical"}).usage.embedding_tokens == 0
    assert rag.answer({"question": "How many ships?"}).usage.latency_ms > 0


def test_an_answer_that_breaks_off_is_a_grounding_error() -> None:
    def broken() -> Generator[AnswerEvent, None, None]:
        yield AnswerToken(text="The harbour")

    with pytest.raises(errors.GroundingError, match="broke off"):
        final_answer(broken())
