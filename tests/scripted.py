"""A language model that says what the test wants."""

from collections.abc import Callable

from rag.retrieval.completion_cache import Completions
from rag.store import CompletionKind


class Scripted(Completions):
    """Completions that say what the test wants, and keep what they were asked."""

    def __init__(self, *replies: str) -> None:
        object.__setattr__(self, "replies", [*replies])
        object.__setattr__(self, "asked", [])

    replies: list[str]
    asked: list[tuple[CompletionKind, str]]

    def longest(self, prompt: Callable[[int], str], chars: int) -> str:
        return prompt(chars)

    def complete(self, kind: CompletionKind, prompt: str) -> str:
        self.asked.append((kind, prompt))
        return self.replies.pop(0)
