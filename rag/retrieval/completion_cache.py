"""Cached completions of language models, by user, model and prompt."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rag import prompts, providers, types
from rag.store.conversations.caches import CompletionKind

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

MIN_CHARS = 100
"""Minimum length to which a text in a prompt is cut."""


class CompletionCache(Protocol):
    """A cache of completions for one user."""

    def recall(self, kind: CompletionKind, key: bytes) -> str | None:
        """Return the cached completion of `key`, if any."""
        ...

    def keep(self, kind: CompletionKind, key: bytes, completion: str) -> None:
        """Store a completion."""
        ...


@dataclass(frozen=True)
class Completions:
    """A language model with completions that are cached if there is a `memory`; what others use is added to `spent`."""

    llm: "LLM"
    memory: CompletionCache | None
    spent: list[types.Usage] = field(default_factory=list)

    def longest(self, prompt: Callable[[int], str], chars: int) -> str:
        """Return the prompt with up to `chars` of each text, halved until it fits the context window."""
        while chars > MIN_CHARS and providers.remaining_tokens(self.llm, prompt(chars)) < 0:
            chars //= 2
        return prompt(chars)

    def complete(
        self,
        kind: CompletionKind,
        prompt: str,
        schema: Mapping[str, Any] | None = None,
        *,
        is_usable: Callable[[str], object] = bool,
    ) -> str:
        """Return the completion of `prompt` from the cache or the model, in JSON of `schema` if it can be told one.

        Only what `is_usable` is cached.

        Raises:
            errors.ProviderError: the model's vendor refuses or is down.
        """
        import llama_index.core
        from llama_index.core.llms import ChatMessage, MessageRole

        key = request_digest(providers.model_id(self.llm), prompts.AUGMENTATION_PROMPT_VERSION, prompt)
        known = self.memory.recall(kind, key) if self.memory else None
        if known is not None:
            return known
        completion, usage = providers.complete(self.llm, [ChatMessage(role=MessageRole.USER, content=prompt)], schema)
        self.spent.append(usage)
        if self.memory and is_usable(completion):
            self.memory.keep(kind, key, completion)
        return completion


def request_digest(*parts: str) -> bytes:
    """Return an unambiguous cache key of the parts."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()
