"""Named queries and their parameters."""

import pytest

from rag.store.server import distribution, migrations, named_queries


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WHERE id = :id", "WHERE id = %(id)s"),
        ("WHERE id = ANY (:ids::uuid[])", "WHERE id = ANY (%(ids)s::uuid[])"),
        ("SELECT now()::date", "SELECT now()::date"),
        ("LIKE 'a%'", "LIKE 'a%%'"),
    ],
)
def test_named_parameters_become_those_of_psycopg(text: str, expected: str) -> None:
    assert named_queries.to_psycopg(text) == expected


@pytest.mark.parametrize(
    "noun",
    [
        "api_keys",
        "backup",
        "caches",
        "chunks",
        "conversations",
        "dense",
        "documents",
        "embedding_generations",
        "indexes",
        "lexical",
        "session",
        "row_security",
    ],
)
def test_each_query_has_a_name(noun: str) -> None:
    assert all(text and "-- name:" not in text for text in named_queries.load_text(noun).values())


@pytest.mark.parametrize("dimensions", ["1; DROP TABLE documents", "1a"])
def test_a_table_is_named_by_a_number(dimensions: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        named_queries.chunk_table(dimensions)  # type: ignore[arg-type]  # what must not come through


def test_tables_that_are_not_distributed_exist() -> None:
    assert {*migrations.tables()} >= distribution.COORDINATOR_TABLES
