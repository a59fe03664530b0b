"""Row-level security: where a statement forgets its user, the server itself shows no other user's rows."""

import dataclasses
import datetime as dt
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from rag import errors
from rag.engine import RAGEngine
from rag.store.backup import backup, restore
from rag.store.files.file_storage import FileStore
from rag.store.search import search_terms
from rag.store.server import database_roles, migrations, named_queries
from rag.store.server.database import connect, set_user
from rag.store.store import Store
from rag.types import BackupManifest, ShareRequest
from tests import programs
from tests.databases import Databases, new_database
from tests.integration.conftest import new_account
from tests.integration.samples import SPACE, Owner
from tests.integration.test_store_isolation import CASES, VICTIM, World, found_by, make_world, snapshot
from tests.stopping import own_server

OTHER = "other"
PREDICATE = re.compile(r"\b(\w+\.)?user_id = :user_id\b")
OF_FUNCTIONS = re.compile(r"\b(\w+\.)?user_id = (of_user|NEW\.user_id|\$1)(?![\w.])")
WITH_USERS = sql.SQL(
    "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' "
    "WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped"
)
COUNT = sql.SQL("SELECT count(*) FROM {}")
WALLED = """
    SELECT relname FROM pg_class c
    WHERE relrowsecurity AND relforcerowsecurity AND EXISTS (
        SELECT FROM pg_policy p
        WHERE p.polrelid = c.oid AND pg_get_expr(p.polqual, c.oid)
            = '(user_id = NULLIF(current_setting(''pagelight.user_id''::text, true), ''''::text))')
"""
OPEN_VIEWS = """
    SELECT relname FROM pg_class
    WHERE relkind IN ('v', 'm') AND relnamespace = current_schema()::regnamespace
      AND NOT coalesce(reloptions @> ARRAY['security_invoker=true'], false)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e')  -- of an extension
"""

TELLING = {
    "shared_with": "SELECT * FROM shared_with('friend')",
    "shared_collections": "SELECT * FROM shared_collections('friend')",
    "shared_matrices": "SELECT * FROM shared_matrices('friend')",
    "shared_collection_of": "SELECT s FROM shared_collection_of('friend', %(document_id)s) s WHERE s IS NOT NULL",
    "answers_shown_to": "SELECT * FROM answers_shown_to('friend')",
    "turns_shown_to": "SELECT * FROM turns_shown_to('friend', %(link_id)s)",
    "colleagues": "SELECT * FROM colleagues('friend', true)",
}
"""What a friend of the victim's asks of functions that see the rows of all users."""
REFUSED_BY_CITUS = {"0A000", "XX000"}
"""Errors for statements that do not name one user."""

BY_OWNER = """
    SELECT proname::text FROM pg_proc
    WHERE prosecdef AND pronamespace = current_schema()::regnamespace AND has_function_privilege(%s, oid, 'EXECUTE')
"""
"""Functions that run by the owner's hand whoever of a role calls them."""

RIGHTS = """
    SELECT relname::text, ARRAY(
        SELECT p FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
        WHERE has_table_privilege(%s, c.oid, p))
    FROM pg_class c
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
"""
"""What a role may do with each table and view."""


@pytest.fixture(scope="class")
def unguarded_url(databases: Databases) -> Iterator[str]:
    """A database whose functions do not ask for the user."""
    with databases.lent() as url:
        with psycopg.connect(url) as connection:
            found = connection.execute(
                "SELECT pg_get_functiondef(p.oid) FROM pg_proc p WHERE pronamespace = current_schema()::regnamespace "
                "AND prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('sql', 'plpgsql'))"
            ).fetchall()
            changed = [text for (text,) in found if OF_FUNCTIONS.search(text)]
            assert len(changed) >= 3
            for text in changed:
                connection.execute(sql.SQL(OF_FUNCTIONS.sub("true", text)))
        yield url


@pytest.fixture(scope="class")
def unguarded(unguarded_url: str) -> Iterator[World]:
    """What the victim owns, where no statement asks for the user."""
    as_written = named_queries.load_text

    def unguarded_text(noun: str) -> Mapping[str, str]:
        return {name: PREDICATE.sub("true", text) for name, text in as_written(noun).items()}

    with pytest.MonkeyPatch.context() as patch, psycopg.connect(unguarded_url, autocommit=True) as connection:
        with Store.open(unguarded_url, pool_size=4) as db:
            world = make_world(db, connection)
        patch.setattr(named_queries, "load_text", unguarded_text)
        named_queries.load.cache_clear()
        try:
            assert "user_id = " not in named_queries.load_text("documents")["get"]
            with Store.open(unguarded_url, pool_size=4) as db:
                yield dataclasses.replace(world, owner=dataclasses.replace(world.owner, db=db))
        finally:
            named_queries.load.cache_clear()


class TestWithoutTheFirstWall:
    """Where no statement asks for the user: a class, so that only its tests run without."""

    @pytest.mark.parametrize("method", CASES)
    def test_row_level_security_alone_hides_rows_of_another_user(self, unguarded: World, method: str) -> None:
        before = snapshot(unguarded)
        try:
            assert not found_by(unguarded, method, OTHER)
        except errors.StoreError as error:
            if error.details.get("sqlstate") not in REFUSED_BY_CITUS or not programs.has_citus():
                raise
        assert snapshot(unguarded) == before

    @pytest.mark.not_on_citus("statements that do not name one user")
    def test_without_either_wall_others_get_it(self, unguarded: World, unguarded_url: str) -> None:
        """The cases above would pass with statements that nobody changed; this is what they would find."""
        read = ("documents.get", "chunks.get", "conversations.messages", "api_keys.list", "jobs.get", "chunks.in_scope")
        assert not any(found_by(unguarded, method, OTHER) for method in read)
        with psycopg.connect(unguarded_url, autocommit=True) as connection:
            tables = [sql.Identifier(name) for (name,) in connection.execute(WITH_USERS).fetchall()]
            for table in tables:
                connection.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(table))
            try:
                assert all(found_by(unguarded, method, OTHER) for method in read)
            finally:
                for table in tables:
                    connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))


@pytest.fixture(scope="module")
def guarded(module_db: Store, module_url: str) -> Iterator[World]:
    """What the victim owns in a database as it is."""
    with psycopg.connect(module_url, autocommit=True) as connection:
        yield make_world(module_db, connection)


@pytest.fixture(scope="module")
def access(guarded: World, module_url: str, external_database_url: str | None) -> database_roles.Access:
    """How to connect as each; on the embedded server really as another, who cannot go back."""
    return prepare(module_url, as_roles=external_database_url is None)


def prepare(url: str, *, as_roles: bool = False) -> database_roles.Access:
    with connect(database_roles.administrator(url)) as connection:
        return database_roles.prepare(connection, url, as_roles=as_roles)


def as_user(connection: psycopg.Connection[Any], user_id: str) -> None:
    connection.execute(set_user(user_id))


def test_every_table_with_users_is_walled(guarded: World, module_url: str) -> None:
    """A table that a new migration makes is, too, whether it says so or not; a partition and a view as well."""
    guarded.db.of(VICTIM).chunks.dense(guarded.scope, SPACE.model_copy(update={"dimensions": 5}), [1.0] * 5, 1)
    with psycopg.connect(module_url) as connection:
        tables = {name for (name,) in connection.execute(WITH_USERS).fetchall()}
        walled = {name for (name,) in connection.execute(WALLED).fetchall()}
        open_views = connection.execute(OPEN_VIEWS).fetchall()
    assert {"documents", "postings", "messages", "data_document_chunks_384", "data_document_chunks_5"} <= tables
    assert walled == tables
    assert open_views == []


def test_a_lost_wall_is_raised_again_when_the_schema_is_brought_forward(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE documents DISABLE ROW LEVEL SECURITY")
        connection.execute("DROP POLICY of_user ON messages")
    Store.open(database_url, pool_size=1).close()
    with psycopg.connect(database_url) as connection:
        assert {"documents", "messages"} <= {name for (name,) in connection.execute(WALLED).fetchall()}


def test_the_apps_role_sees_one_users_rows(guarded: World, access: database_roles.Access, module_url: str) -> None:
    with psycopg.connect(module_url) as connection:
        tables = [name for (name,) in connection.execute(WITH_USERS).fetchall()]
        rows = {name: connection.execute(COUNT.format(sql.Identifier(name))).fetchone() for name in tables}
    assert sum(count != (0,) for count in rows.values()) >= 10
    rows |= dict.fromkeys(("document_chunks", "stored_chunks"), rows["data_document_chunks_384"])
    with psycopg.connect(access.app) as connection:
        for name, number in rows.items():
            count = COUNT.format(sql.Identifier(name))
            assert connection.execute(count).fetchone() == (0,), f"{name} without a user"
            for nobody in ("", OTHER, "%"):
                as_user(connection, nobody)
                assert connection.execute(count).fetchone() == (0,), f"{name} of {nobody!r}"
            as_user(connection, VICTIM)
            assert connection.execute(count).fetchone() == number, name
            connection.rollback()  # which ends the setting, too


def test_nobody_writes_rows_of_another(access: database_roles.Access, guarded: World) -> None:
    with psycopg.connect(access.app) as connection:
        as_user(connection, OTHER)
        assert connection.execute("UPDATE documents SET name = 'theirs'").rowcount == 0
        assert connection.execute("DELETE FROM documents").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO saved_filters (user_id, name, filters) VALUES (%s, 'x', '{}')", [VICTIM])


def test_the_apps_role_gets_no_further_by_settings(access: database_roles.Access, guarded: World) -> None:
    with psycopg.connect(access.app) as connection:
        connection.execute("SET pagelight.all_users = on")
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("SELECT count(*) FROM documents")


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE documents NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY of_user ON documents",
        "CREATE POLICY mine ON documents USING (true)",
        "CREATE TABLE mine (id int)",
        "CREATE SCHEMA mine",
        "CREATE ROLE mine",
        "CREATE DATABASE mine",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DROP TABLE documents",
        "TRUNCATE documents",
        "DROP VIEW document_chunks",
        "ALTER ROLE pagelight_app BYPASSRLS",
        "ALTER ROLE pagelight_app SUPERUSER",
        "GRANT pagelight_worker TO pagelight_app",
        "SELECT * FROM pg_authid",
        "SELECT * FROM pg_shadow",
        "SELECT pg_read_file('postgresql.conf')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT forget_audit('somebody', now(), 'cli')",
    ],
)
def test_no_role_makes_drops_or_reads_what_is_not_its_own(access: database_roles.Access, statement: str) -> None:
    for url in (access.app, access.worker, access.backup):
        with psycopg.connect(url, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(sql.SQL(statement))


def test_the_app_has_nothing_of_the_queue(access: database_roles.Access) -> None:
    with psycopg.connect(access.app, autocommit=True) as connection:
        for table in ("procrastinate_jobs", "procrastinate_workers", "migrations"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(COUNT.format(sql.Identifier(table)))


def test_a_worker_reads_the_audit_and_adds_nothing_to_it(access: database_roles.Access, guarded: World) -> None:
    with psycopg.connect(access.worker, autocommit=True) as connection:
        assert ("secret.pdf",) in connection.execute("SELECT subject_name FROM audit").fetchall()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO audit (actor, action, owner) VALUES ('admin', 'document.purge', 'admin')")


def test_a_worker_sees_no_text(access: database_roles.Access, guarded: World) -> None:
    with psycopg.connect(access.worker, autocommit=True) as connection:
        assert connection.execute("SELECT DISTINCT user_id FROM documents").fetchall() == [(VICTIM,)]
        for column, table in (("name", "documents"), ("title", "documents"), ("request", "jobs"), ("result", "jobs")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL("SELECT {} FROM {}").format(sql.Identifier(column), sql.Identifier(table)))
        for table in ("messages", "postings", "data_document_chunks_384", "document_chunks", "completion_cache"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(COUNT.format(sql.Identifier(table)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE documents SET status = 'ready'")


@pytest.mark.parametrize("function", TELLING)
def test_who_sees_all_users_tells_only_the_one_who_asks(
    guarded: World, access: database_roles.Access, function: str
) -> None:
    """The app's role is told for the user of its transaction, whomever it says that it asks for."""
    ids = {"document_id": guarded.document.id, "link_id": guarded.link_id}
    with psycopg.connect(access.app) as connection:
        assert connection.execute(TELLING[function], ids).fetchall() == []
        for another in ("", OTHER, VICTIM, "%"):
            as_user(connection, another)
            assert connection.execute(TELLING[function], ids).fetchall() == [], another
        as_user(connection, "friend")
        assert connection.execute(TELLING[function], ids).fetchall()


@pytest.mark.parametrize("function", TELLING)
def test_who_sees_all_users_tells_no_other_role(guarded: World, access: database_roles.Access, function: str) -> None:
    is_told_nothing(access.worker, guarded, function)
    is_told_nothing(access.backup, guarded, function)


def is_told_nothing(url: str, world: World, function: str) -> None:
    """By no user's name, of which everybody may make use."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT set_config('pagelight.user_id', 'friend', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function"):
            connection.execute(TELLING[function], {"document_id": world.document.id, "link_id": world.link_id})


def test_nobody_but_the_app_has_anything_done_by_the_owners_hand(
    module_url: str, access: database_roles.Access
) -> None:
    """Of a function that a new migration makes the server would let everybody make use."""
    with psycopg.connect(module_url) as connection:
        by_owner = {
            role: {name for (name,) in connection.execute(BY_OWNER, [role])}
            for role in ("public", database_roles.WORKER, database_roles.BACKUP, database_roles.APP)
        }
    assert by_owner.pop(database_roles.APP) == {*TELLING, "add_chunk_table", "delete_annotations"}
    assert not any(by_owner.values())


def test_a_backup_reads_everything_and_writes_nothing(
    guarded: World, access: database_roles.Access, module_url: str
) -> None:
    """A role of its own may do no more than that, with tables that come later, too."""
    guarded.db.of(VICTIM).chunks.dense(guarded.scope, SPACE.model_copy(update={"dimensions": 6}), [1.0] * 6, 1)
    with psycopg.connect(module_url) as connection:
        rights = {name: {*given} for name, given in connection.execute(RIGHTS, [database_roles.BACKUP]).fetchall()}
        written = {*migrations.tables(), "migrations", "data_document_chunks_384", "data_document_chunks_6"} & {*rights}
        rows = {name: connection.execute(COUNT.format(sql.Identifier(name))).fetchone() for name in written}
    assert {name for name, given in rights.items() if given - {"SELECT"}} == set()
    assert written - {name for name, given in rights.items() if given} < {*backup.EXCLUDED_TABLES}
    with psycopg.connect(access.backup, autocommit=True) as connection:
        assert connection.execute("SELECT current_user::text").fetchone() == (database_roles.BACKUP,)
        for name in written - {*backup.EXCLUDED_TABLES}:
            assert connection.execute(COUNT.format(sql.Identifier(name))).fetchone() == rows[name], name
        for statement in ("UPDATE documents SET name = 'theirs'", "DELETE FROM audit", "TRUNCATE accounts"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL(statement))


def test_a_database_set_up_without_the_role_for_backups_is_backed_up_by_it(empty_url: str) -> None:
    migrations.migrate(empty_url)
    access = prepare(empty_url)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("DROP POLICY of_all_users ON saved_filters")
        connection.execute(
            "CREATE POLICY of_all_users ON saved_filters TO CURRENT_USER, pagelight_worker "
            "USING (current_setting('pagelight.all_users', true) = 'on')"
        )
        connection.execute("INSERT INTO saved_filters (user_id, name, filters) VALUES (%s, 'x', '{}')", [VICTIM])
    migrations.migrate(empty_url)
    for url in (access.backup, access.admin):
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT user_id FROM saved_filters").fetchall() == [(VICTIM,)]


def test_an_installation_is_backed_up_by_the_role_for_it(
    engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, by = backup.write, []

    def noticed(url: str, *arguments: Any, **options: Any) -> BackupManifest:
        with psycopg.connect(url) as connection:
            by.extend(connection.execute("SELECT current_user::text").fetchall())
        return write(url, *arguments, **options)

    monkeypatch.setattr(backup, "write", noticed)
    engine.installation.backup(tmp_path / "backup.pagelight")
    assert by == [(database_roles.BACKUP,)]


@pytest.mark.parametrize("role", [database_roles.APP, database_roles.BACKUP])
def test_who_logged_in_as_a_role_cannot_become_more(
    access: database_roles.Access, external_database_url: str | None, role: str
) -> None:
    if external_database_url:
        pytest.skip("with one account the roles are taken on, not logged in as")
    with psycopg.connect(
        {database_roles.APP: access.app, database_roles.BACKUP: access.backup}[role], autocommit=True
    ) as connection:
        assert connection.execute("SELECT session_user::text").fetchone() == (role,)
        for other in {"postgres", database_roles.APP, database_roles.WORKER, database_roles.BACKUP} - {role}:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(other)))


def test_the_wall_is_asked_once_and_not_for_each_row(access: database_roles.Access, guarded: World) -> None:
    """A statement that names its user compares the user with the setting, and then looks at no row for it."""
    statement = named_queries.load("lexical")["postings"]
    numbered = named_queries.load("dense")["size"]
    scope = {**search_terms.scope_parameters(guarded.scope), "user_id": VICTIM, "within": None}
    words = {"query": "secret", "added": "", "added_weight": 0.4, "languages": ["english"], "numbers": None}
    values = {**scope, **words, "question_languages": ["english"]}
    with psycopg.connect(access.app) as connection:
        as_user(connection, VICTIM)
        connection.execute("SET enable_seqscan = off")  # as in tables that are worth an index
        for query in (statement, numbered):
            plan = connection.execute(sql.SQL("EXPLAIN ") + query, values).fetchall()
            asked = [line for (line,) in plan if "current_setting" in line]
            assert asked
            assert not [
                line for line in asked if line.strip().startswith("Filter:")
            ]  # but an index, or a filter asked once


def test_a_users_setting_does_not_stay_on_the_connection(module_url: str, guarded: World) -> None:
    """The next one who gets it from the pool is nobody, whether the transaction before was kept or not."""
    with Store.open(module_url, pool_size=1) as db:
        for _ in range(2):
            assert db.of(VICTIM).documents.get(guarded.document.id).name == "secret.pdf"
            assert db.of(VICTIM).chunks.dense(guarded.scope, SPACE, [1.0] * SPACE.dimensions, 1)
            with pytest.raises(errors.NotFoundError):
                db.of(VICTIM).chunks.refresh_front(uuid.uuid4(), "")
            with db._database.transaction() as connection:
                setting = "SELECT nullif(current_setting('pagelight.user_id', true), '') AS user_id"
                assert connection.execute(setting).fetchone() == {"user_id": None}
                assert connection.execute("SELECT count(*) FROM documents").fetchone() == {"count": 0}


def test_a_mighty_role_of_our_name_is_refused() -> None:
    """On a server of its own: roles are of the whole server, which other tests use."""
    with own_server() as server:
        Store.open(server.url, pool_size=1).close()
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER ROLE pagelight_worker CREATEDB")
        with pytest.raises(errors.StoreError, match="may do more"):
            Store.open(server.url, pool_size=1)


# On a server that is not ours, with accounts that may do less


@pytest.fixture
def account(server_url: str, external_database_url: str | None) -> Iterator[str]:
    """An account that may log in and nothing else."""
    if external_database_url:
        pytest.skip("accounts are of the whole server, which others use")
    with new_account(server_url) as name:
        yield name


@pytest.fixture
def make_database(server_url: str, account: str) -> Iterator[Callable[[], str]]:
    """Makes databases with pgvector that the account owns; returns the URL of each as the account."""
    with ExitStack() as databases:

        def make() -> str:
            url = databases.enter_context(new_database(server_url))
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")
                connection.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(sql.Identifier(account)))
            return conninfo.make_conninfo(url, user=account)

        yield make


@pytest.mark.parametrize("function", TELLING)
def test_a_stranger_is_told_nothing_by_who_sees_all_users(
    guarded: World, module_url: str, account: str, function: str
) -> None:
    is_told_nothing(conninfo.make_conninfo(module_url, user=account), guarded, function)


@pytest.mark.parametrize("function", ["forget_shares", "forget_answer_links"])
def test_a_stranger_has_no_trigger_done_by_the_owners_hand(module_url: str, account: str, function: str) -> None:
    """On a table of their own it would withdraw what anybody shares, whose name they put there."""
    with psycopg.connect(module_url, user=account) as connection:
        connection.execute("CREATE TEMPORARY TABLE mine (user_id text)")
        trigger = "CREATE TRIGGER mine AFTER DELETE ON mine FOR EACH ROW EXECUTE FUNCTION {}()"
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function"):
            connection.execute(sql.SQL(trigger).format(sql.Identifier(function)))


def test_an_owner_without_roles_is_held_by_the_second_wall(
    make_database: Callable[[], str], account: str, tmp_path: Path
) -> None:
    """It sees all users' rows where it says so, as for backups, and else one user's, though the tables are its own."""
    url, elsewhere = make_database(), make_database()
    access = prepare(url)
    assert not access.is_enforced
    assert access.backup == access.admin
    with Store.open(url, pool_size=2) as db:
        owner = Owner.of(db, VICTIM)
        owner.fill(owner.ready("secret.pdf", ["a secret"]), ["a secret"])
        waiting = owner.add("waiting.pdf")
        assert [document.name for document in db.of(VICTIM).documents.list(owner.index.id)]
        assert db.of(VICTIM).chunks.dense(owner.scope, SPACE, [1.0] * SPACE.dimensions, 1)
        assert db.document_scheduler.unfinished() == [(VICTIM, waiting.id)]
        assert db.queue.enqueue(VICTIM, waiting.id)
        assert db.of(VICTIM).shares.share(owner.index.id, ShareRequest(grantee="friend"), is_admin=True)
        assert db.shared("friend", owner.index.id).documents.get(waiting.id) == waiting
        with pytest.raises(errors.NotFoundError):
            db.shared(OTHER, owner.index.id)
        with psycopg.connect(access.app) as connection:
            assert connection.execute("SELECT current_user::text").fetchone() == (account,)
            assert connection.execute(COUNT.format(sql.Identifier("documents"))).fetchone() == (0,)
            as_user(connection, VICTIM)
            assert connection.execute(COUNT.format(sql.Identifier("documents"))).fetchone() == (2,)
    files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
    made = backup.write(access.admin, files, tmp_path / "backup.pagelight")
    assert made.rows["documents"] == 2
    restore.restore(database_roles.administrator(elsewhere), files, tmp_path / "backup.pagelight")
    with Store.open(elsewhere, pool_size=2) as db:
        assert db.of(VICTIM).documents.get(waiting.id) == waiting
        assert db.of("other").indexes.list() == []
    with psycopg.connect(elsewhere) as connection:
        assert {"documents", "data_document_chunks_384"} <= {name for (name,) in connection.execute(WALLED).fetchall()}


def test_an_owner_that_may_takes_on_the_roles(make_database: Callable[[], str], account: str, server_url: str) -> None:
    url = make_database()
    with psycopg.connect(server_url, autocommit=True) as connection:
        prepare(server_url)
        grant = sql.SQL("GRANT pagelight_app, pagelight_worker TO {} WITH INHERIT FALSE, SET TRUE")
        connection.execute(grant.format(sql.Identifier(account)))
    access = prepare(url)
    assert access.is_enforced
    assert access.backup == access.admin, "of a role that others made later it is no member"
    works_for_one_user(url, None)
    with psycopg.connect(access.app) as connection:
        assert connection.execute("SELECT current_user::text").fetchone() == (database_roles.APP,)
        assert connection.execute(COUNT.format(sql.Identifier("documents"))).fetchone() == (0,)


def test_an_owner_that_may_lets_itself_back_up_as_the_role_for_it(
    make_database: Callable[[], str], account: str, server_url: str, tmp_path: Path
) -> None:
    url, elsewhere = make_database(), make_database()
    with psycopg.connect(server_url, autocommit=True) as connection:
        prepare(server_url)
        for grant in (
            "GRANT pagelight_app, pagelight_worker TO {} WITH INHERIT FALSE, SET TRUE",
            "GRANT pagelight_backup TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE",  # as PostgreSQL gives who made it
        ):
            connection.execute(sql.SQL(grant).format(sql.Identifier(account)))
    with Store.open(url, pool_size=2) as db:
        waiting = Owner.of(db, VICTIM).add("waiting.pdf")
        with psycopg.connect(db.backup_url) as connection:
            assert connection.execute("SELECT current_user::text").fetchone() == (database_roles.BACKUP,)
        files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
        backup.write(db.backup_url, files, tmp_path / "backup.pagelight")
    restore.restore(database_roles.administrator(elsewhere), files, tmp_path / "backup.pagelight")
    with Store.open(elsewhere, pool_size=2) as db:
        assert db.of(VICTIM).documents.get(waiting.id) == waiting


def test_a_pooler_that_drops_the_role_is_noticed(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it passes on is the account of the URL alone, who owns the tables."""
    monkeypatch.setattr(database_roles, "_with_option", lambda url, option: url)
    with pytest.raises(errors.StoreError, match="does not take the option `role`"):
        Store.open(database_url, pool_size=1)


def test_an_administrator_of_its_own_leaves_the_app_nothing(database_url: str, account: str) -> None:
    """The account of the app owns no table and is let take on the roles."""
    url = conninfo.make_conninfo(database_url, user=account)
    works_for_one_user(url, database_url)
    with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(COUNT.format(sql.Identifier("documents")))


def works_for_one_user(url: str, admin_url: str | None) -> None:
    with Store.open(url, admin_url=admin_url, pool_size=2) as db:
        owner = Owner.of(db, VICTIM)
        waiting = owner.add("waiting.pdf")
        space = SPACE.model_copy(update={"dimensions": 7})
        assert db.of(VICTIM).chunks.dense(owner.scope, space, [1.0] * 7, 1) == []  # for which a table is made
        assert db.document_scheduler.unfinished() == [(VICTIM, waiting.id)]
        assert db.queue.enqueue(VICTIM, waiting.id)
        assert db.health().workers == 0
        assert db.audit.forget(dt.datetime.now(dt.UTC), actor=VICTIM, door="cli")  # as the administrator
