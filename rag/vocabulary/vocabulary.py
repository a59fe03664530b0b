"""Vocabularies: the terms of a trade in questions and in documents.

Vocabularies are TOML files: the packaged ones in `rag/vocabulary/trades`, and users' own glossaries.
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

from rag import errors, types
from rag.messages import N_

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
"""Messages for pydantic's error types, in the terms of TOML."""

MAX_TERM_CHARACTERS = 200
MAX_TERMS = 100
"""Maximum length of a list; all terms that a question is widened with are searched for."""
MAX_REPORTED_PROBLEMS = 5
APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")
"""Replaces typographic apostrophes by the ASCII one."""

_DEEP_KEY = re.compile(r"""(?:\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')\s*){20}""")
"""Matches a key of 20 or more parts: tomllib's memory use is quadratic in their number."""

Term = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        pattern=r"^[^\x00-\x1f\x7f]*[^\W_][^\x00-\x1f\x7f]*$",
        max_length=MAX_TERM_CHARACTERS,
    ),
    types.IN_READING_ORDER,
]
Terms = Annotated[tuple[Term, ...], Field(max_length=MAX_TERMS)]
SomeTerms = Annotated[tuple[Term, ...], Field(min_length=1, max_length=MAX_TERMS)]

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Synonyms:
    """Synonyms: a question with one term is also searched with the others."""

    __pydantic_config__ = STRICT
    terms: Annotated[tuple[Term, ...], Field(min_length=2, max_length=MAX_TERMS)]


@dataclass(frozen=True)
class Derived:
    """A figure that documents rarely print, its line items, and the places where these stand."""

    __pydantic_config__ = STRICT
    terms: SomeTerms
    items: SomeTerms
    places: Terms = ()


@dataclass(frozen=True)
class Place:
    """A named part of a document: its names in questions, its titles, and marks that identify its page."""

    __pydantic_config__ = STRICT
    name: Term
    terms: SomeTerms
    titles: Terms = ()
    marks: Terms = ()


@dataclass(frozen=True)
class Items:
    """Terms found in a place: a question with one of them asks for that place."""

    __pydantic_config__ = STRICT
    terms: SomeTerms
    place: Term


@dataclass(frozen=True)
class Abbreviation:
    """A case-sensitive abbreviation: `IT` is not `it`."""

    __pydantic_config__ = STRICT
    short: Annotated[
        str,
        StringConstraints(strip_whitespace=True, pattern=r"^[^\W_][^\x00-\x1f\x7f]*$", max_length=MAX_TERM_CHARACTERS),
        types.IN_READING_ORDER,
    ]
    long: Term


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of a trade."""

    __pydantic_config__ = STRICT
    title: Term
    synonyms: tuple[Synonyms, ...] = ()
    derived: tuple[Derived, ...] = ()
    places: tuple[Place, ...] = ()
    items: tuple[Items, ...] = ()
    abbreviations: tuple[Abbreviation, ...] = ()


def load(text: str) -> Vocabulary:
    """Parse a vocabulary from TOML; a `Widener` checks the names of places, which another vocabulary may define.

    Raises:
        errors.ValidationError: the text is no valid TOML or vocabulary; the message says where.
    """
    try:
        return TypeAdapter(Vocabulary).validate_python(_parsed(text))
    except PydanticError as error:
        problems = error.errors()
        wrong = "; ".join(f"{_location(one['loc'])}: {_message(one)}" for one in problems[:MAX_REPORTED_PROBLEMS])
        rest = len(problems) - MAX_REPORTED_PROBLEMS
        if rest > 0:
            wrong = N_("{_left}; and {count} more").format(_left=wrong, count=rest)
        raise errors.ValidationError(N_("The vocabulary is malformed. {problem}."), problem=wrong) from error


def _parsed(text: str) -> dict[str, Any]:
    if _DEEP_KEY.search(text):
        raise errors.ValidationError(N_("The vocabulary is not valid TOML: a key has too many parts."))
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise errors.ValidationError(N_("The vocabulary is not valid TOML: it is nested too deeply.")) from None
    except ValueError as error:  # a number may be too long for Python
        raise errors.ValidationError(N_("The vocabulary is not valid TOML: {error}."), error=error) from error


def _location(steps: Sequence[int | str]) -> str:
    """Format the location of an error, counting from 1: `synonyms 3, terms 1`."""
    where = "".join(f" {step + 1}" if isinstance(step, int) else f", {step}" for step in steps)
    return where.removeprefix(", ") or "the file"


def _message(problem: ErrorDetails) -> str:
    return WRONG.get(problem["type"], "is malformed").format_map(problem.get("ctx", {}))


@cache
def trades() -> tuple[Vocabulary, ...]:
    """Return the packaged vocabularies."""
    return tuple(map(load, packaged_files("trades").values()))


def packaged_files(folder: str) -> dict[str, str]:
    """Return the content of the packaged TOML files of a folder by name without suffix, sorted."""
    files = (resources.files("rag.vocabulary") / folder).iterdir()
    found = {file.name: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".toml")}
    return {name.removesuffix(".toml"): found[name] for name in sorted(found)}
