"""Servers of models on somebody's own machine: which are there, what they have, and how much they take at once.

They speak OpenAI's protocol, which says nothing of the last; each has a way of its own to tell. They are asked only
when somebody wants to know, without a key, a proxy or a redirect, so nothing leaves the machine that they are on.
"""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx

from rag.hosts import is_loopback
from rag.providers.http_connections import tls_context
from rag.providers.provider_catalogue import LLAMA_CPP, LM_STUDIO, OLLAMA, SERVERS, VLLM, Provider
from rag.types import FoundServer, ServedModel

LOOK_SECONDS = 1.0
"""A server on this machine that does not answer in this time is taken as none."""
SERVED_WINDOW = 4096
"""Tokens that a model is taken to read at once where its server does not say: what Ollama and LM Studio begin with."""

_EMBEDS = re.compile(r"embed|minilm|paraphrase|\b(bge|gte|e5)\b", re.IGNORECASE)
"""Embedding models by their names: OpenAI's protocol does not tell them from others."""
_LATEST = ":latest"
"""What Ollama puts behind a name that says no more, and understands without."""
_CLOUD = ("-cloud", ":cloud")
"""Ends of names of models that Ollama runs on its own machines: https://docs.ollama.com/cloud."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
"""In the parameters of an Ollama model."""

Json = Any
"""What a server says: anything, until it is looked at."""


# --- what there is ----------------------------------------------------------------------------------


def find_servers(addresses: Mapping[str, str]) -> tuple[FoundServer, ...]:
    """The servers that answer at `addresses` (by provider), with the names of their models; most take no time."""
    rows = [row for row in SERVERS if row.name in addresses]
    with ThreadPoolExecutor(max_workers=max(len(rows), 1)) as threads:
        found = threads.map(lambda row: _look(row, addresses[row.name]), rows)
        return tuple(server for server in found if server is not None)


def _look(row: Provider, url: str) -> FoundServer | None:
    """What answers at `url`, if it speaks OpenAI's protocol."""
    with _client() as client:
        answer = _ask(client, "GET", f"{url}/models")
    names = [entry["id"] for entry in _entries(answer) if isinstance(entry.get("id"), str) and entry["id"]]
    if not names and not (isinstance(answer, dict) and answer.get("object") == "list"):
        return None
    models = tuple(map(_served, sorted({name.removesuffix(_LATEST) for name in names})))
    return FoundServer(provider=row.name, label=row.label, url=url, models=models)


def _served(name: str) -> ServedModel:
    return ServedModel(name=name, embeds=bool(_EMBEDS.search(name)), is_elsewhere=name.endswith(_CLOUD))


# --- how much a model takes at once -----------------------------------------------------------------


def is_here(url: str | None) -> bool:
    """Whether an address is on this machine."""
    return is_loopback(urlsplit(url or "").hostname or "")


def context_window(provider: Provider, url: str, model: str) -> int:
    """Tokens, of prompt and answer together, that the server at `url` gives the model; `SERVED_WINDOW` if unsaid.

    What the model was trained for says little: a server gives it what fits into the memory.
    """
    own = _WAYS.get(provider.name)
    with _client() as client:
        for ask in (own,) if own else _WAYS.values():
            window = ask(client, url, model)
            if window:
                return window
    return SERVED_WINDOW


def _ollama(client: httpx.Client, url: str, model: str) -> int | None:
    """What the loaded model has, else what it is loaded with; https://github.com/ollama/ollama/blob/main/docs/api.md."""
    root = _root(url)
    running = _dict(_ask(client, "GET", f"{root}/api/ps")).get("models")
    for entry in _dicts(running):
        if model in {entry.get("name"), entry.get("model")} or f"{model}{_LATEST}" == entry.get("name"):
            return _tokens(entry.get("context_length"))
    shown = _dict(_ask(client, "POST", f"{root}/api/show", {"model": model}))
    set_by_model = _NUM_CTX.search(str(shown.get("parameters") or ""))
    trained = next((size for key, size in _dict(shown.get("model_info")).items() if key.endswith(".context_length")), 0)
    wanted = int(set_by_model[1]) if set_by_model else SERVED_WINDOW
    return min(wanted, _tokens(trained) or wanted) if shown else None


def _lm_studio(client: httpx.Client, url: str, model: str) -> int | None:
    """What the loaded model has, at most what it can: https://lmstudio.ai/docs/developer/rest/endpoints."""
    listed = _entries(_ask(client, "GET", f"{_root(url)}/api/v0/models"))
    entry = next((entry for entry in listed if entry.get("id") == model), {})
    most = _tokens(entry.get("max_context_length"))
    return _tokens(entry.get("loaded_context_length")) or (most and min(most, SERVED_WINDOW))


def _llama_cpp(client: httpx.Client, url: str, _: str) -> int | None:
    """What a slot has: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md."""
    props = _dict(_ask(client, "GET", f"{_root(url)}/props"))
    return _tokens(_dict(props.get("default_generation_settings")).get("n_ctx"))


def _vllm(client: httpx.Client, url: str, model: str) -> int | None:
    """What the model was started with: https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html."""
    listed = _entries(_ask(client, "GET", f"{url}/models"))
    return next((_tokens(entry.get("max_model_len")) for entry in listed if entry.get("id") == model), None)


_WAYS: dict[str, Callable[[httpx.Client, str, str], int | None]] = {
    VLLM.name: _vllm,
    LLAMA_CPP.name: _llama_cpp,
    LM_STUDIO.name: _lm_studio,
    OLLAMA.name: _ollama,
}
"""A server that is none of these is asked in each way."""


def _root(url: str) -> str:
    """The address without the part of OpenAI's protocol."""
    return url.rstrip("/").removesuffix("/v1")


# --- asking -----------------------------------------------------------------------------------------


def _client() -> httpx.Client:
    return httpx.Client(timeout=LOOK_SECONDS, follow_redirects=False, trust_env=False, verify=tls_context())


def _ask(client: httpx.Client, method: str, url: str, body: Json = None) -> Json:
    """What a server says; None if there is none, or it says no JSON."""
    try:
        response = client.request(method, url, json=body)
        return response.json() if response.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return None


def _entries(answer: Json) -> list[dict[str, Json]]:
    """What a list in OpenAI's form has."""
    return _dicts(_dict(answer).get("data"))


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _dict(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _tokens(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
