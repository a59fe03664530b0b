"""Each vendor through its real client library, against a local server that speaks its wire format."""

import asyncio
from collections.abc import Callable, Generator, Iterator

import numpy as np
import pytest
from llama_index.core.llms import LLM, ChatMessage, MessageRole

from rag import errors, providers
from rag.config import Config
from rag.types import EmbeddingSpace, GenerationOptions
from tests import vendor_servers, vendors
from tests.vendor_servers import Cut, Endless, Fault, Limited, Refusal, Slow, Unfinished, VendorServer
from tests.vendors import KEY, Vendor

MESSAGES = [
    ChatMessage(role=MessageRole.SYSTEM, content="Use the sources."),
    ChatMessage(role=MessageRole.USER, content="What colour are apples?"),
]
ANSWER = "Apples are red [S1]."
PATIENCE_SECONDS = 10


@pytest.fixture
def vendor(request: pytest.FixtureRequest) -> Iterator[Vendor]:
    """The vendor that a test is parametrised with."""
    with vendors.vendor(request.param) as opened:
        yield opened


every_vendor = pytest.mark.parametrize("vendor", vendors.NAMES, indirect=True)


@pytest.fixture
def openai() -> Iterator[Vendor]:
    with vendors.vendor("openai") as opened:
        yield opened


@pytest.fixture
def gemini() -> Iterator[Vendor]:
    with vendors.vendor("gemini") as opened:
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
    return providers.complete(llm, MESSAGES).text


def embed(vendor: Vendor, **settings: object) -> tuple[EmbeddingSpace, np.ndarray]:
    space, embedder = providers.Registry().embedding_model(vendor.config(**settings))
    return space, np.array(providers.embed_texts(embedder, ["one", "two"]))


def embed_one(vendor: Vendor, **settings: object) -> list[float]:
    _, embedder = providers.Registry().embedding_model(vendor.config(**settings))
    return providers.embed_query(embedder, "one")


@every_vendor
def test_a_whole_answer_and_what_it_used(vendor: Vendor) -> None:
    answer, usage = providers.complete(vendor.llm(), MESSAGES)
    assert answer == ANSWER
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)
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
    llm = providers.Registry().language_model(openai.config(), GenerationOptions(model="gpt-4o", temperature=0.3))
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
    [("openai", 1536), ("gemini", 768), ("openai_compatible", 768)],
    indirect=["vendor"],
)
def test_embeddings_are_of_the_default_size_and_of_length_one(vendor: Vendor, dimensions: int) -> None:
    space, vectors = embed(vendor)
    assert (space.provider, space.dimensions) == (vendor.name, dimensions)
    assert vectors.shape == (2, dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


@every_vendor
def test_large_batches_are_split_and_stay_in_order(vendor: Vendor) -> None:
    _, embedder = providers.Registry().embedding_model(vendor.config())
    (model,) = [row for row in vendor.row.embedding_models if row.name == embedder.model_name]
    count = min(150, 2 * model.max_batch + 1)
    texts = [f"text {number}" for number in range(count)]
    vectors = np.array(providers.embed_texts(embedder, texts))
    assert len(vendor.server.requests) == -(-count // model.max_batch)
    assert np.allclose(vectors[-1], providers.embed_texts(embedder, texts[-1:])[0])
    assert not np.allclose(vectors[0], vectors[-1])


def test_gemini_is_told_the_task_as_its_model_wants_it(gemini: Vendor) -> None:
    _, embedder = providers.Registry().embedding_model(gemini.config())
    providers.embed_texts(embedder, ["red apples"])
    providers.embed_query(embedder, "which colour?")
    sent = [body["requests"][0]["content"]["parts"] for body in gemini.server.bodies]
    assert sent == [
        [{"text": "title: none | text: red apples"}],
        [{"text": "task: search result | query: which colour?"}],
    ]


def test_gemini_001_is_told_the_task_by_its_type(gemini: Vendor) -> None:
    _, embedder = providers.Registry().embedding_model(gemini.config(rag_embed_model="gemini:gemini-embedding-001"))
    providers.embed_query(embedder, "which colour?")
    [request] = gemini.server.bodies[0]["requests"]
    assert request["content"]["parts"] == [{"text": "which colour?"}]
    assert (request["taskType"], request["outputDimensionality"]) == ("RETRIEVAL_QUERY", 768)


def test_an_index_keeps_the_size_of_its_vectors(openai: Vendor) -> None:
    space = EmbeddingSpace(provider="openai", model="text-embedding-3-large", dimensions=256)
    same, embedder = providers.Registry().embedding_model(openai.config(), space)
    assert same == space
    assert len(providers.embed_query(embedder, "x")) == 256
    assert openai.server.bodies[0]["dimensions"] == 256


def test_vectors_of_another_size_are_refused(openai: Vendor) -> None:
    space = EmbeddingSpace(provider="openai", model="made-by-us", dimensions=99)
    _, embedder = providers.Registry().embedding_model(openai.config(), space)
    with pytest.raises(errors.EmbeddingCapabilityError, match=r"1536 dimensions, not 99.*re-index"):
        providers.embed_query(embedder, "x")


# --- failures ---------------------------------------------------------------------------------------

Call = Callable[[Vendor, dict[str, object]], object]
CALLS: dict[str, Call] = {
    "chat": lambda vendor, settings: chat(vendor.llm(**settings)),
    "stream": lambda vendor, settings: stream(vendor.llm(**settings)),
    "embed": lambda vendor, settings: embed_one(vendor, **settings),
}


every_call = pytest.mark.parametrize(
    ("vendor", "call"),
    [pytest.param(name, call, id=f"{name}-{kind}") for name in vendors.NAMES for kind, call in CALLS.items()],
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
    error = failure(call, vendor, Refusal(401, f"Incorrect API key provided: {KEY} or sk-live-abcdef123456."))
    assert error.details["status"] == 401
    assert "Incorrect API key provided" in error.message
    assert vendor.row.key_variable in error.message
    assert KEY not in error.message
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
def test_an_unreachable_vendor_is_an_error(vendor: Vendor, call: Call) -> None:
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
    assert to_end(providers.complete_stream(vendor.llm(), MESSAGES))[1].is_cut_off
    assert not to_end(providers.complete_stream(vendor.llm(), MESSAGES))[1].is_cut_off


SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


@every_vendor
def test_a_schema_is_told_where_the_protocol_has_it(vendor: Vendor) -> None:
    providers.complete(vendor.llm(), MESSAGES, SCHEMA)
    (body,) = vendor.server.bodies
    match vendor.name:
        case "gemini":
            assert body["generationConfig"]["responseMimeType"] == "application/json"
            assert body["generationConfig"]["responseJsonSchema"] == SCHEMA
            assert body["generationConfig"]["maxOutputTokens"] > 0
        case _:
            assert body["response_format"]["json_schema"]["schema"] == SCHEMA


@every_vendor
def test_a_vendor_that_refuses_a_schema_is_asked_without(vendor: Vendor) -> None:
    vendor.server.faults.append(Refusal(400, "no schema, please"))
    assert providers.complete(vendor.llm(), MESSAGES, SCHEMA).text == ANSWER
    assert "response_format" not in vendor.server.bodies[-1]


@every_vendor
def test_reasoning_is_no_part_of_the_answer(vendor: Vendor) -> None:
    vendor.server.pieces = ["<thi", "nk>Apples or pears?", "</think>\n\nApp", "les."]
    assert stream(vendor.llm()).strip() == chat(vendor.llm()) == "Apples."


@every_vendor
def test_the_key_shows_in_no_repr(vendor: Vendor) -> None:
    _, embedder = providers.Registry().embedding_model(vendor.config())
    for model in (vendor.llm(), embedder):
        assert KEY not in repr(model) + str(model.to_dict())


# --- other providers that speak OpenAI's protocol ---------------------------------------------------


def test_a_server_without_a_key(openai_server: VendorServer) -> None:
    config = Config(
        openai_base_url=openai_server.url,
        rag_gen_model="openai_compatible:llama3.2:3b",
        rag_embed_model="openai_compatible:all-minilm",
    )
    llm = providers.Registry().language_model(config)
    assert llm is not None
    assert stream(llm) == ANSWER
    space, _ = providers.Registry().embedding_model(config)
    assert space == EmbeddingSpace(provider="openai_compatible", model="all-minilm", dimensions=1536)
    assert openai_server.bodies[0]["model"] == "llama3.2:3b"
    assert openai_server.bodies[0]["max_tokens"] == 1024


def test_what_google_s_library_finds_in_the_environment_does_not_redirect_a_vendor(
    gemini: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "another")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "nowhere")
    assert stream(gemini.llm()) == ANSWER
    [request] = gemini.server.requests
    assert request.path.startswith("/v1beta/models/")
    assert request.headers["x-goog-api-key"] == KEY


def test_two_vendors_at_once(openai: Vendor, gemini: Vendor) -> None:
    config = openai.config(**gemini.settings, rag_embed_model="gemini", rag_gen_model="openai:gpt-4o")
    space, embedder = providers.Registry().embedding_model(config)
    llm = providers.Registry().language_model(config)
    assert llm is not None
    assert space.provider == "gemini"
    assert len(providers.embed_query(embedder, "x")) == 768
    assert stream(llm) == ANSWER
