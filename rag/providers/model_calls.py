"""Call models: embed texts, complete prompts without their reasoning, read context windows, prices and speeds."""

import re
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM, ChatMessage, ChatResponseGen

from rag import errors, types
from rag.providers.embedded_models import count_tokens, estimate_max_tokens
from rag.providers.vendor_models import VendorLLM, is_cut_off, is_output

SMALL_PARAMETERS = 12e9
"""Models on this machine with fewer parameters are small; so are those whose server does not tell."""

TINY_PARAMETERS = 4e9
TINY_PROMPT_TOKENS = 1500
"""Tokens of sources that the smallest models are given: from more they answer later and no better (docs/models.md)."""

REFUSED_SCHEMA = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.NOT_IMPLEMENTED)
"""Statuses of servers or models that take no JSON schema."""

MESSAGE_TOKENS = 16
"""Upper limit of the tokens that a chat template adds to a message."""

READING_SECONDS = 30.0
"""Longest time that a model may read before its first word."""

UNKNOWN_TOKENS = 2000
"""Tokens of the first prompts, whose speed is not known."""

LEAST_TOKENS = 600
"""Tokens that even the slowest model gets: the instructions and the best passage."""

MEASURED_PROMPTS = 5
"""Last prompts that count. A server that kept the beginning of a prompt reads it at once, so the slowest decides."""

LEAST_MEASURED_TOKENS = 200
"""Shorter prompts say more about the server's delay than about its speed."""

_NAMES = ("think", "thinking", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
_TAGS = tuple(f"<{name}>" for name in _NAMES)
_CLOSE = re.compile(rf"</(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
"""Tags around the reasoning that a model writes before its answer, unless its server moves it to a field of its own."""


class StreamEnd(NamedTuple):
    """Token counts of a streamed answer (0 if the vendor gives none), and whether its length limit cut it off."""

    usage: types.Usage = types.Usage()
    is_cut_off: bool = False


class Completion(NamedTuple):
    """A whole answer, and what it used."""

    text: str
    usage: types.Usage


def embed_texts(embedder: BaseEmbedding, texts: Sequence[str]) -> list[list[float]]:
    """Embed passages in batches of the provider's size; raises `errors.ProviderError`."""
    return embedder.get_text_embedding_batch(list(texts)) if texts else []


def embed_query(embedder: BaseEmbedding, query: str) -> list[float]:
    """Embed a search query; raises `errors.ProviderError`."""
    return embedder.get_query_embedding(query)


def complete_stream(
    llm: LLM, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None
) -> Generator[str, None, StreamEnd]:
    """Stream an answer without the reasoning before it, in JSON of `schema` as `complete` does.

    Closing the generator early ends the request.

    Raises:
        errors.ProviderError: the vendor refuses, is down or breaks off.
    """
    counts: dict[str, int] = {}
    started, read_seconds, cut_off = time.perf_counter(), 0.0, False
    reasoning = ReasoningFilter()
    form = llm.schema_arguments(schema) if schema and isinstance(llm, VendorLLM) else {}
    pieces = _stream_chat(llm, messages, form)
    try:
        for piece in pieces:
            if not read_seconds and is_output(piece):
                read_seconds = time.perf_counter() - started
            if piece.delta and (text := reasoning.feed(piece.delta)):
                yield text
            counts |= {name: count for name, count in piece.additional_kwargs.items() if isinstance(count, int)}
            cut_off = cut_off or is_cut_off(piece)
        if rest := reasoning.finish():
            yield rest
    finally:
        pieces.close()
    if isinstance(llm, VendorLLM) and llm.is_local:
        prompt_tokens = counts.get("prompt_tokens") or prompt_size(messages)
        READING_SPEEDS.record(model_id(llm), prompt_tokens, read_seconds)
    return StreamEnd(_reported(counts), cut_off)


def _stream_chat(llm: LLM, messages: Sequence[ChatMessage], form: Mapping[str, Any]) -> ChatResponseGen:
    """Stream a chat; a server or model that refuses the schema in `form` is asked again without."""
    has_begun = False
    try:
        for piece in llm.stream_chat(messages, **form):
            has_begun = True
            yield piece
    except errors.ProviderError as error:
        if has_begun or not form or error.details.get("status") not in REFUSED_SCHEMA:
            raise
        yield from llm.stream_chat(messages)


def model_id(llm: LLM) -> str:
    """Return `provider:model`; the provider of a caller's own model is its class name."""
    provider = llm.provider if isinstance(llm, VendorLLM) else llm.class_name()
    return f"{provider}:{llm.metadata.model_name}"


def _reported(counts: Mapping[str, Any]) -> types.Usage:
    return types.Usage(input_tokens=counts.get("prompt_tokens", 0), output_tokens=counts.get("completion_tokens", 0))


def prompt_size(messages: Sequence[ChatMessage]) -> int:
    """Return the tokens of messages, counted with the embedded model's tokenizer."""
    return sum(count_tokens(message.content or "") for message in messages)


def used(llm: LLM, reported: types.Usage, messages: Sequence[ChatMessage], answer: str) -> types.Usage:
    """Return what a request used, with its cost; tokens that the vendor does not report are estimated."""
    usage = reported
    if not usage.output_tokens:
        usage = types.Usage(input_tokens=prompt_size(messages), output_tokens=count_tokens(answer))
    return usage.model_copy(update={"cost_usd": cost(llm, usage)})


def cost(llm: LLM, usage: types.Usage) -> float | None:
    """Return the cost in dollars by the vendor's list price; None if the price or the usage is unknown."""
    return llm.cost(usage) if isinstance(llm, VendorLLM) and usage.output_tokens else None


def reading_cost(llm: LLM, tokens: int) -> float | None:
    """Return what a prompt of so many tokens costs in dollars by the vendor's list price, None if that is unknown."""
    return llm.cost(types.Usage(input_tokens=tokens)) if isinstance(llm, VendorLLM) else None


def context_window(llm: LLM) -> int:
    """Return the model's limit of tokens, prompt and answer together; model servers are asked for theirs."""
    return llm.context_window if isinstance(llm, VendorLLM) else llm.metadata.context_window


def reading_budget(llm: LLM) -> int | None:
    """Return the tokens that a model on this machine reads in time and can make use of; None for one elsewhere."""
    if not isinstance(llm, VendorLLM) or not llm.is_local:
        return None
    in_time = READING_SPEEDS.budget(model_id(llm))
    return min(in_time, TINY_PROMPT_TOKENS) if 0 < llm.parameters < TINY_PARAMETERS else in_time


def reading_seconds(llm: LLM, tokens: int) -> float | None:
    """Return how long a model on this machine needs to read a prompt; None for one elsewhere or without a measure."""
    speed = READING_SPEEDS.slowest(model_id(llm)) if isinstance(llm, VendorLLM) and llm.is_local else None
    return tokens / speed if speed else None


def is_small(llm: LLM) -> bool:
    """Return whether a model can neither be expected to copy quotes in tags nor to judge what it wrote."""
    return isinstance(llm, VendorLLM) and llm.is_local and llm.parameters < SMALL_PARAMETERS


def remaining_tokens(llm: LLM, *texts: str) -> int:
    """Return the tokens left in the context window beside `texts` (a message each) and the answer; may be negative."""
    answer = max(llm.metadata.num_output, 0)
    return context_window(llm) - answer - sum(estimate_max_tokens(text) + MESSAGE_TOKENS for text in texts)


def complete(llm: LLM, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> Completion:
    """Return the whole answer without the reasoning before it.

    It is JSON of `schema` where the vendor's protocol has that; servers and models that refuse a schema are asked again
    without.

    Raises:
        errors.ProviderError: the vendor refuses or is down.
    """
    form = llm.schema_arguments(schema) if schema and isinstance(llm, VendorLLM) else {}
    try:
        response = llm.chat(messages, **form)
    except errors.ProviderError as error:
        if not form or error.details.get("status") not in REFUSED_SCHEMA:
            raise
        response = llm.chat(messages)
    text = strip_reasoning(response.message.content or "").strip()
    return Completion(text, used(llm, _reported(response.additional_kwargs), messages, text))


def strip_reasoning(text: str) -> str:
    """Return the answer in a whole output, "" if it ends before the answer begins."""
    answer = _CLOSE.split(text)[-1]
    return "" if _OPEN.match(answer) else answer


class ReasoningFilter:
    """Remove the reasoning from an output that comes piece by piece.

    Some chat templates contain the opening tag, so that the output has only the closing one. Such reasoning is
    recognised only at its end: it passes, with its closing tag.
    """

    def __init__(self) -> None:
        """Expect the beginning of the output."""
        self._held: str | None = ""

    def feed(self, text: str) -> str:
        """Add a piece; return what belongs to the answer."""
        if self._held is None:
            return text
        self._held += text
        start = self._held.lstrip().lower()
        may_open = any(tag.startswith(start) and tag != start for tag in _TAGS)  # white space, or a part of a tag
        if may_open or (_OPEN.match(self._held) and not _CLOSE.search(self._held)):
            return ""
        return self.finish()

    def finish(self) -> str:
        """Return the rest at the end of the output."""
        held, self._held = self._held, None
        return strip_reasoning(held) if held and _OPEN.match(held) else held or ""


class ReadingSpeeds:
    """How fast the models of this machine read their prompts: tokens per second by model, from the answers they gave.

    A model on a processor reads some tens of tokens a second: ten pages are minutes before its first word. So the speed
    decides how much of the sources it gets.
    """

    def __init__(self) -> None:
        self._speeds: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def record(self, model: str, tokens: int, seconds: float) -> None:
        """Record that `model` read a prompt of so many tokens in so many seconds."""
        if tokens < LEAST_MEASURED_TOKENS or seconds <= 0:
            return
        with self._lock:
            self._speeds.setdefault(model, deque(maxlen=MEASURED_PROMPTS)).append(tokens / seconds)

    def slowest(self, model: str) -> float | None:
        """Return the lowest of the last speeds, None before the first."""
        with self._lock:
            return min(self._speeds.get(model, ()), default=None)

    def budget(self, model: str) -> int:
        """Return the tokens of a prompt that `model` reads in time."""
        speed = self.slowest(model)
        return UNKNOWN_TOKENS if speed is None else max(int(speed * READING_SECONDS), LEAST_TOKENS)


READING_SPEEDS = ReadingSpeeds()
"""The speeds of this process."""
