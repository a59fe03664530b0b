"""Call models: embed texts, complete prompts, read context windows and prices."""

import time
from collections.abc import Generator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM, ChatMessage

from rag import errors, types
from rag.providers.embedded_models import count_tokens, estimate_max_tokens
from rag.providers.reading_speed import READING_SPEEDS
from rag.providers.reasoning import ReasoningFilter, strip_reasoning
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


class StreamEnd(NamedTuple):
    """Token counts of a streamed answer (0 if the vendor gives none), and whether its length limit cut it off."""

    usage: types.Usage = types.Usage()
    is_cut_off: bool = False


def embed_texts(embedder: BaseEmbedding, texts: Sequence[str]) -> list[list[float]]:
    """Embed passages in batches of the provider's size; raises `errors.ProviderError`."""
    return embedder.get_text_embedding_batch(list(texts)) if texts else []


def embed_query(embedder: BaseEmbedding, query: str) -> list[float]:
    """Embed a search query; raises `errors.ProviderError`."""
    return embedder.get_query_embedding(query)


def complete_stream(llm: LLM, messages: Sequence[ChatMessage]) -> Generator[str, None, StreamEnd]:
    """Stream an answer without the reasoning before it.

    Closing the generator early ends the request.

    Raises:
        errors.ProviderError: the vendor refuses, is down or breaks off.
    """
    counts: dict[str, int] = {}
    started, read_seconds, cut_off = time.perf_counter(), 0.0, False
    reasoning = ReasoningFilter()
    pieces = llm.stream_chat(messages)
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
        prompt_tokens = counts.get("prompt_tokens") or sum(count_tokens(message.content or "") for message in messages)
        READING_SPEEDS.record(model_id(llm), prompt_tokens, read_seconds)
    usage = types.Usage(input_tokens=counts.get("prompt_tokens", 0), output_tokens=counts.get("completion_tokens", 0))
    return StreamEnd(usage, cut_off)


def model_id(llm: LLM) -> str:
    """Return `provider:model`; the provider of a caller's own model is its class name."""
    provider = llm.provider if isinstance(llm, VendorLLM) else llm.class_name()
    return f"{provider}:{llm.metadata.model_name}"


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


def complete(llm: LLM, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
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
    return strip_reasoning(response.message.content or "").strip()
