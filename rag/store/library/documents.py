"""Rows of documents: adding, listing, trash, restore and purge, with the attachments that follow their containers."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rag import errors, types
from rag.messages import N_
from rag.store.files import pending_deletions
from rag.store.jobs import work_locks
from rag.store.search import scopes
from rag.store.server.database import Connection, Database, Queries, Row, UserDatabase
from rag.store.users import audit_log
from rag.store.users.accounts import OwnAccount

EVERY_DOCUMENT = types.DocumentQuery()


class Documents:
    """A user's rows of the table `documents`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "documents")
        self._attachments = AttachmentCascade(database)
        self._account = OwnAccount(database)

    def add(
        self,
        index_id: uuid.UUID,
        *,
        document_id: uuid.UUID,
        name: str,
        mime_type: str,
        sha256: str,
        size: int,
        source: str | None = None,
        shown_source: str | None = None,
        status: types.DocumentStatus = types.DocumentStatus.QUEUED,
        follows_source: bool = False,
        in_trash: bool = False,
        container_id: uuid.UUID | None = None,
        replaces: uuid.UUID | None = None,
        drafted: bool = False,
        upload_key: str | None = None,
        quota_bytes: int | None = None,
    ) -> types.Document:
        """Add a document; `size` in bytes.

        - `follows_source`: it may have the content of another place's document.
        - `in_trash`: it stays hidden until it takes the place of an older one (`Sources.supersede`).
        - `container_id`: the mail or archive it was in; it is in the trash as long as that is.
        - `replaces`: a version of the document whose next version this is; it takes over when it is ready.
        - `drafted`: its files were registered by `PendingDeletions.draft` and belong to it from now on.
        - `upload_key`: is saved in the same transaction.
        - `quota_bytes`: the quota of a user who has none of their own.

        Raises:
            errors.QuotaError: the file would exceed the user's quota.
            errors.DuplicateError: a document with this SHA-256 is in the index or its trash; `details` have its
                `document_id`, `name` and `in_trash`, and its `version` if another version is current. Without
                these: another document came under the upload key.
            errors.NotFoundError: there is no such index, container, or document to replace.
            errors.ConflictError: the document to replace is in the trash or another index, follows a file, or is a
                mail, an archive or a part of one.
            errors.StoreError: its drafted files were deleted meanwhile, because they waited too long for it.
        """
        values: dict[str, object] = {
            "index_id": index_id,
            "id": document_id,
            "name": name,
            "mime_type": mime_type,
            "sha256": sha256,
            "size": size,
            "source": source,
            "shown_source": shown_source,
            "status": status.value,
            "follows_source": follows_source,
            "in_trash": in_trash,
            "container_id": container_id,
            "replaces": replaces,
            "containers": [*types.CONTAINERS],
            "key": upload_key,
        }
        replaced = self.get(replaces) if replaces else None
        added = self._add(values, replaced, quota_bytes, drafted=drafted)
        if added:
            return to_document(added[0])
        present = self._queries.one("same_content", **values)
        if present is None:
            self._account.require_room(name, size, quota_bytes)
            raise errors.NotFoundError(
                N_("There is no index {id}, or {name} was in what is gone. List the indexes."), id=index_id, name=name
            )
        raise _duplicate(name, present)

    def _add(
        self, values: Mapping[str, object], replaced: types.Document | None, quota_bytes: int | None, *, drafted: bool
    ) -> builtins.list[Row]:
        with self._database.transaction() as connection:
            quota = self._account.lock_quota(connection, quota_bytes)
            bound = self._database.bind({**values, "quota_bytes": quota})
            if drafted:
                pending_deletions.lock(connection, {**bound, "document_id": values["id"]})
            if replaced and not connection.execute(self._queries["lock_lineage"], bound).fetchall():
                raise errors.ConflictError(
                    N_(
                        "The document cannot get a new version here: it is in the trash or another index, follows a "
                        "file of a folder (change that file), or is a mail, an archive or a part of one."
                    )
                )
            added = connection.execute(self._queries["add"], bound).fetchall()
            if added and drafted:
                pending_deletions.adopt_files(connection, bound)
            if added and values["key"] and not connection.execute(self._queries["claim_key"], bound).fetchall():
                raise errors.DuplicateError(N_("Another file came under the same key at the same time."))
            audit_log.add_document_entries(self._database, connection, "document.upload", [row["id"] for row in added])
            return added

    def get(self, document_id: uuid.UUID) -> types.Document:
        """Return a document, in the trash or not. Raises NotFoundError, PurgedError if it was purged."""
        row = self._queries.one("get", document_id=document_id)
        if row is None:
            raise missing(self._database, document_id)
        return to_document(row)

    def list(
        self,
        index_id: uuid.UUID,
        asked: types.DocumentQuery = EVERY_DOCUMENT,
        *,
        order_by: types.DocumentOrder = "added",
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[types.Document]:
        """Return documents of an index or its trash, newest first, without their `pages` (`get` has them).

        Of a document's versions it has the current one and new ones that are not ready yet.
        """
        order = {"order_by": order_by, "descending": descending, "limit": limit, "offset": offset}
        return [to_document(row) for row in self._queries.all("list", **list_parameters(index_id, asked), **order)]

    def page_labels(self, pages: Iterable[tuple[uuid.UUID, int]]) -> dict[uuid.UUID, tuple[int, dict[int, str]]]:
        """Return the number of pages of documents and, for the given pages, printed labels that differ from numbers."""
        asked = [*pages]
        rows = self._queries.all(
            "page_labels", document_ids=[key for key, _ in asked], page_numbers=[number for _, number in asked]
        )
        return {
            row["id"]: (row["page_count"], {int(number): label for number, label in (row["labels"] or {}).items()})
            for row in rows
        }

    def languages(self, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Return the languages of documents by id, without ids that do not exist."""
        return {row["id"]: row["language"] for row in self._queries.all("languages", ids=[*ids])}

    def update_progress(self, document_id: uuid.UUID, status: types.DocumentStatus, done: int, total: int) -> None:
        """Set the progress of a document that is being read.

        Raises:
            errors.CancelledError: its reading was cancelled, or has ended otherwise.
            errors.NotFoundError: there is no such document.
        """
        values = {"status": status.value, "done": done, "total": total}
        if not self._queries.write("update_progress", document_id=document_id, **values):
            self.get(document_id)
            raise errors.CancelledError

    def fail(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a document as failed; its chunks stay searchable. Raises NotFoundError."""
        if not self._queries.write("fail", document_id=document_id, code=code, message=message):
            raise unknown(document_id)

    def requeue(self, document_id: uuid.UUID) -> types.Document:
        """Mark a document that is not in the trash to be read from its beginning. Raises NotFoundError."""
        rows = self._queries.write("requeue", document_id=document_id)
        if not rows:
            raise unknown(document_id)
        return to_document(rows[0])

    def trash(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Move documents with all their versions and attachments to the trash, and return what was moved.

        An older version, or one that is still to be read, is moved alone.
        """
        with self._database.transaction() as connection:
            trashed = [row["id"] for row in self._queries.run(connection, "trash", ids=[*ids])]
            trashed += self._attachments.trash(connection, trashed)
            audit_log.add_document_entries(self._database, connection, "document.trash", trashed)
            return trashed

    def restore(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Move documents out of the trash, with the versions and attachments that went with them; return all."""
        with self._database.transaction() as connection:
            times = {row["id"]: row["was_deleted_at"] for row in self._queries.run(connection, "restore", ids=[*ids])}
            restored = [*times, *self._attachments.restore(connection, times)]
            audit_log.add_document_entries(self._database, connection, "document.restore", restored)
            return restored

    def purge(self, ids: Sequence[uuid.UUID]) -> types.PurgeReceipt:
        """Delete documents in the trash with their chunks and postings, and register their files for deletion.

        Versions are deleted as with `trash`, and attachments that are in the trash. The receipt's counts are taken
        after the deletion.
        """
        with self._database.transaction(long=True) as connection:
            gone = self._queries.run(connection, "purge", ids=[*ids]).fetchall()
            gone += self._attachments.purge(connection, [row["id"] for row in gone])
            for row in gone:
                subject = audit_log.Subject("document", str(row["id"]), row["name"])
                audit_log.add_entry(self._database, connection, "document.purge", subject)
        left = pending_deletions.count(self._database, gone)
        counts = {name: sum(row[name] for row in gone) - left[name] for name in left}
        return types.PurgeReceipt(document_ids=tuple(row["id"] for row in gone), **counts)

    def lock(self, document_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock a document for the block, and give whether this process has the lock."""
        return work_locks.lock(self._database, document_id)


class AttachmentCascade:
    """Moves and deletes the attachments of mails and archives with their containers, in the same transaction."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "attachments")

    def trash(self, connection: Connection, containers: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Move the attachments of trashed documents, at any depth, to the trash, and return them."""
        return [row["id"] for row in self._queries.run(connection, "trash", ids=[*containers])]

    def restore(self, connection: Connection, containers: Mapping[uuid.UUID, Any]) -> list[uuid.UUID]:
        """Restore attachments that went to the trash with restored documents, given with their times of deletion."""
        rows = self._queries.run(connection, "restore", ids=[*containers], times=[*containers.values()])
        return [row["id"] for row in rows]

    def purge(self, connection: Connection, containers: Sequence[uuid.UUID]) -> list[Row]:
        """Delete the attachments in the trash of deleted documents, and return their rows; other attachments stay."""
        gone = self._queries.run(connection, "purge", ids=[*containers]).fetchall()
        self._queries.run(connection, "release", ids=[*containers, *(row["id"] for row in gone)])
        return gone


def list_parameters(index_id: uuid.UUID, asked: types.DocumentQuery) -> dict[str, object]:
    """Return the parameters of the queries that list, or count, documents."""
    return {
        **scopes.parameters(types.Scope(index_id=index_id, filters=asked.filters)),
        "search": asked.search or None,
        "status": asked.status and asked.status.value,
        "disabled": asked.disabled,
        "in_trash": asked.in_trash,
    }


def unfinished(database: Database) -> Sequence[tuple[str, uuid.UUID]]:
    """Return user and id of all users' documents that wait to be read, oldest first."""
    return [(row["user_id"], row["id"]) for row in Queries(database, "documents").all("unfinished")]


def to_document(row: Mapping[str, Any]) -> types.Document:
    """Make a document of a row of `documents`."""
    values = {name: row[name] for name in types.Document.model_fields if name in row}
    values |= {
        "title": row["given_title"] or row["title"],
        "author": row["given_author"] or row["author"],
        "dated": row["given_date"] or row["dated"],
        "progress": _progress(row),
        "retry_after": _retry_after(row),
        "searchable": _is_searchable(row),
    }
    return types.Document(**values)


def _retry_after(row: Mapping[str, Any]) -> dt.datetime | None:
    """Return the retry time of a postponed document; one that is being read has a time too, in case its worker dies."""
    is_postponed = row["status"] in types.UNFINISHED and row["error_code"] is not None
    return row.get("retry_after") if is_postponed else None


def _is_searchable(row: Mapping[str, Any]) -> bool:
    """Return what the SQL function `documents_in_scope` decides."""
    hidden = row["disabled"] or row["superseded_by"] is not None or row["deleted_at"] is not None
    return row["chunk_count"] > 0 and not hidden


def _progress(row: Mapping[str, Any]) -> types.Progress:
    """Return the progress of the current stage, with the time left at its present speed."""
    done, total, started_at = row["progress_done"], row["progress_total"], row["stage_started_at"]
    if row["status"] not in types.UNFINISHED or started_at is None:
        return types.Progress(done=done, total=total)
    elapsed = (dt.datetime.now(dt.UTC) - started_at).total_seconds()
    seconds = types.seconds_left(done, total, since=row["stage_started_with"], elapsed=elapsed)
    return types.Progress(done=done, total=total, seconds_left=seconds)


def unknown(document_id: uuid.UUID) -> errors.NotFoundError:
    """Return the error for an id that no document of the user has."""
    return errors.NotFoundError(N_("There is no document {id}. List the documents and check the id."), id=document_id)


def missing(database: UserDatabase, document_id: uuid.UUID) -> errors.NotFoundError:
    """Return the error for a document that is not there: with the time of its purge if the audit log still has it."""
    row = Queries(database, "audit").one("purged_at", document_id=str(document_id))
    if row is None or row["at"] is None:
        return unknown(document_id)
    return errors.PurgedError(
        N_("The document {id} was permanently deleted on {time} UTC. List the documents and check the id."),
        id=document_id,
        time=f"{row['at']:%Y-%m-%d %H:%M}",
        details={"document_id": str(document_id), "purged_at": row["at"].isoformat()},
    )


def _duplicate(name: str, present: Mapping[str, Any]) -> errors.DuplicateError:
    where = N_("in the index already")
    if present["in_trash"]:
        where = N_("in the trash; restore it")
    elif present["is_older"]:
        where = N_("in the index already: in version {version}, which a later one replaced; go back to it").format(
            version=present["version"]
        )
    details = {"document_id": present["id"], "name": present["name"], "in_trash": present["in_trash"]}
    if present["is_older"]:
        details["version"] = present["version"]
    return errors.DuplicateError(
        N_("The content of {name} is {_where}, as {present}."),
        name=name,
        _where=where,
        present=present["name"],
        details=details,
    )
