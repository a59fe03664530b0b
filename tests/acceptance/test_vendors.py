"""Each vendor through its real client library, against a local server that speaks its wire format."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from llama_index.core.llms import LLM, ChatMessage, MessageRole
from pydantic import SecretStr

from rag import errors, providers
from rag.config import Config
from rag.providers.http_connections import record_responses
from rag.types import EmbeddingSpace, GenerationOptions
from tests import vendor_servers, vendors
from tests.vendor_servers import Cut, Endless, Failed, Fault, Limited, Refusal, Slow, Unfinished, VendorServer
from tests.vendors import KEY, Vendor

MESSAGES = [
    ChatMessage(role=MessageRole.SYSTEM, content="Use the sources."),
    ChatMessage(role=MessageRole.USER, content="What colour are apples?"),
]
ANSWER = "Apples are red [S1]."
PATIENCE_SECONDS = 10


@pytest.fixture
def vendor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Vendor]:
    """The vendor that a test is parametrised with."""
    with vendors.vendor(request.param, tmp_path) as opened:
        yield opened


def of(*names: str) -> pytest.MarkDecorator:
    """For each of these vendors."""
    return pytest.mark.parametrize("vendor", names, indirect=True)


every_vendor = of(*vendors.NAMES)
every_embedding_vendor = of(*vendors.EMBEDDING)


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[Vendor]:
    with vendors.vendor("openai", tmp_path) as opened:
        yield opened


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[Vendor]:
    with vendors.vendor("gemini", tmp_path) as opened:
        yield opened


@pytest.fixture
def vertex(tmp_path: Path) -> Iterator[Vendor]:
    with vendors.vendor("vertex_gemini", tmp_path) as opened:
        yield opened


@pytest.fixture
def openai_server() -> Iterator[VendorServer]:
    with vendor_servers.openai_server() as server:
        yield server


def stream(llm: LLM) -> str:
    return "".join(providers.complete_stream(llm, MESSAGES))


def to_end(pieces: Generator[str, None, providers.StreamEnd]) -> tuple[list[str], providers.StreamEnd]:
    received: list[str] = []
    while True:
        try:
            received.append(next(pieces))
        except StopIteration as end:
            return received, end.value


def chat(llm: LLM) -> str:
    return providers.complete(llm, MESSAGES)


def embed(vendor: Vendor, **settings: object) -> tuple[EmbeddingSpace, np.ndarray]:
    space, embedder = providers.embedding_model(vendor.config(**settings))
    return space, np.array(providers.embed_texts(embedder, ["one", "two"]))


def embed_one(vendor: Vendor, **settings: object) -> list[float]:
    _, embedder = providers.embedding_model(vendor.config(**settings))
    return providers.embed_query(embedder, "one")


@every_vendor
def test_a_whole_answer(vendor: Vendor) -> None:
    assert chat(vendor.llm()) == ANSWER
    assert len(vendor.server.requests) == 1


@every_vendor
def test_a_streamed_answer_comes_in_pieces_and_with_its_cost(vendor: Vendor) -> None:
    received, (usage, _) = to_end(providers.complete_stream(vendor.llm(), MESSAGES))
    assert received == vendor.server.pieces
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)


@every_vendor
def test_leaving_a_stream_ends_the_request(vendor: Vendor) -> None:
    vendor.server.faults.append(Endless())
    pieces = providers.complete_stream(vendor.llm(), MESSAGES)
    assert next(pieces) == vendor.server.pieces[0]
    assert not vendor.server.left.is_set()
    pieces.close()
    assert vendor.server.left.wait(PATIENCE_SECONDS)


@every_vendor
def test_a_cancelled_reader_ends_the_request(vendor: Vendor) -> None:
    async def read() -> None:
        async for _ in await vendor.llm().astream_chat(MESSAGES):
            begun.set()

    async def cancel() -> None:
        reading = asyncio.create_task(read())
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await asyncio.to_thread(vendor.server.left.wait, PATIENCE_SECONDS)

    begun = asyncio.Event()
    vendor.server.faults.append(Endless())
    asyncio.run(cancel())


@every_vendor
def test_llama_index_may_use_the_model_as_it_likes(vendor: Vendor) -> None:
    llm = vendor.llm()
    assert str(llm.complete("What colour are apples?")) == ANSWER
    assert [piece.delta for piece in llm.stream_complete("?") if piece.delta] == vendor.server.pieces
    assert asyncio.run(llm.achat(MESSAGES)).message.content == ANSWER


def test_openai_gets_what_its_present_models_take(openai: Vendor) -> None:
    stream(openai.llm())
    [request] = openai.server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "gpt-6-luna"
    assert request.body["messages"][0] == {"role": "developer", "content": "Use the sources."}
    assert request.body["reasoning_effort"] == "low"
    assert request.body["max_completion_tokens"] > 1024
    assert request.body["temperature"] == 1.0
    assert "max_tokens" not in request.body


def test_openai_gets_what_its_earlier_models_take(openai: Vendor) -> None:
    llm = providers.language_model(openai.config(), GenerationOptions(model="gpt-4o", temperature=0.3))
    assert llm is not None
    assert llm.metadata.model_name == "gpt-4o"
    stream(llm)
    [body] = openai.server.bodies
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("gpt-4o", 0.3, 1024)
    assert "reasoning_effort" not in body


def test_gemini_gets_what_its_present_models_take(gemini: Vendor) -> None:
    stream(gemini.llm())
    [request] = gemini.server.requests
    assert request.path.startswith("/v1beta/models/gemini-3.8-flash:streamGenerateContent")
    assert request.headers["x-goog-api-key"] == KEY
    assert request.body["systemInstruction"]["parts"] == [{"text": "Use the sources."}]
    generation = request.body["generationConfig"]
    assert generation["thinkingConfig"] == {"thinking_level": "LOW"}
    assert generation["maxOutputTokens"] > 1024
    assert "temperature" not in generation


def test_gemini_gets_what_its_earlier_models_take(gemini: Vendor) -> None:
    stream(gemini.llm(rag_gen_model="gemini:gemini-1.5-pro"))
    [request] = gemini.server.requests
    assert "gemini-1.5-pro" in request.path
    generation = request.body["generationConfig"]
    assert (generation["temperature"], generation["maxOutputTokens"]) == (0.1, 1024)


@pytest.mark.parametrize(
    ("vendor", "dimensions"),
    [("openai", 1536), ("gemini", 768), ("vertex_gemini", 768), ("openrouter", 1536), ("openai_compatible", 768)],
    indirect=["vendor"],
)
def test_embeddings_are_of_the_default_size_and_of_length_one(vendor: Vendor, dimensions: int) -> None:
    space, vectors = embed(vendor)
    assert (space.provider, space.dimensions) == (vendor.name, dimensions)
    assert vectors.shape == (2, dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


@of("perplexity")
def test_who_only_chats_does_not_embed(vendor: Vendor) -> None:
    with pytest.raises(errors.EmbeddingCapabilityError, match="Perplexity has no embedding models"):
        embed(vendor, rag_embed_model="perplexity")
    assert vendor.server.requests == []


@every_embedding_vendor
def test_large_batches_are_split_and_stay_in_order(vendor: Vendor) -> None:
    _, embedder = providers.embedding_model(vendor.config())
    (model,) = [row for row in vendor.row.embedding_models if row.name == embedder.model_name]
    count = min(150, 2 * model.max_batch + 1)
    texts = [f"text {number}" for number in range(count)]
    vectors = np.array(providers.embed_texts(embedder, texts))
    assert len(vendor.server.requests) == -(-count // model.max_batch)
    assert np.allclose(vectors[-1], providers.embed_texts(embedder, texts[-1:])[0])
    assert not np.allclose(vectors[0], vectors[-1])


def test_gemini_is_told_the_task_as_its_model_wants_it(gemini: Vendor) -> None:
    _, embedder = providers.embedding_model(gemini.config())
    providers.embed_texts(embedder, ["red apples"])
    providers.embed_query(embedder, "which colour?")
    sent = [body["requests"][0]["content"]["parts"] for body in gemini.server.bodies]
    assert sent == [
        [{"text": "title: none | text: red apples"}],
        [{"text": "task: search result | query: which colour?"}],
    ]


def test_gemini_001_is_told_the_task_by_its_type(gemini: Vendor) -> None:
    _, embedder = providers.embedding_model(gemini.config(rag_embed_model="gemini-embedding-001"))
    providers.embed_query(embedder, "which colour?")
    [request] = gemini.server.bodies[0]["requests"]
    assert request["content"]["parts"] == [{"text": "which colour?"}]
    assert (request["taskType"], request["outputDimensionality"]) == ("RETRIEVAL_QUERY", 768)


def test_an_index_keeps_the_size_of_its_vectors(openai: Vendor) -> None:
    space = EmbeddingSpace(provider="openai", model="text-embedding-3-large", dimensions=256)
    same, embedder = providers.embedding_model(openai.config(), space)
    assert same == space
    assert len(providers.embed_query(embedder, "x")) == 256
    assert openai.server.bodies[0]["dimensions"] == 256


def test_vectors_of_another_size_are_refused(openai: Vendor) -> None:
    space = EmbeddingSpace(provider="openai", model="made-by-us", dimensions=99)
    _, embedder = providers.embedding_model(openai.config(), space)
    with pytest.raises(errors.EmbeddingCapabilityError, match=r"1536 dimensions, not 99.*re-index"):
        providers.embed_query(embedder, "x")


@every_embedding_vendor
def test_async_embeddings_are_the_same(vendor: Vendor) -> None:
    _, embedder = providers.embedding_model(vendor.config())
    expected = providers.embed_texts(embedder, ["one", "two"])
    assert asyncio.run(embedder.aget_text_embedding_batch(["one", "two"])) == expected


# --- failures ---------------------------------------------------------------------------------------

Call = Callable[[Vendor, dict[str, object]], object]
CALLS: dict[str, Call] = {
    "chat": lambda vendor, settings: chat(vendor.llm(**settings)),
    "stream": lambda vendor, settings: stream(vendor.llm(**settings)),
    "embed": lambda vendor, settings: embed_one(vendor, **settings),
}


every_call = pytest.mark.parametrize(
    ("vendor", "call"),
    [
        pytest.param(name, call, id=f"{name}-{kind}")
        for name in vendors.NAMES
        for kind, call in CALLS.items()
        if kind != "embed" or name in vendors.EMBEDDING
    ],
    indirect=["vendor"],
)


def failure(call: Call, vendor: Vendor, *faults: Fault, **settings: object) -> errors.ProviderError:
    vendor.server.faults.extend(faults)
    with pytest.raises(errors.ProviderError) as raised:
        call(vendor, settings)
    assert vendor.label in raised.value.message
    assert raised.value.details["provider"] == vendor.label
    return raised.value


@every_call
def test_a_wrong_key_is_named_but_not_shown(vendor: Vendor, call: Call) -> None:
    error = failure(call, vendor, Refusal(401, f"Incorrect API key provided: {vendor.secret} or sk-live-abcdef123456."))
    assert error.details["status"] == 401
    assert "Incorrect API key provided" in error.message
    assert vendor.row.key_variable in error.message
    assert vendor.secret not in error.message
    assert "sk-live" not in error.message
    assert error.__suppress_context__
    assert len(vendor.server.requests) == 1


@every_call
def test_too_many_requests_are_repeated(vendor: Vendor, call: Call) -> None:
    vendor.server.faults.append(Refusal(429, "Slow down"))
    assert call(vendor, {"provider_max_retries": 1})
    assert len(vendor.server.requests) == 2


@every_call
def test_too_many_requests_after_all_attempts(vendor: Vendor, call: Call) -> None:
    error = failure(call, vendor, *[Refusal(429, "Slow down")] * 9, provider_max_retries=1)
    assert error.details["status"] == 429
    assert "Slow down." in error.message
    assert "quota" in error.message
    assert len(vendor.server.requests) == 2


@every_call
def test_a_fault_of_the_vendor_is_repeated_and_then_said(vendor: Vendor, call: Call) -> None:
    error = failure(call, vendor, *[Refusal(500, "Our disk is full")] * 9, provider_max_retries=1)
    assert error.details["status"] == 500
    assert "Our disk is full. Repeated attempts did not help" in error.message
    assert len(vendor.server.requests) == 2


@every_call
def test_an_unknown_model(vendor: Vendor, call: Call) -> None:
    error = failure(call, vendor, Refusal(404, "The model does not exist"))
    assert "Check the model's name" in error.message


@every_call
def test_a_slow_answer(vendor: Vendor, call: Call) -> None:
    error = failure(call, vendor, Slow(), provider_timeout_seconds=0.3)
    assert "did not answer in time" in error.message
    assert "PROVIDER_TIMEOUT_SECONDS" in error.message


@every_call
def test_a_connection_cut_before_the_answer(vendor: Vendor, call: Call) -> None:
    assert "Check the connection" in failure(call, vendor, Cut()).message


@every_call
def test_nobody_listens(vendor: Vendor, call: Call) -> None:
    assert vendor.row.base_url_setting
    vendor.settings[vendor.row.base_url_setting] = "http://127.0.0.1:9"
    assert "Check the connection" in failure(call, vendor).message


@every_vendor
def test_a_connection_cut_in_the_middle_of_an_answer(vendor: Vendor) -> None:
    vendor.server.faults.append(Cut(after=2))
    pieces = providers.complete_stream(vendor.llm(), MESSAGES)
    assert [next(pieces), next(pieces)] == vendor.server.pieces[:2]
    with pytest.raises(errors.ProviderError):
        next(pieces)


@every_vendor
def test_an_answer_that_stops_coming(vendor: Vendor) -> None:
    vendor.server.faults.append(Slow(after=1))
    pieces = providers.complete_stream(vendor.llm(provider_timeout_seconds=0.3), MESSAGES)
    assert next(pieces) == vendor.server.pieces[0]
    with pytest.raises(errors.ProviderError, match="did not answer in time"):
        next(pieces)


@every_vendor
def test_a_stream_without_its_end_is_no_answer(vendor: Vendor) -> None:
    vendor.server.faults.append(Unfinished())
    with pytest.raises(errors.ProviderError, match="stopped before its answer was complete"):
        stream(vendor.llm())


@every_vendor
def test_an_answer_that_reached_its_length_limit_says_so(vendor: Vendor) -> None:
    vendor.server.faults.append(Limited())
    pieces = providers.complete_stream(vendor.llm(), MESSAGES)
    if vendor.name in {"gemini", "vertex_gemini"}:  # the integration makes it an error
        with pytest.raises(errors.ProviderError, match="reached its limit for the answer's length"):
            to_end(pieces)
    else:
        assert to_end(pieces)[1].is_cut_off
    assert not to_end(providers.complete_stream(vendor.llm(), MESSAGES))[1].is_cut_off


SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


@every_vendor
def test_a_schema_is_told_where_the_protocol_has_it(vendor: Vendor) -> None:
    providers.complete(vendor.llm(), MESSAGES, SCHEMA)
    (body,) = vendor.server.bodies
    match vendor.name:
        case "gemini" | "vertex_gemini":
            assert body["generationConfig"]["responseMimeType"] == "application/json"
            assert body["generationConfig"]["responseJsonSchema"] == SCHEMA
            assert body["generationConfig"]["maxOutputTokens"] > 0
        case "perplexity":
            assert "response_format" not in body
        case _:
            assert body["response_format"]["json_schema"]["schema"] == SCHEMA


@every_vendor
def test_who_refuses_a_schema_is_asked_without(vendor: Vendor) -> None:
    vendor.server.faults.append(Refusal(400, "no schema, please"))
    if vendor.name == "perplexity":
        with pytest.raises(errors.ProviderError, match="no schema"):
            providers.complete(vendor.llm(), MESSAGES, SCHEMA)
    else:
        assert providers.complete(vendor.llm(), MESSAGES, SCHEMA) == ANSWER
        assert "response_format" not in vendor.server.bodies[-1]


@every_vendor
def test_reasoning_is_no_part_of_the_answer(vendor: Vendor) -> None:
    vendor.server.pieces = ["<thi", "nk>Apples or pears?", "</think>\n\nApp", "les."]
    assert stream(vendor.llm()).strip() == chat(vendor.llm()) == "Apples."


@every_vendor
def test_the_key_shows_in_no_repr(vendor: Vendor) -> None:
    _, embedder = providers.embedding_model(vendor.config())
    for model in (vendor.llm(), embedder):
        assert KEY not in repr(model) + str(model.to_dict())


# --- other providers that speak OpenAI's protocol ---------------------------------------------------


def test_a_server_without_a_key(openai_server: VendorServer) -> None:
    config = Config(
        openai_base_url=openai_server.url,
        rag_gen_model="openai_compatible:llama3.2:3b",
        rag_embed_model="openai_compatible:all-minilm",
    )
    llm = providers.language_model(config)
    assert llm is not None
    assert stream(llm) == ANSWER
    space, _ = providers.embedding_model(config)
    assert space == EmbeddingSpace(provider="openai_compatible", model="all-minilm", dimensions=1536)
    assert openai_server.bodies[0]["model"] == "llama3.2:3b"
    assert openai_server.bodies[0]["max_tokens"] == 1024


@of("openrouter")
def test_a_provider_that_is_only_a_row(vendor: Vendor) -> None:
    assert stream(vendor.llm()) == ANSWER
    [request] = vendor.server.requests
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == vendor.row.default_chat_model


# --- Perplexity -------------------------------------------------------------------------------------


@of("perplexity")
@pytest.mark.parametrize("name", [None, "sonar", "perplexity:sonar-pro"])
def test_perplexity_is_asked_by_its_present_protocol_and_does_not_search(vendor: Vendor, name: str | None) -> None:
    stream(vendor.llm(rag_gen_model=name))
    [request] = vendor.server.requests
    assert request.path == "/v1/responses"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "perplexity/sonar"
    assert [item["role"] for item in request.body["input"]] == ["developer", "user"]
    assert (request.body["temperature"], request.body["max_output_tokens"]) == (0.1, 1024)
    assert request.body["store"] is False
    assert "tools" not in request.body


@of("perplexity")
@pytest.mark.parametrize("kind", ["chat", "stream"])
def test_a_run_that_fails_after_it_began_is_the_vendor_s_words(vendor: Vendor, kind: str) -> None:
    responses: list[httpx.Response] = []
    with record_responses(responses):
        error = failure(CALLS[kind], vendor, Failed(f"The model is overloaded, {KEY}"))
    assert "gave up: The model is overloaded" in error.message
    assert KEY not in error.message
    assert all(response.is_closed for response in responses)


@of("perplexity")
def test_a_whole_answer_without_its_end_is_none_either(vendor: Vendor) -> None:
    vendor.server.faults.append(Unfinished())
    with pytest.raises(errors.ProviderError, match="stopped before its answer was complete"):
        chat(vendor.llm())


# --- Vertex AI --------------------------------------------------------------------------------------

CLOUD_PATH = "/v1beta1/projects/orchard/locations/europe-west4/publishers/google/models/"


def test_vertex_is_asked_in_the_project_with_a_token_of_the_service_account(vertex: Vendor) -> None:
    stream(vertex.llm())
    [request] = vertex.server.requests
    assert urlsplit(request.path).path == f"{CLOUD_PATH}gemini-3.8-flash:streamGenerateContent"
    assert request.headers["Authorization"] == f"Bearer {vendor_servers.ACCESS_TOKEN}"
    assert "x-goog-api-key" not in request.headers
    assert request.body["systemInstruction"]["parts"] == [{"text": "Use the sources."}]
    assert request.body["generationConfig"]["thinkingConfig"] == {"thinking_level": "LOW"}


def test_vertex_in_express_mode_takes_a_key_and_no_project(vertex: Vendor) -> None:
    config = Config(
        vertex_api_key=SecretStr(KEY), google_vertex_base_url=vertex.server.url, rag_embed_model="vertex_gemini"
    )
    llm = providers.language_model(config)
    assert llm is not None
    assert stream(llm) == ANSWER
    _, embedder = providers.embedding_model(config)
    assert len(providers.embed_query(embedder, "x")) == 768
    for request in vertex.server.requests:
        assert request.path.startswith("/v1beta1/publishers/google/models/gemini-")
        assert request.headers["x-goog-api-key"] == KEY
        assert "Authorization" not in request.headers


def test_vertex_embeds_with_its_present_model_one_text_a_request(vertex: Vendor) -> None:
    _, embedder = providers.embedding_model(vertex.config())
    providers.embed_texts(embedder, ["red apples", "pears"])
    providers.embed_query(embedder, "which colour?")
    assert {request.path for request in vertex.server.requests} == {f"{CLOUD_PATH}gemini-embedding-2:embedContent"}
    assert [body["content"]["parts"] for body in vertex.server.bodies] == [
        [{"text": "title: none | text: red apples"}],
        [{"text": "title: none | text: pears"}],
        [{"text": "task: search result | query: which colour?"}],
    ]
    assert vertex.server.bodies[0]["embedContentConfig"]["outputDimensionality"] == 768


@pytest.mark.parametrize("model", ["text-embedding-005", "text-embedding-004", "text-multilingual-embedding-002"])
def test_vertex_embeds_with_its_earlier_models_in_batches(vertex: Vendor, model: str) -> None:
    space, embedder = providers.embedding_model(vertex.config(rag_embed_model=f"vertex_gemini:{model}"))
    assert space == EmbeddingSpace(provider="vertex_gemini", model=model, dimensions=768)
    vectors = providers.embed_texts(embedder, [f"text {number}" for number in range(10)])
    assert [len(body["instances"]) for body in vertex.server.bodies] == [9, 1]
    assert vertex.server.bodies[0]["instances"][1] == {"content": "text 1", "task_type": "RETRIEVAL_DOCUMENT"}
    assert vertex.server.requests[0].path == f"{CLOUD_PATH}{model}:predict"
    assert np.allclose(vectors[9], providers.embed_texts(embedder, ["text 9"])[0])


def test_vertex_s_first_gemini_embedding_model_is_asked_for_the_size(vertex: Vendor) -> None:
    _, embedder = providers.embedding_model(vertex.config(rag_embed_model="vertex_gemini:gemini-embedding-001"))
    assert len(providers.embed_query(embedder, "x")) == 768
    [body] = vertex.server.bodies
    assert body["parameters"] == {"outputDimensionality": 768}
    assert body["instances"] == [{"content": "x", "task_type": "RETRIEVAL_QUERY"}]


def test_refused_credentials_are_the_vendor_s_words(vertex: Vendor, tmp_path: Path) -> None:
    path = vendors.service_account(tmp_path, f"{vertex.server.url}/no-tokens-here")
    vertex.server.faults.append(Refusal(400, "Account disabled"))
    llm = vertex.llm(google_application_credentials=path)
    with pytest.raises(errors.ProviderError, match="Gemini on Vertex AI got no credentials") as raised:
        stream(llm)
    assert "GOOGLE_CLOUD_PROJECT" in raised.value.message
    assert "PRIVATE KEY" not in raised.value.message


@pytest.mark.parametrize("content", ["no json", '{"type": "service_account"}', None])
def test_a_key_file_that_cannot_be_read(vertex: Vendor, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "broken.json"
    if content:
        path.write_text(content)
    with pytest.raises(errors.ConfigError, match="GOOGLE_APPLICATION_CREDENTIALS"):
        vertex.llm(google_application_credentials=path)


def test_what_google_s_library_finds_in_the_environment_does_not_redirect_a_vendor(
    gemini: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "another")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "nowhere")
    assert stream(gemini.llm(google_cloud_project=None)) == ANSWER
    [request] = gemini.server.requests
    assert request.path.startswith("/v1beta/models/")
    assert request.headers["x-goog-api-key"] == KEY


def test_two_vendors_at_once(openai: Vendor, gemini: Vendor) -> None:
    config = openai.config(**gemini.settings, rag_embed_model="gemini", rag_gen_model="openai:gpt-4o")
    space, embedder = providers.embedding_model(config)
    llm = providers.language_model(config)
    assert llm is not None
    assert space.provider == "gemini"
    assert len(providers.embed_query(embedder, "x")) == 768
    assert stream(llm) == ANSWER
