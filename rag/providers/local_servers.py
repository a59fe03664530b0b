"""Find Ollama, list its models, and read the context windows of servers such as Ollama and vLLM.

They speak OpenAI's protocol, which has no context window; each has its own API for it. Requests are made on demand,
without a key, a proxy or redirects, so nothing leaves the machine.
"""

import re
from typing import Any
from urllib.parse import urlsplit

import httpx

from rag import types
from rag.hosts import is_loopback
from rag.providers.http_connections import tls_context
from rag.providers.provider_catalogue import OLLAMA, Provider

TIMEOUT_SECONDS = 1.0
"""A server that does not answer in time is taken as absent."""
DEFAULT_CONTEXT_WINDOW = 4096
"""Context window in tokens where the server tells none: the default of Ollama and LM Studio."""

EMBEDDING_NAME = re.compile(r"embed|minilm|paraphrase|\b(bge|gte|e5)\b", re.IGNORECASE)
"""Names of embedding models; OpenAI's protocol does not mark them."""
_LATEST = ":latest"
"""The tag that Ollama adds to names without one."""
_CLOUD = ("-cloud", ":cloud")
"""Suffixes of models that run on Ollama's machines: https://docs.ollama.com/cloud."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
"""The context window among an Ollama model's parameters."""

Json = Any
"""Unchecked JSON from a server."""


def find_ollama(url: str) -> types.FoundServer | None:
    """Return Ollama with its models, None if nothing at `url` speaks OpenAI's protocol."""
    with _client() as client:
        answer = _fetch_json(client, "GET", f"{url}/models")
    names = [entry["id"] for entry in _entries(answer) if isinstance(entry.get("id"), str) and entry["id"]]
    if not names and not (isinstance(answer, dict) and answer.get("object") == "list"):
        return None
    models = tuple(
        types.ServedModel(name=name, embeds=bool(EMBEDDING_NAME.search(name)), is_elsewhere=name.endswith(_CLOUD))
        for name in sorted({name.removesuffix(_LATEST) for name in names})
    )
    return types.FoundServer(provider=OLLAMA.name, label=OLLAMA.label, url=url, models=models)


def is_loopback_url(url: str | None) -> bool:
    """Whether an address is on this machine."""
    return is_loopback(urlsplit(url or "").hostname or "")


def context_window(provider: Provider, url: str, model: str) -> int | None:
    """Return the tokens, prompt and answer together, that the server at `url` allows the model.

    The trained context length says little, as servers allow what fits into memory. Elsewhere than on this machine a
    server may be a gateway, of which only its list is read; None if that does not tell.
    """
    if provider is OLLAMA:
        readers = [_ollama]
    elif is_loopback_url(url):
        readers = [_model_list, _llama_cpp, _lm_studio, _ollama]
    else:
        readers = [_model_list]
    with _client() as client:
        window = next(filter(None, (read(client, url, model) for read in readers)), None)
    return window or (DEFAULT_CONTEXT_WINDOW if provider is OLLAMA or is_loopback_url(url) else None)


def count_parameters(url: str, model: str) -> float:
    """Return how many parameters the model has as the server at `url` says, 0 if it does not."""
    with _client() as client:
        for entry in _entries(_fetch_json(client, "GET", f"{url}/models")):  # llama.cpp
            if entry.get("id") == model and (told := _tokens(_dict(entry.get("meta")).get("n_params"))):
                return float(told)
        shown = _dict(_fetch_json(client, "POST", f"{_root(url)}/api/show", {"model": model}))  # Ollama
        return float(_tokens(_dict(shown.get("model_info")).get("general.parameter_count")) or 0)


def _ollama(client: httpx.Client, url: str, model: str) -> int | None:
    """Read the window of the loaded model, else that of its settings.

    API: https://github.com/ollama/ollama/blob/main/docs/api.md
    """
    root = _root(url)
    running = _dict(_fetch_json(client, "GET", f"{root}/api/ps")).get("models")
    for entry in _dicts(running):
        if model in {entry.get("name"), entry.get("model")} or f"{model}{_LATEST}" == entry.get("name"):
            return _tokens(entry.get("context_length"))
    shown = _dict(_fetch_json(client, "POST", f"{root}/api/show", {"model": model}))
    set_by_model = _NUM_CTX.search(str(shown.get("parameters") or ""))
    trained = next((size for key, size in _dict(shown.get("model_info")).items() if key.endswith(".context_length")), 0)
    wanted = int(set_by_model[1]) if set_by_model else DEFAULT_CONTEXT_WINDOW
    return min(wanted, _tokens(trained) or wanted) if shown else None


def _lm_studio(client: httpx.Client, url: str, model: str) -> int | None:
    """Read the window of the loaded model, else the default; https://lmstudio.ai/docs/developer/rest/endpoints."""
    listed = _entries(_fetch_json(client, "GET", f"{_root(url)}/api/v0/models"))
    entry = next((entry for entry in listed if entry.get("id") == model), {})
    most = _tokens(entry.get("max_context_length"))
    return _tokens(entry.get("loaded_context_length")) or (most and min(most, DEFAULT_CONTEXT_WINDOW))


def _llama_cpp(client: httpx.Client, url: str, model: str) -> int | None:
    """Read a slot's window; https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md."""
    del model  # the server runs one
    props = _dict(_fetch_json(client, "GET", f"{_root(url)}/props"))
    return _tokens(_dict(props.get("default_generation_settings")).get("n_ctx"))


def _model_list(client: httpx.Client, url: str, model: str) -> int | None:
    """Read the list, in which vLLM and OpenRouter tell it.

    https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, https://openrouter.ai/docs
    """
    listed = _entries(_fetch_json(client, "GET", f"{url}/models"))
    entry = next((entry for entry in listed if entry.get("id") == model), {})
    return _tokens(entry.get("max_model_len")) or _tokens(entry.get("context_length"))


def _root(url: str) -> str:
    """Return the address without the path of OpenAI's API."""
    return url.rstrip("/").removesuffix("/v1")


def _client() -> httpx.Client:
    return httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False, verify=tls_context())


def _fetch_json(client: httpx.Client, method: str, url: str, body: Json = None) -> Json:
    """Return a server's JSON; None if it fails or sends something else."""
    try:
        response = client.request(method, url, json=body)
        return response.json() if response.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return None


def _entries(answer: Json) -> list[dict[str, Json]]:
    """Return the entries of a list in OpenAI's form."""
    return _dicts(_dict(answer).get("data"))


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _dict(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _tokens(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
