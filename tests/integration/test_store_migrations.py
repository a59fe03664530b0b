"""The schema: applied once, by one process, or refused with words that help."""

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo, sql

from rag import errors
from rag.store.server import migrations
from rag.store.store import Store
from rag.types import SavedCell
from tests.databases import new_database
from tests.integration.conftest import new_account
from tests.integration.samples import insert_old_matrix, insert_reviews

FIRST = "0001_row_level_security"
"""The packaged migration whose functions are called whenever migrations were applied."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of migrations: a packaged one, and a later one that makes a table."""
    (tmp_path / f"{FIRST}.sql").write_text((migrations.FOLDER / f"{FIRST}.sql").read_text())
    (tmp_path / "0002_notes.sql").write_text("CREATE TABLE notes (user_id text PRIMARY KEY);")
    return tmp_path


def applied(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT name, applied_at FROM migrations ORDER BY name").fetchall()


def test_migrating_again_does_nothing(empty_url: str) -> None:
    migrations.migrate(empty_url)
    first = applied(empty_url)
    migrations.migrate(empty_url)
    assert applied(empty_url) == first
    names = {name for name, _ in first}
    assert {*migrations.names(), "procrastinate"} <= names


def test_each_migration_is_applied_once_and_the_next_ones_later(empty_url: str, folder: Path) -> None:
    migrations.migrate(empty_url, until=FIRST, folder=folder)
    before = applied(empty_url)
    assert {FIRST} == {name for name, _ in before if str(name).startswith("0")}
    migrations.migrate(empty_url, folder=folder)
    assert [row for row in applied(empty_url) if row[0] != "0002_notes"] == before
    with psycopg.connect(empty_url) as connection:
        walled = connection.execute("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'notes'").fetchone()
    assert walled == (True,)


def test_stored_evaluations_are_removed_and_other_jobs_stay(empty_url: str) -> None:
    migrations.migrate(empty_url, until="0007_library_search")
    insert = "INSERT INTO jobs (user_id, id, kind, index_name, request) VALUES ('ada', %s, %s, 'x', '{}')"
    with psycopg.connect(empty_url) as connection:
        connection.execute("SELECT set_config('pagelight.user_id', 'ada', false)")
        for kind in ("evaluation", "matrix"):
            connection.execute(insert, [uuid.uuid4(), kind])
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("SELECT set_config('pagelight.user_id', 'ada', false)")
        assert connection.execute("SELECT kind FROM jobs").fetchall() == [("matrix",)]
        walled = connection.execute("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'jobs'").fetchone()
    assert walled == (True,)


LONG = "Which of the harbours " * 15 + "is it?"


@pytest.fixture
def own_url(server_url: str, external_database_url: str | None) -> Iterator[str]:
    """An empty database in which the account of the app owns the tables, so that row-level security holds it."""
    if external_database_url:
        pytest.skip("accounts are of the whole server, which others use")
    with new_account(server_url) as account, new_database(server_url) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(sql.Identifier(account)))
        yield conninfo.make_conninfo(url, user=account)


def test_the_questions_of_a_matrix_become_fields_and_its_answers_their_values(own_url: str) -> None:
    key = uuid.uuid4()
    questions = [
        {"text": "How many\nships?", "should_agree": True},
        {"text": LONG, "should_agree": False},
        {"text": "Which flag?", "should_agree": False},
        {"text": "\u202eNot\x07 \u00a0asked yet", "should_agree": False},
    ]
    place = {"lineage_id": str(key), "document_id": str(key), "version": 2, "sha256": "new", "model": "gpt-4.1"}
    place |= {"answered_at": "2026-03-09T08:05:00+00:00", "question": 0}
    quote = {"quote": "977 ships", "page_number": 3, "page_label": "iii"}
    quote |= {"regions": [{"page_number": 3, "rects": [[72, 72, 200, 90]]}]}
    answers = [
        {**place, **quote, "status": "answered", "answer": "977 ships", "verdict": "quoted", "likelihood": 0.9},
        {**place, "status": "not_found", "answer": ""},
        {**place, "status": "failed", "answer": "", "reason": "No reply."},
    ]
    migrations.migrate(own_url, until="0014_spread_tables")
    insert_old_matrix(own_url, key, questions, answers)
    with Store.open(own_url, pool_size=1) as db:
        (matrix,) = db.of("ada").matrices.list()
        cells: dict[uuid.UUID | None, SavedCell] = {
            saved.cell.field_id: saved for saved in db.of("ada").matrices.cells(matrix.id)
        }
        documents = db.of("ada").matrices.documents(matrix.lineage_ids)
        first = cells[matrix.fields[0].id].cell
        again = [(field, first.model_copy(update={"field_id": field.id})) for field in matrix.fields]
        saved = db.of("ada").matrices.put(matrix.id, again)
    with psycopg.connect(own_url) as connection:
        walled = connection.execute(
            "SELECT relname, relforcerowsecurity FROM pg_class WHERE relname IN ('matrices', 'field_cells')"
        ).fetchall()
    assert {*walled} == {("matrices", True), ("field_cells", True)}
    assert [(field.name, field.type, field.should_agree) for field in matrix.fields] == [
        ("How many ships?", "text", True),
        (LONG[:200].strip(), "text", False),
        ("Which flag?", "text", False),
        ("Not asked yet", "text", False),
    ]
    assert matrix.fields[1].question == LONG
    assert (matrix.pilot, matrix.follows, [document.name for document in documents]) == (None, None, ["north.pdf"])
    shown = [cells[field.id] for field in matrix.fields[:3]]
    assert [(one.cell.state, one.cell.value, one.cell.words) for one in shown] == [
        ("found", "977 ships", "977 ships"),
        ("not_stated", None, ""),
        ("failed", None, ""),
    ]
    first = shown[0].cell
    assert (first.verdict, first.confidence, first.version, first.model) == ("quoted", 0.9, 2, "gpt-4.1")
    assert [(one.quote, one.page_number, one.page_label, len(one.regions)) for one in first.citations] == [
        ("977 ships", 3, "iii", 1)
    ]
    assert shown[0].previous == first
    assert (shown[1].previous, shown[1].cell.citations, shown[2].cell.reason) == (None, (), "No reply.")
    assert saved == [field.id for field in matrix.fields], "they are filled as any other"


def test_cells_forget_what_was_purged_before_and_keep_what_was_decided(own_url: str) -> None:
    migrations.migrate(own_url, until="0015_matrix_fields")
    key, fields = uuid.uuid4(), [str(uuid.UUID(int=number)) for number in range(3)]
    corrected = {"state": "corrected", "value": "Ada's", "words": "as quoted", "citations": [{"quote": "as quoted"}]}
    gone, kept = {"document_id": str(uuid.uuid4())}, {"document_id": str(key)}
    cells: list[dict[str, object]] = [
        {"previous": gone, "review": {**corrected, "sha256": "old"}},
        {"previous": kept, "review": {**corrected, "sha256": "new"}},
        {"review": {**corrected, "sha256": "old", "value": 7, "unit": "EUR"}},
    ]
    insert_reviews(own_url, key, dict(zip(fields, cells, strict=True)))
    migrations.migrate(own_url)
    with psycopg.connect(own_url) as connection:
        connection.execute("SELECT set_config('pagelight.user_id', 'ada', false)")
        found = connection.execute("SELECT previous, review FROM field_cells ORDER BY field_id").fetchall()
        (edited,) = connection.execute("SELECT edited_at IS NOT NULL FROM matrices").fetchall()
        walled = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname IN ('documents', 'field_cells', 'matrices')"
        ).fetchall()
    unquoted = {"citations": [], "sha256": "old"}
    assert found == [
        (None, {**corrected, **unquoted, "words": "Ada's"}),
        (kept, {**corrected, "sha256": "new"}),
        (None, {**corrected, **unquoted, "value": 7, "unit": "EUR", "words": ""}),
    ]
    assert (edited, walled) == ((True,), [(True,)] * 3)


def test_a_failing_migration_undoes_those_before_it(empty_url: str, folder: Path) -> None:
    (folder / "0003_broken.sql").write_text("ALTER TABLE nowhere ADD COLUMN x int;")
    with pytest.raises(errors.StoreError):
        migrations.migrate(empty_url, folder=folder)
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_many_processes_may_migrate_at_once(empty_url: str) -> None:
    failures: list[Exception] = []

    def open_store() -> None:
        try:
            Store.open(empty_url, pool_size=1).close()
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
        Store.open(empty_url)


def test_an_account_without_rights(server_url: str, empty_url: str, external_database_url: str | None) -> None:
    if external_database_url:
        pytest.skip("accounts are of the whole server, which others use")
    with new_account(server_url) as account, pytest.raises(errors.StoreError, match="may not"):
        migrations.migrate(conninfo.make_conninfo(empty_url, user=account))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(errors.StoreError, match="cannot be reached"):
        Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")


def test_errors_never_show_the_password() -> None:
    with pytest.raises(errors.StoreError) as caught:
        Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")
    assert "secret" not in f"{caught.value} {dict(caught.value.details)}"


@pytest.mark.parametrize(
    "names",
    [
        ("0001_documents", "0002_chunks", "0053_weights"),
        ("0001_documents",),
        (migrations.names()[0], *migrations.names()[2:]),
    ],
)
def test_a_schema_of_a_development_version_is_refused_and_left_as_it_is(empty_url: str, names: tuple[str, ...]) -> None:
    with psycopg.connect(empty_url) as connection:
        connection.execute("CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())")
        connection.execute("INSERT INTO migrations (name) SELECT unnest(%s::text[])", [[*names]])
    before = applied(empty_url)
    with pytest.raises(errors.StoreError, match=r"development version.*RAG_DATA_DIR") as refused:
        Store.open(empty_url)
    assert refused.value.details == {"migrations": [*names]}
    assert applied(empty_url) == before
    with psycopg.connect(empty_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("migrations",)]


def test_long_vectors_are_indexed_by_their_codes(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        for dimensions in (16, 1700):
            connection.execute("SELECT create_chunk_table(%s)", [dimensions])
        found = connection.execute(
            "SELECT tablename, array_agg(indexname) FROM pg_indexes WHERE indexdef ~ 'hnsw' GROUP BY tablename"
        ).fetchall()
    tables = {16: "embedding", 384: "codes", 768: "codes", 1536: "codes", 1700: "codes"}
    assert dict(found) == {
        f"data_document_chunks_{dimensions}": [f"data_document_chunks_{dimensions}_{kind}_idx"]
        for dimensions, kind in tables.items()
    }
