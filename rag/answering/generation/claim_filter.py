"""Remove sentences from an answer, such as unproved ones."""

import bisect
import re
from collections.abc import Iterable, Sequence

from rag import types
from rag.answering.text.sentences import without_bullet


def drop_struck(response: types.AnswerResponse) -> types.AnswerResponse:
    """Return `response` without its struck sentences."""
    return drop_sentences(response, response.struck)


def drop_unproved(response: types.AnswerResponse) -> types.AnswerResponse:
    """Return `response` without struck sentences, those that are not verified and those that cite nothing."""
    return drop_sentences(response, (*response.struck, *response.unverified))


def drop_sentences(response: types.AnswerResponse, numbers_struck: Iterable[int]) -> types.AnswerResponse:
    """Return `response` without some sentences (by index), their citations, and sources only they cite."""
    struck = frozenset(numbers_struck)
    if not struck:
        return response
    kept = [index for index in range(len(response.sentences)) if index not in struck]
    numbers = {index: number for number, index in enumerate(kept)}
    cut = [_with_gap(response.answer, types.Span(*_span(response.sentences[index]))) for index in sorted(struck)]
    text, move = _cut(response.answer, cut)
    citations = tuple(
        citation.model_copy(update={"sentence": numbers[citation.sentence]})
        for citation in response.citations
        if citation.sentence in numbers
    )
    cited = {citation.citation_id for citation in citations}
    return response.model_copy(
        update={
            "answer": text,
            "sentences": tuple(_moved(response.sentences[index], move) for index in kept),
            "citations": citations,
            "sources": {citation_id: hit for citation_id, hit in response.sources.items() if citation_id in cited},
        }
    )


def _span(sentence: types.Sentence) -> tuple[int, int]:
    return sentence.start, sentence.end


def _with_gap(text: str, span: types.Span) -> types.Span:
    """Extend `span` by its white space, or to the whole line if only a bullet would remain."""
    line = types.Span(text.rfind("\n", 0, span.start) + 1, _end_of_line(text, span.end))
    body = without_bullet(text, line)
    before, after = text[body.start : span.start].strip(" |"), text[span.end : line.end].strip(" |.")
    if not before and not after:
        return types.Span(line.start, min(line.end + 1, len(text)))
    spaces = re.compile(r"[ \t]*").match(text, span.end)
    end = spaces.end() if spaces else span.end
    start = span.start
    if end == line.end:
        start = len(text[:start].rstrip(" \t"))
    return types.Span(start, end)


def _end_of_line(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found


class _Move:
    """Map a position to where it stands once `cut` spans are removed."""

    def __init__(self, cut: Sequence[types.Span], lead: int) -> None:
        self._ends = [span.end for span in cut]
        self._removed = [0]
        for span in cut:
            self._removed.append(self._removed[-1] + span.end - span.start)
        self._lead = lead

    def __call__(self, position: int) -> int:
        return position - self._removed[bisect.bisect_right(self._ends, position)] - self._lead


def _cut(text: str, spans: Iterable[types.Span]) -> tuple[str, _Move]:
    """Remove ascending `spans` from `text` and strip the result."""
    merged: list[types.Span] = []
    for span in spans:
        if merged and span.start <= merged[-1].end:
            merged[-1] = types.Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    parts, cursor = [], 0
    for span in merged:
        parts.append(text[cursor : span.start])
        cursor = span.end
    left = "".join([*parts, text[cursor:]])
    return left.strip(), _Move(merged, len(left) - len(left.lstrip()))


def _moved(sentence: types.Sentence, move: _Move) -> types.Sentence:
    return sentence.model_copy(update={"start": move(sentence.start), "end": move(sentence.end)})
