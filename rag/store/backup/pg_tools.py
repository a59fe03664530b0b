"""pg_dump and pg_restore of the packaged server, which dump and read databases of any server that is not newer."""

import re
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from psycopg import conninfo

from rag import errors
from rag.store.server import cluster_directory

PIECE_BYTES = 1 << 20
COPY = re.compile(rb"COPY (?:\S+\.)?(\S+) \((.*)\) FROM stdin;\n")
"""The head of a table's rows in pg_restore's script; the line of `END` ends them."""
END = b"\\.\n"

Names = tuple[str, ...]
Table = tuple[str, Names, Iterable[bytes]]
"""A table's name, its columns, and its rows in the text format of `COPY`, in any pieces."""


def require_version(server_version: int) -> None:
    """Raise StoreError if the server, with a version as in `server_version_num`, is newer than our pg_dump."""
    if server_version // 10000 > int(cluster_directory.MAJOR_VERSION):
        raise errors.StoreError(
            f"The database is PostgreSQL {server_version // 10000}, and the packaged pg_dump is of version "
            f"{cluster_directory.MAJOR_VERSION}, which cannot back up newer ones. Update Pagelight, or use the "
            "server's own backups."
        )


def dump(url: str, snapshot: str, schema: str, tables: Sequence[str]) -> Iterator[bytes]:
    """Yield the rows of `tables` at the moment of `snapshot`, in pg_dump's custom format.

    `url` may be of an account that the policies of row-level security let see all rows: for it they stay on. On a Citus
    cluster pg_dump's LOCK TABLE begins a transaction on each node, in which Citus then copies all shards of that node:
    each has a snapshot of its own.
    Raises StoreError.
    """
    options = [f"--snapshot={snapshot}", *(f'--table="{schema}"."{table}"' for table in tables)]
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        connection = without_password(url, Path(folder) / "password")
        with _running(
            "pg_dump",
            f"--dbname={connection}",
            "--no-password",
            "--format=custom",
            "--data-only",
            "--encoding=UTF8",
            "--enable-row-security",
            "--compress=gzip:1",  # vectors hardly shrink, and more takes longer than the disk
            "--exclude-table-data=*_seq",  # restoring continues behind the highest number
            *options,
        ) as process:
            assert process.stdout
            while piece := process.stdout.read(PIECE_BYTES):
                yield piece


def without_password(url: str, path: Path) -> str:
    """Return the connection string with the password moved into a file, as others can read a command line."""
    parameters = conninfo.conninfo_to_dict(url)
    password = parameters.pop("password", None)
    if "sslpassword" in parameters:
        raise errors.StoreError(
            "A backup cannot use the sslpassword of the database's URL, because pg_dump only takes it where other "
            "accounts can read it. Use a client key without a password."
        )
    if password is not None:
        path.touch(0o600)
        escaped = str(password).replace("\\", "\\\\").replace(":", "\\:")
        path.write_text(f"*:*:*:*:{escaped}\n", encoding="utf-8")
        parameters["passfile"] = str(path)
    return conninfo.make_conninfo("", **parameters)


def tables_of(pieces: Iterable[bytes]) -> Iterator[Table]:
    """Yield the tables of a dump, each behind those that it references. Read a table's rows before the next.

    Raises StoreError.
    """
    failures: list[errors.Error] = []

    def feed(target: IO[bytes]) -> None:
        # A process of pg_restore that ends early says itself why.
        with suppress(BrokenPipeError), target:
            try:
                target.writelines(pieces)
            except errors.Error as error:
                failures.append(error)

    with _running("pg_restore", "--data-only", "--file=-", stdin=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        feeder = threading.Thread(target=feed, args=[process.stdin])
        feeder.start()
        try:
            for line in process.stdout:
                if head := COPY.fullmatch(line):
                    names = [name.strip('"') for name in (head[1].decode(), *head[2].decode().split(", "))]
                    yield names[0], tuple(names[1:]), iter(process.stdout.readline, END)
            process.wait()
        finally:
            process.kill()  # else the feeder would wait for it, if the reader of the tables stops
            feeder.join()
        if failures:
            raise failures[0]


def text_of(value: bytes) -> str:
    """Return a text, not NULL, from a row of `tables_of`."""
    # COPY escapes the backslash and \b, \f, \n, \r, \t and \v, as Python does.
    return value.decode("unicode_escape").encode("latin-1").decode()


@contextmanager
def _running(program: str, *options: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program while the block reads its output, which ends with it; raise StoreError if it fails."""
    with tempfile.TemporaryFile() as messages:
        command = [str(cluster_directory.binaries() / program), *options]
        with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=messages) as process:
            try:
                yield process
                process.wait()
            finally:
                process.kill()
        if process.returncode:
            messages.seek(0)
            lines = messages.read().decode(errors="replace").splitlines()
            reason = next((line.partition("error: ")[2] for line in lines if "error: " in line), "it gave no reason")
            raise errors.StoreError(f"{program} failed: {reason}. Check the database and its server, then try again.")
