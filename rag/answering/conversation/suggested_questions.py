"""Questions that a document may answer: those of its kind, its defined terms, its headings and its table rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag import types
from rag.answering.passages.labelled_values import defined_terms
from rag.answering.passages.quotable_units import split_passage
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.ingestion.language_detection import detect
from rag.vocabulary import DocumentKind, QuestionTemplates, document_kinds, question_templates

MAX_QUESTIONS = 3
"""Maximum number of follow-up questions, and of topics and terms to ask about."""

KIND_MARGIN = 0.05
"""Minimum lead of the nearest kind over the next one, as a share of the scale of similarities
(`rag.retrieval.similarity`). Of 16 public documents, 11 are told rightly, 2 wrongly (a health plan and a letter, as
annual reports), and 3 are left open."""

MAX_HEADING_CHARS = 60
MAX_HEADING_WORDS = 8
"""Longer headings are sentences, or several headings taken for one."""

MIN_SENTENCES = 2
SENTENCE_WORDS = 8
"""A heading with content has at least `MIN_SENTENCES` sentences of so many words."""

STEM_CHARS = 5
"""Words are compared by their first letters."""

MAX_LABEL_WORDS = 7

_NAMES_LAST = re.compile(r"(?:\)|\.\w{2,5})\s*+(?:\?\s*)?$")
_IN_BRACKETS = re.compile(r"(?<!\s)\s*\((?:(?:in|from|of)\s+)?$", re.IGNORECASE)
_AFTER_WORD = re.compile(r"(?<!\s)\s*\b(?:in|from|aus)\s+$", re.IGNORECASE)
"""What stands before the name of a document at the end of a question."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def topics(chunks: Sequence[types.Chunk]) -> list[str]:
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


def term_questions(chunks: Sequence[types.Chunk], language: str) -> tuple[str, ...]:
    """Return questions for the meaning of the terms that the chunks define and use most."""
    meaning, text = question_templates(language).meaning, "\n".join(chunk.text for chunk in chunks)
    terms = sorted(defined_terms(text), key=lambda term: -text.count(term))[:MAX_QUESTIONS]
    return tuple(meaning.format(term=term) for term in terms) if meaning else ()


def topic_questions(chunks: Sequence[types.Chunk], language: str) -> tuple[str, ...]:
    """Return questions about what the chunks' most informative headings stand over."""
    return tuple(question_templates(language).about.format(topic=topic) for topic in topics(chunks))


def nearest_kind(similarity: Mapping[str, float]) -> DocumentKind | None:
    """Return the kind whose description is most similar to a document; None if two are about as similar.

    `similarity` is in units of the scale of similarities.
    """
    first, second = sorted(similarity, key=lambda name: -similarity[name])[:2]
    return document_kinds()[first] if similarity[first] - similarity[second] >= KIND_MARGIN else None


def follow_ups(
    question: str, response: types.AnswerResponse, known: Sequence[str] = (), *, is_alone: bool = True
) -> tuple[str, ...]:
    """Return what to ask next: other columns and rows of the quoted table, and questions of the first source.

    `known` are questions that its document is known to answer. Unless the document `is_alone`, they name it.
    """
    if response.status != "ok" or not response.contexts:
        return ()
    quoted = next((citation.row for citation in response.citations if citation.row), None)
    templates = question_templates(detect(question))
    first = response.contexts[0]
    before = {_plain(question), _plain(response.question or "")}
    others = [*(_beside(quoted, first, templates) if quoted else ()), *known]
    new = [one for one in others if _plain(one) not in before]
    named = new if is_alone else [in_document(one, first.document_name) for one in new]
    asked = [*(_of_row(question, quoted) if quoted else ()), *named]
    return tuple({_plain(one): one for one in reversed(asked)}.values())[::-1][:MAX_QUESTIONS]


def in_document(question: str, name: str) -> str:
    """Return `question` with the name of the document that is to answer it."""
    return f"{question} (in {name})"


def without_document(question: str, names: Iterable[str]) -> tuple[str, str | None]:
    """Return `question` without the document named at its end, and its name; None if it ends with none of `names`.

    The name may stand in brackets, as `in_document` writes it, or after "in" or "from".
    """
    asked = question.rstrip()
    mark = "?" if asked.endswith("?") else ""
    asked = asked.removesuffix("?").rstrip()
    for name in sorted(names, key=len, reverse=True):
        for ending, led_by in ((f"{name})", _IN_BRACKETS), (name, _AFTER_WORD)):
            start = len(asked) - len(ending)
            is_named = start > 0 and asked[start:].casefold() == ending.casefold()
            before = led_by.search(asked, 0, start) if is_named else None
            if before and before.start():
                return asked[: before.start()] + mark, name
    return question, None


def may_name_document(question: str) -> bool:
    """Return whether `question` may end with the name of a document; quick, so that documents are looked up for few."""
    return _NAMES_LAST.search(question) is not None


def _of_row(question: str, row: types.QuotedRow) -> Iterator[str]:
    """Yield the question for another year of the row."""
    asked = set(_YEAR.findall(question))
    held = [year.group() for column in row.columns if (year := _YEAR.search(column))]
    others = [year for year in dict.fromkeys(held) if year not in asked]
    if len(asked) == 1 and others:
        yield _YEAR.sub(others[0], question)


def _beside(row: types.QuotedRow, hit: types.Hit, said: QuestionTemplates) -> Iterator[str]:
    """Yield a question for the next row of the table, in the requested column."""
    column = row.columns[row.asked] if row.asked is not None and row.asked < len(row.columns) else ""
    year = _YEAR.search(column)
    text = hit.passage.text
    spans = [unit.label for unit in split_passage(hit.passage) if unit.label and unit.cells]
    texts = dict.fromkeys(" ".join(text[slice(*span)].split()) for span in spans)
    labels = [one for one in texts if 0 < len(_WORD.findall(one)) <= MAX_LABEL_WORDS and one[:1].isalpha()]
    after = labels[labels.index(row.label) + 1 :] if row.label in labels else []
    for label in after[:1]:
        yield said.figure_of.format(label=label, year=year.group()) if year else said.figure.format(label=label)


def _runs(chunks: Sequence[types.Chunk]) -> list[tuple[str, list[types.Chunk]]]:
    runs: list[tuple[str, list[types.Chunk]]] = []
    for chunk in chunks:
        heading = " ".join((chunk.section or "").rpartition(SECTION_SEPARATOR)[2].split())
        if not runs or runs[-1][0] != heading:
            runs.append((heading, []))
        runs[-1][1].append(chunk)
    return runs


def _names_something(heading: str) -> bool:
    """Return whether it reads like a heading: a few words, no sentence, no number, not all capitals."""
    only_words = all(char.isalpha() or char in " ,&-’'" for char in heading) and not heading.isupper()
    return only_words and 1 < len(heading.split()) <= MAX_HEADING_WORDS and len(heading) <= MAX_HEADING_CHARS


def _weight(heading: str, chunks: Sequence[types.Chunk]) -> float:
    """Return the information per sentence under a heading, from 1; 0 if the text does not repeat its words."""
    sentences = [sentence for chunk in chunks for sentence in _sentences(chunk)]
    stems = {word.lower()[:STEM_CHARS] for word in _WORD.findall(heading) if len(word) >= STEM_CHARS}
    said = {word.lower()[:STEM_CHARS] for sentence in sentences for word in _WORD.findall(sentence)}
    if len(sentences) < MIN_SENTENCES or not stems or not stems <= said:
        return 0.0
    # figures, and names within the sentences
    words = [word for sentence in sentences for word in sentence.split()[1:]]
    return 1 + sum(any(map(str.isdigit, word)) or word[:1].isupper() for word in words) / len(sentences)


def _sentences(chunk: types.Chunk) -> Iterator[str]:
    """Yield the complete sentences of running text in a chunk."""
    text = chunk.text
    for unit in split_passage(chunk):
        words = text[unit.span.start : unit.span.end].split()
        is_prose = unit.kind is types.BlockKind.TEXT and not unit.is_boilerplate
        if is_prose and len(words) >= SENTENCE_WORDS and words[-1].endswith((".", "?", "!")):
            yield " ".join(words)


def _plain(question: str) -> str:
    return " ".join(_WORD.findall(question.lower()) + re.findall(r"\d+", question))
