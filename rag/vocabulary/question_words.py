"""How people ask, and ask on: a file of words for each language in `rag/vocabulary/talk`."""

import functools
import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from typing import Annotated, Literal

import pydantic

from rag.types import ENGLISH, Model

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
"""What words do in a question; each file explains it."""


class Says(Model):
    """Questions that are offered, with places for their `topic`, `label` and `year`; words before names and years."""

    about: str
    figure: str
    figure_of: str
    reason: str
    of_whom: str
    when: str


class Talk(Model):
    """One language."""

    says: Says
    words: Annotated[dict[Kind, tuple[str, ...]], pydantic.Field(default_factory=dict)]


@functools.cache
def _languages() -> dict[str, Talk]:
    files = [file for file in (resources.files("rag.vocabulary") / "talk").iterdir() if file.name.endswith(".toml")]
    found = {
        file.name.removesuffix(".toml"): Talk.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        for file in sorted(files, key=lambda file: file.name)
    }
    return {ENGLISH: found.pop(ENGLISH), **found}


def languages() -> tuple[str, ...]:
    """Those that there is a file of, English first."""
    return tuple(_languages())


def says(language: str) -> Says:
    """Return the phrases of a language, named as by `rag.ingestion.language_detection`; English as the fallback."""
    return _languages().get(language, _languages()[ENGLISH]).says


def words(kind: Kind, language: str | None = None) -> tuple[str, ...]:
    """Those of one language, or of all."""
    talks = _languages().items()
    found = (one for name, talk in talks if language in (None, name) for one in talk.words.get(kind, ()))
    return tuple(dict.fromkeys(found))


def either(*phrases: Iterable[str]) -> str:
    """A regular expression of any of the phrases, the longest first, over white space and apostrophes of any kind."""
    longest = sorted({phrase for some in phrases for phrase in some}, key=lambda one: (-len(one), one))
    return "|".join(r"\s+".join(map(re.escape, one.split())) for one in longest).replace("'", "['’]")


def reason_language(question: str) -> str | None:
    """The language in which `question` asks for nothing but a reason; None: it does not."""
    return next((name for name in _languages() if _reason(name).fullmatch(question)), None)


@functools.cache
def _reason(language: str) -> re.Pattern[str]:
    joins, reasons = either(words("joins")), either(words("reasons", language))
    return re.compile(rf"[¿\s]*(?:(?:{joins})[\s,]+)?(?:{reasons})[\s?!.]*", re.IGNORECASE)
