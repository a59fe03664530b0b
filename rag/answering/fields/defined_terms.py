"""Find the terms that a document defines: "May 3, 2019 (the “Closing Date”)", "Acme Inc. (“Owner”)", "“Term”: …"."""

import functools
import re
from typing import NamedTuple

from rag import types
from rag.answering.fields.text_spans import LEGAL_FORM, spans

REACH_CHARS = 250
"""Characters before a term in which what it stands for begins."""

MAX_NAME_CHARS = 120
"""Longer words before a term are no name."""

_QUOTED = r"[\"“”„‟](?P<{name}>[^\"“”„‟]{{1,60}})[\"“”„‟]"
_BEHIND = re.compile(
    rf"\((?:[^()\"“”„‟]{{0,60}}){_QUOTED.format(name='alias')}[^()]{{0,60}}\)"
    rf"|\bhereinafter\b[^()\"“”„‟.;]{{0,40}}{_QUOTED.format(name='called')}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"{_QUOTED.format(name='term')}\s?(?::|(?:shall\s)?means?\b|refers?\sto\b|bedeutet\b)", re.IGNORECASE
)
_LINK = re.compile(r"[\s,;:]*(?:(?:and|&|und)\b|[,;])", re.IGNORECASE)
_LEAD = re.compile(
    r"[\s,;:]*(?:(?:and|&|und)\b\s*)?(?:\(?[1-9ivx]{1,3}[.)]\s*)?(?:(?:the|der|die|das)\s+)?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|among|by|zwischen)\b(?:\s+and\s+(?:between|among)\b)?", re.IGNORECASE)


_LEGAL_FORM = re.compile(LEGAL_FORM)


class DefinedTerm(NamedTuple):
    """A term, the part of the text that says what it stands for, and whether the term stands behind that part."""

    term: str
    start: int
    end: int
    is_behind: bool


@functools.lru_cache(maxsize=20_000)
def defined_terms(text: str) -> tuple[DefinedTerm, ...]:
    """Return the terms that `text` defines, in its order: those in brackets, then those that begin a definition."""
    found, start = list[DefinedTerm](), 0
    for match in _BEHIND.finditer(text):
        begin = max(start, match.start() - REACH_CHARS)
        term = (match["alias"] or match["called"]).strip(" ,.")
        found.append(DefinedTerm(term, begin, match.start(), is_behind=True))
        start = match.end()
    for match in _BEFORE.finditer(text):
        term = match["term"].strip(" ,.")
        found.append(DefinedTerm(term, match.end(), min(match.end() + REACH_CHARS, len(text)), is_behind=False))
    return tuple(found)


def name_before(text: str, start: int, end: int) -> types.Span | None:
    """Return the first name between two places, one with a legal form before others; None if there is none."""
    if not _LINK.match(text, start, end) and (between := _BETWEEN.search(text, start, end)):
        start = between.end()
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    whole = types.Span(start, start + len(text[start:end].rstrip(" ,;.")))
    names = [types.Span(start + span.start, start + span.end) for span in spans(text[slice(*whole)])]
    names = [name for name in names if text[name.start].isupper() and name.end < whole.end]
    names = [name for name in names if not _LEGAL_FORM.fullmatch(text[slice(*name)])] or [whole]
    formal = [name for name in names if re.search(rf"(?<!\w){LEGAL_FORM}$", text[slice(*name)])]
    chosen = (formal or names)[0]
    return chosen if 2 < chosen.end - chosen.start < MAX_NAME_CHARS else None
