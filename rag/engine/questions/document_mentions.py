"""Find documents that a question mentions by file name or title. Pure functions."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rag import types
from rag.answering.text.term_weights import word_set
from rag.vocabulary import years

MAX_ALIAS_WORDS = 3
"""The first word of a longer title is no name: "Annual results of the harbour board" is not "Annual"."""

MIN_BEGINNING_CHARS = 4
"""Minimum length of a first word that stands for the whole name."""

_WORD = re.compile(r"[^\W\d_]+(?:&[^\W\d_]+)*")
_ASKED_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)*")


_GENERIC = word_set(
    "the a an of and for in on to by from with inc corp corporation company co ltd limited plc llc lp gmbh ag sa se "
    "nv bv group holdings holding form annual quarterly report reports filing filed fy year quarter ended results "
    "earnings press release statement statements financial final draft version copy signed dated document documents "
    "doc pdf file page pages paper article manual presentation slides contract agreement lease policy letter "
    "minutes notes memo january february march april may june july august september october november december "
    "appendix exhibit ex"
)
"""Words that do not distinguish file names."""


class Mention(NamedTuple):
    """A name in a question, and the documents it may refer to."""

    span: types.Span
    documents: tuple[types.Document, ...]


def find_mentions(question: str, documents: Iterable[types.Document]) -> list[Mention]:
    """Return the mentions of `documents` in `question`, in order.

    If documents share a name, the years in the question decide.
    """
    words = list(_ASKED_WORD.finditer(question))
    found: dict[types.Span, list[types.Document]] = {}
    for document in documents:
        spans = {span for alias in aliases(document) if (span := _find_alias(alias, words, question))}
        for span in spans:
            found.setdefault(span, []).append(document)
    longest = [
        span
        for span in sorted(found)
        if not any(other.start <= span.start and span.end <= other.end for other in found if other != span)
    ]
    asked_years = {str(year) for year in years(question)}
    mentions = []
    for span in longest:
        of_years = [one for one in found[span] if asked_years & {*re.findall(r"\d{4}", one.name)}]
        mentions.append(Mention(span, tuple(of_years or found[span])))
    return mentions


def aliases(document: types.Document) -> set[tuple[str, ...]]:
    """Return the names of a document in lower case: the distinctive words of its file name and title."""
    named = (PurePath(document.name).stem, document.title or "")
    return {words for text in named if (words := _distinctive_words(text))}


def _distinctive_words(text: str) -> tuple[str, ...]:
    words = (word.lower() for word in _WORD.findall(text))
    return tuple(word for word in words if len(word) > 1 and word not in _GENERIC)


def _find_alias(alias: Sequence[str], words: Sequence[re.Match[str]], question: str) -> types.Span | None:
    """Find a name as a whole, ignoring spaces, or its capitalised first word."""
    whole = "".join(alias)
    lowered = [match[0].lower() for match in words]
    for first in range(len(words)):
        for last in range(first, min(first + len(alias) + 2, len(words))):
            joined = "".join(lowered[first : last + 1])
            if joined == whole and len(whole) >= 3:
                return types.Span(words[first].start(), words[last].end())
    if not 1 < len(alias) <= MAX_ALIAS_WORDS or len(alias[0]) < MIN_BEGINNING_CHARS:
        return None
    for place, match in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        goes_on = (
            following is not None
            and following[0][0].isupper()
            and not question[match.end() : following.start()].strip()
        )
        if lowered[place] == alias[0] and match[0][0].isupper() and not goes_on:
            return types.Span(*match.span())
    return None
