"""Rerankers, which score texts together with the question."""

import re
from collections.abc import Sequence
from typing import Protocol

from rag import errors, prompts
from rag.messages import N_
from rag.retrieval.completion_cache import Completions

MAX_PASSAGE_CHARS = 2000
"""Maximum length of a passage in the prompt; chunks are rarely longer."""
BEST_RATING = 10.0

_RATING = re.compile(r"^[^\w\n]*(\d{1,3})\W*[:=]\s*(\d{1,2}(?:\.\d+)?)", re.MULTILINE)


class Reranker(Protocol):
    """A reranker: scores texts against a query."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, in 0..1."""
        ...


class ModelReranker:
    """A language model as reranker, with one cached request for all passages."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, in 0..1; 0 for texts that the model left out.

        Raises:
            errors.ProviderError: the language model refuses or is down.
            errors.RetrievalError: its reply holds no rating.
        """
        if not texts:
            return []

        def prompt(chars: int) -> str:
            passages = "\n".join(
                prompts.RERANK_ITEM.format(number=number, text=" ".join(text[:chars].split()))
                for number, text in enumerate(texts, start=1)
            )
            return prompts.RERANK.format(question=query, passages=passages)

        reply = self._completions.complete("rerank", self._completions.longest(prompt, MAX_PASSAGE_CHARS))
        ratings = {int(number): float(rating) for number, rating in _RATING.findall(reply)}
        if not ratings:
            raise errors.RetrievalError(
                N_(
                    "The language model's order of the passages could not be read. Rerank with the cross-encoder "
                    "instead."
                )
            )
        return [min(ratings.get(number, 0.0) / BEST_RATING, 1.0) for number in range(1, len(texts) + 1)]
