"""The embedded server's life cycle, with real processes and real kills.

The tests make their folders below the temporary folder themselves: pytest's own are closed to the account
that runs the server when the tests run as root.
"""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg import conninfo, sql

from benchmarks.processes import free_port
from rag import errors
from rag.store.server import cluster_directory, embedded, server_supervisor
from tests import forked
from tests.folders import kill, open_folder, processes
from tests.waiting import PATIENCE_SECONDS, eventually

IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root needs another account for the server")

USER = """
    import pathlib, sys
    from rag.store.server import embedded
    server = embedded.start(pathlib.Path(sys.argv[1]))
    print(server.url, flush=True)
    sys.stdin.read()
"""
"""A process that uses the server until its input ends."""


# Processes


def children(parent: int) -> list[int]:
    return [child.pid for child in psutil.Process(parent).children()]


def postmaster(root: Path) -> int:
    return int((root / "pgdata" / "postmaster.pid").read_text().split()[0])


def supervisor(root: Path) -> int:
    (pid,) = processes("server_supervisor.py", str(root))
    return pid


def kill_everything(root: Path, user: "User") -> None:
    """As a power cut does, as far as processes can tell; `user` is the last one, after whom it would stop.

    The supervisor stands still meanwhile: after its end its guard would ask the server to stop, in good order.
    """
    above, server = supervisor(root), postmaster(root)
    os.kill(above, signal.SIGSTOP)
    kill(server, *children(server), above)
    user.process.kill()
    assert eventually(lambda: not is_running(root))


def is_running(root: Path) -> bool:
    return bool(server_supervisor.processes_in(root / "pgdata") or processes("server_supervisor.py", str(root)))


class User:
    """Another process that uses the server."""

    def __init__(self, root: Path, code: str = USER) -> None:
        self.errors = root.parent / "errors"
        self._talk, theirs = socket.socketpair()
        self._talk.settimeout(PATIENCE_SECONDS)
        self._lines = self._talk.makefile()
        with theirs:
            self.process = forked.start(code, root, errors=self.errors, talk=theirs)

    def first_line(self) -> str:
        """What it prints first: the URL."""
        return self._lines.readline().strip() or pytest.fail(self.errors.read_text())

    def end(self) -> str:
        """End its input, and with it the process; gives what it has printed since."""
        self._talk.shutdown(socket.SHUT_WR)
        return self._lines.read()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self._lines.close()
        self._talk.close()


@contextlib.contextmanager
def user(root: Path, code: str = USER) -> Iterator[tuple[User, str]]:
    """Another process that uses the server, and the first line that it prints: the URL."""
    opened = User(root, code)
    try:
        yield opened, opened.first_line()
    finally:
        opened.kill()


# Folders and servers


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as path:
        yield path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A data directory with the table `facts`, to be copied: making one takes longer than most tests.

    Without the templates of databases, of which none is made here: they are two thirds of its files.
    """
    with open_folder() as path:
        with running(path / "root") as server, psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE facts (id bigint PRIMARY KEY)")
            for template in map(sql.Identifier, ("template0", "template1")):
                connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE false").format(template))
                connection.execute(sql.SQL("DROP DATABASE {}").format(template))
        assert eventually(lambda: not is_running(path / "root"))
        yield path / "root" / "pgdata"


@pytest.fixture
def root(folder: Path, cluster: Path) -> Path:
    """A root with a cluster, its server not running."""
    return copy_cluster(cluster, folder / "root")


def copy_cluster(cluster: Path, root: Path) -> Path:
    root.mkdir()
    root.chmod(0o711)
    subprocess.run(["cp", "-Rp", cluster, root], check=True)
    return root


@contextlib.contextmanager
def running(root: Path) -> Iterator[embedded.EmbeddedServer]:
    server = embedded.start(root)
    try:
        yield server
    finally:
        server.close()


def add_fact(url: str, fact: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO facts VALUES (%s)", [fact])


def facts(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [fact for (fact,) in connection.execute("SELECT id FROM facts ORDER BY id")]


def accepts(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


# What it is


@pytest.fixture(scope="module")
def server(cluster: Path) -> Iterator[embedded.EmbeddedServer]:
    """A running server for tests that only look at it."""
    with open_folder() as folder:
        root = copy_cluster(cluster, folder / "root")
        with running(root) as server:
            yield server


def test_serves_postgresql_18_with_pgvector_in_utf_8(server: embedded.EmbeddedServer) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("""
            SELECT current_setting('server_version_num')::int / 10000, pg_encoding_to_char(encoding), datlocale,
                   pg_get_userbyid(datdba) = current_user, '[3,4]'::vector <-> '[0,0]'
            FROM pg_database WHERE datname = current_database()
        """).fetchone()
        version = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        superuser = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()

    assert row == (18, "UTF8", "C.UTF-8", True, 5.0)
    assert superuser == (True,)
    assert version is not None
    assert tuple(map(int, version[0].split("."))) >= (0, 8, 0)


def test_text_search_knows_the_letters_of_every_script(server: embedded.EmbeddedServer) -> None:
    with psycopg.connect(server.url) as connection:
        row = connection.execute("SELECT to_tsvector('simple', '“Größe” ÜBER: Ελληνικά…')::text, 'É' ~* 'é'").fetchone()

    assert row == ("'größe':1 'über':2 'ελληνικά':3", True)


def test_keeps_what_was_acknowledged_on_disk_and_has_room_for_vector_indexes(root: Path) -> None:
    expected = {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "shared_buffers": "256MB",
        "maintenance_work_mem": "512MB",
        "jit": "off",
        "listen_addresses": "",
    }
    with running(root) as server, psycopg.connect(server.url) as connection:
        rows = connection.execute(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", [[*expected]]
        )
        assert dict(rows.fetchall()) == expected


def test_only_its_account_can_reach_it(server: embedded.EmbeddedServer) -> None:
    endpoint = server.data_dir / server_supervisor.SOCKET
    assert stat.S_IMODE(server.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(endpoint.stat().st_mode) == 0o700
    assert endpoint.stat().st_uid == server.data_dir.stat().st_uid


def test_its_owner_is_admitted_by_name_as_our_roles_only(server: embedded.EmbeddedServer) -> None:
    with psycopg.connect(server.url) as connection:
        rules = connection.execute("SELECT type, auth_method FROM pg_hba_file_rules").fetchall()
        for role in ("pagelight_app", "pagelight_worker", "pagelight_backup", "somebody"):
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    assert rules == [("local", "peer")]
    for role in cluster_directory.DATABASE_ROLES:
        with psycopg.connect(server.url, user=role) as connection:
            assert connection.execute("SELECT session_user::text").fetchone() == (role,)
    with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
        psycopg.connect(server.url, user="somebody")


@only_root
def test_the_account_that_runs_the_server_is_not_admitted(root: Path) -> None:
    """Other services run as nobody, too."""
    with running(root) as server:
        assert who_runs_it_gets(server) is None


def who_runs_it_gets(server: embedded.EmbeddedServer) -> str | None:
    """What `SELECT 1` gives the account that runs the server, if anything."""
    place = cluster_directory.Cluster(server.data_dir.parent, cluster_directory.server_account())
    done = place.run(cluster_directory.accessible_binaries(place) / "psql", "-At", "-c", "SELECT 1", server.url)
    if done.returncode:
        assert "Peer authentication failed" in done.stdout
        return None
    return done.stdout.strip()


@pytest.mark.long
@only_root
@pytest.mark.parametrize("is_served", [False, True])
def test_a_server_that_trusted_everybody_is_brought_forward(root: Path, is_served: bool) -> None:
    """As earlier versions made it; also while another process of ours has it running."""
    with running(root) as server:
        add_fact(server.url, 1)
        (server.data_dir / cluster_directory.HBA).write_text("local all all trust\n")
        with psycopg.connect(server.url) as connection:
            connection.execute("SELECT pg_reload_conf()")
        assert eventually(lambda: trusts(server.url))
        assert who_runs_it_gets(server) == "1"
        if is_served:
            with running(root) as again:
                assert eventually(lambda: not trusts(server.url))
                assert who_runs_it_gets(again) is None
    with running(root) as later:
        assert who_runs_it_gets(later) is None
        assert facts(later.url) == [1]


def test_a_role_that_earlier_versions_did_not_have_is_admitted(root: Path) -> None:
    """Also while another process of ours has the server running."""
    with running(root) as server:
        (server.data_dir / cluster_directory.IDENT).write_text(
            "".join(
                line for line in lines_of(server.data_dir / cluster_directory.IDENT) if "pagelight_backup" not in line
            )
        )
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE ROLE pagelight_backup LOGIN")
            connection.execute("SELECT pg_reload_conf()")
        as_backup = conninfo.make_conninfo(server.url, user="pagelight_backup")
        assert eventually(lambda: not accepts(as_backup))
        with running(root):
            assert eventually(lambda: accepts(as_backup))


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def trusts(url: str) -> bool:
    """Whether the server asks only for a role that there is."""
    with pytest.raises(psycopg.OperationalError) as refused:
        psycopg.connect(url, user="somebody")
    return "does not exist" in str(refused.value)


def test_the_binaries_serve_over_tcp_too(root: Path) -> None:
    """As a test of an external database does: the same binaries, none of our life cycle."""
    assert (cluster_directory.binaries() / "pg_dump").exists()
    with foreign_server(root) as (_, url), psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@contextlib.contextmanager
def foreign_server(root: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    port = free_port()
    account = cluster_directory.server_account()
    admits_all = root / "hba.conf"
    admits_all.write_text("host all all 127.0.0.1/32 trust\n")
    admits_all.chmod(0o644)
    options = ("-h", "127.0.0.1", "-p", str(port), "-k", "", "-c", f"hba_file={admits_all}")
    process = subprocess.Popen(
        [cluster_directory.binaries() / "postgres", "-D", root / "pgdata", *options],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        assert eventually(lambda: accepts(url))
        yield process, url
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)


# Users come and go


def test_makes_the_cluster_once_and_keeps_it(folder: Path) -> None:
    root = folder / "deep" / "root"
    with running(root) as server, psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE facts (id bigint)")
    assert eventually(lambda: not is_running(root))

    with running(root) as server:
        add_fact(server.url, 1)
    assert eventually(lambda: not is_running(root))

    with running(root) as server:
        assert facts(server.url) == [1]


@pytest.mark.long
def test_the_server_stops_with_its_last_user(root: Path) -> None:
    with running(root) as first, running(root) as second, user(root) as (other, url):
        assert first.url == second.url == url
        first.close()
        first.close()
        second.close()
        time.sleep(10 * server_supervisor.POLL_SECONDS)
        assert accepts(url)
        other.end()

    assert eventually(lambda: not is_running(root))


@pytest.mark.long
def test_starting_while_it_stops_waits_and_starts_again(root: Path) -> None:
    for fact in range(5):
        with running(root) as server:
            add_fact(server.url, fact)
            assert facts(server.url) == [*range(fact + 1)]


@pytest.mark.long
def test_processes_that_start_at_once_share_one_server(folder: Path) -> None:
    root = folder / "root"
    users = [User(root) for _ in range(3)]
    urls = [user.first_line() for user in users]
    with ThreadPoolExecutor(4) as threads:
        servers = list(threads.map(embedded.start, [root] * 4))

    assert {*urls, *(server.url for server in servers)} == {servers[0].url}
    assert all(accepts(url) for url in urls)
    assert len(processes("server_supervisor.py", str(root))) == 1

    # Whoever started it: the output of each ends with the process, and the server does not.
    assert [user.end() for user in users] == [""] * 3
    assert users[0].errors.read_text() == ""
    for user in users:
        user.kill()
    assert accepts(servers[0].url)
    for server in servers:
        server.close()


def test_the_server_learns_and_logs_no_secrets(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with user(root) as (_, url), psycopg.connect(url) as connection:
        connection.execute("CREATE TEMP TABLE environment (line text)")
        connection.execute("COPY environment FROM PROGRAM 'env'")
        lines = [line for (line,) in connection.execute("SELECT line FROM environment")]
        with pytest.raises(psycopg.DataError, match="confidential"):
            connection.execute("SELECT 'confidential'::int")

    assert lines
    assert not any("OPENAI" in line or "secret" in line for line in lines)
    assert "confidential" not in (root / "postgres.log").read_text()


# Processes die


@pytest.mark.long
def test_a_killed_user_leaves_no_server_behind(root: Path) -> None:
    with user(root) as (process, _):
        process.kill()
        assert eventually(lambda: not is_running(root))


@pytest.mark.long
def test_children_of_a_killed_user_have_no_share(root: Path) -> None:
    code = USER.replace("print(", "import os, subprocess; program = subprocess.Popen(['sleep', '60']); print(").replace(
        "print(",
        "fork = os.fork()\n    if not fork:\n        import time; time.sleep(60)\n    print(program.pid, fork, ",
    )
    with user(root, code) as (process, line):
        program, fork = map(int, line.split()[:2])
        process.kill()
        try:
            assert eventually(lambda: not is_running(root))
            os.kill(program, 0)
            os.kill(fork, 0)
        finally:
            kill(program, fork)


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    [
        pytest.param("SELECT pg_sleep(60)", id="waiting"),
        pytest.param("SELECT count(*) FROM generate_series(1, 1e9::bigint)", id="computing"),
    ],
)
def test_a_killed_postmaster_comes_back_with_every_acknowledged_row(root: Path, query: str) -> None:
    with running(root) as server, ThreadPoolExecutor(1) as thread:
        acknowledged = list(range(20))
        for fact in acknowledged:
            add_fact(server.url, fact)
        victim = psycopg.connect(server.url)
        interrupted = thread.submit(victim.execute, query)
        with psycopg.connect(server.url, autocommit=True) as connection:
            active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = %s"
            assert eventually(lambda: connection.execute(active, [victim.info.backend_pid]).fetchone() == (1,))

        killed = postmaster(root)
        kill(killed)

        assert eventually(lambda: accepts(server.url))
        assert postmaster(root) != killed
        assert facts(server.url) == acknowledged
        assert isinstance(interrupted.exception(PATIENCE_SECONDS), psycopg.OperationalError)
        victim.close()


@pytest.mark.long
def test_a_start_during_the_return_of_the_server_waits_for_it(root: Path) -> None:
    with running(root) as server:
        add_fact(server.url, 1)
        kill(postmaster(root))
        with running(root) as again:
            assert eventually(lambda: accepts(again.url))
            assert facts(again.url) == [1]


@pytest.mark.long
def test_a_killed_supervisor_is_followed_by_another_though_nobody_starts_anew(root: Path) -> None:
    with user(root) as (_, url):
        add_fact(url, 1)
        killed = supervisor(root)
        kill(killed)
        assert eventually(lambda: (others := processes("server_supervisor.py", str(root))) and killed not in others)
        assert eventually(lambda: accepts(url))
        assert facts(url) == [1]


@pytest.mark.long
def test_a_start_right_after_the_supervisor_was_killed_recovers(root: Path) -> None:
    with running(root) as server:
        add_fact(server.url, 1)
        kill(supervisor(root))
        with running(root) as again:
            assert eventually(lambda: accepts(again.url))
            assert facts(again.url) == [1]


@pytest.mark.long
def test_a_server_without_supervisor_and_guard_is_replaced(root: Path) -> None:
    with running(root) as server:
        add_fact(server.url, 1)
        orphan = postmaster(root)
        guards = [pid for pid in children(supervisor(root)) if pid != orphan]
        kill(*guards, supervisor(root))

        with running(root) as again:
            assert postmaster(root) != orphan
            assert facts(again.url) == [1]


@pytest.mark.long
def test_a_terminated_supervisor_stops_the_server_in_good_order(root: Path) -> None:
    with running(root):
        terminated = supervisor(root)
        os.kill(terminated, signal.SIGTERM)
        assert eventually(lambda: terminated not in processes("server_supervisor.py", str(root)))
        assert "database system is shut down" in (root / "postgres.log").read_text()


@pytest.mark.long
def test_everything_killed_at_once_loses_nothing(root: Path) -> None:
    with user(root) as (process, url):
        add_fact(url, 1)
        kill_everything(root, process)

    with running(root) as server:
        assert facts(server.url) == [1]


@pytest.mark.long
def test_an_interrupted_making_of_the_cluster_is_begun_again(folder: Path) -> None:
    root = folder / "root"
    process = User(root)
    assert eventually(lambda: list(root.glob("pgdata.draft.*/*")))
    process.kill()
    assert not (root / "pgdata").exists()

    with running(root) as server:
        assert accepts(server.url)
    assert not list(root.glob("pgdata.draft.*"))


# Stale files


@pytest.fixture
def stale_root(root: Path) -> Path:
    """A root whose server was killed, its `postmaster.pid` and socket lock left there."""
    with user(root) as (process, url):
        add_fact(url, 1)
        kill_everything(root, process)
    assert (root / "pgdata" / "postmaster.pid").exists()
    return root


@contextlib.contextmanager
def process_of_the_server_account() -> Iterator[int]:
    account = cluster_directory.server_account()
    process = subprocess.Popen(
        ["sleep", "60"],
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def zombie() -> Iterator[int]:
    with process_of_the_server_account() as pid:
        os.kill(pid, signal.SIGKILL)  # and nobody waits for it yet
        yield pid


def rename_process(file: Path, pid: int) -> None:
    _, rest = file.read_text().split("\n", 1)
    file.write_text(f"{pid}\n{rest}")


@pytest.mark.long
def test_a_stale_pid_of_a_dead_process_is_no_obstacle(stale_root: Path) -> None:
    with running(stale_root) as server:
        assert facts(server.url) == [1]


@pytest.mark.long
@pytest.mark.parametrize("namesake", [process_of_the_server_account, zombie])
def test_a_stale_pid_that_names_another_process_is_no_obstacle(
    stale_root: Path, namesake: Callable[[], contextlib.AbstractContextManager[int]]
) -> None:
    with namesake() as pid:
        rename_process(stale_root / "pgdata" / "postmaster.pid", pid)
        rename_process(stale_root / "pgdata" / f"{server_supervisor.SOCKET}.lock", pid)
        with running(stale_root) as server:
            assert facts(server.url) == [1]
        os.kill(pid, 0)  # and it was left alone


@pytest.mark.long
def test_an_unreadable_pid_file_is_no_obstacle(stale_root: Path) -> None:
    (stale_root / "pgdata" / "postmaster.pid").write_text("")
    with running(stale_root) as server:
        assert facts(server.url) == [1]


def test_a_server_that_somebody_else_started_is_left_alone(root: Path) -> None:
    with foreign_server(root) as (process, url):
        add_fact(url, 1)
        with pytest.raises(errors.StoreError, match=f"process {process.pid} serves"):
            embedded.start(root)
        assert process.poll() is None
        assert postmaster(root) == process.pid
        assert facts(url) == [1]


# Folders


@pytest.mark.parametrize(
    "name", ["x" * 120, "with, comma", "with space % and ü?&#'\""], ids=["long", "comma", "characters"]
)
def test_any_path_will_do(folder: Path, cluster: Path, name: str) -> None:
    root = copy_cluster(cluster, folder / name)
    with running(root) as server:
        add_fact(server.url, 1)
        with user(root) as (_, url):
            assert facts(url) == [1]


def short_socket_dir(root: Path) -> Path:
    return cluster_directory.Cluster(root, cluster_directory.server_account()).socket_dir


def test_the_short_socket_folder_is_private_and_goes_with_the_server(folder: Path, cluster: Path) -> None:
    root = copy_cluster(cluster, folder / ("x" * 120))
    with running(root):
        status = short_socket_dir(root).stat()
        assert stat.S_IMODE(status.st_mode) == 0o700
        assert status.st_uid == (root / "pgdata").stat().st_uid
    assert eventually(lambda: not is_running(root))
    assert eventually(lambda: not short_socket_dir(root).exists())


def test_a_socket_folder_that_others_can_enter_is_refused(folder: Path, cluster: Path) -> None:
    root = copy_cluster(cluster, folder / ("x" * 120))
    trap = short_socket_dir(root)
    trap.mkdir()
    trap.chmod(0o777)
    try:
        with pytest.raises(errors.StoreError, match="not a private folder"):
            embedded.start(root)
    finally:
        trap.rmdir()


@only_root
def test_a_folder_closed_to_the_account_of_the_server_is_named_and_not_opened(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(errors.ConfigError, match="RAG_DATA_DIR") as caught:
        embedded.start(closed / "data" / "root")
    assert caught.value.details["path"] == str(closed)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@only_root
def test_binaries_closed_to_the_account_of_the_server_are_copied(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    site_packages = cluster_directory.binaries().parents[2]
    for part in (cluster_directory.PACKAGE, f"{cluster_directory.PACKAGE}.libs"):
        if (site_packages / part).exists():
            (closed / part).symlink_to(site_packages / part)
    with user(folder / "root", f"\n    import sys; sys.path.insert(0, {str(closed)!r}){USER}") as (_, url):
        assert accepts(url)
        assert processes(str(folder / "root" / "postgresql-"), str(folder / "root" / "pgdata"))
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(errors.StoreError, match="RAG_DATA_DIR"):
        embedded.start(folder / "file" / "root")


def test_a_cluster_that_cannot_be_written_leaves_nothing_half_made(folder: Path) -> None:
    code = """
        import pathlib, resource, sys
        from rag import errors
        from rag.store.server import embedded
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # initdb meets it as it meets a full disk
        try:
            embedded.start(pathlib.Path(sys.argv[1]))
        except errors.StoreError as error:
            print(error, error.details["log"])
    """
    assert forked.run(code, folder / "root", output=folder / "printed") == 0
    output = (folder / "printed").read_text()
    assert "could not be made" in output
    assert "RAG_DATA_DIR" in output
    assert not list((folder / "root").glob("pgdata*"))


def test_a_cluster_of_another_major_version_is_refused(root: Path) -> None:
    (root / "pgdata" / "PG_VERSION").write_text("16\n")
    with pytest.raises(errors.StoreError, match="PostgreSQL 16") as caught:
        embedded.start(root)
    assert caught.value.details == {"found": "16", "expected": "18"}


def test_a_folder_that_is_no_cluster_is_refused(root: Path) -> None:
    (root / "pgdata" / "PG_VERSION").unlink()
    with pytest.raises(errors.StoreError, match="no PG_VERSION"):
        embedded.start(root)
    assert (root / "pgdata" / "global").exists()


def test_a_damaged_cluster_says_what_the_server_said(root: Path) -> None:
    (root / "postgres.log").write_text("FATAL: something of long ago\n")
    (root / "pgdata" / "global" / "pg_control").unlink()
    with pytest.raises(errors.StoreError, match="pg_control") as caught:
        embedded.start(root)
    assert "pg_control" in str(caught.value.details["log"])
    assert "long ago" not in str(caught.value.details["log"])
    assert eventually(lambda: not is_running(root))


def test_the_log_does_not_grow_without_end(root: Path) -> None:
    log = root / "postgres.log"
    log.write_bytes(b"x" * (server_supervisor.LOG_LIMIT_BYTES + 1))
    with running(root) as server:
        assert eventually(lambda: log.stat().st_size < server_supervisor.LOG_LIMIT_BYTES)
        assert accepts(server.url)
    assert (root / "postgres.log.1").stat().st_size > server_supervisor.LOG_LIMIT_BYTES
    assert eventually(lambda: b"database system is shut down" in log.read_bytes()[:100_000])
