"""Compare the database, files and processes with what the users were told."""

import hashlib
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from benchmarks.chaos.ledger import Entry, Ledger, State, Wrong
from benchmarks.chaos.services import Services
from rag import errors
from rag.store.files.file_storage import KINDS, PARTIAL_FOLDER, folder_name
from rag.store.server import embedded

POLL_SECONDS = 0.3
STUCK_SECONDS = 120.0
"""Seconds without progress after which a document hangs; workers check the queue twice a minute."""
SWEEP = "benchmarks.chaos.sweep"
SWEEP_SECONDS = 75.0
"""Seconds that a purge has to delete its files before the cleanup does."""

Row = dict[str, Any]
Connection = psycopg.Connection[Row]

DOCUMENTS: LiteralString = """
SELECT user_id, id, name, sha256, status, error_code, error, deleted_at IS NOT NULL AS in_trash, superseded_by, version,
       chunk_count, vector_count, progress_done, attempts, pictures_waiting,
       coalesce((to_jsonb(documents) ->> 'retry_after')::timestamptz > now(), false) AS is_put_off
FROM documents"""

CHUNKS: LiteralString = """
SELECT d.user_id, d.name, d.chunk_count, d.vector_count, count(c.id) AS chunks, count(c.embedding) AS vectors,
       count(DISTINCT c.ordinal) AS ordinals,
       (SELECT count(DISTINCT ((p.block & 1048575) << 7) | (get_byte(p.packed, 4 * place) & 127))
        FROM postings p, generate_series(0, octet_length(p.packed) / 4 - 1) AS place
        WHERE p.user_id = d.user_id AND p.document_number = d.number AND p.block >> 20 = 0) AS with_words
FROM documents d LEFT JOIN document_chunks c ON c.user_id = d.user_id AND c.document_id = d.id
WHERE d.status = 'ready'
GROUP BY d.user_id, d.id"""

CURRENT: LiteralString = """
SELECT user_id, lineage_id, min(name) AS name, count(*) FILTER (WHERE superseded_by IS NULL) AS current
FROM documents GROUP BY user_id, lineage_id HAVING count(*) FILTER (WHERE superseded_by IS NULL) <> 1"""

STRAY_ROWS: LiteralString = """
SELECT 'chunks' AS rows, count(*) AS count FROM stored_chunks c
WHERE NOT EXISTS (SELECT FROM documents d WHERE d.user_id = c.user_id AND d.id = c.document_id)
UNION ALL
SELECT 'postings', count(*) FROM postings p
WHERE NOT EXISTS (SELECT FROM documents d WHERE d.user_id = p.user_id AND d.number = p.document_number)
UNION ALL
SELECT 'messages', count(*) FROM messages m
WHERE NOT EXISTS (SELECT FROM conversations c WHERE c.user_id = m.user_id AND c.id = m.conversation_id)"""

MESSAGES: LiteralString = "SELECT user_id, conversation_id, role, content FROM messages ORDER BY number"
CHATS: LiteralString = "SELECT user_id, id FROM conversations"

UNFINISHED = ("queued", "parsing", "embedding")


class Census:
    """Counts violations in a recovered, idle installation; orphans older than `sweep_seconds` are cleaned up first."""

    def __init__(self, services: Services, ledger: Ledger, sweep_seconds: float = SWEEP_SECONDS) -> None:
        self._services = services
        self._ledger = ledger
        self._sweep_seconds = sweep_seconds * services.patience

    def take(self) -> None:
        """Run all counts."""
        for url in self._services.wait_until_healthy():
            self._ledger.report(Wrong.HUNG, url, "does not come back")
        try:
            with self._connected() as connection:
                self._settle(connection)
                self.count(connection)
        except (psycopg.Error, errors.Error) as error:
            self._ledger.report(Wrong.HUNG, f"the database, {self._ledger.round}", str(error))
        for process in self._services.left_over():
            self._ledger.report(Wrong.HUNG, f"process {process.pid}", f"left over: {process.command[:120]}")

    def count(self, connection: Connection) -> None:
        """Count violations in the database and the files."""
        rows = {(row["user_id"], row["id"]): row for row in connection.execute(DOCUMENTS)}
        self._count_documents(rows)
        self._count_chunks(connection)
        self._count_chats(connection)
        self._count_files(rows)

    def stop(self) -> None:
        """Stop all processes and count those left over."""
        for process in self._services.stop():
            self._ledger.report(Wrong.HUNG, f"process {process.pid}", f"does not end: {process.command[:120]}")
        self._count_strays(lambda: dict.fromkeys(self._services.temporary.iterdir(), "left over when all had ended"))

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        server = embedded.start(self._services.data / "database")
        try:
            with psycopg.connect(server.url, row_factory=dict_row, autocommit=True) as connection:
                yield connection
        finally:
            server.close()

    # --- documents ---

    def _settle(self, connection: Connection) -> None:
        """Wait for ingestion to finish, as long as it makes progress."""
        before: list[Row] = []
        since = time.monotonic()
        while waiting := [row for row in connection.execute(DOCUMENTS) if is_waiting(row)]:
            if waiting != before or any(row["is_put_off"] for row in waiting):
                before, since = waiting, time.monotonic()
            if time.monotonic() - since > STUCK_SECONDS * self._services.patience:
                for row in waiting:
                    stage = f"{row['status']}, {row['vector_count']} of {row['chunk_count']} vectors"
                    self._ledger.report(Wrong.HUNG, _named(row), f"nothing happens to it: {stage}")
                return
            time.sleep(POLL_SECONDS)

    def _count_documents(self, rows: dict[tuple[str, uuid.UUID], Row]) -> None:
        known = set()
        for entry in self._ledger.entries:
            known |= {(entry.user, version.id) for version in entry.versions}
            found = [rows.get((entry.user, version.id)) for version in entry.versions]
            self._count_entry(entry, found)
        sent = {version.sha256 for entry in self._ledger.entries for version in entry.versions}
        for key in rows.keys() - known:
            row = rows[key]
            if row["sha256"] in sent:
                self._ledger.report(
                    Wrong.DOUBLED, _named(row), f"there is another document of this upload, {row['id']}"
                )
            elif row["sha256"] not in self._ledger.unanswered:
                self._ledger.report(Wrong.ORPHANED, _named(row), f"nobody sent it: {row['id']}")

    def _count_entry(self, entry: Entry, found: list[Row | None]) -> None:
        named = f"{entry.name} of {entry.user}"
        present = [row for row in found if row]
        states = {State.TRASHED if row["in_trash"] else State.KEPT for row in present}
        if len(present) < len(found):
            states.add(State.PURGED)
        if len(states) != 1 or not states <= entry.states:
            expected = " or ".join(sorted(state.value for state in entry.states))
            seen = ", ".join(
                f"{row['status']}{' in the trash' if row['in_trash'] else ''}" if row else "gone" for row in found
            )
            self._ledger.report(Wrong.LOST, named, f"should be {expected}; its versions are: {seen}")
            return
        entry.states = states  # now known
        if entry.is_surely(State.KEPT):
            self._count_kept(entry, named, present)

    def _count_kept(self, entry: Entry, named: str, versions: list[Row]) -> None:
        for row in versions:
            if row["status"] not in (*UNFINISHED, "ready"):
                self._ledger.report(
                    Wrong.LOST, f"{named}, {row['id']}", f"{row['status']}: {row['error_code']}, {row['error']}"
                )
        current = [row["version"] for row in versions if row["superseded_by"] is None]
        entry.settled = all(row["status"] == "ready" for row in versions)
        if entry.settled and current != [versions[-1]["version"]]:
            self._ledger.report(Wrong.HALF, named, f"of {len(versions)} versions these are current: {current}")

    # --- chunks, chats ---

    def _count_chunks(self, connection: Connection) -> None:
        for row in connection.execute(CHUNKS):
            named = f"{row['name']} of {row['user_id']}"
            counts = {
                name: row[name]
                for name in ("chunk_count", "vector_count", "chunks", "vectors", "ordinals", "with_words")
            }
            if row["chunks"] > row["ordinals"] or row["chunks"] > row["chunk_count"]:
                self._ledger.report(Wrong.DOUBLED, f"chunks of {named}", str(counts))
            elif len(set(counts.values())) != 1:
                self._ledger.report(Wrong.HALF, f"chunks of {named}", str(counts))
        for row in connection.execute(CURRENT):
            evidence = f"{row['current']} current versions"
            self._ledger.report(Wrong.HALF, f"{row['name']} of {row['user_id']}", evidence)
        for row in connection.execute(STRAY_ROWS):
            if row["count"]:
                self._ledger.report(Wrong.ORPHANED, row["rows"], f"{row['count']} without an owner")

    def _count_chats(self, connection: Connection) -> None:
        chats = {row["id"] for row in connection.execute(CHATS)}
        turns: dict[uuid.UUID, list[Row]] = {}
        for row in connection.execute(MESSAGES):
            turns.setdefault(row["conversation_id"], []).append(row)
        for chat in self._ledger.chats:
            if chat.id not in chats:
                self._ledger.report(Wrong.LOST, f"chat {chat.id} of {chat.user}", "gone")
                continue
            found = turns.get(chat.id, [])
            for question in chat.asked:
                count = sum(turn["content"] == question for turn in found)
                if count != 1:
                    self._ledger.report(
                        Wrong.LOST if count == 0 else Wrong.DOUBLED, question, f"{count} times in its chat"
                    )
            asked, answered = (sum(turn["role"] == role for turn in found) for role in ("user", "assistant"))
            if asked != answered:
                self._ledger.report(
                    Wrong.LOST, f"chat {chat.id} of {chat.user}", f"{asked} questions, {answered} answers"
                )

    # --- files ---

    def _count_files(self, rows: dict[tuple[str, uuid.UUID], Row]) -> None:
        folders = {Path(folder_name(user), str(document)): row for (user, document), row in rows.items()}
        root = self._services.data / "files"
        for folder, row in folders.items():
            original = root / folder / "original"
            if not original.is_file():
                self._ledger.report(Wrong.LOST, _named(row), f"it has no original, and is {row['status']}")
            elif hashlib.sha256(original.read_bytes()).hexdigest() != row["sha256"]:
                self._ledger.report(Wrong.LOST, _named(row), "its original is not what was sent")
        self._count_strays(lambda: dict.fromkeys(strays(root, {*folders}), "no row owns it"))
        self._count_strays(
            lambda: dict.fromkeys(self._services.temporary.iterdir(), "left over, nothing is being done")
        )

    def _count_strays(self, look: Callable[[], dict[Path, str]]) -> None:
        """Count orphans that remain after the cleanup of `pagelight doctor --fix`, run without its age limit."""
        deadline = time.monotonic() + self._sweep_seconds
        while look() and time.monotonic() < deadline:
            self._services.python("-m", SWEEP, log="sweep").wait()
            if look():
                time.sleep(self._sweep_seconds / 4)
        for path, why in look().items():
            self._ledger.report(Wrong.ORPHANED, str(path.relative_to(self._services.data.parent)), why)


def strays(root: Path, owned: set[Path]) -> list[Path]:
    """Return the files below `root` that no document owns, and users' empty folders."""
    found = []
    with suppress(FileNotFoundError):
        for user in root.iterdir():
            documents = [*user.iterdir()]
            if user.name == PARTIAL_FOLDER:
                found += documents
                continue
            found += [user] if not documents else []
            for folder in documents:
                if folder.relative_to(root) not in owned:
                    found.append(folder)
                else:
                    found += [path for path in folder.iterdir() if path.name not in KINDS]
    return found


def is_waiting(row: Row) -> bool:
    """Return whether a worker still has to process a document."""
    return not row["in_trash"] and (
        row["status"] in UNFINISHED or (row["status"] == "ready" and row["pictures_waiting"])
    )


def _named(row: Row) -> str:
    return f"{row['name']} of {row['user_id']}"
