"""Named queries from ``rag/store/sql/*.sql``.

A query follows a line ``-- name: the_name``. Parameters are written ``:like_this`` and always bound; ``{chunks}``
stands for the table of one vector size and is only ever replaced by a quoted identifier.
"""

import functools
import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from psycopg import sql

NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")


@functools.cache
def load(noun: str) -> Mapping[str, sql.SQL]:
    """Return the queries of ``sql/<noun>.sql`` by name, for psycopg."""
    return MappingProxyType({name: sql.SQL(to_psycopg(text)) for name, text in load_text(noun).items()})


@functools.cache
def load_text(noun: str) -> Mapping[str, str]:
    """Return the queries of ``sql/<noun>.sql`` by name, as written in the file."""
    source = (resources.files("rag.store") / "sql" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *parts = NAME.split(source)
    return MappingProxyType({name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)})


def to_psycopg(text: str) -> str:
    """Turn ``:name`` into ``%(name)s`` and escape percent signs; casts (``::``) are kept."""
    return PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))


def chunk_table(dimensions: int) -> sql.Identifier:
    """Return the name of the table of chunks with vectors of this size."""
    return sql.Identifier(f"data_document_chunks_{int(dimensions)}")
