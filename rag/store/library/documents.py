"""Rows of documents, with their attachments, sources, versions and annotations."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.files import pending_deletions
from rag.store.jobs import scheduling
from rag.store.jobs.scheduling import RETRY_DELAYS
from rag.store.library.indexes import to_index, unknown_index
from rag.store.search import search_terms
from rag.store.server.database import Connection, Queries, Row, UserDatabase
from rag.store.users import audit_log
from rag.store.users.accounts import OwnAccount

EVERY_DOCUMENT = types.DocumentQuery()
UNREAD_PICTURES = "The words in its pictures could not be read. Read it again to try once more."
VERSION_DELETED = N_("The version that this was read from has been deleted. Fill it again.")


class Documents:
    """A user's rows of the table `documents`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "documents")
        self._attachments = Queries(database, "attachments")
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
        with self._database.transaction() as connection:
            quota = self._account.lock_quota(connection, quota_bytes)
            bound = self._database.bind({**values, "quota_bytes": quota})
            if drafted:
                pending_deletions.lock(connection, {**bound, "document_id": document_id})
            lineage = connection.execute(self._queries["lineage"], bound).fetchone() if replaced else None
            if lineage:
                connection.execute(self._queries["lock_lineage"], {**bound, **lineage})
            elif replaced:
                raise errors.ConflictError(
                    N_(
                        "The document cannot get a new version here: it is in the trash or another index, follows a "
                        "file of a folder (change that file), or is a mail, an archive or a part of one."
                    )
                )
            place = self._place(connection, bound)
            added = place and connection.execute(self._queries["add"], {**bound, **place}).fetchone()
            if added:
                if drafted:
                    pending_deletions.adopt_files(connection, bound)
                if upload_key and not connection.execute(self._queries["claim_key"], bound).fetchall():
                    raise errors.DuplicateError(N_("Another file came under the same key at the same time."))
                audit_log.add_document_entries(self._database, connection, "document.upload", [added["id"]])
        if added:
            return to_document(added)
        present = self._queries.one("same_content", **values)
        if present is None:
            self._account.require_room(name, size, quota_bytes)
            raise errors.NotFoundError(
                N_("There is no index {id}, or {name} was in what is gone. List the indexes."), id=index_id, name=name
            )
        raise _duplicate(name, present)

    def _place(self, connection: Connection, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what a new document has from its container and from the versions before it; None if these are gone."""
        place = {
            "lineage_id": document["id"],
            "version": 1,
            "superseded_by": None,
            "deleted_at": None,
            "uploaded_by": None,
        }
        for given, statement in (("container_id", "container"), ("replaces", "next_version")):
            if document[given] is not None:
                row = connection.execute(self._queries[statement], document).fetchone()
                if row is None:
                    return None
                place |= row
        # The parts of what follows a source follow it
        return {**place, "follows_source": document["follows_source"] or place.get("follows_source", False)}

    def get(self, document_id: uuid.UUID) -> types.Document:
        """Return a document, in the trash or not. Raises NotFoundError, PurgedError if it was purged."""
        row = self._queries.one("get", document_id=document_id)
        if row is None:
            raise missing(self._database, document_id)
        return to_document(row)

    def list(
        self,
        index_id: uuid.UUID,
        query: types.DocumentQuery = EVERY_DOCUMENT,
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
        return [to_document(row) for row in self._queries.all("list", **list_parameters(index_id, query), **order)]

    def page_labels(self, pages: Iterable[tuple[uuid.UUID, int]]) -> dict[uuid.UUID, tuple[int, dict[int, str]]]:
        """Return the number of pages of documents and, for the given pages, printed labels that differ from numbers."""
        wanted = [*pages]
        rows = self._queries.all(
            "page_labels", document_ids=[key for key, _ in wanted], page_numbers=[number for _, number in wanted]
        )
        return {
            row["id"]: (row["page_count"], {int(number): label for number, label in (row["labels"] or {}).items()})
            for row in rows
        }

    def languages(self, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Return the languages of documents by id, without ids that do not exist."""
        return {row["id"]: row["language"] for row in self._queries.all("languages", ids=[*ids])}

    def update_progress(self, document_id: uuid.UUID, status: types.DocumentStatus, done: int, total: int) -> None:
        """Set the progress of a document that is being read. Raises CancelledError and NotFoundError."""
        values = {"status": status.value, "done": done, "total": total}
        if not self._queries.write("update_progress", document_id=document_id, **values):
            self.get(document_id)
            raise errors.CancelledError

    def fail(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a document as failed; its chunks stay searchable. Raises NotFoundError."""
        self._queries.change("fail", unknown(document_id), document_id=document_id, code=code, message=message)

    def requeue(self, document_id: uuid.UUID) -> types.Document:
        """Mark a document that is not in the trash to be read from its beginning. Raises NotFoundError."""
        return to_document(self._queries.change("requeue", unknown(document_id), document_id=document_id))

    def trash(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Move documents with all their versions and attachments to the trash, and return what was moved.

        An older version, or one that is still to be read, is moved alone.
        """
        with self._database.transaction() as connection:
            trashed = _ids(self._queries.run(connection, "trash", ids=[*ids]))
            trashed += _ids(self._attachments.run(connection, "trash", ids=trashed))
            audit_log.add_document_entries(self._database, connection, "document.trash", trashed)
            return trashed

    def restore(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Move documents out of the trash, with the versions and attachments that went with them; return all."""
        with self._database.transaction() as connection:
            back = self._queries.run(connection, "restore", ids=[*ids]).fetchall()
            times = {row["id"]: row["was_deleted_at"] for row in back if row["is_asked"]}
            with_containers = self._attachments.run(connection, "restore", ids=[*times], times=[*times.values()])
            restored = [*times, *_ids(with_containers)]
            take_over(self._database, connection, [*restored, *_ids(back)])
            audit_log.add_document_entries(self._database, connection, "document.restore", restored)
            return restored

    def purge(self, ids: Sequence[uuid.UUID]) -> types.PurgeReceipt:
        """Delete documents in the trash with their chunks and postings, and register their files for deletion.

        Versions are deleted as with `trash`, and attachments that are in the trash. Of a document of which a version
        stays, matrices keep what a person decided, without quotes. The receipt's counts are taken after the deletion.
        """
        with self._database.transaction(long=True) as connection:
            gone = self._queries.run(connection, "to_purge", ids=[*ids]).fetchall()
            gone += self._attachments.run(connection, "to_purge", ids=_ids(gone)).fetchall()
            present = pending_deletions.count(self._database, gone, connection)
            self._queries.run(connection, "skip_purged", ids=_ids(gone))
            matrices = Queries(self._database, "matrices")
            emptied = types.FoundField(state="failed", reason=VERSION_DELETED).model_dump(mode="json")
            emptied["filled_at"] = dt.datetime.now(dt.UTC).isoformat()
            matrices.run(connection, "keep_decisions", ids=_ids(gone), emptied=Jsonb(emptied))
            matrices.run(connection, "forget", ids=_ids(gone))
            pending_deletions.delete_documents(self._database, connection, gone)
            self._attachments.run(connection, "release", ids=_ids(gone))  # attachments that are not in the trash stay
            for row in gone:
                subject = audit_log.Subject("document", str(row["id"]), row["name"])
                audit_log.add_entry(self._database, connection, "document.purge", subject)
        left = pending_deletions.count(self._database, gone)
        counts = {name: present[name] - left[name] for name in left}
        return types.PurgeReceipt(document_ids=tuple(row["id"] for row in gone), **counts)

    # --- metadata ---

    def ids(self, index_id: uuid.UUID, query: types.DocumentQuery = EVERY_DOCUMENT) -> builtins.list[uuid.UUID]:
        """Return the ids of all documents that `list` would return, newest first."""
        return [row["id"] for row in self._queries.all("ids", **list_parameters(index_id, query))]

    def count(self, index_id: uuid.UUID, query: types.DocumentQuery = EVERY_DOCUMENT) -> int:
        """Return how many documents `list` would return."""
        return int(self._queries.value("count", **list_parameters(index_id, query)))

    def edit(self, document_id: uuid.UUID, edit: types.DocumentEdit) -> types.Document:
        """Change the fields that `edit` gives. Raises NotFoundError."""
        given = {name: getattr(edit, name) if name in edit.given else None for name in types.DocumentEdit.model_fields}
        sets = {f"sets_{name}": name in edit.given for name in ("title", "author", "dated", "subject")}
        given["subject"] = Jsonb(edit.subject.model_dump()) if edit.subject else None
        given["tags"] = None if given["tags"] is None else [*edit.tags]
        return to_document(self._queries.change("edit", unknown(document_id), document_id=document_id, **given, **sets))

    def tag(self, ids: Sequence[uuid.UUID], *, added: Sequence[str], removed: Sequence[str]) -> Sequence[uuid.UUID]:
        """Add tags to documents and remove others, and return the ids of the documents."""
        return _ids(self._queries.write("tag", ids=[*ids], added=[*added], removed=[*removed]))

    def tags(self, index_id: uuid.UUID) -> builtins.list[types.TagCount]:
        """Return the tags of an index in alphabetical order."""
        return [types.TagCount(**row) for row in self._queries.all("tags", index_id=index_id)]

    def subjects(self, scope: types.Scope) -> builtins.list[types.DocumentNames]:
        """Return what the searchable documents in scope are called and about, newest first."""
        return [
            types.DocumentNames(**row) for row in self._queries.all("subjects", **search_terms.scope_parameters(scope))
        ]

    def names(self, document_id: uuid.UUID) -> tuple[str, str | None]:
        """Return a document's name, and the title that the user gave it, if any. Raises NotFoundError."""
        row = self._queries.get("names", unknown(document_id), document_id=document_id)
        return row["name"], row["given_title"]

    def key_facts(self, document_id: uuid.UUID) -> types.KeyFacts | None:
        """Return the key facts kept with a document; None if there are none. Raises NotFoundError."""
        row = self._queries.get("key_facts", unknown(document_id), document_id=document_id)
        return types.KeyFacts.model_validate(row["key_facts"]) if row["key_facts"] else None

    def keep_key_facts(self, document_id: uuid.UUID, facts: types.KeyFacts, indexed_at: dt.datetime | None) -> bool:
        """Keep the key facts of the reading that ended at `indexed_at`; False if it was read again or is gone."""
        values = {"key_facts": Jsonb(facts.model_dump(mode="json")), "indexed_at": indexed_at}
        return bool(self._queries.write("keep_key_facts", document_id=document_id, **values))

    # --- reading ---

    def lock(self, document_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock a document for the block, and give whether this process has the lock."""
        return scheduling.lock(self._database, document_id)

    def cancel(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Cancel the reading of documents; what was indexed stays. Returns those that were being read or waited."""
        cancelled = errors.CancelledError()
        with self._database.transaction() as connection:
            rows = self._queries.run(connection, "cancel", ids=[*ids], code=cancelled.code, message=cancelled.message)
            stopped = _ids(rows)
            take_over(self._database, connection, stopped)  # those that are ready as they were before
            return stopped

    def lane(self, document_id: uuid.UUID) -> types.Lane | None:
        """Return what is to be done next with a document; None if it is not being read or does not exist."""
        lane = self._queries.value("lane", document_id=document_id)
        return types.Lane(lane) if lane else None

    def resume(self, document_id: uuid.UUID) -> types.Document:
        """Mark a document to be read from where that stopped, or again if it was ready.

        A document that is being read or queued stays as it is. Raises NotFoundError if it is in the trash or gone.
        """
        resumed = self._queries.write("resume", document_id=document_id)
        rows = resumed or self._queries.all("present", document_id=document_id)
        if not rows:
            raise unknown(document_id)
        return to_document(rows[0])

    def give_up_pictures(self, document_id: uuid.UUID) -> None:
        """Mark the pictures of a document as unreadable, with a note about it, so that they are not tried again."""
        self._queries.write("give_up_pictures", document_id=document_id, note=UNREAD_PICTURES)

    def postpone(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Queue a document for a retry, and note the reason."""
        self._queries.write("postpone", document_id=document_id, code=code, message=message, pauses=RETRY_DELAYS)

    def set_trace(self, document_id: uuid.UUID, traceparent: str) -> None:
        """Save the tracing span to which work on a document belongs."""
        self._queries.write("set_trace", document_id=document_id, traceparent=traceparent)

    def trace(self, document_id: uuid.UUID) -> str | None:
        """Return the tracing span to which work on a document belongs, if any."""
        traceparent: str | None = self._queries.value("trace", document_id=document_id)
        return traceparent

    def enqueue(self, document_id: uuid.UUID) -> types.Document:
        """Let workers take a document now, even before its retry is due. Raises NotFoundError."""
        return to_document(self._queries.change("enqueue", unknown(document_id), document_id=document_id))

    # --- moving between indexes ---

    def move(self, ids: Sequence[uuid.UUID], index_id: uuid.UUID) -> Sequence[uuid.UUID]:
        """Move documents with their versions and attachments, all or none; return those of `ids` that moved.

        Raises NotFoundError and ConflictError.
        """
        with self._database.transaction(long=True) as connection:
            rows = [row for row in self._queries.run(connection, "going", ids=[*ids]) if row["index_id"] != index_id]
            self._require_compatible(connection, {row["index_id"] for row in rows}, index_id)
            for row in rows:
                if row["is_part"]:
                    raise errors.ConflictError(
                        N_("“{name}” is part of a mail or an archive. Move that."), name=row["name"]
                    )
                if row["follows_source"]:
                    raise errors.ConflictError(
                        N_("“{name}” follows a file of a folder, which would bring it back."), name=row["name"]
                    )
                if types.DocumentStatus(row["status"]) in types.UNFINISHED:
                    raise errors.ConflictError(
                        N_("“{name}” is being read. Move it when that is done."), name=row["name"]
                    )
            hashes = [row["sha256"] for row in rows]
            twin = self._queries.run(connection, "twins", index_id=index_id, hashes=hashes).fetchone()
            if twin:
                raise errors.ConflictError(
                    N_("The collection has the content of “{name}” already, there or in its trash. Leave it out."),
                    name=twin["name"],
                )
            moved = [row["id"] for row in rows]
            self._queries.run(connection, "move", ids=moved, index_id=index_id)
            audit_log.add_document_entries(self._database, connection, "document.move", moved)
        return [document_id for document_id in ids if document_id in moved]

    def _require_compatible(self, connection: Connection, sources: set[uuid.UUID], target_id: uuid.UUID) -> None:
        rows = self._queries.run(connection, "indexes", index_ids=[*sources, target_id])
        indexes = {index.id: index for index in map(to_index, rows)}
        if target_id not in indexes:
            raise unknown_index(target_id)
        target = indexes[target_id]
        for source in (indexes[source_id] for source_id in sources):
            if (source.space, source.chunking) != (target.space, target.chunking):
                raise errors.ConflictError(
                    N_(
                        "“{target}” is searched by another model or in other chunks than “{source}”. Upload the files "
                        "there."
                    ),
                    target=target.name,
                    source=source.name,
                )


def _ids(rows: Iterable[Row]) -> list[uuid.UUID]:
    return [row["id"] for row in rows]


def take_over(database: UserDatabase, connection: Connection, ids: Sequence[uuid.UUID]) -> None:
    """Let versions that became ready, or came back from the trash, replace the current ones of their documents.

    A version that a later one has replaced does not. To be called in the transaction of the change.
    """
    Queries(database, "documents").run(connection, "take_over", ids=[*ids])


def list_parameters(index_id: uuid.UUID, query: types.DocumentQuery) -> dict[str, object]:
    """Return the parameters of the queries that list, or count, documents."""
    return {
        **search_terms.scope_parameters(types.Scope(index_id=index_id, filters=query.filters)),
        "search": query.search or None,
        "status": query.status and query.status.value,
        "disabled": query.disabled,
        "in_trash": query.in_trash,
    }


def to_document(row: Mapping[str, Any]) -> types.Document:
    """Make a document of a row of `documents`."""
    is_postponed = row["status"] in types.UNFINISHED and row["error_code"] is not None
    is_hidden = row["disabled"] or row["superseded_by"] is not None or row["deleted_at"] is not None
    values = {name: row[name] for name in types.Document.model_fields if name in row}
    values |= {
        "title": row["given_title"] or row["title"],
        "author": row["given_author"] or row["author"],
        "dated": row["given_date"] or row["dated"],
        "subject": row.get("given_subject") or row.get("subject") or types.Subject(),
        "progress": _progress(row),
        # One that is being read has a retry time too, in case its worker dies.
        "retry_after": row.get("retry_after") if is_postponed else None,
        # `documents_in_scope` in scope.sql decides the same.
        "searchable": row["chunk_count"] > 0 and not is_hidden,
    }
    return types.Document(**values)


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
    purged_at: dt.datetime | None = Queries(database, "audit").value("purged_at", document_id=str(document_id))
    if purged_at is None:
        return unknown(document_id)
    return errors.PurgedError(
        N_("The document {id} was permanently deleted on {time} UTC. List the documents and check the id."),
        id=document_id,
        time=f"{purged_at:%Y-%m-%d %H:%M}",
        details={"document_id": str(document_id), "purged_at": purged_at.isoformat()},
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


class Attachments:
    """The columns of a user's `documents` that relate attachments and containers."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "attachments")

    def set_parts(self, document_id: uuid.UUID, parts: Sequence[types.Part]) -> None:
        """Save what became of the files in a container. Raises NotFoundError."""
        values = Jsonb([part.model_dump(mode="json") for part in parts])
        self._queries.change("set_parts", unknown(document_id), document_id=document_id, parts=values)

    def of(self, *container_ids: uuid.UUID) -> builtins.list[types.Document]:
        """Return the attachments of containers in their order, in the trash or not, without their `pages`."""
        return [to_document(row) for row in self._queries.all("of", ids=[*container_ids])]

    def outermost(self, document_id: uuid.UUID) -> uuid.UUID:
        """Return the outermost container around a document; the document itself if it is in none."""
        containers = self._queries.all("containers", document_id=document_id)
        return uuid.UUID(str(containers[-1]["id"])) if containers else document_id

    def unpacked(self, document_id: uuid.UUID) -> types.Unpacked:
        """Return how deep a document is nested, and what else was unpacked from its outermost container."""
        containers = _ids(self._queries.all("containers", document_id=document_id))
        if not containers:
            return types.Unpacked()
        inside = self._queries.one("unpacked", document_id=document_id, container_id=containers[-1])
        return types.Unpacked(depth=len(containers), **(inside or {}))

    def match_trash_state(self, container_id: uuid.UUID, added: Sequence[uuid.UUID]) -> None:
        """Move new attachments to the trash if their container is there, else out of it."""
        with self._database.transaction() as connection:
            rows = self._queries.run(connection, "match_trash_state", container_id=container_id, ids=[*added])
            take_over(self._database, connection, _ids(rows))


class Sources:
    """The columns of a user's `documents` that say where they came from."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "sources")
        self._attachments = Queries(database, "attachments")

    def find(
        self, index_id: uuid.UUID, *, sources: Sequence[str] = (), prefix: str | None = None
    ) -> list[types.Document]:
        """Return documents whose source is in `sources` or starts with `prefix`, oldest first, trash included."""
        rows = self._queries.all("find", index_id=index_id, sources=[*sources], prefix=prefix)
        return [to_document(row) for row in rows]

    def show(self, sources: Mapping[uuid.UUID, str]) -> None:
        """Set the sources that answers show for documents."""
        self._queries.write("show", ids=[*sources], sources=[*sources.values()])

    def named(self, index_id: uuid.UUID, references: Sequence[str]) -> dict[str, list[uuid.UUID]]:
        """Return the documents of each reference: an id, a source, or the SHA-256 (hex) of one of these.

        References to no document, or only to documents in the trash, are left out.
        """
        documents: dict[str, list[uuid.UUID]] = {}
        for row in self._queries.all("named", index_id=index_id, references=[*references]):
            documents.setdefault(row["reference"], []).append(row["id"])
        return documents

    def resolve(self, index_id: uuid.UUID, sources: Sequence[str]) -> dict[str, set[uuid.UUID]]:
        """Return the documents of each source, which is given as in a filter, or by name or id."""
        documents: dict[str, set[uuid.UUID]] = {}
        for row in self._queries.all("resolve", index_id=index_id, sources=[*sources]):
            documents.setdefault(row["source"], set()).add(row["id"])
        return documents

    def supersede(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Take a document with its attachments out of the trash, move `older` ones there, and transfer their chats.

        Raises NotFoundError.
        """
        with self._database.transaction() as connection:
            shown = self._queries.run(connection, "supersede", document_id=document_id, older=[*older]).fetchone()
            if shown is None:
                raise unknown(document_id)
            times = [shown["was_deleted_at"]]
            attachments = self._attachments.run(connection, "restore", ids=[document_id], times=times)
            restored = [document_id, *_ids(attachments)]
            take_over(self._database, connection, restored)
            trashed = [*shown["hidden"], *_ids(self._attachments.run(connection, "trash", ids=shown["hidden"]))]
            if shown["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", restored)
            audit_log.add_document_entries(self._database, connection, "document.trash", trashed)

    def find_by_upload_key(self, key: str) -> types.Document | None:
        """Return the document that was uploaded under a key, if it still exists."""
        row = self._queries.one("find_by_upload_key", key=key)
        return to_document(row) if row else None

    def set_upload_key(self, document_id: uuid.UUID, key: str) -> None:
        """Save the key under which a document was uploaded. Raises NotFoundError."""
        self._queries.change("set_upload_key", unknown(document_id), document_id=document_id, key=key)


class Versions:
    """The columns of a user's `documents` that relate versions."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "versions")

    def list(self, ids: Sequence[uuid.UUID], *, in_trash: bool = True) -> list[types.Document]:
        """Return all versions of the documents that have `ids` among their versions, the latest first."""
        return [to_document(row) for row in self._queries.all("list", ids=[*ids], in_trash=in_trash)]

    def of_same_name(self, index_id: uuid.UUID, name: str, sha256: str) -> types.Document | None:
        """Return the document that a file of this name and of new content may be a new version of."""
        row = self._queries.one(
            "of_same_name", index_id=index_id, name=name, sha256=sha256, containers=[*types.CONTAINERS]
        )
        return to_document(row) if row else None

    def take_over(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Make a document the current version in place of `older` ones, out of the trash, and transfer their chats.

        Mails and archives have attachments but no versions: see `Sources.supersede`. Raises NotFoundError.
        """
        with self._database.transaction() as connection:
            taker = self._queries.run(connection, "taker", document_id=document_id).fetchone()
            if taker is None:
                raise unknown(document_id)
            self._queries.run(connection, "supersede", document_id=document_id, older=[*older])
            if taker["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", [document_id])

    def make_current(self, document_id: uuid.UUID) -> bool:
        """Make an older version the current one; False if it is none, is not ready, or is in the trash."""
        with self._database.transaction() as connection:
            replaced = _ids(self._queries.run(connection, "replaced", document_id=document_id))
            if replaced:
                self._queries.run(connection, "supersede", document_id=document_id, older=replaced)
            return bool(replaced)


MAX_ANNOTATIONS = 5000
"""Maximum of one user in one document."""


class Annotations:
    """A user's rows of the table `annotations`, in `documents` that the user may see."""

    def __init__(self, database: UserDatabase, documents: Documents) -> None:
        self._documents = documents
        self._queries = Queries(database, "annotations")

    def list(self, document_id: uuid.UUID) -> builtins.list[types.Annotation]:
        """Return a document's annotations in page order. Raises NotFoundError if the user may not see the document."""
        self._documents.get(document_id)
        return [types.Annotation(**row) for row in self._queries.all("list", document_id=document_id)]

    def add(self, document_id: uuid.UUID, regions: Sequence[types.Region], quote: str, note: str) -> types.Annotation:
        """Add an annotation.

        Raises:
            errors.NotFoundError: the user may not see such a document.
            errors.ValidationError: the document has `MAX_ANNOTATIONS` already.
        """
        document = self._documents.get(document_id)
        added = self._queries.write(
            "add",
            id=uuid.uuid4(),
            owner=document.user_id,
            document_id=document_id,
            regions=Jsonb([region.model_dump(mode="json") for region in regions]),
            quote=quote,
            note=note,
            most=MAX_ANNOTATIONS,
        )
        if not added:
            raise errors.ValidationError(
                N_("{name} has {count} notes and highlights, which is the most. Delete some."),
                name=document.name,
                count=f"{MAX_ANNOTATIONS:,}",
            )
        annotation = types.Annotation(**added[0])
        try:
            self._documents.get(document_id)
        except errors.NotFoundError:  # purged meanwhile, with the annotations that were there
            self._queries.write("delete", document_id=document_id, id=annotation.id)
            raise
        return annotation

    def edit(self, document_id: uuid.UUID, annotation_id: uuid.UUID, note: str) -> types.Annotation:
        """Change the note of an annotation. Raises NotFoundError."""
        return types.Annotation(**self._change("edit", document_id, annotation_id, note=note))

    def delete(self, document_id: uuid.UUID, annotation_id: uuid.UUID) -> None:
        """Delete an annotation. Raises NotFoundError."""
        self._change("delete", document_id, annotation_id)

    def _change(self, query: str, document_id: uuid.UUID, annotation_id: uuid.UUID, **values: str) -> Mapping[str, Any]:
        self._documents.get(document_id)
        return self._queries.change(
            query,
            errors.NotFoundError(N_("There is no note {id} in this document. List its notes."), id=annotation_id),
            document_id=document_id,
            id=annotation_id,
            **values,
        )
