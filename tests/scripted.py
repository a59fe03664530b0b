"""A scripted language model."""

from collections.abc import Callable, Mapping
from typing import Any

from rag.retrieval.completion_cache import Completions
from rag.store.conversations.caches import CompletionKind


class Scripted(Completions):
    """A language model that returns given completions and records its prompts."""

    def __init__(self, *replies: str) -> None:
        object.__setattr__(self, "replies", [*replies])
        object.__setattr__(self, "asked", [])

    replies: list[str]
    asked: list[tuple[CompletionKind, str]]

    def longest(self, prompt: Callable[[int], str], chars: int) -> str:
        return prompt(chars)

    def complete(
        self,
        kind: CompletionKind,
        prompt: str,
        schema: Mapping[str, Any] | None = None,
        *,
        is_usable: Callable[[str], object] = bool,
    ) -> str:
        self.asked.append((kind, prompt))
        return self.replies.pop(0)
