"""Files from mails, archives and PDFs, which become documents of their own."""

import builtins
import contextlib
import logging
import time
import uuid
from collections.abc import Iterator, Sequence

from rag import errors, types
from rag.engine.library.files import Originals, sha256_of
from rag.engine.workspace import Workspace
from rag.messages import N_

logger = logging.getLogger(__name__)

DELETED_REASON = N_("it was deleted for good")
LOCK_RETRY_SECONDS = 0.1


class Attachments:
    """One user's documents that came from mails, archives and PDFs."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._originals = Originals(workspace)

    def of(self, *container_ids: uuid.UUID) -> builtins.list[types.Document]:
        """Return the attachments of containers, recursively, including those in the trash."""
        if not container_ids:
            return []
        parts = self._workspace.store.attachments.of(*container_ids)
        return [*parts, *self.of(*(part.id for part in parts))]

    def unread(self, container_id: uuid.UUID) -> builtins.list[types.Document]:
        """Return the direct attachments of a container that wait to be read."""
        return [part for part in self._workspace.store.attachments.of(container_id) if part.status in types.UNFINISHED]

    def keep(self, container: types.Document, unpacked: Sequence[types.UnpackedPart]) -> None:
        """Add the files from `container` as documents, each once however often this is read, and queue them.

        Files that are in the index already, or were deleted, are not added again. The container records what became of
        each.
        """
        if not unpacked and not container.parts:
            return
        earlier = {part.document_id for part in container.parts}
        added: builtins.list[uuid.UUID] = []
        with self._container_lock(container.id):
            room = _RemainingLimits(
                self._workspace.config.rag_parsing, self._workspace.store.attachments.unpacked(container.id)
            )
            parts = [self._add(container, part, earlier, room, added) for part in unpacked]
        self._workspace.store.attachments.set_parts(container.id, parts)
        self._workspace.store.attachments.match_trash_state(container.id, added)
        for document_id in added:
            self._workspace.enqueue(document_id)
        logger.info("document %s: %d of %d parts are new", container.id, len(added), len(parts))

    @contextlib.contextmanager
    def _container_lock(self, container_id: uuid.UUID) -> Iterator[None]:
        """Lock the outermost container: its parts share its limits, though several are read at once."""
        shared = uuid.uuid5(self._workspace.store.attachments.outermost(container_id), "parts")
        while True:
            with self._workspace.store.documents.lock(shared) as claimed:
                if claimed:
                    yield
                    return
            time.sleep(LOCK_RETRY_SECONDS)

    def _add(
        self,
        container: types.Document,
        part: types.UnpackedPart,
        earlier: set[uuid.UUID | None],
        room: "_RemainingLimits",
        added: builtins.list[uuid.UUID],
    ) -> types.Part:
        """Return what became of a part; a new document is appended to `added`."""
        outcome = types.Part(name=part.name, size=part.size, reason=part.reason)
        if part.file is None:
            return outcome
        sha256 = sha256_of(part.file)
        # Deterministic, so that reading the container again, also concurrently, finds the document.
        document_id = uuid.uuid5(container.id, f"{part.name}\n{sha256}")
        with contextlib.suppress(errors.NotFoundError):
            self._workspace.store.documents.get(document_id)
            return outcome.model_copy(update={"document_id": document_id})
        if reason := DELETED_REASON if document_id in earlier else room.refuse(part.size):
            return outcome.model_copy(update={"reason": reason})
        try:
            document = self._originals.keep(
                part.file,
                part.name,
                self._workspace.store.indexes.get_by_id(container.index_id),
                # Unique in each version of a mail, so that it is not lost with an older one.
                source=f"{container.source}::{container.id}/{part.name}" if container.source else None,
                source_path=part.name,
                sha256=sha256,
                document_id=document_id,
                container=container,
            )
        except errors.DuplicateError as error:
            name = error.details["name"]
            if error.details["in_trash"]:
                reason = N_("its content is in the trash, as {present}").format(present=name)
                return outcome.model_copy(update={"reason": reason})
            reason = N_("its content was in the index already, as {present}").format(present=name)
            return outcome.model_copy(update={"document_id": error.details["document_id"], "reason": reason})
        except (errors.SourceError, errors.ValidationError) as error:
            return outcome.model_copy(update={"reason": error.message})
        if document.status in types.UNFINISHED:
            added.append(document_id)
        return outcome.model_copy(update={"document_id": document_id})


class _RemainingLimits:
    """The remaining limits of a container, including what other processes took out of it."""

    def __init__(self, limits: types.ParsingConfig, unpacked: types.Unpacked) -> None:
        self._limits = limits
        self._files = unpacked.files
        self._bytes = unpacked.size

    def refuse(self, size: int) -> str | None:
        """Count a file of this size; returns the reason if it exceeds a limit."""
        if self._files >= self._limits.max_parts:
            return N_("more than {limit} files").format(limit=f"{self._limits.max_parts:,}")
        if self._bytes + size > self._limits.max_parts_mb * 1024 * 1024:
            return N_("more than {limit} MB unpacked").format(limit=f"{self._limits.max_parts_mb:,}")
        self._files += 1
        self._bytes += size
        return None
