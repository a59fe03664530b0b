"""The schema: applied once, by one process, or refused with words that help."""

import threading
import uuid
from typing import Any

import psycopg
import pytest
from psycopg import conninfo
from psycopg.types.json import Jsonb

from rag import errors, store
from rag.store.server import migrations
from rag.types import AnswerResponse, Citation, Hit, Region, Verdict
from tests import sources
from tests.integration.conftest import new_account

INDEX = (
    "INSERT INTO indexes (user_id, id, name, provider, model, dimensions, chunk_size_chars, chunk_overlap_chars, "
    "min_chunk_chars) VALUES ('ann', %s, 'old', 'test', 'random', 3, 1200, 200, 200)"
)
"""An index of any migration so far."""


def applied(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT name, applied_at FROM migrations ORDER BY name").fetchall()


def test_migrating_again_does_nothing(empty_url: str) -> None:
    migrations.migrate(empty_url)
    first = applied(empty_url)
    migrations.migrate(empty_url)
    assert applied(empty_url) == first
    names = {name for name, _ in first}
    assert {"0001_documents", "0002_chunks", "0003_postings", "procrastinate"} <= names


def test_many_processes_may_migrate_at_once(empty_url: str) -> None:
    failures: list[Exception] = []

    def open_store() -> None:
        try:
            store.Store.open(empty_url, pool_size=1).close()
        except errors.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(applied(empty_url)) == len({name for name, _ in applied(empty_url)})


def test_a_failing_migration_leaves_nothing(empty_url: str) -> None:
    with psycopg.connect(empty_url) as connection:
        connection.execute("CREATE TABLE postings (taken boolean)")
    with pytest.raises(errors.StoreError):
        migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("postings",)]


def test_newer_migrations_of_the_job_queue_are_applied(empty_url: str) -> None:
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        name = connection.execute(
            "DELETE FROM migrations WHERE name = 'procrastinate_03.04.00_50_post_add_retry_failed_job_procedure' "
            "RETURNING name"
        ).fetchone()
        connection.execute("DROP FUNCTION IF EXISTS procrastinate_retry_job_v2")
    assert name is not None
    migrations.migrate(empty_url)
    assert name[0] in {row[0] for row in applied(empty_url)}


def test_a_schema_of_a_newer_version_is_refused(empty_url: str) -> None:
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("INSERT INTO migrations (name) VALUES ('9999_from_the_future')")
    with pytest.raises(errors.StoreError, match="newer version"):
        store.Store.open(empty_url)


def cited(hit: Hit, citation_id: str, *numbers: int) -> Citation:
    """A citation of lines of `hit`, by their numbers; of none of them: it has no quote."""
    lines = tuple(line for line in hit.passage.lines if line.number in numbers)
    by_page: dict[int, list[Any]] = {}
    for line in lines:
        by_page.setdefault(line.page_number, []).append(line.bbox)
    return Citation(
        citation_id=citation_id,
        sentence=0,
        quote="\n".join(line.text for line in lines) or None,
        lines=lines,
        regions=tuple(Region(page_number=page, rects=tuple(rects)) for page, rects in by_page.items()),
        verdict=Verdict.VERIFIED if lines else Verdict.UNVERIFIED,
    )


def as_once_kept(response: AnswerResponse) -> dict[str, Any]:
    """As an answer was kept until 0009: each citation with its whole source, and without lines."""
    kept = response.model_dump(mode="json", round_trip=True)
    found = kept.pop("sources")
    for citation in kept["citations"]:
        citation["hit"] = found[citation["citation_id"]]
        del citation["lines"]
    return kept


def test_kept_answers_have_each_source_once_and_lines_afterwards(empty_url: str) -> None:
    first = sources.hit('She said "no\\yes" — 100 %.\n年度報告書の売上高\tC:\\temp\\new')
    over = sources.passage("On the next page: :name, {0}, %s.", first=3, page_number=2).lines
    passage = first.passage.model_copy(update={"lines": first.passage.lines + over})
    one, other = first.model_copy(update={"passage": passage}), sources.hit("None.", "Of it.", first=9)
    answered = AnswerResponse(
        status="ok",
        answer="No. [S1][S2]",
        citations=(cited(one, "S1", 2, 3), cited(other, "S2"), cited(one, "S1", 1), cited(other, "S2", 10)),
        sources={"S1": one, "S2": other},
        model="m",
    )
    insufficient = AnswerResponse(status="insufficient_context", answer="?", nearest=(one, other), model="m")
    migrations.migrate(empty_url, until="0009_source_names")
    index_id, chat_id = uuid.uuid4(), uuid.uuid4()
    with psycopg.connect(empty_url) as connection:
        connection.execute(INDEX, [index_id])
        connection.execute(
            "INSERT INTO conversations (user_id, id, index_id, title) VALUES ('ann', %s, %s, 'old')",
            [chat_id, index_id],
        )
        for role, response in (("user", None), ("assistant", answered), ("assistant", insufficient)):
            connection.execute(
                "INSERT INTO messages (user_id, conversation_id, id, role, content, response) "
                "VALUES ('ann', %s, gen_random_uuid(), %s, 'x', %s)",
                [chat_id, role, Jsonb(as_once_kept(response)) if response else None],
            )
    with store.Store.open(empty_url, pool_size=1) as opened:
        kept = [message.response for message in opened.of("ann").conversations.messages(chat_id)]
    assert kept == [None, answered, insufficient]


def test_sources_from_before_are_shown_only_if_they_are_addresses(empty_url: str) -> None:
    migrations.migrate(empty_url, until="0010_sources_once")
    sources_before = ["/home/ann/x.md", "s3://bucket/x.md", "zip://x.md::/home/x.zip", "sftp://ann:pw@host/x.md", None]
    index_id = uuid.uuid4()
    with psycopg.connect(empty_url) as connection:
        connection.execute(INDEX, [index_id])
        for number, source in enumerate(sources_before):
            connection.execute(
                "INSERT INTO documents (user_id, id, index_id, name, mime_type, sha256, size, source, status) "
                "VALUES ('ann', gen_random_uuid(), %s, 'x.md', 'text/markdown', %s, 1, %s, 'ready')",
                [index_id, str(number), source],
            )
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        shown = [row[0] for row in connection.execute("SELECT shown_source FROM documents ORDER BY number")]
    assert shown == [None, "s3://bucket/x.md", None, "sftp://host/x.md", None]


def test_an_account_without_rights(server_url: str, empty_url: str, external_database_url: str | None) -> None:
    if external_database_url:
        pytest.skip("accounts are of the whole server, which others use")
    with new_account(server_url) as account, pytest.raises(errors.StoreError, match="may not"):
        migrations.migrate(conninfo.make_conninfo(empty_url, user=account))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(errors.StoreError, match="cannot be reached"):
        store.Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")


def test_errors_never_show_the_password() -> None:
    with pytest.raises(errors.StoreError) as caught:
        store.Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")
    assert "secret" not in f"{caught.value} {dict(caught.value.details)}"


def test_vectors_from_before_are_found_by_their_codes(empty_url: str) -> None:
    migrations.migrate(empty_url, until="0049_edited_matrices")
    with psycopg.connect(empty_url) as connection:
        for dimensions in (8, 1700):
            connection.execute("SELECT create_chunk_table(%s)", [dimensions])
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("SELECT create_chunk_table(16)")
        found = connection.execute(
            "SELECT tablename, array_agg(indexname) FROM pg_indexes WHERE indexdef ~ 'hnsw' GROUP BY tablename"
        ).fetchall()
    tables = {8: "embedding", 16: "embedding", 384: "codes", 768: "codes", 1536: "codes", 1700: "codes"}
    assert dict(found) == {
        f"data_document_chunks_{dimensions}": [f"data_document_chunks_{dimensions}_{kind}_idx"]
        for dimensions, kind in tables.items()
    }
