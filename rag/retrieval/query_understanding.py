"""Rule-based query understanding: periods, vocabulary and landmarks."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from rag import types
from rag.vocabulary import Widened, Widener, document_terms, references, spell_out_periods

MARKS = '.,;:?!()[]"“”'
"""Punctuation around a period."""


@dataclass(frozen=True)
class Understanding:
    """A question prepared for search: its text, added phrases, and landmarks."""

    text: str
    added: tuple[str, ...] = ()
    landmarks: tuple[str, ...] = ()
    rewritings: tuple[types.Rewriting, ...] = ()


def understand(question: str, options: types.RetrievalOptions, widener: Widener) -> Understanding:
    """Apply the options' expansions to `question`; takes about a third of a millisecond."""
    text = spell_out_periods(question) if options.periods else question
    terms = document_terms(text) if options.vocabulary else ()
    searched = " ".join([text, *terms])
    widened = widener.widen(searched) if options.vocabulary or options.landmarks else Widened()
    widenings = widened.widenings if options.vocabulary else ()
    widened_by = [
        *([types.Rewriting(kind="synonym", found=question.split(maxsplit=1)[0], added=terms)] if terms else []),
        *(types.Rewriting(kind=one.kind, found=one.found, added=one.added, trade=one.trade) for one in widenings),
    ]
    places = [place.name for place in widened.places] if options.landmarks else []
    numbered = [reference.name for reference in references(question)] if options.landmarks else []
    landmarks = tuple(dict.fromkeys([*numbered, *places]))
    return Understanding(
        text=searched,
        added=tuple(phrase for rewriting in widened_by for phrase in rewriting.added),
        landmarks=landmarks,
        rewritings=(
            *_spelled_out(question, text),
            *widened_by,
            *(types.Rewriting(kind="landmark", found=question, added=(name,)) for name in landmarks),
        ),
    )


def _spelled_out(question: str, text: str) -> Iterator[types.Rewriting]:
    """Yield each spelled-out period: the words in which `text` differs from `question`."""
    asked, read = question.split(), text.split()
    for tag, start, end, read_start, read_end in difflib.SequenceMatcher(None, asked, read, False).get_opcodes():
        if tag != "equal":
            found, added = (" ".join(words).strip(MARKS) for words in (asked[start:end], read[read_start:read_end]))
            yield types.Rewriting(kind="period", found=found, added=(added,))
