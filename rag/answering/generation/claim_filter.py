"""Remove sentences from an answer, such as unproved ones."""

from collections.abc import Iterable

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
    cut = list[types.Span]()  # ascending, and none overlaps another
    for index in sorted(struck):
        sentence = response.sentences[index]
        span = _with_gap(response.answer, types.Span(sentence.start, sentence.end))
        if cut and span.start <= cut[-1].end:
            span = types.Span(cut[-1].start, max(cut.pop().end, span.end))
        cut.append(span)
    ends = [*(span.start for span in cut), len(response.answer)]
    starts = [0, *(span.end for span in cut)]
    text = "".join(response.answer[start:end] for start, end in zip(starts, ends, strict=True))
    lead = len(text) - len(text.lstrip())

    def moved(position: int) -> int:
        return position - sum(span.end - span.start for span in cut if span.end <= position) - lead

    citations = tuple(
        citation.model_copy(update={"sentence": numbers[citation.sentence]})
        for citation in response.citations
        if citation.sentence in numbers
    )
    cited = {citation.citation_id for citation in citations}
    return response.model_copy(
        update={
            "answer": text.strip(),
            "sentences": tuple(
                sentence.model_copy(update={"start": moved(sentence.start), "end": moved(sentence.end)})
                for sentence in (response.sentences[index] for index in kept)
            ),
            "citations": citations,
            "sources": {citation_id: hit for citation_id, hit in response.sources.items() if citation_id in cited},
        }
    )


def _with_gap(text: str, span: types.Span) -> types.Span:
    """Extend `span` by its white space, or to the whole line if only a bullet would remain."""
    line_end = text.find("\n", span.end)
    line = types.Span(text.rfind("\n", 0, span.start) + 1, len(text) if line_end < 0 else line_end)
    body = without_bullet(text, line)
    before, after = text[body.start : span.start].strip(" |"), text[span.end : line.end].strip(" |.")
    if not before and not after:
        return types.Span(line.start, min(line.end + 1, len(text)))
    end = line.end - len(text[span.end : line.end].lstrip(" \t"))
    return types.Span(len(text[: span.start].rstrip(" \t")) if end == line.end else span.start, end)
