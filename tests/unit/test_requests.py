"""Requests in all their spellings, and responses with every field they promise."""

import uuid
from collections.abc import Callable
from typing import Any

import pydantic
import pytest

from rag import errors, types
from rag.api.ask import AskFilters
from rag.contract import AnswerBody, CitationBody, SearchBody, SearchResult
from rag.types import (
    AnswerRequest,
    AnswerResponse,
    Citation,
    Filters,
    Hit,
    Model,
    SearchRequest,
    SearchResponse,
    Verdict,
)
from tests import sources

PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


@pytest.mark.parametrize(
    ("fields", "option", "value"),
    [
        ({"topK": 3}, "top_k", 3),
        ({"top_k": 3}, "top_k", 3),
        ({"minScore": 0.4}, "min_score", 0.4),
        ({"min_score": 0.4}, "min_score", 0.4),
        ({"mode": "vector"}, "mode", "vector"),
        ({"vectorWeight": 0.9}, "vector_weight", 0.9),
        ({"vector_weight": 0.9}, "vector_weight", 0.9),
        ({"lexicalWeight": 0.1}, "lexical_weight", 0.1),
        ({"lexical_weight": 0.1}, "lexical_weight", 0.1),
    ],
)
@pytest.mark.parametrize("grouped", [True, False])
def test_an_option_of_retrieval_may_stand_in_its_group_or_beside_it(
    fields: dict[str, Any], option: str, value: object, grouped: bool
) -> None:
    spelled = {"retrieval": fields} if grouped else fields
    search = SearchRequest.model_validate({"query": "q", **spelled})
    answer = AnswerRequest.model_validate({"question": "q", **spelled})
    assert getattr(search.retrieval, option) == value
    assert getattr(answer.retrieval, option) == value


@pytest.mark.parametrize("kind", [Filters, AskFilters])
@pytest.mark.parametrize(
    ("field", "values", "limit"),
    [
        ("document_ids", lambda count: [str(uuid.UUID(int=number)) for number in range(count)], 10_000),
        ("sources", lambda count: [f"data/{number}.pdf" for number in range(count)], 1000),
        ("sources", lambda count: ["x" * count], 8000),
        ("tags", lambda count: [f"tag {number}" for number in range(count)], 50),
        ("source_prefix", lambda count: "x" * count, 8000),
        ("author", lambda count: "x" * count, 500),
        ("saved", lambda count: "x" * count, 100),
    ],
)
def test_filters_have_the_same_limits_at_every_door(
    kind: type[Model], field: str, values: Callable[[int], object], limit: int
) -> None:
    kind.model_validate({field: values(limit)})
    with pytest.raises(pydantic.ValidationError, match=field.split("_", maxsplit=1)[0]):
        kind.model_validate({field: values(limit + 1)})


def test_filters_have_a_limit_of_types() -> None:
    Filters(mime_types=("text/plain",) * 100)
    with pytest.raises(errors.ValidationError, match="mime"):
        Filters(mime_types=("text/plain",) * 101)


def test_filters_and_rerank_beside_the_group() -> None:
    file_id = uuid.uuid4()
    request = SearchRequest.model_validate(
        {
            "query": "q",
            "filters": {"fileIds": [str(file_id)], "mimeTypes": ["text/plain"]},
            "rerank": {"enabled": True, "topN": 5},
            "retrieval": {"topK": 2},
        }
    )
    assert request.retrieval.filters.document_ids == (file_id,)
    assert request.retrieval.filters.mime_types == ("text/plain",)
    assert (request.retrieval.rerank.enabled, request.retrieval.rerank.top_n) == (True, 5)
    assert request.retrieval.top_k == 2


def test_what_the_group_says_wins_over_what_stands_beside_it() -> None:
    request = SearchRequest.model_validate({"query": "q", "topK": 3, "retrieval": {"top_k": 4}})
    assert request.retrieval.top_k == 4
    again = SearchRequest.model_validate({"query": "q", "top_k": 3, "retrieval": {"topK": 4}})
    assert again.retrieval.top_k == 4


def test_the_defaults_are_those_of_the_contract() -> None:
    request = AnswerRequest(question="q")
    assert (request.retrieval.top_k, request.retrieval.min_score) == (8, 0.2)
    assert (request.retrieval.vector_weight, request.retrieval.lexical_weight) == (0.65, 0.35)
    assert (request.retrieval.rerank.enabled, request.retrieval.rerank.top_n) == (False, 20)
    assert (request.generation.temperature, request.generation.max_output_tokens) == (0.1, 1024)
    assert request.options.require_citations


@pytest.mark.parametrize("name", ["index_name", "indexName", "index_file_id", "indexFileId"])
def test_an_index_is_named_in_four_ways(name: str) -> None:
    assert SearchRequest.model_validate({name: "reports", "query": "q"}).index_name == "reports"


@pytest.mark.parametrize("group", ["options", None])
def test_generation_options_may_be_grouped(group: str | None) -> None:
    options = {"temperature": 0.7, "maxOutputTokens": 99}
    generation = {"provider": "openai", "model": "m", **({group: options} if group else options)}
    request = AnswerRequest.model_validate({"question": "q", "generation": generation})
    assert (request.generation.temperature, request.generation.max_output_tokens) == (0.7, 99)


def test_a_whole_request_as_the_contract_has_it() -> None:
    request = AnswerRequest.model_validate(
        {
            "indexFileId": "reports",
            "question": "Why?",
            "history": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
            "retrieval": {"topK": 8, "mode": "hybrid", "filters": {"fileIds": [], "mimeTypes": []}},
            "generation": {
                "provider": "gemini",
                "model": "a model",
                "auth": {},
                "providerOptions": {"timeoutSeconds": 5, "maxRetries": 0},
                "options": {"temperature": 0.1, "maxOutputTokens": 1024},
            },
            "options": {"requireCitations": False, "insufficientEvidenceMessage": "No idea."},
            "auth": {},
        }
    )
    assert request.generation.provider_options.timeout_seconds == 5
    assert request.generation.provider_options.max_retries == 0
    assert request.options.insufficient_evidence_message == "No idea."
    assert [message.role for message in request.history] == ["user", "assistant"]


def test_a_key_shows_nowhere() -> None:
    request = AnswerRequest.model_validate(
        {
            "question": "q",
            "auth": {"apiKey": "sk-secret"},
            "generation": {"provider": "openai", "auth": {"apiKey": "sk-secret"}},
        }
    )
    assert request.auth.api_key is not None
    assert request.auth.api_key.get_secret_value() == "sk-secret"
    shown = f"{request!r} {request} {request.model_dump()} {request.model_dump_json()} {request.generation!r}"
    assert "secret" not in shown


def test_a_refused_request_does_not_show_what_it_held() -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        SearchRequest.model_validate({"query": "q", "auth": {"key": "sk-secret"}})
    assert "secret" not in str(caught.value)


def test_a_request_that_is_made_wrong_is_our_error_and_pydantics_in_validation() -> None:
    with pytest.raises(errors.ValidationError, match=r"retrieval\.topK: Input should be greater") as caught:
        SearchRequest(query="q", retrieval={"topK": 0})
    assert caught.value.details["problems"]
    with pytest.raises(pydantic.ValidationError):  # so that who validates knows every field
        SearchRequest.model_validate({"query": "q", "retrieval": {"topK": 0}})


# --- responses ---

HIT_FIELDS = {
    "chunkId",
    "fileId",
    "fileName",
    "mimeType",
    "page",
    "slide",
    "section",
    "text",
    "score",
    "vectorScore",
    "lexicalScore",
    "finalScore",
}
CITATION_FIELDS = HIT_FIELDS - {"section", "text"} | {"citationId", "snippet"}


def citation(number: int = 1) -> Citation:
    return Citation(citation_id=f"S{number}", sentence=0, quote="red", regions=(), verdict=Verdict.VERIFIED)


def answered(hit: Hit) -> AnswerResponse:
    """An answer that cites `hit` twice."""
    return AnswerResponse(
        status="ok",
        answer="Red [S1]. Red [S1].",
        citations=(citation(), citation()),
        sources={"S1": hit},
        model="m",
        retrieval={"top_k": 8, "min_score": 0.2, "mode": "vector", "returned": 1},
    )


def test_the_words_of_outside_are_no_part_of_the_domain() -> None:
    models = [member for member in vars(types).values() if isinstance(member, type) and issubclass(member, Model)]
    assert [model.__name__ for model in models if model.model_computed_fields] == []


def test_a_search_response_has_every_field() -> None:
    hit = sources.hit("Apples are red.", page_number=3).model_copy(update={"vector_score": 0.5})
    response = SearchResponse(query="q", top_k=8, min_score=0.2, mode="vector", results=(hit,))
    sent = SearchBody.of(response).model_dump(mode="json", by_alias=True)
    assert sent.keys() >= {"query", "topK", "minScore", "mode", "results", "usage"}
    (result,) = sent["results"]
    assert result.keys() >= HIT_FIELDS
    assert (result["page"], result["slide"]) == (3, None)
    assert (result["score"], result["finalScore"], result["lexicalScore"]) == (0.5, 0.5, None)
    assert (result["text"], result["fileName"], result["chunkId"]) == (
        "Apples are red.",
        "report.pdf",
        str(hit.chunk.id),
    )


def test_the_rerank_score_is_there_only_if_reranking_gave_one() -> None:
    hit = sources.hit("Apples are red.")
    assert "rerankScore" not in SearchResult.of(hit).model_dump(by_alias=True)
    reranked = hit.model_copy(update={"rerank_score": 0.0})
    assert SearchResult.of(reranked).model_dump(by_alias=True)["rerankScore"] == 0.0


def test_a_presentation_has_slides_and_no_pages() -> None:
    hit = sources.hit("Apples are red.", page_number=4).model_copy(update={"mime_type": PPTX})
    found, cited = SearchResult.of(hit), CitationBody.of(citation(), hit)
    assert (found.page, found.slide) == (cited.page, cited.slide) == (None, 4)


def test_an_answer_has_every_field() -> None:
    response = answered(sources.hit("Apples are red."))
    sent = AnswerBody.of(response).model_dump(mode="json", by_alias=True)
    assert sent.keys() >= {"status", "answer", "citations", "retrieval", "usage"}
    assert sent["retrieval"] == {"topK": 8, "minScore": 0.2, "mode": "vector", "returned": 1}
    assert sent["citations"][0].keys() >= CITATION_FIELDS
    assert sent["citations"][0]["snippet"] == "red"
    assert [context["text"] for context in sent["contexts"]] == ["Apples are red."]


def test_an_answer_has_each_passage_once() -> None:
    hit = sources.hit("Apples are red.", "Pears are green.")
    sent = AnswerBody.of(answered(hit)).model_dump(mode="json", by_alias=True)
    (source,) = sent["sources"]
    assert (source["citationId"], source["fileName"]) == ("S1", "report.pdf")
    assert [line["text"] for line in source["passage"]["lines"]] == ["Apples are red.", "Pears are green."]
    assert "Pears are green." not in str(sent["citations"])


def test_a_citation_without_a_quote_shows_where_the_chunk_begins() -> None:
    without = CitationBody.of(citation().model_copy(update={"quote": None}), sources.hit("Apples are red.", first=7))
    assert without.snippet == "Apples are red."
    assert (without.line_start, without.line_end) == (7, 7)


def test_contexts_are_the_cited_hits_in_the_order_of_their_ids() -> None:
    hits = {f"S{number}": sources.hit(f"Text {number}.") for number in range(1, 12)}
    cited = tuple(citation(number) for number in range(1, 12))
    response = AnswerResponse(status="ok", answer="x", model="m", citations=cited[::-1] + cited[:1], sources=hits)
    assert response.contexts == tuple(hits.values())
    assert response.cited[0] == (cited[-1], hits["S11"])
    none = AnswerResponse(status="insufficient_context", answer="x", model="m", nearest=(hits["S1"],))
    assert none.contexts == ()


def test_what_is_kept_can_be_read_again() -> None:
    response = answered(sources.hit("Apples are red."))
    kept = response.model_dump(mode="json", round_trip=True)
    assert AnswerResponse.model_validate(kept) == response


@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("  What   is\tit? ", "What is it?"),
        ("Compare:\n\n \n - a\r\n - b", "Compare:\n- a\n- b"),
        ("\N{NO-BREAK SPACE}" * 9000 + "x", "x"),
    ],
)
def test_white_space_of_questions_is_collapsed(text: str, collapsed: str) -> None:
    assert SearchRequest(query=text).query == collapsed
    assert AnswerRequest(question=text).question == collapsed
    assert types.Message(role="user", content=text).content == collapsed
    assert types.bounded_question(text) == collapsed


def test_questions_without_a_request_are_bounded() -> None:
    with pytest.raises(errors.ValidationError, match="Text has 4,001 characters, but at most 4,000 are possible"):
        types.bounded_question("x" * 4001)


@pytest.mark.parametrize("text", [None, 5, b"What grew?"])
def test_a_question_that_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(errors.ValidationError, match="question: Input should be a valid string"):
        types.bounded_question(text)
