"""What language models are asked for, once per user, model and prompt."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rag import prompts, providers
from rag.store import CompletionKind

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

LEAST_CHARS = 100
"""Less of a text is not worth reading."""


class Memory(Protocol):
    """Where completions are kept for one user."""

    def recall(self, kind: CompletionKind, key: bytes) -> str | None:
        """The completion of a request with this `key`, if there was one."""
        ...

    def keep(self, kind: CompletionKind, key: bytes, completion: str) -> None:
        """Remember a completion."""
        ...


@dataclass(frozen=True)
class Completions:
    """A language model whose short completions on the way of a search are remembered."""

    llm: "LLM"
    memory: Memory

    def longest(self, prompt: Callable[[int], str], chars: int) -> str:
        """The prompt with `chars` of each of its texts, or with fewer, until the model's window has room for it."""
        while chars > LEAST_CHARS and providers.remaining_tokens(self.llm, prompt(chars)) < 0:
            chars //= 2
        return prompt(chars)

    def complete(self, kind: CompletionKind, prompt: str) -> str:
        """The model's answer to `prompt`, or the one it gave before.

        Raises:
            errors.ProviderError: the model's vendor refuses or is down.
        """
        import llama_index.core
        from llama_index.core.llms import ChatMessage, MessageRole

        key = request_digest(providers.model_id(self.llm), prompts.AUGMENTATION_PROMPT_VERSION, prompt)
        known = self.memory.recall(kind, key)
        if known is not None:
            return known
        completion = providers.complete(self.llm, [ChatMessage(role=MessageRole.USER, content=prompt)])
        self.memory.keep(kind, key, completion)
        return completion


def request_digest(*parts: str) -> bytes:
    """A key for everything a completion depends on; no two different lists of parts have the same."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()
