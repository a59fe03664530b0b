"""Question words and phrases by language (`rag/vocabulary/talk`).

Also common questions about a company, in English and German, and the terms of their answers.
"""

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


SEAT = (
    r"(?:headquarter(?:s|ed)?|(?:head|main|registered|principal(?:\s+executive)?)\s+offices?|(?:haupt|firmen)?sitz"
    r"|hauptverwaltung)"
)
_ASKS_SEAT = re.compile(
    r"^(?:(?:where|in\s+(?:which|what)\s+(?:city|town|state|country)|wo|in\s+welche[rm]\s+(?:stadt|land|ort|staat))\s+(?:is|are|ist)\s+"
    r"(?:(?:the|its|our|their|der|die|das|ihr|unser)\s+(?:(?:company|group|firm)(?:['’]s)?\s+)?"
    r"|(?:(?-i:[A-ZÄÖÜ])[\w.&-]*\s+)*(?-i:[A-ZÄÖÜ])[\w.&-]*(?:['’]s?)?\s+)?"
    rf"(?:(?:corporate|global|world)\s+)?(?:{SEAT}|based)(?:\s+(?:located|of|von|der|des)\b.*)?\s*+(?:\?\s*)?"
    rf"|wo\s+hat\s+\S.*?(?<!\s)\s+(?:ihren|seinen)\s+{SEAT}\s*+(?:\?\s*)?)",
    re.IGNORECASE | re.DOTALL,
)
"""A question for the seat of the whole company, not of a region or of its employees."""
_ASKS_BUSINESS = re.compile(
    r"^(?:what\s+(?:does|do)\s+(?:the\s+(?:company|firm|group|business)|it|they|(?-i:[A-Z])[\w.&'’ -]*?)"
    r"(?<!\s)\s+do\s*\??"
    r"|what\s+(?:is|are)\s+(?:(?:the\s+)?(?:company|firm|group)['’]s|its|their|(?-i:[A-Z])[\w.& -]*['’]s?)\s+"
    r"(?:(?:main|core|principal)\s+)?(?:business(?:es)?|line\s+of\s+business|activit(?:y|ies))\s*\??"
    r"|what\s+(?:kind|type|sort)\s+of\s+(?:company|business|firm)\s+is\b.*"
    r"|in\s+(?:which|what)\s+(?:line\s+of\s+)?business\s+is\b.*"
    r"|was\s+macht\s+(?:das\s+unternehmen|die\s+(?:firma|gesellschaft)|(?-i:[A-ZÄÖÜ])[\w.&-]*)\s*\??)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_EXCHANGE = re.compile(
    r"^(?:(?:on\s+)?(?:what|which)\s+(?:stock\s+|securities\s+)?exchanges?\b.*|where\s+(?:is|are)\s.*\b(?:stock|shares|securities)\s+"
    r"(?:listed|traded)\b.*|what\s+(?:is|are)\s.*\b(?:ticker|(?:trading|stock)\s+symbol)\b.*"
    r"|(?:an\s+)?welche[rn]?\s+börsen?\b.*|was\s+ist\s.*(?:börsenkürzel|tickersymbol).*)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_SHARES = re.compile(
    r"(?:how\s+many|what\s+is\s+the\s+number\s+of)\s+(?:common\s+|ordinary\s+)?shares\s+(?:of\s+(?:common\s+)?stock\s+)?"
    r"(?:are\s+|were\s+|does\s+\S+\s+have\s+|is\s+)?outstanding\s*\??|wie\s+viele\s+aktien\s+sind\s+(?:im\s+umlauf|ausstehend)\s*\??",
    re.IGNORECASE,
)
_TERMS = (
    (_ASKS_SEAT, ("headquarters", "principal executive offices")),
    (_ASKS_BUSINESS, ("line of business", "principally engaged in")),
    (_ASKS_SHARES, ("number of shares outstanding as of",)),
    (_ASKS_EXCHANGE, ("exchange on which registered", "trading symbol")),
)


def asks_seat(question: str) -> bool:
    """Return whether `question` asks where a company has its seat."""
    return _ASKS_SEAT.fullmatch(question.strip()) is not None


def document_terms(question: str) -> tuple[str, ...]:
    """Return terms that documents use where they answer such a question: "What does Acme do?" has none of its own."""
    return next((terms for pattern, terms in _TERMS if pattern.fullmatch(question.strip())), ())
