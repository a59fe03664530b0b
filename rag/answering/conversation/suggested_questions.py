"""Suggest questions that a document can answer, from its headings and table rows, without a model."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rag.answering.passages.quotable_units import split_passage
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.ingestion.language_detection import detect
from rag.types import AnswerResponse, BlockKind, Chunk, Hit, QuotedRow
from rag.vocabulary import QuestionTemplates, question_templates

MAX_QUESTIONS = 3
"""Maximum number of suggestions."""

MAX_HEADING_CHARS = 60
MAX_HEADING_WORDS = 8
"""Longer headings are sentences, or several headings taken for one."""

MIN_SENTENCES = 2
SENTENCE_WORDS = 8
"""A heading with content has at least `MIN_SENTENCES` sentences of so many words."""

STEM_CHARS = 5
"""Words are compared by their first letters."""

MAX_LABEL_WORDS = 7

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def topics(chunks: Sequence[Chunk]) -> list[str]:
    """Return the most informative headings of consecutive chunks, in order.

    The text under a heading must repeat its words and is weighted by its figures and names per sentence. Repeated
    headings and headings without running text (covers, contents, signatures) are no topics.
    """
    runs = _runs(chunks)
    headings = [heading for heading, _ in runs]
    weighed = [
        (weight, place, heading)
        for place, (heading, texts) in enumerate(runs)
        if headings.count(heading) == 1 and _names_something(heading) and (weight := _weight(heading, texts)) > 0
    ]
    best = sorted(weighed, reverse=True)[:MAX_QUESTIONS]
    return [heading for _, _, heading in sorted(best, key=lambda one: one[1])]


def topic_questions(topics: Iterable[str], language: str) -> list[str]:
    """Return a question about each topic in a language of `rag.ingestion.language_detection`."""
    return [question_templates(language).about.format(topic=topic) for topic in topics]


def starter_questions(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return questions in the document's language; none if its headings suggest none."""
    found = topics(chunks)
    return tuple(topic_questions(found, detect(" ".join(chunk.text for chunk in chunks)))) if found else ()


def follow_ups(question: str, response: AnswerResponse, around: Sequence[Chunk]) -> tuple[str, ...]:
    """Return what to ask next: other columns and rows of the quoted table, and nearby topics.

    The questions are in the language of `question`; `around` are the chunks around the first source, in order.
    """
    if response.status != "ok" or not response.contexts:
        return ()
    first, language = response.contexts[0], detect(question)
    quoted = next((citation.row for citation in response.citations if citation.row), None)
    asked = [*_of_row(question, quoted), *_beside(quoted, first, question_templates(language))] if quoted else []
    own = _heading(first.chunk)
    asked += topic_questions((topic for topic in topics(around) if topic != own), language)
    known = {_plain(question), _plain(response.question or "")}
    fresh = {_plain(one): one for one in reversed(asked) if _plain(one) not in known}
    return tuple(reversed(fresh.values()))[:MAX_QUESTIONS]


def _of_row(question: str, row: QuotedRow) -> Iterator[str]:
    """Yield the question for another year of the row."""
    asked = set(_YEAR.findall(question))
    held = [year.group() for column in row.columns if (year := _YEAR.search(column))]
    others = [year for year in dict.fromkeys(held) if year not in asked]
    if len(asked) == 1 and others:
        yield _YEAR.sub(others[0], question)


def _beside(row: QuotedRow, hit: Hit, said: QuestionTemplates) -> Iterator[str]:
    """Yield a question for the next row of the table, in the requested column."""
    column = row.columns[row.asked] if row.asked is not None and row.asked < len(row.columns) else ""
    year = _YEAR.search(column)
    labels = [label for label in _labels(hit) if _is_label(label)]
    after = labels[labels.index(row.label) + 1 :] if row.label in labels else []
    for label in after[:1]:
        yield said.figure_of.format(label=label, year=year.group()) if year else said.figure.format(label=label)


def _labels(hit: Hit) -> list[str]:
    text = hit.passage.text
    spans = [unit.label for unit in split_passage(hit.passage) if unit.label and unit.cells]
    return list(dict.fromkeys(" ".join(text[span.start : span.end].split()) for span in spans))


def _is_label(label: str) -> bool:
    words = _WORD.findall(label)
    return 0 < len(words) <= MAX_LABEL_WORDS and label[:1].isalpha()


def _runs(chunks: Sequence[Chunk]) -> list[tuple[str, list[Chunk]]]:
    """Group consecutive chunks under the same heading."""
    runs: list[tuple[str, list[Chunk]]] = []
    for chunk in chunks:
        heading = _heading(chunk)
        if not runs or runs[-1][0] != heading:
            runs.append((heading, []))
        runs[-1][1].append(chunk)
    return runs


def _heading(chunk: Chunk) -> str:
    return " ".join((chunk.section or "").rpartition(SECTION_SEPARATOR)[2].split())


def _names_something(heading: str) -> bool:
    """Return whether it reads like a heading: a few words, no sentence, no number, not all capitals."""
    only_words = all(char.isalpha() or char in " ,&-’'" for char in heading) and not heading.isupper()
    return only_words and 1 < len(heading.split()) <= MAX_HEADING_WORDS and len(heading) <= MAX_HEADING_CHARS


def _weight(heading: str, chunks: Sequence[Chunk]) -> float:
    """Return the information per sentence under a heading, from 1; 0 if the text does not repeat its words."""
    sentences = [sentence for chunk in chunks for sentence in _sentences(chunk)]
    stems = {word.lower()[:STEM_CHARS] for word in _WORD.findall(heading) if len(word) >= STEM_CHARS}
    said = {word.lower()[:STEM_CHARS] for sentence in sentences for word in _WORD.findall(sentence)}
    if len(sentences) < MIN_SENTENCES or not stems or not stems <= said:
        return 0.0
    return 1 + sum(map(_specific, sentences)) / len(sentences)


def _sentences(chunk: Chunk) -> Iterator[str]:
    """Yield the complete sentences of running text in a chunk."""
    text = chunk.text
    for unit in split_passage(chunk):
        words = text[unit.span.start : unit.span.end].split()
        is_prose = unit.kind is BlockKind.TEXT and not unit.is_boilerplate
        if is_prose and len(words) >= SENTENCE_WORDS and words[-1].endswith((".", "?", "!")):
            yield " ".join(words)


def _specific(sentence: str) -> int:
    """Count figures, and names within the sentence."""
    _, *words = sentence.split()
    return sum(any(map(str.isdigit, word)) or word[:1].isupper() for word in words)


def _plain(question: str) -> str:
    return " ".join(_WORD.findall(question.lower()) + re.findall(r"\d+", question))
