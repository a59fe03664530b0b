"""Multi-step retrieval: a language model decomposes a question into look-ups, each searched separately."""

import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from rag import prompts, types
from rag.retrieval.completion_cache import Completions
from rag.retrieval.query_expansion import normal, read_list
from rag.retrieval.ranking import Ranking, best_first

MAX_LOOKUP_CHARS = 300
"""Maximum length of a look-up."""
PLACES_SHOWN = 3
"""Number of results of each look-up to show to the model."""
EXCERPT_CHARS = 800

_LOOKUP = re.compile(r"\W*look-?up\W*:(.+)", re.IGNORECASE)
_AROUND = ' "“”*`'

Search = Callable[[Sequence[str]], Sequence[Ranking]]
Read = Callable[[Sequence[uuid.UUID]], Sequence[tuple[types.Chunk, types.Document]]]


@dataclass(frozen=True)
class LookedUp:
    """A look-up and its ranked candidates."""

    variant: types.Variant
    ranking: Ranking


def look_up(question: str, budget: int, completions: Completions, *, search: Search, read: Read) -> list[LookedUp]:
    """Run up to `budget` look-ups for `question`, in steps.

    After each step the model sees the results and names further look-ups. A reply without any ends the loop.

    Raises:
        errors.ProviderError: the language model refuses or is down.
    """
    made: list[LookedUp] = []
    for step in range(1, budget + 1):
        left = budget - len(made)
        known = [question, *(one.variant.text for one in made)]
        prompt = completions.longest(partial(_prompt, question, left, made, read), EXCERPT_CHARS)
        texts = read_lookups(completions.complete("lookups", prompt), known)[:left]
        variants = [types.Variant(kind="lookup", text=text, step=step) for text in texts]
        made += map(LookedUp, variants, search(texts) if texts else ())
        if not texts or len(made) == budget:
            break
    return made


def read_lookups(reply: str, known: Iterable[str]) -> list[str]:
    """Return the distinct new look-ups of a reply: the lines that have the prompt's marker."""
    seen = {normal(text) for text in known}
    found = []
    for text in (match[1].strip(_AROUND) for line in read_list(reply) if (match := _LOOKUP.match(line))):
        is_fact = len(text) <= MAX_LOOKUP_CHARS and any(character.isalnum() for character in text)
        if is_fact and normal(text) not in seen:
            seen.add(normal(text))
            found.append(text)
    return found


def _prompt(question: str, left: int, made: Sequence[LookedUp], read: Read, chars: int) -> str:
    if not made:
        return prompts.TAKE_APART.format(count=left, question=question)
    found = "\n".join(_evidence(one, read, chars) for one in made)
    return prompts.LOOK_FURTHER.format(count=left, question=question, found=found)


def _evidence(one: LookedUp, read: Read, chars: int) -> str:
    """Format the best results of a look-up for the prompt."""
    places = [
        prompts.LOOKUP_PLACE.format(
            name=" ".join(document.name.split()),
            page=chunk.page_number,
            text=" ".join(chunk.text[:chars].split()),
        )
        for chunk, document in read(best_first(one.ranking.fused)[:PLACES_SHOWN])
    ]
    return prompts.LOOKUP_FOUND.format(lookup=one.variant.text, places="".join(places) or prompts.NOTHING_FOUND)
