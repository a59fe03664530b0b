"""Backup and restore between real databases, row by row; and what they refuse."""

import itertools
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import fsspec
import psycopg
import pytest
from psycopg import conninfo, sql

from rag import errors
from rag.store.backup import backup, format_1, pg_tools, restore
from rag.store.backup.archive import Archive, ArchiveWriter
from rag.store.files.file_storage import KINDS, FileStore
from rag.store.server import database_roles, migrations
from rag.store.store import Store
from rag.types import AnswerResponse, ChunkingOptions, EmbeddingSpace, Rect, Region
from rag.types.operations import DATABASE_MEMBER
from tests.integration.samples import IN_TRASH, SPACE, Owner, random_vector

ANN, BOB = "ann", "bob\t\\N'; DROP TABLE documents; --"
ODD = 'Tab\there, line\nthere, \\N and \\., “quotes”, \'; --, emoji 🙂, \r\n, \x01 and {json: "yes"}'
SMALL = EmbeddingSpace(provider="test", model="small", dimensions=40)
HALF = EmbeddingSpace(provider="test", model="half", dimensions=1700)
HASH = b"hash of a question"


class StoppedError(Exception):
    """What ends a backup or a restore in the middle."""


class Machine(NamedTuple):
    """An installation: its database, its files, and the folder that they are in."""

    url: str
    files: FileStore
    folder: Path


def fill(db: Store, files: FileStore, folder: Path) -> list[Owner]:
    """Two users: documents of several vector sizes, with files, in the trash and unread; chats; another generation."""
    ann, bob = Owner.of(db, ANN), Owner.of(db, BOB)
    small, half = Owner.of(db, ANN, name="small", space=SMALL), Owner.of(db, BOB, name="half", space=HALF)
    for owner in (ann, bob, small, half):
        for number in range(3):
            name = f"{owner.index.name} {number}.pdf"
            document = owner.ready(
                name, [f"{name} {ODD} {word * (number + 1)}" for word in (" pears", " ships", " bees")]
            )
            for kind in KINDS:
                upload = folder / "upload"
                upload.write_bytes(f"{owner.user_id} {name} {kind}".encode() * 1000)
                files.of(owner.user_id).put(document.id, kind, upload)
    trashed = ann.ready("thrown away.pdf", ["old"])
    db.of(ANN).documents.trash([trashed.id])
    bob.add("unread.pdf", source=ODD)
    conversation = db.of(BOB).conversations.create(bob.index.id, title=ODD)
    db.of(BOB).conversations.append(conversation.id, role="user", content=ODD)
    response = AnswerResponse(status="ok", answer=ODD, model="model")
    db.of(BOB).conversations.append(conversation.id, role="assistant", content=ODD, response=response)
    db.of(ANN).caches.keep("answers", HASH, ODD)
    db.of(ANN).api_keys.create(name=ODD, digest=HASH, hint="pl_", permissions=["read"])
    db.of(ANN).embedding_cache.put(SPACE, {HASH: [1.0]})
    db.of(ANN).generations.add(ann.index.id, SMALL)
    for document in db.of(ANN).documents.list(ann.index.id):
        chunks = db.of(ANN).chunks.to_embed(document.id)
        vectors = [random_vector(chunk.id, SMALL.dimensions) for chunk in chunks]
        db.of(ANN).chunks.add_vectors(document.id, SMALL, chunks=chunks, vectors=vectors)
    return [ann, bob, small, half]


@pytest.fixture
def here(database_url: str, tmp_path: Path) -> Machine:
    folder = tmp_path / "here"
    return Machine(database_url, FileStore(folder.as_uri(), tmp_path / "cache"), folder)


@pytest.fixture
def there(empty_url: str, tmp_path: Path) -> Machine:
    """A fresh machine."""
    folder = tmp_path / "there"
    return Machine(empty_url, FileStore(folder.as_uri(), tmp_path / "other cache"), folder)


@pytest.fixture
def owners(db: Store, here: Machine, tmp_path: Path) -> list[Owner]:
    return fill(db, here.files, tmp_path)


@pytest.fixture
def archive(db: Store, owners: list[Owner], here: Machine, tmp_path: Path) -> Path:
    """A backup of the two users."""
    path = tmp_path / "backup.tar"
    backup.write(db.backup_url, here.files, path)
    return path


def tables(url: str) -> set[str]:
    """All tables but those of the job queue."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in rows if not name.startswith("procrastinate_")} - {"migrations"}


def content(url: str) -> dict[str, list[str]]:
    """Every row of every table that is backed up."""
    found = {}
    with psycopg.connect(url) as connection:
        connection.execute("SET timezone TO 'UTC'")
        for table in tables(url) - {*backup.EXCLUDED_TABLES}:
            rows = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
            found[table] = sorted(row for (row,) in rows)
    return found


def definitions(url: str) -> list[tuple[object, ...]]:
    """All indexes and constraints as the catalogue has them."""
    with psycopg.connect(url) as connection:
        indexes = connection.execute("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'").fetchall()
        constraints = connection.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace"
        ).fetchall()
    return sorted([*indexes, *constraints], key=str)


def stored_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- there and back ---


def test_every_row_and_file_is_back(archive: Path, here: Machine, there: Machine, tmp_path: Path) -> None:
    manifest = restore.restore(there.url, there.files, archive)
    restored = content(there.url)
    assert restored == content(here.url)
    assert all(
        restored[name] for name in ("documents", "postings", "messages", "completion_cache", "embedding_generations")
    )
    assert {len(restored[f"data_document_chunks_{size}"]) for size in (384, 40, 1700)} == {18 + 1, 9 + 9, 9}
    assert manifest.rows == {name: len(rows) for name, rows in restored.items()}
    assert stored_files(there.folder) == stored_files(here.folder)
    assert len(manifest.files) == 24
    assert definitions(there.url) == definitions(here.url)


def test_searches_find_the_same_with_the_same_scores(
    archive: Path, db: Store, owners: list[Owner], there: Machine
) -> None:
    restore.restore(there.url, there.files, archive)
    with Store.open(there.url, pool_size=2) as fresh:
        for owner in owners:
            assert seen(fresh, owner) == seen(db, owner)


def seen(db: Store, owner: Owner) -> tuple[object, ...]:
    user, index = owner.user_id, owner.index
    chats = db.of(user).conversations.list(index.id)
    return (
        db.of(owner.user_id).chunks.dense(
            owner.scope, index.space, random_vector("a question", index.space.dimensions), 50
        ),
        db.of(owner.user_id).chunks.lexical(owner.scope, "ships and pears", 50),
        db.of(user).indexes.get(index.name),
        db.of(user).generations.list(index.id),
        db.of(user).documents.list(index.id),
        db.of(user).documents.list(index.id, IN_TRASH),
        [db.of(user).conversations.messages(chat.id) for chat in chats],
    )


def test_new_rows_after_a_restore_get_new_numbers(archive: Path, owners: list[Owner], there: Machine) -> None:
    restore.restore(there.url, there.files, archive)
    with Store.open(there.url, pool_size=2) as fresh:
        for owner in owners:
            again = Owner(fresh, owner.user_id, owner.index)
            document = again.ready("new.pdf", ["A new text about kites."])
            found = fresh.of(owner.user_id).chunks.lexical(again.scope, "kites", 5).chunks
            assert [candidate.document_id for candidate in found] == [document.id]
        Owner.of(fresh, "cleo").ready("hers.pdf", ["kites"])
        (conversation,) = fresh.of(BOB).conversations.list(owners[1].index.id)
        fresh.of(BOB).conversations.append(conversation.id, role="user", content="last")
        assert [message.content for message in fresh.of(BOB).conversations.messages(conversation.id)] == [
            ODD,
            ODD,
            "last",
        ]


def test_files_may_be_kept_elsewhere_before_and_after(db: Store, here: Machine, there: Machine, tmp_path: Path) -> None:
    name = uuid.uuid4().hex
    remote = FileStore(f"memory://{name}/here", tmp_path / "cache")
    elsewhere = FileStore(f"memory://{name}/there", tmp_path / "other cache")
    fill(db, remote, tmp_path)
    backup.write(here.url, remote, tmp_path / "backup.tar")
    restore.restore(there.url, elsewhere, tmp_path / "backup.tar")
    memory = fsspec.filesystem("memory")
    kept, restored = (memory.find(f"/{name}/{place}") for place in ("here", "there"))
    assert [path.replace("/here/", "/there/") for path in kept] == restored
    assert [memory.cat(path) for path in kept] == [memory.cat(path) for path in restored]
    assert len(kept) == 24
    memory.rm(f"/{name}", recursive=True)


def test_settings_of_either_server_change_nothing(
    db: Store, owners: list[Owner], here: Machine, there: Machine, tmp_path: Path
) -> None:
    with psycopg.connect(here.url) as connection:
        connection.execute("UPDATE data_document_chunks_384 SET x0 = 1.0 / 3.0 + ordinal")
    for url in (here.url, there.url):
        with psycopg.connect(url, autocommit=True) as connection:
            name = connection.info.dbname
            for setting in ("datestyle = 'German, DMY'", "extra_float_digits = -10", "bytea_output = 'escape'"):
                connection.execute(f'ALTER DATABASE "{name}" SET {setting}')
            connection.execute(f"""ALTER DATABASE "{name}" SET timezone = 'Asia/Kathmandu'""")
    backup.write(here.url, here.files, tmp_path / "backup.tar")
    restore.restore(there.url, there.files, tmp_path / "backup.tar")
    for url in (here.url, there.url):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{connection.info.dbname}" RESET ALL')
    assert content(there.url) == content(here.url)


# --- what is in it ---


def test_every_table_is_in_it_or_left_out_on_purpose(archive: Path, here: Machine) -> None:
    """A migration that makes a table in a way that `migrations.tables` does not see fails here."""
    manifest = backup.check(archive)
    assert {*manifest.rows, *manifest.left_out} == tables(here.url)
    assert {*manifest.left_out} < {*migrations.tables()}
    assert manifest.migrations == migrations.names()


def test_tables_of_other_programs_are_none_of_ours(
    owners: list[Owner], here: Machine, there: Machine, tmp_path: Path
) -> None:
    for url in (here.url, there.url):
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE payroll (user_id text PRIMARY KEY, salary int)")
            connection.execute("INSERT INTO payroll VALUES ('ann', 4812)")
    path = tmp_path / "backup.tar"
    assert "payroll" not in backup.write(here.url, here.files, path).rows
    restore.restore(there.url, there.files, path)


@pytest.mark.parametrize("table", ["postings", "audit"])
def test_rows_that_the_database_holds_back_are_no_backup(
    db: Store, owners: list[Owner], here: Machine, tmp_path: Path, table: str
) -> None:
    with psycopg.connect(here.url) as connection:
        connection.execute(sql.SQL("DROP POLICY of_all_users ON {}").format(sql.Identifier(table)))
    with pytest.raises(errors.StoreError, match=f"not all rows of {table},"):
        backup.write(db.backup_url, here.files, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()
    backup.write(here.url, here.files, tmp_path / "backup.tar")  # as who bypasses all policies


def test_an_account_that_does_not_ask_for_all_users_backs_up_nothing(
    db: Store, owners: list[Owner], here: Machine, tmp_path: Path
) -> None:
    """As behind a pooler that drops what a connection asks for at its start."""
    one_user = conninfo.make_conninfo(db.backup_url, options=f"-c role={database_roles.BACKUP}")
    with pytest.raises(errors.StoreError, match=r"not all rows of .*documents"):
        backup.write(one_user, here.files, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


def test_a_backup_is_readable_by_its_owner_alone(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


# --- while others work ---


@pytest.mark.not_on_citus("one snapshot of all nodes")
def test_a_backup_is_a_consistent_snapshot(
    db: Store, owners: list[Owner], here: Machine, there: Machine, tmp_path: Path
) -> None:
    """Before the tables are dumped a document comes and one goes; before the files, one more goes."""
    before = content(here.url)
    ann = owners[0]
    first, second, third = (document.id for document in db.of(ANN).documents.list(ann.index.id)[::-1])

    def purge(document_id: uuid.UUID) -> None:
        db.of(ANN).documents.trash([document_id])
        db.of(ANN).documents.purge([document_id])
        here.files.of(ANN).delete(document_id)

    def work(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("tables", 0):
            ann.ready("new.pdf", ["A new text."])
            purge(first)
        if (stage, done) == ("files", 0):
            purge(third)

    manifest = backup.write(here.url, here.files, tmp_path / "backup.tar", work)
    assert content(here.url) != before
    unstored = {
        document.id for document in db.of(BOB).documents.list(owners[1].index.id) if document.name == "unread.pdf"
    }
    lost = {one.document_id for one in manifest.missing if one.user_id == ANN}
    assert {first, third} < lost
    assert second not in lost
    assert {one.document_id for one in manifest.missing if one.user_id == BOB} == unstored
    restore.restore(there.url, there.files, tmp_path / "backup.tar")
    assert content(there.url) == before


# --- interrupted ---


def stop_at(stage: str, count: int) -> Callable[[str, int, int], None]:
    def stop(at: str, done: int, total: int) -> None:
        if (at, done) == (stage, count):
            raise StoppedError

    return stop


@pytest.mark.long
@pytest.mark.parametrize("moment", [("tables", 0), ("tables", 1), ("files", 0), ("files", 7), ("check", 0)])
def test_an_interrupted_backup_leaves_nothing(
    owners: list[Owner], here: Machine, tmp_path: Path, moment: tuple[str, int]
) -> None:
    folder = tmp_path / "safe"
    folder.mkdir()
    stage, count = moment

    def stop(at: str, done: int, total: int) -> None:
        if at == stage and done >= count:
            raise StoppedError

    with pytest.raises(StoppedError):
        backup.write(here.url, here.files, folder / "backup.tar", stop)
    assert list(folder.iterdir()) == []
    backup.write(here.url, here.files, folder / "backup.tar")
    assert [path.name for path in folder.iterdir()] == ["backup.tar"]


@pytest.mark.long
@pytest.mark.parametrize("moment", [("files", 0), ("files", 7), ("tables", 0), ("tables", 8), ("indexes", 1)])
def test_an_interrupted_restore_has_changed_no_row_and_is_run_again(
    archive: Path, here: Machine, there: Machine, tmp_path: Path, moment: tuple[str, int]
) -> None:
    with pytest.raises(StoppedError):
        restore.restore(there.url, there.files, archive, stop_at(*moment))
    assert not any(content(there.url).values())
    restore.restore(there.url, there.files, archive)
    assert content(there.url) == content(here.url)
    assert definitions(there.url) == definitions(here.url)
    assert stored_files(there.folder) == stored_files(here.folder)


# --- refused ---


def test_a_file_that_is_there_is_not_overwritten(here: Machine, tmp_path: Path) -> None:
    taken = tmp_path / "backup.tar"
    taken.write_bytes(b"an older backup")
    with pytest.raises(errors.ValidationError, match="exists"):
        backup.write(here.url, here.files, taken)
    assert taken.read_bytes() == b"an older backup"


def test_a_backup_into_a_missing_folder_is_refused(here: Machine, tmp_path: Path) -> None:
    with pytest.raises(errors.SourceError, match="cannot be written"):
        backup.write(here.url, here.files, tmp_path / "nowhere" / "backup.tar")


def _document(db: Store) -> None:
    Owner.of(db, "cleo").add("hers.pdf")


def _index(db: Store) -> None:
    db.of("cleo").indexes.ensure("filings", SPACE, ChunkingOptions())


def _conversation(db: Store) -> None:
    db.of("cleo").conversations.create(Owner.of(db, "cleo").index.id, title="hers")


def _completion(db: Store) -> None:
    db.of("cleo").caches.keep("answers", HASH, "hers")


@pytest.mark.parametrize("occupy", [_document, _index, _conversation, _completion])
def test_an_installation_with_anything_in_it_stays_as_it_is(
    archive: Path, there: Machine, tmp_path: Path, occupy: Callable[[Store], None]
) -> None:
    with Store.open(there.url, pool_size=1) as db:
        occupy(db)
    before = content(there.url)
    with pytest.raises(errors.StoreError, match="something in this installation"):
        restore.restore(there.url, there.files, archive)
    assert content(there.url) == before
    assert stored_files(there.folder) == {}


def test_a_restore_overwrites_nothing_added_meanwhile(archive: Path, there: Machine) -> None:
    """The database was empty at first, and is not any more when its turn comes."""

    def work(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("files", 3):
            with Store.open(there.url, pool_size=1) as db:
                _document(db)

    with pytest.raises(errors.StoreError, match="something in this installation"):
        restore.restore(there.url, there.files, archive, work)
    assert len(content(there.url)["documents"]) == 1


def test_an_app_that_was_only_looked_at_is_no_obstacle(archive: Path, here: Machine, there: Machine) -> None:
    with Store.open(there.url, pool_size=1) as db:
        Owner.of(db, "local")
    restore.restore(there.url, there.files, archive)
    assert content(there.url) == content(here.url)


def test_a_damaged_archive_touches_nothing(archive: Path, there: Machine, tmp_path: Path) -> None:
    damaged = bytearray(archive.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    archive.write_bytes(damaged)
    with pytest.raises(errors.UnreadableFileError, match="no backup, or a damaged one"):
        backup.check(archive)
    with pytest.raises(errors.UnreadableFileError, match="no backup, or a damaged one"):
        restore.restore(there.url, there.files, archive)
    assert tables(there.url) == set()
    assert stored_files(there.folder) == {}


# --- other versions ---


def test_a_backup_of_a_newer_version_is_refused(here: Machine, there: Machine, tmp_path: Path) -> None:
    with psycopg.connect(here.url) as connection:
        connection.execute("INSERT INTO migrations (name) VALUES ('9999_from_the_future')")
    backup.write(here.url, here.files, tmp_path / "backup.tar")
    with pytest.raises(errors.UnsupportedFileError, match="newer version"):
        restore.restore(there.url, there.files, tmp_path / "backup.tar")
    assert tables(there.url) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE documents ADD COLUMN secret text",
        "DELETE FROM migrations WHERE name = '0002_documents'",
        "UPDATE migrations SET name = '0001_documents' WHERE name = '0001_row_level_security'",
        "SELECT create_chunk_table(4); ALTER TABLE data_document_chunks_4 RENAME TO data_document_chunks_0384",
    ],
)
def test_a_schema_that_never_was_is_refused(here: Machine, there: Machine, tmp_path: Path, statement: str) -> None:
    with psycopg.connect(here.url) as connection:
        for part in statement.split("; "):  # Citus passes on the whole text to the nodes
            connection.execute(part)
    backup.write(here.url, here.files, tmp_path / "backup.tar")
    with pytest.raises(errors.UnsupportedFileError, match="Restore it with"):
        restore.restore(there.url, there.files, tmp_path / "backup.tar")
    if tables(there.url):
        assert not any(content(there.url).values())


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a later version: ours, and one that adds a column."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for name in migrations.names():
        (folder / f"{name}.sql").write_text((migrations.FOLDER / f"{name}.sql").read_text())
    (folder / "9998_shelves.sql").write_text("ALTER TABLE documents ADD COLUMN shelf int NOT NULL DEFAULT 7;")
    return folder


def in_the_first_format(archive: Path, path: Path) -> None:
    """Write the same backup as releases before pg_dump did: each table's rows are a member of their own."""
    with Archive(archive, lambda done: None) as source, path.open("wb") as file:
        writer, tables = ArchiveWriter(file, created=0), []
        for table, columns, pieces in pg_tools.tables_of(source.read(DATABASE_MEMBER)):
            with writer.member(f"tables/{table}.copy") as sink:
                for piece in pieces:
                    sink.write(piece)
            rows = source.manifest.rows[table]
            tables.append({"table": table, "columns": columns, "rows": rows, **sink.member.model_dump(by_alias=False)})
        for entry in source.manifest.files:
            with writer.member(entry.member) as sink:
                for piece in source.read(entry.member):
                    sink.write(piece)
        fields = source.manifest.model_dump(exclude={"database", "format", "rows"}, by_alias=False)
        writer.close(format_1.Manifest(**fields, format=1, rows={}, tables=tables))


def test_a_backup_of_the_first_format_is_restored_for_one_release(
    archive: Path, here: Machine, there: Machine, tmp_path: Path
) -> None:
    old = tmp_path / "old.tar"
    in_the_first_format(archive, old)
    assert backup.check(old).rows == backup.check(archive).rows
    restore.restore(there.url, there.files, old)
    assert content(there.url) == content(here.url)
    assert stored_files(there.folder) == stored_files(here.folder)


def test_a_server_newer_than_the_packaged_pg_dump_is_named() -> None:
    pg_tools.require_version(180_004)
    with pytest.raises(errors.StoreError, match="PostgreSQL 19, and the packaged pg_dump is of version 18"):
        pg_tools.require_version(190_001)


def test_a_password_is_on_no_command_line(tmp_path: Path) -> None:
    file = tmp_path / "password"
    connection = pg_tools.without_password("postgresql://ann:s3cret%3A%5C@db/pages?sslmode=require", file)
    assert conninfo.conninfo_to_dict(connection) == {
        "user": "ann",
        "host": "db",
        "dbname": "pages",
        "sslmode": "require",
        "passfile": str(file),
    }
    assert file.read_text() == "*:*:*:*:s3cret\\:\\\\\n"
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(errors.StoreError, match="without a password"):
        pg_tools.without_password("host=db sslpassword=s3cret", file)


def test_a_backup_of_an_earlier_version_is_brought_forward(archive: Path, there: Machine, later: Path) -> None:
    manifest = restore.restore(there.url, there.files, archive, schema=later)
    with psycopg.connect(there.url) as connection:
        assert connection.execute("SELECT FROM migrations WHERE name = '9998_shelves'").fetchone() is not None
        shelves = connection.execute("SELECT shelf FROM documents").fetchall()
    assert shelves == [(7,)] * manifest.rows["documents"] != []


def test_a_backup_of_an_earlier_version_needs_a_new_database(
    here: Machine, there: Machine, later: Path, tmp_path: Path
) -> None:
    backup.write(here.url, here.files, tmp_path / "backup.tar")
    migrations.migrate(there.url, folder=later)
    with pytest.raises(errors.StoreError, match="Restore into a new database"):
        restore.restore(there.url, there.files, tmp_path / "backup.tar", schema=later)


def test_a_note_on_a_document_that_is_not_in_the_backup_is_left_out(
    db: Store, owners: list[Owner], here: Machine, there: Machine, tmp_path: Path
) -> None:
    """As where its owner is on another node of a cluster, which was read before."""
    place = Region(page_number=1, rects=(Rect(0, 0, 1, 1),))
    document = db.of(ANN).documents.list(owners[0].index.id)[0]
    kept = db.of(ANN).annotations.add(document.id, [place], "pears", "mine")
    with psycopg.connect(here.url) as connection:
        connection.execute(
            "INSERT INTO annotations (user_id, id, owner, document_id, regions, quote) "
            "VALUES (%s, gen_random_uuid(), %s, gen_random_uuid(), '[]', 'gone')",
            [BOB, ANN],
        )
    backup.write(here.url, here.files, tmp_path / "backup.tar")
    restore.restore(there.url, there.files, tmp_path / "backup.tar")
    with psycopg.connect(there.url) as connection:
        assert connection.execute("SELECT id FROM annotations").fetchall() == [(kept.id,)]


# --- on a Citus cluster ---


@pytest.fixture
def cluster(empty_cluster_url: str, tmp_path: Path) -> Machine:
    """A fresh machine with a distributed database."""
    with Store.open(empty_cluster_url, pool_size=1) as store:
        store.distribute()
    folder = tmp_path / "cluster"
    return Machine(empty_cluster_url, FileStore(folder.as_uri(), tmp_path / "cluster cache"), folder)


@pytest.mark.needs_citus
def test_a_backup_is_restored_into_a_cluster(
    archive: Path, db: Store, owners: list[Owner], here: Machine, cluster: Machine
) -> None:
    with Store.open(cluster.url, pool_size=2) as fresh:
        Owner.of(fresh, ANN)
    restore.restore(cluster.url, cluster.files, archive)
    assert content(cluster.url) == content(here.url)
    assert stored_files(cluster.folder) == stored_files(here.folder)
    assert definitions(cluster.url) == definitions(here.url)
    with Store.open(cluster.url, pool_size=2) as fresh:
        report = fresh.distribution()
        assert report
        assert {"data_document_chunks_40", "data_document_chunks_1700", "documents"} <= {*report.distributed}
        for owner in owners:
            assert seen(fresh, owner) == seen(db, owner)
            Owner(fresh, owner.user_id, owner.index).ready("new.pdf", ["A new text about kites."])
    with pytest.raises(errors.StoreError, match=r"There is something in this installation already .*documents"):
        restore.restore(cluster.url, cluster.files, archive)


@pytest.mark.needs_citus
def test_an_interrupted_restore_leaves_a_cluster_empty(archive: Path, cluster: Machine) -> None:
    with pytest.raises(StoppedError):
        restore.restore(cluster.url, cluster.files, archive, stop_at("tables", 20))
    assert not any(content(cluster.url).values())
    restore.restore(cluster.url, cluster.files, archive)
    assert content(cluster.url)["documents"]


@pytest.mark.needs_citus
def test_rows_of_a_user_are_of_one_moment_in_the_backup_of_a_cluster(
    db: Store, owners: list[Owner], here: Machine, there: Machine, tmp_path: Path
) -> None:
    """Users add and purge documents all the time, with files."""
    stop = threading.Event()

    def work(owner: Owner) -> int:
        before = owner.ready("before.pdf", ["one"])
        for number in itertools.count():
            document = owner.ready(f"new {number}.pdf", [f"text {n} of {number}" for n in range(5)])
            upload = tmp_path / f"upload of {owner.index.id}"
            upload.write_bytes(b"%PDF")
            here.files.of(owner.user_id).put(document.id, "original", upload)
            db.of(owner.user_id).documents.trash([before.id])
            db.of(owner.user_id).documents.purge([before.id])
            here.files.of(owner.user_id).delete(before.id)
            before = document
            if stop.is_set():
                return number
        raise AssertionError

    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(work, owner) for owner in owners[:2]]
        archives = [tmp_path / f"backup {number}.tar" for number in range(3)]
        manifests = [backup.write(db.backup_url, here.files, path) for path in archives]
        stop.set()
        assert all(future.result() > 3 for future in working)
    for path in archives:
        backup.check(path)
    restore.restore(there.url, there.files, archives[-1])
    restored = content(there.url)
    assert manifests[-1].rows == {name: len(rows) for name, rows in restored.items()}
    with psycopg.connect(there.url) as connection:
        documents = {row[0] for row in connection.execute("SELECT id FROM documents")}
        torn = connection.execute(TORN).fetchall()
    assert torn == []
    stored = {file.document_id for file in manifests[-1].files if file.kind == "original"}
    lost = {file.document_id for file in manifests[-1].missing}
    assert documents == stored | lost


TORN = """
    SELECT d.name, d.chunk_count, count(c.id) FROM documents d
    LEFT JOIN stored_chunks c ON c.user_id = d.user_id AND c.document_id = d.id AND c.generation = 1
    WHERE d.status = 'ready' GROUP BY d.user_id, d.id HAVING d.chunk_count <> count(c.id)
"""
"""Documents without all of their chunks."""
