"""Look-ups: a language model takes a question apart into single facts, each searched on its own, step by step."""

import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from rag import prompts
from rag.retrieval.completion_cache import Completions
from rag.retrieval.query_expansion import normal, read_list
from rag.retrieval.ranking import Ranking, best_first
from rag.types import Chunk, Document, Variant

MAX_LOOKUP_CHARS = 300
"""What a model writes beyond this is no single fact."""
PLACES_SHOWN = 3
"""Of what each look-up found, for the model to say whether it suffices."""
EXCERPT_CHARS = 800

_LOOKUP = re.compile(r"\W*look-?up\W*:(.+)", re.IGNORECASE)
_AROUND = ' "“”*`'

Search = Callable[[Sequence[str]], Sequence[Ranking]]
Read = Callable[[Sequence[uuid.UUID]], Sequence[tuple[Chunk, Document]]]


@dataclass(frozen=True)
class LookedUp:
    """A look-up and its candidates."""

    variant: Variant
    ranking: Ranking


def look_up(question: str, budget: int, completions: Completions, *, search: Search, read: Read) -> list[LookedUp]:
    """What the model wants looked up for `question`, `budget` look-ups at most, in the order of its steps.

    After each step it is shown what was found, and says what else is needed. A reply without look-ups ends it: so does
    one that cannot be read.

    Raises:
        errors.ProviderError: the language model refuses or is down.
    """
    made: list[LookedUp] = []
    for step in range(1, budget + 1):
        left = budget - len(made)
        known = [question, *(one.variant.text for one in made)]
        prompt = completions.longest(partial(_prompt, question, left, made, read), EXCERPT_CHARS)
        texts = read_lookups(completions.complete("lookups", prompt), known)[:left]
        variants = [Variant(kind="lookup", text=text, step=step) for text in texts]
        made += map(LookedUp, variants, search(texts) if texts else ())
        if not texts or len(made) == budget:
            break
    return made


def read_lookups(reply: str, known: Iterable[str]) -> list[str]:
    """The look-ups of a reply that are not `known`, each once. Only what the prompt's word marks is one."""
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
    """The best places of a look-up, as the model reads them."""
    places = [
        prompts.LOOKUP_PLACE.format(
            name=" ".join(document.name.split()),
            page=chunk.page_number,
            text=" ".join(chunk.text[:chars].split()),
        )
        for chunk, document in read(best_first(one.ranking.fused)[:PLACES_SHOWN])
    ]
    return prompts.LOOKUP_FOUND.format(lookup=one.variant.text, places="".join(places) or prompts.NOTHING_FOUND)
