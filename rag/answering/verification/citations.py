"""Parse an answer into sentences, the sources they cite and the quotes proposed for them."""

import bisect
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text
from rag.answering.text.answer_sentences import (
    SOURCES_LINE,
    answer_sentences,
    markdown_row,
    strip_markup,
    without_marks,
)
from rag.answering.text.markup import CITATION_MARK, AnswerFilter, ProposedQuote
from rag.answering.verification.checkable_statements import checkable_statement, is_refusal

_LINE = re.compile(r"[^\n]+")
_MARKS = re.compile(rf"(?:(?<!\s)\s+)?{CITATION_MARK.pattern}")
_CUT_MARK = re.compile(r"(?:(?<!\s)\s+)?\[S?\d*$")
"""What is left of a mark where the output was cut off."""

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ITEM = re.compile(r"(?P<indent>[ \t>]*)(?:[•‣◦▪●○–—*+-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]")
MIN_COVERED = 0.6
"""Minimum share of a sentence's words in the quotes of the next one, with which it shares their sources."""

_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[.,;:!?)](?:\s|$))")


class Claim(NamedTuple):
    """A sentence of the answer and the quotes proposed for it."""

    sentence: types.Sentence
    quotes: tuple[ProposedQuote, ...] = ()


class ParsedAnswer(NamedTuple):
    """An answer as displayed, citation marks included, and its sentences."""

    text: str
    claims: tuple[Claim, ...]


def parse(raw: str, known: Collection[str]) -> ParsedAnswer:
    """Split a model's raw output into claims, keeping only citation marks of `known` ids."""
    markup = AnswerFilter(known)
    return parse_filtered(markup.feed(raw) + markup.finish(), markup.quotes)


def parse_filtered(text: str, quotes: Sequence[ProposedQuote]) -> ParsedAnswer:
    """Split `text`, the output of an AnswerFilter, into claims with its `quotes`.

    A sentence without a citation mark gets the marks of its quotes' sources, or of the table, list or paragraph that it
    belongs to.
    """
    answer = ParsedAnswer(text, tuple(_claims(text, quotes)))
    quoted = {
        index: [quote.citation_id for quote in claim.quotes if quote.citation_id]
        for index, claim in enumerate(answer.claims)
        if not claim.sentence.citation_ids
    }
    answer = with_citations(answer, quoted)
    return with_citations(answer, _inherited(answer))


def with_citations(answer: ParsedAnswer, sources: Mapping[int, Sequence[str]]) -> ParsedAnswer:
    """Return `answer` with the marks of `sources` after its sentences, which are given by their index.

    They replace the marks that these sentences have.
    """
    text = answer.text
    quotes = [quote for claim in answer.claims for quote in claim.quotes]
    for index in sorted(sources, reverse=True):
        mark = "".join(f"[{citation_id}]" for citation_id in dict.fromkeys(sources[index]))
        if not mark:
            continue
        sentence = answer.claims[index].sentence
        own = text[sentence.start : sentence.end]
        bare = _CUT_MARK.sub("", _MARKS.sub("", own).rstrip(" |"))
        new = f"{bare} {mark}{own[len(own.rstrip(' |')) :]}"
        text = f"{text[: sentence.start]}{new}{text[sentence.end :]}"
        moved = len(new) - len(own)
        quotes = [q._replace(position=q.position + moved) if q.position > sentence.start else q for q in quotes]
    return answer if text == answer.text else ParsedAnswer(text, tuple(_claims(text, quotes)))


class _Block(NamedTuple):
    """Lines of an answer of one kind: "row", "item", "sources", "heading" or "text"; the last three are one line."""

    kind: str
    lines: list[int]


def _blocks(lines: Sequence[str]) -> list[_Block]:
    found: list[_Block] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if markdown_row(lines, number) is not None:
            kind = "row"
        elif SOURCES_LINE.fullmatch(line):
            kind = "sources"
        elif _HEADING.match(line):
            kind = "heading"
        else:
            kind = "item" if _ITEM.match(line) else "text"
        if found and found[-1].kind == kind and kind in ("row", "item"):
            found[-1].lines.append(number)
        else:
            found.append(_Block(kind, [number]))
    return found


def _inherited(answer: ParsedAnswer) -> dict[int, Sequence[str]]:
    """Return the ids that statements without marks take over, by the index of their sentence.

    A row has the sources of its table, else those of the sentence before or after it. A list item has the sources at
    its own end, else those of the item or sentence that introduces it, else of a line of marks below the list. A
    sentence in a paragraph has those of the next one if that one's quotes cover it.
    """
    lines = without_marks(answer.text).split("\n")
    ids: dict[int, Sequence[str]] = {i: claim.sentence.citation_ids for i, claim in enumerate(answer.claims)}
    claims: list[list[int]] = [[] for _ in lines]
    for index, claim in enumerate(answer.claims):
        claims[answer.text.count("\n", 0, claim.sentence.start)].append(index)
    blocks = _blocks(lines)
    around = [_Block("heading", []), *blocks, _Block("heading", [])]
    for before, block, after in zip(around, blocks, around[2:], strict=False):
        lead = _last_ids(ids, claims[before.lines[-1]]) if before.kind == "text" else ()
        own = [index for number in block.lines for index in claims[number]]
        if block.kind == "row":
            below = _last_ids(ids, claims[after.lines[0]][:1]) if after.kind == "text" else ()
            shared = tuple(dict.fromkeys(one for index in own for one in ids[index]))
            ids |= {index: shared or lead or below for index in own if not ids[index]}
        elif block.kind == "item":
            is_lead = bool(lead) and (
                lines[before.lines[-1]].rstrip().endswith(":") or before.lines[-1] + 1 == block.lines[0]
            )
            row = answer.text.split("\n")[after.lines[0]] if after.kind == "sources" else ""
            ids |= _of_items(lines, block, claims, ids, lead if is_lead else CITATION_MARK.findall(row))
        elif block.kind == "text":
            for index, following in reversed(list(itertools.pairwise(own))):
                if not ids[index] and _covers(answer.claims[following].quotes, answer.claims[index].sentence.text):
                    ids[index] = ids[following]
    return {
        index: inherited
        for index, inherited in ids.items()
        if inherited and not (sentence := answer.claims[index].sentence).citation_ids
        if checkable_statement(sentence, answer.text) and not is_refusal(sentence.text)
    }


def _last_ids(ids: Mapping[int, Sequence[str]], indices: Sequence[int]) -> Sequence[str]:
    return ids[indices[-1]] if indices else ()


def _of_items(
    lines: Sequence[str],
    block: _Block,
    claims: Sequence[Sequence[int]],
    ids: Mapping[int, Sequence[str]],
    lead: Sequence[str],
) -> dict[int, Sequence[str]]:
    """Return the ids of the sentences of a list; `lead` are those of the whole list."""
    found: dict[int, Sequence[str]] = {}
    above: list[tuple[int, Sequence[str]]] = []
    for number in block.lines:
        item = _ITEM.match(lines[number])
        indent = len(item["indent"].expandtabs(4)) if item else 0
        while above and above[-1][0] >= indent:
            above.pop()
        inherited = above[-1][1] if above else lead
        for index in reversed(claims[number]):
            inherited = found[index] = ids[index] or inherited
        above.append((indent, inherited))
    return found


def _covers(quotes: Sequence[ProposedQuote], sentence: str) -> bool:
    """Return whether quotes have the figures and most words of a sentence."""
    words = [quote.text for quote in quotes]
    said, quoted = Text(strip_markup(sentence)), Text("\n".join(words))
    shared = len(said.content_keys & quoted.keys)
    return shared > 0 and shared >= MIN_COVERED * len(said.content_keys) and not numbers.unsupported(said.text, words)


def _claims(text: str, quotes: Sequence[ProposedQuote]) -> list[Claim]:
    blank = without_marks(text)
    lines = [types.Span(*match.span()) for match in _LINE.finditer(text)]
    spans = answer_sentences(text)
    owner = _SentenceFinder(lines, spans)
    marks: list[list[re.Match[str]]] = [[] for _ in spans]
    for match in CITATION_MARK.finditer(text):
        if (index := owner.of(match.start())) is not None:
            marks[index].append(match)
    owned: list[list[ProposedQuote]] = [[] for _ in spans]
    for quote in quotes:
        if (index := owner.of(quote.position)) is not None:
            owned[index].append(quote)
    return [
        Claim(_sentence(blank, span, own), tuple(proposed))
        for span, own, proposed in zip(spans, marks, owned, strict=True)
    ]


class _SentenceFinder:
    """Find the sentence that a citation mark belongs to."""

    def __init__(self, lines: Sequence[types.Span], spans: Sequence[types.Span]) -> None:
        self._lines = [line.start for line in lines]
        self._starts = [span.start for span in spans]

    def of(self, position: int) -> int | None:
        """Return the sentence before `position`; at the beginning of a line, the first sentence of that line."""
        if not self._starts:
            return None
        index = bisect.bisect_left(self._starts, position) - 1
        line = bisect.bisect_right(self._lines, position)
        line_start = self._lines[line - 1] if line else 0
        line_end = self._lines[line] if line < len(self._lines) else None
        following = index + 1
        begins_line = index < 0 or self._starts[index] < line_start
        if begins_line and following < len(self._starts) and (line_end is None or self._starts[following] < line_end):
            return following
        return max(index, 0)


def _sentence(blank: str, span: types.Span, marks: Sequence[re.Match[str]]) -> types.Sentence:
    return types.Sentence(
        text=_SPACE_BEFORE_STOP.sub("", " ".join(blank[span.start : span.end].split())),
        citation_ids=tuple(dict.fromkeys(mark.group(1) for mark in marks)),
        start=min([span.start, *(mark.start() for mark in marks)]),
        end=max([span.end, *(mark.end() for mark in marks)]),
    )
