"""Questions that the text of a document can answer, made without a model: of its headings, and of rows of tables."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rag.answering.passages.quotable_units import split_passage
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.ingestion.language_detection import detect
from rag.types import AnswerResponse, BlockKind, Chunk, Hit, QuotedRow
from rag.vocabulary import QuestionTemplates, question_templates

MOST = 3
"""Questions that are offered at once."""

MAX_HEADING_CHARS = 60
MAX_HEADING_WORDS = 8
"""A longer heading is a sentence, or several that were taken for one."""

MIN_SENTENCES = 2
SENTENCE_WORDS = 8
"""Under a heading with content stand at least so many sentences, each of at least so many words."""

STEM_CHARS = 5
"""Words that begin alike are the same one: a section is about what its heading says if it says so again."""

MAX_LABEL_WORDS = 7

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def topics(chunks: Sequence[Chunk]) -> list[str]:
    """The headings of consecutive chunks that name what is written under them, those that say most, in their order.

    Running text must stand under them that takes up their words; of these the ones with the most figures and names to
    the sentence say most. What is repeated from page to page, or has no text of its own (a cover, a table of
    contents, a signature), is no topic.
    """
    runs = _runs(chunks)
    headings = [heading for heading, _ in runs]
    weighed = [
        (weight, place, heading)
        for place, (heading, texts) in enumerate(runs)
        if headings.count(heading) == 1 and _names_something(heading) and (weight := _weight(heading, texts)) > 0
    ]
    best = sorted(weighed, reverse=True)[:MOST]
    return [heading for _, _, heading in sorted(best, key=lambda one: one[1])]


def about(topics: Iterable[str], language: str) -> list[str]:
    """A question about each topic, in a language as `rag.ingestion.language_detection` names it."""
    return [question_templates(language).about.format(topic=topic) for topic in topics]


def to_begin_with(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Questions that a document can answer, in its own language; none where its headings tell of none."""
    found = topics(chunks)
    return tuple(about(found, detect(" ".join(chunk.text for chunk in chunks)))) if found else ()


def follow_ups(question: str, response: AnswerResponse, around: Sequence[Chunk]) -> tuple[str, ...]:
    """What can be asked next: other columns and rows of the tables that are quoted, and topics near by.

    It is put in the language of `question`.
    `around` are the chunks before and after the first source, in order.
    """
    if response.status != "ok" or not response.contexts:
        return ()
    first, language = response.contexts[0], detect(question)
    quoted = next((citation.row for citation in response.citations if citation.row), None)
    asked = [*_of_row(question, quoted), *_beside(quoted, first, question_templates(language))] if quoted else []
    own = _heading(first.chunk)
    asked += about((topic for topic in topics(around) if topic != own), language)
    known = {_plain(question), _plain(response.question or "")}
    fresh = {_plain(one): one for one in reversed(asked) if _plain(one) not in known}
    return tuple(reversed(fresh.values()))[:MOST]


def _of_row(question: str, row: QuotedRow) -> Iterator[str]:
    """The same of another year that the row has."""
    asked = set(_YEAR.findall(question))
    held = [year.group() for column in row.columns if (year := _YEAR.search(column))]
    others = [year for year in dict.fromkeys(held) if year not in asked]
    if len(asked) == 1 and others:
        yield _YEAR.sub(others[0], question)


def _beside(row: QuotedRow, hit: Hit, said: QuestionTemplates) -> Iterator[str]:
    """The next row of the same table, in the column that was asked for."""
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
    """Consecutive chunks under the same heading."""
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
    """Whether it reads like a heading: a few words, no sentence, no number, not shouted."""
    only_words = all(char.isalpha() or char in " ,&-’'" for char in heading) and not heading.isupper()
    return only_words and 1 < len(heading.split()) <= MAX_HEADING_WORDS and len(heading) <= MAX_HEADING_CHARS


def _weight(heading: str, chunks: Sequence[Chunk]) -> float:
    """How much the text under a heading says, per sentence, from 1 on; 0 where none takes up its words."""
    sentences = [sentence for chunk in chunks for sentence in _sentences(chunk)]
    stems = {word.lower()[:STEM_CHARS] for word in _WORD.findall(heading) if len(word) >= STEM_CHARS}
    said = {word.lower()[:STEM_CHARS] for sentence in sentences for word in _WORD.findall(sentence)}
    if len(sentences) < MIN_SENTENCES or not stems or not stems <= said:
        return 0.0
    return 1 + sum(map(_specific, sentences)) / len(sentences)


def _sentences(chunk: Chunk) -> Iterator[str]:
    """The whole sentences of running text in a chunk."""
    text = chunk.text
    for unit in split_passage(chunk):
        words = text[unit.span.start : unit.span.end].split()
        is_prose = unit.kind is BlockKind.TEXT and not unit.is_furniture
        if is_prose and len(words) >= SENTENCE_WORDS and words[-1].endswith((".", "?", "!")):
            yield " ".join(words)


def _specific(sentence: str) -> int:
    """Figures, and names within the sentence."""
    _, *words = sentence.split()
    return sum(any(map(str.isdigit, word)) or word[:1].isupper() for word in words)


def _plain(question: str) -> str:
    return " ".join(_WORD.findall(question.lower()) + re.findall(r"\d+", question))
