"""Tables over the nodes of a Citus cluster; on other servers the refusal."""

import uuid
from pathlib import Path

import psycopg
import pytest

from rag import errors
from rag.store.server import distribution, migrations
from rag.store.server.database import connect
from rag.store.store import Store
from tests.databases import node_urls
from tests.integration.samples import Owner, insert_old_matrix

USERS = [f"user {number}" for number in range(12)]
SETTINGS = """
    SELECT current_setting('hnsw.ef_search', true), current_setting('plan_cache_mode'), current_setting('timezone'),
           current_setting('citus.propagate_set_commands'), current_setting('citus.multi_shard_modify_mode')
"""
ROLES = """
    SELECT rolname, rolcanlogin, coalesce(rolconfig, '{}') FROM pg_roles
    WHERE rolname LIKE 'pagelight%' ORDER BY rolname
"""

UNDISTRIBUTABLE = """
    WITH ours AS (
        SELECT c.oid, a.attnum AS user_id
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL (%s)
    )
    SELECT format('unique without the user: %%s', i.indexrelid::regclass)
    FROM ours JOIN pg_index i ON i.indrelid = ours.oid
    WHERE i.indisunique AND NOT ours.user_id = ANY (i.indkey)
    UNION ALL
    SELECT format('key of another user: %%s', f.conname)
    FROM ours JOIN pg_constraint f ON f.conrelid = ours.oid AND f.contype = 'f'
    LEFT JOIN ours target ON target.oid = f.confrelid
    WHERE array_position(f.conkey, ours.user_id) IS DISTINCT FROM array_position(f.confkey, target.user_id)
       OR NOT ours.user_id = ANY (f.conkey)
    UNION ALL
    SELECT format('key from the coordinator: %%s', f.conname)
    FROM ours JOIN pg_constraint f ON f.confrelid = ours.oid AND f.contype = 'f'
    WHERE f.conrelid NOT IN (SELECT oid FROM ours)
    UNION ALL
    SELECT format('trigger: %%s', t.tgname) FROM ours JOIN pg_trigger t ON t.tgrelid = ours.oid WHERE NOT t.tgisinternal
"""
"""What Citus refuses when it distributes a table by user."""


def test_every_table_with_users_data_can_be_distributed(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        refused = connection.execute(UNDISTRIBUTABLE, [[*distribution.COORDINATOR_TABLES]]).fetchall()
    assert refused == []


@pytest.mark.not_on_citus("a database without Citus")
def test_a_database_without_citus_is_not_distributed(db: Store) -> None:
    assert db.distribution() is None
    with pytest.raises(errors.StoreError, match=r"has no Citus.*citus_add_node"):
        db.distribute()
    assert db.distribution() is None


@pytest.mark.needs_citus
def test_users_rows_are_on_the_nodes_and_the_rest_is_on_the_coordinator(db: Store) -> None:
    report = db.distribution()
    assert report
    coordinator, *others = report.nodes
    assert coordinator.is_coordinator
    assert not any(node.is_coordinator for node in others)
    assert all(node.shards and node.bytes for node in others)
    assert {"documents", "messages", "data_document_chunks_384"} <= {*report.distributed}
    assert {*distribution.COORDINATOR_TABLES, "audit", "procrastinate_jobs"} <= {*report.on_coordinator}
    assert not {*report.distributed} & {*report.on_coordinator}
    assert {*migrations.tables()} <= {*report.distributed, *report.on_coordinator}


@pytest.mark.needs_citus
def test_distributing_again_changes_nothing(db: Store) -> None:
    before = db.distribution()
    assert db.distribute() == before


@pytest.mark.needs_citus
def test_nodes_have_the_settings_and_roles_of_our_connections(server_url: str, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        name = connection.info.dbname
    for url in node_urls(server_url):
        with psycopg.connect(url, dbname=name) as node:
            node.execute("SELECT '[1]'::vector")
            assert node.execute(SETTINGS).fetchone() == ("1000", "force_custom_plan", "UTC", "local", "parallel")
            assert node.execute(ROLES).fetchall() == [
                ("pagelight_app", True, []),
                ("pagelight_backup", True, ["pagelight.all_users=on"]),
                ("pagelight_worker", True, ["pagelight.all_users=on"]),
            ]


@pytest.mark.needs_citus
def test_shards_can_be_moved_while_users_work(database_url: str) -> None:
    """Citus moves them by their log and their primary key."""
    unmovable = """
        SELECT logicalrelid::text FROM pg_dist_partition JOIN pg_class c ON c.oid = logicalrelid
        WHERE relpersistence <> 'p' OR NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary)
    """
    with psycopg.connect(database_url) as connection:
        assert connection.execute(unmovable).fetchall() == []


@pytest.mark.needs_citus
def test_every_function_of_ours_is_on_every_node(server_url: str, database_url: str) -> None:
    functions = "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    with psycopg.connect(database_url) as connection:
        name = connection.info.dbname
        ours = {function for (function,) in connection.execute(functions)}
    for url in node_urls(server_url)[1:]:
        with psycopg.connect(url, dbname=name) as node:
            missing = ours - {function for (function,) in node.execute(functions)}
        assert {function for function in missing if not function.startswith("procrastinate_")} == set()


@pytest.mark.needs_citus
def test_a_later_migration_changes_distributed_tables_and_its_own_are_distributed(
    database_url: str, tmp_path: Path
) -> None:
    for script in migrations.FOLDER.iterdir():
        (tmp_path / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "9000_notes.sql").write_text(
        "ALTER TABLE documents ADD COLUMN shade text; ALTER TABLE documents ADD COLUMN sheen text;\n"
        "CREATE TABLE pins (user_id text NOT NULL, note_id uuid, document_id uuid, PRIMARY KEY (user_id, note_id),\n"
        "    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE);\n"
        "CREATE TABLE colours (name text PRIMARY KEY);\n",
        encoding="utf-8",
    )
    migrations.migrate(database_url, folder=tmp_path)
    with psycopg.connect(database_url) as connection:
        connection.execute("SELECT shade, sheen FROM documents")
        rows = connection.execute("SELECT logicalrelid::text FROM pg_dist_partition").fetchall()
    assert {"pins", "documents"} <= {name for (name,) in rows}
    assert "colours" not in {name for (name,) in rows}


@pytest.mark.needs_citus
def test_rows_from_before_are_distributed(server_url: str, empty_cluster_url: str) -> None:
    """What users did on one server goes with them, and each finds it again."""
    with Store.open(empty_cluster_url, pool_size=2) as store:
        for user in USERS:
            Owner.of(store, user).ready("Harbour.pdf", [f"Ships of {user} came in."])
        report = store.distribute()
        for user in USERS:
            (document,) = store.of(user).documents.list(Owner.of(store, user).index.id)
            assert document.name == "Harbour.pdf"
    name = psycopg.conninfo.conninfo_to_dict(empty_cluster_url)["dbname"]
    with psycopg.connect(server_url, dbname=name) as connection:
        rows = "SELECT relname FROM pg_class WHERE relname = ANY (%s) AND pg_relation_size(oid) > 0"
        assert connection.execute(rows, [[*report.distributed]]).fetchall() == []
        shards = "SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = 'documents'::regclass"
        assert connection.execute(shards).fetchone() == (len(report.nodes) - 1,)


@pytest.mark.needs_citus
def test_a_matrix_from_before_gets_fields_on_the_nodes(empty_cluster_url: str) -> None:
    migrations.migrate(empty_cluster_url, until="0014_spread_tables")
    with connect(empty_cluster_url) as connection:
        distribution.distribute(connection, [*migrations.tables(), "matrix_cells"])
    key = uuid.uuid4()
    answer = {"status": "answered", "answer": "977 ships", "version": 1, "sha256": "new", "question": 0}
    answer |= {"lineage_id": str(key), "document_id": str(key), "answered_at": "2026-03-09T08:05:00+00:00"}
    insert_old_matrix(empty_cluster_url, key, [{"text": "How many ships?", "should_agree": False}], [answer])
    with Store.open(empty_cluster_url, pool_size=2) as store:
        (matrix,) = store.of("ada").matrices.list()
        (saved,) = store.of("ada").matrices.cells(matrix.id)
        assert (saved.cell.field_id, saved.cell.value) == (matrix.fields[0].id, "977 ships")
        report = store.distribution()
    assert report is not None
    assert {"field_cells", "field_templates", "matrices"} <= {*report.distributed}
