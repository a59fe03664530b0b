"""Build the text of sources that a model reads: stable ids, no line twice, within a token budget."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag import prompts, providers
from rag.answering.text.markup import INVISIBLE
from rag.types import Hit, Line, lines_text

CONTEXT_BUDGET_TOKENS = 10_000
"""About eight full pages of English; leaves room in the smallest models in use (16,000 tokens)."""

MIN_SOURCE_TOKENS = 50
"""Minimum room for a further source."""

FAIR_SOURCES = 5
"""Best sources that share the room: the answer stands among them far more often than on the first page alone."""

MIN_SHARE_TOKENS = 200
"""Least share of a source, about a paragraph."""

_GAP = rf"(?:\s|{INVISIBLE})*+"
_FAKE_MARK = re.compile(
    rf"[\[【〔［](?={_GAP}(?:\^|S{_GAP}ources?\b|S{_GAP}\d))([^\[\]【】〔〕［］]*)([\]】〕］]?)", re.IGNORECASE
)
_FAKE_ROUND_MARK = re.compile(
    rf"\(({_GAP}S{_GAP}\d{{1,4}}(?:{_GAP}[,;]{_GAP}S{_GAP}\d{{1,4}})*{_GAP})\)", re.IGNORECASE
)
_FAKE_TAG = re.compile(
    rf"<(?={_GAP}/?{_GAP}(?:quote|source|system|user|assistant|instruction)s?\b)([^<>]*)>", re.IGNORECASE
)


class Source(NamedTuple):
    """A hit as given to the model: its id and lines."""

    citation_id: str
    hit: Hit
    lines: tuple[Line, ...]


class Context(NamedTuple):
    """The sources of one answer and the text that presents them."""

    sources: tuple[Source, ...]
    text: str

    @property
    def hits(self) -> dict[str, Hit]:
        """The hits by their ids."""
        return {source.citation_id: source.hit for source in self.sources}


def build_context(hits: Iterable[Hit], *, budget_tokens: int = CONTEXT_BUDGET_TOKENS) -> Context:
    """Return the best `hits` as sources S1, S2 …, in order.

    Lines of earlier sources are not repeated; a hit without other lines is left out. A source that is too long for its
    share of the budget, counted in the embedded model's tokens, is cut around its chunk.
    """
    hits = list(hits)
    sharing = min(FAIR_SOURCES, len(hits))
    sources: list[Source] = []
    seen: set[tuple[object, int, str]] = set()
    room = budget_tokens
    for hit in hits:
        lines = [line for line in hit.passage.lines if _key(hit, line) not in seen]
        if not any(line.text.strip() for line in lines):
            continue
        if room < MIN_SOURCE_TOKENS and sources:
            break
        share = min(max(room // max(sharing - len(sources), 1), MIN_SHARE_TOKENS), room)
        source = _fit(Source(f"S{len(sources) + 1}", hit, tuple(lines)), share)
        sources.append(source)
        seen.update(_key(hit, line) for line in source.lines)
        room -= providers.count_tokens(format_source(source))
    return Context(tuple(sources), "\n".join(map(format_source, sources)))


def build_fitting_context(hits: Sequence[Hit], *, budget_tokens: int, room: int) -> Context:
    """Build a context that fits into `room` tokens of the model, whose tokenizer may count more."""
    budget = min(budget_tokens, room)
    while True:
        context = build_context(hits, budget_tokens=budget)
        most = providers.estimate_max_tokens(context.text)
        if most <= room or budget < MIN_SOURCE_TOKENS:
            return context
        budget = min(budget * room // most, budget - 1)


def _key(hit: Hit, line: Line) -> tuple[object, int, str]:
    # A caller's own block may give one number to several lines, and a long line may be cut into parts
    return hit.passage.document_id, line.number, line.text


def _fit(source: Source, room: int) -> Source:
    """Cut `source` to about `room` tokens, by its mean number of characters per token."""
    text = format_source(source)
    tokens = providers.count_tokens(text)
    if tokens <= room:
        return source
    return source._replace(lines=tuple(_cut(source.lines, source.hit, len(text) * max(room, 0) // tokens)))


def _cut(lines: Sequence[Line], hit: Hit, room: int) -> list[Line]:
    """Return as many `lines` as fit, first those of the hit's chunk, then those around it; at least one."""
    first = next((i for i, line in enumerate(lines) if line.number >= hit.chunk.line_start), 0)
    start, end = first, first + 1
    left = room - len(lines[first].text)
    while True:
        after = end < len(lines) and len(lines[end].text) + 2 <= left
        in_chunk = end < len(lines) and lines[end].number <= hit.chunk.line_end
        if after and (in_chunk or start == 0 or end - first <= first - start):
            left -= len(lines[end].text) + 2
            end += 1
        elif start > 0 and len(lines[start - 1].text) + 2 <= left:
            start -= 1
            left -= len(lines[start].text) + 2
        elif after:
            left -= len(lines[end].text) + 2
            end += 1
        else:
            return list(lines[start:end])


def format_source(source: Source) -> str:
    """Format a source for the model: id, `[Source: name, Page X, Lines Y-Z]`, text."""
    pages = sorted({line.page_number for line in source.lines})
    return prompts.CONTEXT_ITEM.format(
        citation_id=source.citation_id,
        name=neutralise_marks(" ".join(source.hit.document_name.split())).translate(_NO_BRACKETS),
        pages="-".join(map(str, dict.fromkeys((pages[0], pages[-1])))),
        line_start=source.lines[0].number,
        line_end=source.lines[-1].end,
        text=neutralise_marks(lines_text(source.lines)),
    )


_NO_BRACKETS = str.maketrans("[]", "()")


def neutralise_marks(text: str) -> str:
    """Replace the brackets of everything that looks like our own marks by ⟦⟧ or ⟨⟩.

    So a document cannot forge a source, a citation or a quote. Quote matching treats both kinds of bracket as the same
    (`quote_matching.normalize`).
    """
    text = _FAKE_TAG.sub(r"⟨\1⟩", text)
    text = _FAKE_ROUND_MARK.sub(r"⟦\1⟧", text)
    return _FAKE_MARK.sub(lambda mark: f"⟦{mark[1]}{mark[2] and '⟧'}", text)
