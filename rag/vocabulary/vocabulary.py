"""The words of a trade: how a question puts a thing, and how documents do.

Vocabularies are TOML: the packaged ones in `rag/vocabulary/trades`, and users' own glossaries.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from rag import errors

WRONG = {
    "dataclass_type": "should be a table",
    "missing": "is missing",
    "string_pattern_mismatch": "has no letter or digit where it needs one, or a line break",
    "string_too_long": "has more than {max_length} characters",
    "string_type": "should be a text",
    "too_long": "has more than {max_length}",
    "too_short": "needs at least {min_length}",
    "tuple_type": "should be a list",
    "unexpected_keyword_argument": "unknown key",
}
"""What pydantic calls a problem, and what users do."""

MAX_TERM_CHARACTERS = 200
MAX_TERMS = 100
"""Of one list. What a question is widened with is searched for, all of it."""
PROBLEMS_TOLD = 5

_DEEP_KEY = re.compile(r"""(?:\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')\s*){20}""")
"""No vocabulary has a key of so many parts, for which tomllib takes memory by the square of their number."""

Term = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        pattern=r"^[^\x00-\x1f\x7f]*[^\W_][^\x00-\x1f\x7f]*$",
        max_length=MAX_TERM_CHARACTERS,
    ),
]
Terms = Annotated[tuple[Term, ...], Field(max_length=MAX_TERMS)]
SomeTerms = Annotated[tuple[Term, ...], Field(min_length=1, max_length=MAX_TERMS)]

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Synonyms:
    """Terms that mean the same: a question with one is also searched with the others."""

    __pydantic_config__ = STRICT
    terms: Annotated[tuple[Term, ...], Field(min_length=2, max_length=MAX_TERMS)]


@dataclass(frozen=True)
class Derived:
    """A figure that documents rarely print, the line items it is computed from, and the places where these stand."""

    __pydantic_config__ = STRICT
    terms: SomeTerms
    items: SomeTerms
    places: Terms = ()


@dataclass(frozen=True)
class Place:
    """A part of a document with a name: how questions name it, how documents head it, what only it has together."""

    __pydantic_config__ = STRICT
    name: Term
    terms: SomeTerms
    titles: Terms = ()
    marks: Terms = ()


@dataclass(frozen=True)
class Items:
    """Terms that stand in a place: a question that asks for one is asking for that place."""

    __pydantic_config__ = STRICT
    terms: SomeTerms
    place: Term


@dataclass(frozen=True)
class Abbreviation:
    """A short form, which counts only as it is written, since `IT` is not `it`."""

    __pydantic_config__ = STRICT
    short: Annotated[
        str,
        StringConstraints(strip_whitespace=True, pattern=r"^[^\W_][^\x00-\x1f\x7f]*$", max_length=MAX_TERM_CHARACTERS),
    ]
    long: Term


@dataclass(frozen=True)
class Vocabulary:
    """The words of a trade."""

    __pydantic_config__ = STRICT
    title: Term
    synonyms: tuple[Synonyms, ...] = ()
    derived: tuple[Derived, ...] = ()
    places: tuple[Place, ...] = ()
    items: tuple[Items, ...] = ()
    abbreviations: tuple[Abbreviation, ...] = ()


def load(text: str) -> Vocabulary:
    """The vocabulary written as TOML in `text`.

    Places may be defined in another vocabulary, so a `Widener` checks their names.

    Raises:
        errors.ValidationError: it is no TOML or no vocabulary; the message says where.
    """
    try:
        return TypeAdapter(Vocabulary).validate_python(_parsed(text))
    except PydanticError as error:
        problems = error.errors()
        wrong = "; ".join(f"{_where(problem['loc'])}: {_what(problem)}" for problem in problems[:PROBLEMS_TOLD])
        more = f"; and {len(problems) - PROBLEMS_TOLD} more" if len(problems) > PROBLEMS_TOLD else ""
        raise errors.ValidationError(f"The vocabulary is malformed. {wrong}{more}.") from error


def _parsed(text: str) -> dict[str, Any]:
    if _DEEP_KEY.search(text):
        raise errors.ValidationError("The vocabulary is not valid TOML: a key has too many parts.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise errors.ValidationError("The vocabulary is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # a number may be too long for Python
        raise errors.ValidationError(f"The vocabulary is not valid TOML: {error}.") from error


def _where(location: Sequence[int | str]) -> str:
    """`synonyms 3, terms 1`: counted from one, as people count."""
    where = ""
    for step in location:
        where += f" {step + 1}" if isinstance(step, int) else f", {step}"
    return where.removeprefix(", ") or "the file"


def _what(problem: ErrorDetails) -> str:
    """What is wrong there, in the words of TOML rather than Python's."""
    return WRONG.get(problem["type"], "is malformed").format_map(problem.get("ctx", {}))


@cache
def trades() -> tuple[Vocabulary, ...]:
    """The packaged vocabularies."""
    folder = resources.files("rag.vocabulary") / "trades"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(load(file.read_text(encoding="utf-8")) for file in files)
