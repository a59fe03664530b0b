"""Query variants by a language model: rewrites, and a hypothetical answer (HyDE)."""

import re

from rag import prompts, types
from rag.retrieval.completion_cache import Completions

MAX_VARIANT_CHARS = 2000
"""Maximum length of a variant."""

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.):])\s+")


def variants(query: str, options: types.RetrievalOptions, completions: Completions | None) -> tuple[types.Variant, ...]:
    """Return the query, then the distinct variants that the options ask for.

    Raises:
        errors.ProviderError: the language model refuses or is down.
    """
    found = [types.Variant(kind="question", text=query)]
    if completions and options.multi_query:
        prompt = prompts.REWRITE_QUERY.format(count=options.multi_query, question=query)
        rewrites = read_list(completions.complete("rewrites", prompt))
        found += [types.Variant(kind="rewrite", text=text) for text in rewrites[: options.multi_query]]
    if completions and options.hyde:
        text = completions.complete("hyde", prompts.HYPOTHETICAL_ANSWER.format(question=query)).strip()
        found += [types.Variant(kind="hyde", text=text[:MAX_VARIANT_CHARS])] if text else []
    unique: dict[str, types.Variant] = {}
    for variant in found:
        unique.setdefault(normal(variant.text), variant)
    return tuple(unique.values())


def normal(text: str) -> str:
    """Normalize white space and case for comparison."""
    return " ".join(text.split()).casefold()


def read_list(reply: str) -> list[str]:
    """Return the lines of a reply without bullets, numbers and quotation marks."""
    lines = (_LIST_MARK.sub("", line).strip().strip('"“”') for line in reply.splitlines())
    return [line[:MAX_VARIANT_CHARS] for line in lines if any(character.isalnum() for character in line)]
