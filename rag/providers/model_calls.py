"""The calls that the rest of the package makes of a model."""

from collections.abc import Generator, Sequence

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM, ChatMessage

from rag.providers.embedded_models import most_tokens
from rag.providers.vendor_models import VendorLLM
from rag.types import Usage

MESSAGE_TOKENS = 16
"""What a model's template puts around a message, at most."""


def embed_texts(embedder: BaseEmbedding, texts: Sequence[str]) -> list[list[float]]:
    """One vector per passage, in order, in requests as large as the provider takes.

    Raises:
        errors.ProviderError: the vendor refuses or is down.
    """
    return embedder.get_text_embedding_batch(list(texts)) if texts else []


def embed_query(embedder: BaseEmbedding, query: str) -> list[float]:
    """The vector to search with.

    Raises:
        errors.ProviderError: the vendor refuses or is down.
    """
    return embedder.get_query_embedding(query)


def complete_stream(llm: LLM, messages: Sequence[ChatMessage]) -> Generator[str, None, Usage]:
    """The answer piece by piece; the generator's value is what it cost, as the vendor counts (0 where it does not).

    Closing the generator early ends the request.

    Raises:
        errors.ProviderError: the vendor refuses or is down, also in the middle of the answer.
    """
    counted: dict[str, int] = {}
    pieces = llm.stream_chat(messages)
    try:
        for piece in pieces:
            if piece.delta:
                yield piece.delta
            counted.update(_counts(piece.additional_kwargs))
    finally:
        pieces.close()
    return Usage(
        input_tokens=counted.get("prompt_tokens", 0),
        output_tokens=counted.get("completion_tokens", 0),
    )


def model_id(llm: LLM) -> str:
    """`provider:model`, so that models of the same name are told apart; of a caller's own model, its class's name."""
    provider = llm.provider if isinstance(llm, VendorLLM) else llm.class_name()
    return f"{provider}:{llm.metadata.model_name}"


def cost(llm: LLM, usage: Usage) -> float | None:
    """What it cost in dollars by the vendor's list price; None where that is not known, or nothing was counted."""
    price = llm.price() if isinstance(llm, VendorLLM) else None
    if price is None or not usage.output_tokens:
        return None
    return (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000


def context_window(llm: LLM) -> int:
    """How many tokens, of prompt and answer together, a model takes; a server of somebody's own models is asked."""
    return llm.context_window if isinstance(llm, VendorLLM) else llm.metadata.context_window


def room_left(llm: LLM, *texts: str) -> int:
    """Tokens for which there is room in the model's window beside `texts`, each a message, and the whole answer.

    Less than 0 if there is none.
    """
    answer = max(llm.metadata.num_output, 0)
    return context_window(llm) - answer - sum(most_tokens(text) + MESSAGE_TOKENS for text in texts)


def complete(llm: LLM, messages: Sequence[ChatMessage]) -> str:
    """The whole answer.

    Raises:
        errors.ProviderError: the vendor refuses or is down.
    """
    return llm.chat(messages).message.content or ""


def _counts(values: dict[str, object]) -> dict[str, int]:
    if usage := values.get("usage"):  # of OpenAI's Responses
        values = {
            "prompt_tokens": getattr(usage, "input_tokens", 0),
            "completion_tokens": getattr(usage, "output_tokens", 0),
        }
    return {name: value for name, value in values.items() if isinstance(value, int)}
