"""Named queries from ``rag/store/sql/*.sql``.

A query follows a line ``-- name: the_name``. Parameters are written ``:like_this`` and always bound; ``{chunks}``
stands for the table of one vector size and is only ever replaced by a quoted identifier. The queries of ``scope.sql``
are parts of others, which name them in braces.
"""

import functools
import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from psycopg import sql

NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")
PART = re.compile(r"\{(\w+)\}")


@functools.cache
def load(noun: str) -> Mapping[str, sql.SQL]:
    """Return the queries of ``sql/<noun>.sql`` by name, for psycopg."""
    return MappingProxyType({name: sql.SQL(to_psycopg(text)) for name, text in load_text(noun).items()})


@functools.cache
def load_text(noun: str) -> Mapping[str, str]:
    """Return the queries of ``sql/<noun>.sql`` by name, with the parts of ``scope.sql`` put in."""
    return MappingProxyType({name: _with_parts(text) for name, text in _read(noun).items()})


def _read(noun: str) -> dict[str, str]:
    source = (resources.files("rag.store") / "sql" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *parts = NAME.split(source)
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _with_parts(text: str) -> str:
    parts = _parts()
    return PART.sub(lambda found: _with_parts(parts[found[1]]) if found[1] in parts else found[0], text)


@functools.cache
def _parts() -> Mapping[str, str]:
    return _read("scope")


def to_psycopg(text: str) -> str:
    """Turn ``:name`` into ``%(name)s`` and escape percent signs; casts (``::``) are kept."""
    return PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))


def chunk_table(dimensions: int) -> sql.Identifier:
    """Return the name of the table of chunks with vectors of this size."""
    return sql.Identifier(f"data_document_chunks_{int(dimensions)}")
