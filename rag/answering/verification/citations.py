"""Parse an answer into sentences, the sources they cite and the quotes proposed for them."""

import bisect
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rag.answering.text.markup import CITATION_MARK, AnswerFilter, ProposedQuote
from rag.answering.text.sentences import split_sentences, without_bullet
from rag.types import Sentence, Span

_LINE = re.compile(r"[^\n]+")
_MARKS = re.compile(rf"(?:(?<!\s)\s+)?{CITATION_MARK.pattern}")
_CUT_MARK = re.compile(r"(?:(?<!\s)\s+)?\[S?\d*$")
"""What is left of a mark where the output was cut off."""

_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[.,;:!?)](?:\s|$))")


class Claim(NamedTuple):
    """A sentence of the answer and the quotes proposed for it."""

    sentence: Sentence
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

    A sentence with a quote but no citation mark gets the mark of the quote's source.
    """
    answer = ParsedAnswer(text, tuple(_claims(text, quotes)))
    quoted = {
        index: [quote.citation_id for quote in claim.quotes if quote.citation_id]
        for index, claim in enumerate(answer.claims)
        if not claim.sentence.citation_ids
    }
    return with_citations(answer, quoted)


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


def _claims(text: str, quotes: Sequence[ProposedQuote]) -> list[Claim]:
    blank = CITATION_MARK.sub(lambda match: " " * len(match.group()), text)
    lines = [Span(*match.span()) for match in _LINE.finditer(text)]
    spans = [span for line in lines for span in _line_sentences(blank, line)]
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


def _line_sentences(blank: str, line: Span) -> list[Span]:
    """Split one line into sentences, without its bullet."""
    line = without_bullet(blank, line)
    found = (Span(line.start + s, line.start + e) for s, e in split_sentences(blank[line.start : line.end]))
    return [span for span in found if any(character.isalnum() for character in blank[span.start : span.end])]


class _SentenceFinder:
    """Find the sentence that a citation mark belongs to."""

    def __init__(self, lines: Sequence[Span], spans: Sequence[Span]) -> None:
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


def _sentence(blank: str, span: Span, marks: Sequence[re.Match[str]]) -> Sentence:
    return Sentence(
        text=_SPACE_BEFORE_STOP.sub("", " ".join(blank[span.start : span.end].split())),
        citation_ids=tuple(dict.fromkeys(mark.group(1) for mark in marks)),
        start=min([span.start, *(mark.start() for mark in marks)]),
        end=max([span.end, *(mark.end() for mark in marks)]),
    )
