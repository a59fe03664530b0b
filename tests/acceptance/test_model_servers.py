"""Servers of models on this machine, against small ones that tell of themselves in the words of the real ones."""

from collections.abc import Iterator

import pytest
from llama_index.core.llms import LLM, ChatMessage

from rag import providers
from rag.config import Config
from rag.providers import local_servers, model_calls
from rag.providers.http_connections import http_client
from tests import vendor_servers
from tests.vendor_servers import Slow, VendorServer, listed

MODEL = "llama3.2:3b"


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with vendor_servers.openai_server() as opened:
        yield opened


def window(provider: str, server: VendorServer, model: str = MODEL) -> int | None:
    return local_servers.context_window(providers.Registry().provider(provider), server.url, model)


# --- what there is ---


def test_ollama_is_found_with_its_models(server: VendorServer) -> None:
    server.pages["/v1/models"] = listed(MODEL, "nomic-embed-text:latest", "bge-m3", "gpt-oss:120b-cloud", MODEL)
    ollama = local_servers.find_ollama(server.url)
    assert ollama
    assert (ollama.label, ollama.url) == ("Ollama", server.url)
    assert [(model.name, model.embeds) for model in ollama.models] == [
        ("bge-m3", True),
        ("gpt-oss:120b-cloud", False),
        (MODEL, False),
        ("nomic-embed-text", True),
    ]
    assert [model.name for model in ollama.models if model.is_elsewhere] == ["gpt-oss:120b-cloud"]
    assert server.requests == []


def test_a_server_without_models_is_one(server: VendorServer) -> None:
    server.pages["/v1/models"] = {"object": "list", "data": None}  # Ollama, before anything is pulled
    ollama = local_servers.find_ollama(server.url)
    assert ollama
    assert ollama.models == ()


@pytest.mark.parametrize(
    "page", [None, {"models": []}, ["a list"], {"data": "x"}, {"data": [5, {"id": 7}, {"id": ""}]}, {"detail": "Hello"}]
)
def test_other_servers_are_not_taken_for_model_servers(server: VendorServer, page: object) -> None:
    if page is not None:
        server.pages["/v1/models"] = page
    assert local_servers.find_ollama(server.url) is None


def test_redirects_of_a_model_server_are_not_followed(server: VendorServer) -> None:
    with vendor_servers.openai_server() as elsewhere:
        elsewhere.pages["/v1/models"] = listed("spy")
        server.redirects["/v1/models"] = f"{elsewhere.url}/models"
        assert local_servers.find_ollama(server.url) is None
        assert elsewhere.looked == []


@pytest.mark.parametrize("url", ["http://[half/v1", "nowhere", "http://127.0.0.1:9/v1"])
def test_an_address_that_is_none_is_no_server(url: str) -> None:
    assert local_servers.find_ollama(url) is None


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_requests_to_this_machine_use_no_proxy(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    http_client.cache_clear()
    try:
        server.pages["/v1/models"] = listed(MODEL)
        assert local_servers.find_ollama(server.url)
        assert providers.complete(llm(server), [ChatMessage(content="What colour are apples?")])
    finally:
        http_client.cache_clear()


# --- how large a model is ---


def test_llama_cpp_and_ollama_tell_the_size_of_a_model(server: VendorServer) -> None:
    server.pages["/v1/models"] = listed(MODEL, meta={"n_params": 1_543_714_304})
    assert local_servers.count_parameters(server.url, MODEL) == 1_543_714_304
    server.pages["/v1/models"] = listed(MODEL)
    server.pages["/api/show"] = {"model_info": {"general.parameter_count": 14_700_000_000}}
    assert local_servers.count_parameters(server.url, MODEL) == 14_700_000_000
    del server.pages["/api/show"]
    assert local_servers.count_parameters(server.url, MODEL) == 0


@pytest.mark.parametrize(("parameters", "quotes"), [(1_543_714_304, False), (14_700_000_000, True)])
def test_only_a_large_model_is_asked_for_quotes(server: VendorServer, parameters: int, quotes: bool) -> None:
    server.pages["/api/show"] = {"model_info": {"general.parameter_count": parameters}}
    model = llm(server)
    assert providers.is_small(model) is not quotes
    looked = len(server.looked)
    assert providers.is_small(model) is not quotes
    assert len(server.looked) == looked  # asked once


def test_the_smallest_models_get_few_sources_however_fast_they_read(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_calls.ReadingSpeeds, "budget", lambda *_: 9000)
    budgets = []
    for parameters in (1_543_714_304, 14_700_000_000, 0):
        server.pages["/api/show"] = {"model_info": {"general.parameter_count": parameters}}
        budgets.append(providers.reading_budget(llm(server)))
    assert budgets == [1500, 9000, 9000]


def test_a_vendor_s_model_writes_quotes_and_reads_at_once(server: VendorServer) -> None:
    config = Config(openai_api_key="sk-1234567890", openai_base_url=server.url)
    model = providers.Registry().language_model(config)
    assert model is not None
    assert not providers.is_small(model)
    assert providers.reading_budget(model) is None


def test_the_speed_of_a_model_here_is_measured_as_it_answers(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_calls, "LEAST_MEASURED_TOKENS", 1)  # the server counts few
    model = llm(server, rag_gen_model="ollama:measured-here")
    assert (providers.reading_budget(model), providers.reading_seconds(model, 100)) == (
        model_calls.UNKNOWN_TOKENS,
        None,
    )
    list(providers.complete_stream(model, [ChatMessage(content="a word " * 300)]))
    assert providers.reading_seconds(model, 100) is not None


# --- how much a model takes at once ---


def test_vllm_tells_in_its_list(server: VendorServer) -> None:
    server.pages["/v1/models"] = listed("Qwen/Qwen3-4B", max_model_len=8192)
    assert window("openai_compatible", server, "Qwen/Qwen3-4B") == 8192
    assert window("openai_compatible", server, "another") == local_servers.DEFAULT_CONTEXT_WINDOW


def test_llama_cpp_tells_what_a_slot_has_not_what_the_model_was_trained_for(server: VendorServer) -> None:
    server.pages["/v1/models"] = listed(MODEL, meta={"n_ctx_train": 131072})
    server.pages["/props"] = {"default_generation_settings": {"n_ctx": 6144}, "total_slots": 1}
    assert window("openai_compatible", server) == 6144


@pytest.mark.parametrize(
    ("row", "tokens"),
    [
        ({"state": "loaded", "max_context_length": 131072, "loaded_context_length": 8192}, 8192),
        ({"state": "not-loaded", "max_context_length": 131072}, local_servers.DEFAULT_CONTEXT_WINDOW),
        ({"state": "not-loaded", "max_context_length": 2048}, 2048),
    ],
)
def test_lm_studio_tells_what_is_loaded(server: VendorServer, row: dict[str, object], tokens: int) -> None:
    server.pages["/api/v0/models"] = listed(MODEL, type="llm", **row)
    assert window("openai_compatible", server) == tokens


@pytest.mark.parametrize(
    ("running", "shown", "tokens"),
    [
        ([{"name": MODEL, "model": MODEL, "context_length": 16384}], None, 16384),
        ([{"name": f"{MODEL}:latest", "context_length": 2048}], None, 2048),
        (
            [],
            {"parameters": 'stop    "<|eot|>"\nnum_ctx    8192', "model_info": {"llama.context_length": 131072}},
            8192,
        ),
        ([], {"parameters": "num_ctx 8192", "model_info": {"llama.context_length": 2048}}, 2048),
        ([], {"model_info": {"general.architecture": "llama", "llama.context_length": 131072}}, 4096),
        ([{"name": "another", "context_length": 16384}], {"parameters": None, "model_info": None}, 4096),
        ([], None, 4096),
    ],
)
def test_ollama_tells_what_is_loaded_or_will_be(
    server: VendorServer, running: list[object], shown: object, tokens: int
) -> None:
    server.pages["/api/ps"] = {"models": running}
    if shown is not None:
        server.pages["/api/show"] = shown
    assert window("ollama", server) == tokens


def test_a_server_of_no_known_kind_is_asked_in_each_way(server: VendorServer) -> None:
    server.pages["/props"] = {"default_generation_settings": {"n_ctx": 6144}}
    assert window("openai_compatible", server) == 6144


@pytest.mark.parametrize("size", [0, -1, True, "8192", None, [8192]])
def test_a_size_that_is_none_is_not_believed(server: VendorServer, size: object) -> None:
    server.pages["/v1/models"] = listed(MODEL, max_model_len=size)
    assert window("openai_compatible", server) == local_servers.DEFAULT_CONTEXT_WINDOW


# --- as the model that writes ---


def llm(server: VendorServer, **settings: object) -> LLM:
    settings = {"rag_gen_model": f"ollama:{MODEL}", **settings}
    config = Config(ollama_base_url=server.url, **settings)  # type: ignore[arg-type]
    found = providers.Registry().language_model(config)
    assert found is not None
    return found


def test_a_chosen_model_writes_and_gets_no_key(server: VendorServer) -> None:
    model = llm(server, openai_api_key="sk-of-somebody-else")
    assert providers.complete(model, [ChatMessage(content="What colour are apples?")]).text == "Apples are red [S1]."
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert "sk-of" not in str(request.headers)
    assert request.body["model"] == MODEL
    assert providers.model_id(model) == f"ollama:{MODEL}"


def test_a_model_that_is_named_by_its_file_is_shown_without_folders(server: VendorServer) -> None:
    model = llm(server, rag_gen_model="ollama:/srv/models/apples-7b.gguf")
    assert model.metadata.model_name == "apples-7b"
    assert providers.complete(model, [ChatMessage(content="What colour are apples?")])
    assert server.bodies[0]["model"] == "/srv/models/apples-7b.gguf"


def test_room_is_left_for_the_answer_and_what_is_in_the_prompt(server: VendorServer) -> None:
    server.pages["/api/ps"] = {"models": [{"name": MODEL, "context_length": 8192}]}
    model = llm(server)
    empty, full = providers.remaining_tokens(model), providers.remaining_tokens(model, "a word " * 100)
    assert empty == 8192 - 1024
    assert 200 <= empty - full <= 220


def test_a_server_that_hangs_is_waited_for_a_moment_only(server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "TIMEOUT_SECONDS", 0.1)
    server.pages["/api/ps"] = Slow()
    assert window("ollama", server) == local_servers.DEFAULT_CONTEXT_WINDOW
    server.pages["/v1/models"] = Slow()
    assert local_servers.find_ollama(server.url) is None
