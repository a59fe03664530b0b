"""The rows of documents: what they are, how far they are, and whether they are in the trash."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rag import errors
from rag.store.files import pending_deletions
from rag.store.jobs import work_locks
from rag.store.library.attachment_cascade import AttachmentCascade
from rag.store.search import scopes
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, UserDatabase
from rag.store.users import audit_log
from rag.store.users.accounts import OwnAccount
from rag.types import (
    CONTAINERS,
    UNFINISHED,
    Completeness,
    Document,
    DocumentOrder,
    DocumentQuery,
    DocumentStatus,
    PageInfo,
    Part,
    Progress,
    PurgeReceipt,
    Scope,
    seconds_left,
)

EVERY_DOCUMENT = DocumentQuery()


class Documents:
    """A user's rows of the table `documents`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("documents")
        self._parts = AttachmentCascade(database)
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
        status: DocumentStatus = DocumentStatus.QUEUED,
        follows_source: bool = False,
        in_trash: bool = False,
        container_id: uuid.UUID | None = None,
        replaces: uuid.UUID | None = None,
        drafted: bool = False,
        upload_key: str | None = None,
        quota_bytes: int | None = None,
    ) -> Document:
        """A new document; `size` in bytes. One that `follows_source` may have the content of another place's document.

        `in_trash` keeps it out of sight until it takes the place of an older one (`supersede`). With `replaces` it is
        the next version of the document that has this one among its versions, and takes over when it is ready. A part
        is in the trash as long as its container is. Files that were `drafted` (`Deletions.draft`) are its own now, and
        the `upload_key` is kept, in the same moment. `quota_bytes` is that of a user who has none of their own.

        Raises:
            errors.QuotaError: the user has no room for so many bytes.
            errors.DuplicateError: a document with this SHA-256 is in the index, or in its trash; `details` have its
                `document_id`, `name` and `in_trash`, and its `version` where another version is searched. Without
                these: another document came under the key.
            errors.NotFoundError: there is no such index, no such container, or no document to replace.
            errors.ConflictError: the document to replace is in the trash or another index, follows a file, or is a
                mail, an archive or a part of one.
            errors.StoreError: its drafted files were deleted meanwhile, because they waited too long for it.
        """
        parameters: dict[str, object] = {
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
            "containers": [*CONTAINERS],
            "key": upload_key,
        }
        replaced = self.get(replaces) if replaces else None
        added = self._add(parameters, replaced, quota_bytes, drafted=drafted)
        if added:
            return to_document(added[0])
        present = self._database.one(self._queries["same_content"], parameters)
        if present is None:
            self._account.require_room(name, size, quota_bytes)
            raise errors.NotFoundError(
                f"There is no index {index_id}, or {name} was in what is gone. List the indexes."
            )
        raise _duplicate(name, present)

    def _add(
        self, parameters: Mapping[str, object], replaced: Document | None, quota_bytes: int | None, *, drafted: bool
    ) -> builtins.list[Mapping[str, Any]]:
        with self._database.transaction() as connection:
            quota = self._account.lock_quota(connection, quota_bytes)
            bound = self._database.bind({**parameters, "quota_bytes": quota})
            if drafted:
                pending_deletions.lock(connection, {**bound, "document_id": parameters["id"]})
            if replaced and not connection.execute(self._queries["lock_lineage"], bound).fetchall():
                raise errors.ConflictError(
                    "The document cannot get a new version here: it is in the trash or another index, follows a file "
                    "of a folder (change that file), or is a mail, an archive or a part of one."
                )
            added = connection.execute(self._queries["add"], bound).fetchall()
            if added and drafted:
                pending_deletions.own(connection, bound)
            if added and parameters["key"] and not connection.execute(self._queries["claim_key"], bound).fetchall():
                raise errors.DuplicateError("Another file came under the same key at the same time.")
            audit_log.add_document_entries(self._database, connection, "document.upload", [row["id"] for row in added])
            return [*added]

    def get(self, document_id: uuid.UUID) -> Document:
        """A document, in the trash or not (`deleted_at` tells). Raises NotFoundError."""
        row = self._database.one(self._queries["get"], {"document_id": document_id})
        if row is None:
            raise unknown(document_id)
        return to_document(row)

    def list(
        self,
        index_id: uuid.UUID,
        asked: DocumentQuery = EVERY_DOCUMENT,
        *,
        order_by: DocumentOrder = "added",
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Document]:
        """Documents of an index, or of its trash, newest first, without their `pages` (`get` has them).

        Of a document's versions the one that is searched, and new ones that are not ready yet.
        """
        order = {"order_by": order_by, "descending": descending, "limit": limit, "offset": offset}
        return [
            to_document(row) for row in self._database.all(self._queries["list"], {**listed(index_id, asked), **order})
        ]

    def page_labels(self, pages: Iterable[tuple[uuid.UUID, int]]) -> dict[uuid.UUID, tuple[int, dict[int, str]]]:
        """How many pages documents have, and what is printed on these pages of them, where it is not their number."""
        asked = [*pages]
        parameters = {"document_ids": [key for key, _ in asked], "page_numbers": [number for _, number in asked]}
        return {
            row["id"]: (row["page_count"], {int(number): label for number, label in (row["labels"] or {}).items()})
            for row in self._database.all(self._queries["page_labels"], parameters)
        }

    def languages(self, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
        """The languages of documents, by id; what is not there is left out."""
        return {row["id"]: row["language"] for row in self._database.all(self._queries["languages"], {"ids": [*ids]})}

    def update_progress(self, document_id: uuid.UUID, status: DocumentStatus, done: int, total: int) -> None:
        """How far a document is that is being read.

        Raises:
            errors.CancelledError: its reading was cancelled, or has ended otherwise.
            errors.NotFoundError: there is no such document.
        """
        parameters = {"document_id": document_id, "status": status.value, "done": done, "total": total}
        if not self._database.write(self._queries["update_progress"], parameters):
            self.get(document_id)
            raise errors.CancelledError

    def fail(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a document as failed; chunks that are there stay searchable. Raises NotFoundError."""
        self._touch("fail", document_id, {"code": code, "message": message})

    def requeue(self, document_id: uuid.UUID) -> Document:
        """Mark a document that is not in the trash as to be read from its beginning. Raises NotFoundError."""
        return to_document(self._touch("requeue", document_id, {}))

    def _touch(self, query: str, document_id: uuid.UUID, parameters: Mapping[str, object]) -> Mapping[str, Any]:
        touched = self._database.write(self._queries[query], {"document_id": document_id, **parameters})
        if not touched:
            raise unknown(document_id)
        return touched[0]

    def trash(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Take documents, with all their versions and parts, out of every search; returns those touched.

        An older version, or one that is still to be read, goes by itself.
        """
        with self._database.transaction() as connection:
            touched = self._changed(connection, "trash", ids)
            all_touched = [*touched, *self._parts.trash(connection, [*touched])]
            audit_log.add_document_entries(self._database, connection, "document.trash", all_touched)
            return all_touched

    def restore(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Take documents, and the versions and parts that went there with them, out of the trash; returns which."""
        with self._database.transaction() as connection:
            touched = self._changed(connection, "restore", ids)
            all_touched = [*touched, *self._parts.restore(connection, touched)]
            audit_log.add_document_entries(self._database, connection, "document.restore", all_touched)
            return all_touched

    def purge(self, ids: Sequence[uuid.UUID]) -> PurgeReceipt:
        """Remove documents in the trash, with chunks and postings, for good, and note that their files are to go.

        Their versions go as with `trash`, and their parts in the trash. What is gone is counted when it is.
        """
        with self._database.transaction(long=True) as connection:
            bound = self._database.bind({"ids": [*ids]})
            gone = [*connection.execute(self._queries["purge"], bound).fetchall()]
            gone += self._parts.purge(connection, [row["id"] for row in gone])
            for row in gone:
                subject = audit_log.Subject("document", str(row["id"]), row["name"])
                audit_log.note(self._database, connection, "document.purge", subject)
        left = pending_deletions.count(self._database, gone)
        counts = {name: sum(row[name] for row in gone) - left[name] for name in left}
        return PurgeReceipt(document_ids=tuple(row["id"] for row in gone), **counts)

    def _changed(self, connection: Connection, query: str, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Any]:
        """Those that a statement touched, and since when they were in the trash before."""
        rows = connection.execute(self._queries[query], self._database.bind({"ids": [*ids]})).fetchall()
        return {row["id"]: row.get("was_deleted_at") for row in rows}

    def claim(self, document_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Whether this process is now the only one at work on a document; the claim ends with the block."""
        return work_locks.claim(self._database, document_id)


def listed(index_id: uuid.UUID, asked: DocumentQuery) -> dict[str, object]:
    """The parameters that say what a list of documents has."""
    return {
        **scopes.parameters(Scope(index_id=index_id, filters=asked.filters)),
        "search": asked.search or None,
        "status": asked.status and asked.status.value,
        "disabled": asked.disabled,
        "in_trash": asked.in_trash,
    }


def unfinished(database: Database) -> Sequence[tuple[str, uuid.UUID]]:
    """User and id of every document that waits to be read, oldest first: for the restart of a worker."""
    return [(row["user_id"], row["id"]) for row in database.all(named_queries.load("documents")["unfinished"], {})]


def to_document(row: Mapping[str, Any]) -> Document:
    """A row of `documents`."""
    return Document(
        id=row["id"],
        user_id=row["user_id"],
        index_id=row["index_id"],
        name=row["name"],
        mime_type=row["mime_type"],
        sha256=row["sha256"],
        size=row["size"],
        source=row["source"],
        shown_source=row["shown_source"],
        title=row["given_title"] or row["title"],
        author=row["given_author"] or row["author"],
        dated=row["given_date"] or row["dated"],
        tags=tuple(row["tags"]),
        disabled=row["disabled"],
        status=DocumentStatus(row["status"]),
        progress=_progress(row),
        error=row["error"],
        error_code=row["error_code"],
        retry_after=_retry_after(row),
        page_count=row["page_count"],
        failed_pages=tuple(row["failed_pages"]),
        line_count=row["line_count"],
        chunk_count=row["chunk_count"],
        vector_count=row["vector_count"],
        searchable=_is_searchable(row),
        pictures_waiting=row["pictures_waiting"],
        note=row["note"],
        completeness=row["completeness"] and Completeness.model_validate(row["completeness"]),
        container_id=row["container_id"],
        parts=tuple(Part.model_validate(part) for part in row.get("parts", ())),
        lineage_id=row["lineage_id"],
        version=row["version"],
        superseded_by=row["superseded_by"],
        language=row["language"],
        pages=tuple(PageInfo.model_validate(page) for page in row.get("pages", ())),
        created_at=row["created_at"],
        indexed_at=row["indexed_at"],
        deleted_at=row["deleted_at"],
    )


def _retry_after(row: Mapping[str, Any]) -> dt.datetime | None:
    """Of what is to be tried again, which says why; what is being read has it for the case that its worker ends."""
    is_postponed = row["status"] in UNFINISHED and row["error_code"] is not None
    return row.get("retry_after") if is_postponed else None


def _is_searchable(row: Mapping[str, Any]) -> bool:
    """As the function `documents_in_scope` has it."""
    hidden = row["disabled"] or row["superseded_by"] is not None or row["deleted_at"] is not None
    return row["chunk_count"] > 0 and not hidden


def _progress(row: Mapping[str, Any]) -> Progress:
    """How far the stage is, and how long it will take if it goes on as since it began."""
    done, total, started_at = row["progress_done"], row["progress_total"], row["stage_started_at"]
    if row["status"] not in UNFINISHED or started_at is None:
        return Progress(done=done, total=total)
    elapsed = (dt.datetime.now(dt.UTC) - started_at).total_seconds()
    seconds = seconds_left(done, total, since=row["stage_started_with"], elapsed=elapsed)
    return Progress(done=done, total=total, seconds_left=seconds)


def unknown(document_id: uuid.UUID) -> errors.NotFoundError:
    """What is raised of an id that no document of the user has."""
    return errors.NotFoundError(f"There is no document {document_id}. List the documents and check the id.")


def _duplicate(name: str, present: Mapping[str, Any]) -> errors.DuplicateError:
    where = "in the index already"
    if present["in_trash"]:
        where = "in the trash; restore it"
    elif present["is_older"]:
        where = f"in the index already: in version {present['version']}, which a later one replaced; go back to it"
    details = {"document_id": present["id"], "name": present["name"], "in_trash": present["in_trash"]}
    if present["is_older"]:
        details["version"] = present["version"]
    return errors.DuplicateError(f"The content of {name} is {where}, as {present['name']}.", details=details)
