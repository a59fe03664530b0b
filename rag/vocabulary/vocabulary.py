"""Vocabularies: the terms of a trade in questions and in documents, from the TOML files in `rag/vocabulary/trades`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")
"""Replaces typographic apostrophes by the ASCII one."""

Terms = tuple[str, ...]
SomeTerms = Annotated[Terms, Field(min_length=1)]
STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Synonyms:
    """Synonyms: a question with one term is also searched with the others."""

    __pydantic_config__ = STRICT
    terms: Annotated[Terms, Field(min_length=2)]


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
    name: str
    terms: SomeTerms
    titles: Terms = ()
    marks: Terms = ()


@dataclass(frozen=True)
class Items:
    """Terms found in a place: a question with one of them asks for that place."""

    __pydantic_config__ = STRICT
    terms: SomeTerms
    place: str


@dataclass(frozen=True)
class Abbreviation:
    """A case-sensitive abbreviation: `IT` is not `it`."""

    __pydantic_config__ = STRICT
    short: str
    long: str


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of a trade."""

    __pydantic_config__ = STRICT
    title: str
    synonyms: tuple[Synonyms, ...] = ()
    derived: tuple[Derived, ...] = ()
    places: tuple[Place, ...] = ()
    items: tuple[Items, ...] = ()
    abbreviations: tuple[Abbreviation, ...] = ()


def load(text: str) -> Vocabulary:
    """Parse a vocabulary from TOML; the places that it names may be defined in another one."""
    return TypeAdapter(Vocabulary).validate_python(tomllib.loads(text))


@cache
def trades() -> tuple[Vocabulary, ...]:
    """Return the packaged vocabularies."""
    return tuple(map(load, packaged_files("trades").values()))


def packaged_files(folder: str) -> dict[str, str]:
    """Return the content of the packaged TOML files of a folder by name without suffix, sorted."""
    files = (resources.files("rag.vocabulary") / folder).iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in files if file.name.endswith(".toml")}
    return {name.removesuffix(".toml"): texts[name] for name in sorted(texts)}
