"""Question words and phrases by language (`rag/vocabulary/talk`), and sample questions (`rag/vocabulary/questions`)."""

import functools
import re
import tomllib
from collections.abc import Iterable
from typing import Annotated, Literal

import pydantic

from rag import types
from rag.vocabulary.vocabulary import packaged_files

Kind = Literal[
    "joins",
    "leads",
    "starts",
    "reasons",
    "details",
    "prepositions",
    "ends",
    "glue",
    "determiners",
    "capitals",
    "topics",
    "signs",
    "before_names",
]
"""The role of words in a question; each file explains it."""


class QuestionTemplates(types.Model):
    """Templates of suggested questions, with placeholders `topic`, `term`, `label` and `year`.

    Without words of their own, a language asks for a summary in English, and not for the meaning of terms.
    """

    about: str
    summary: str = "Summarise the document."
    meaning: str | None = None
    figure: str
    figure_of: str
    reason: str
    of_whom: str
    when: str


class QuestionWords(types.Model):
    """The question words and phrases of one language."""

    says: QuestionTemplates
    words: Annotated[dict[Kind, tuple[str, ...]], pydantic.Field(default_factory=dict)]


@functools.cache
def _languages() -> dict[str, QuestionWords]:
    files = packaged_files("talk").items()
    languages = {name: QuestionWords.model_validate(tomllib.loads(text)) for name, text in files}
    return {types.ENGLISH: languages.pop(types.ENGLISH), **languages}


def languages() -> tuple[str, ...]:
    """Return the supported languages, English first."""
    return tuple(_languages())


def question_templates(language: str) -> QuestionTemplates:
    """Return the phrases of a language, named as by `rag.ingestion.language_detection`; English as the fallback."""
    return _languages().get(language, _languages()[types.ENGLISH]).says


def words(kind: Kind, language: str | None = None) -> tuple[str, ...]:
    """Return the words of a kind in one language, or in all."""
    chosen = [words for name, words in _languages().items() if language in (None, name)]
    return tuple(dict.fromkeys(phrase for words in chosen for phrase in words.words.get(kind, ())))


def any_of(*phrases: Iterable[str]) -> str:
    """Return a regular expression that matches any of the phrases, the longest first."""
    longest = sorted({phrase for group in phrases for phrase in group}, key=lambda phrase: (-len(phrase), phrase))
    return "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in longest).replace("'", "['’]")


def reason_language(question: str) -> str | None:
    """Return the language of a question that only asks for a reason ("Why?"), else None."""
    return next((name for name in _languages() if _reason(name).fullmatch(question)), None)


@functools.cache
def _reason(language: str) -> re.Pattern[str]:
    joins, reasons = any_of(words("joins")), any_of(words("reasons", language))
    return re.compile(rf"^[¿\s]*(?:(?:{joins})[\s,]+)?(?:{reasons})[\s?!.]*", re.IGNORECASE)


@functools.cache
def question_sets() -> tuple[types.MatrixTemplate, ...]:
    """Return the packaged sample questions for kinds of documents, by title."""
    files = packaged_files("questions").items()
    sets = [types.MatrixTemplate.model_validate({"name": name, **tomllib.loads(text)}) for name, text in files]
    return tuple(sorted(sets, key=lambda template: template.title))
