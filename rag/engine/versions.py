"""Versions of a user's documents: which there are, what differs, and what became of what an answer quotes."""

import uuid
from collections.abc import Mapping, Sequence

from rag import errors
from rag.engine.comparing import Paragraph, Text, differences, paragraphs_of
from rag.engine.workspace import Workspace
from rag.types import AnswerResponse, Document, LaterPlace, VersionDiff


class Versions:
    """One user's documents with their versions."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, document_id: uuid.UUID) -> list[Document]:
        """All versions of the document that this is one of, the latest first; those in the trash only if this one is.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        found = self._workspace.store.documents.versions([document_id])
        asked = next((one for one in found if one.id == document_id), None)
        if asked is None:
            raise errors.NotFoundError(f"There is no document {document_id}. List the documents and check the id.")
        return [one for one in found if one.deleted_at is None or asked.deleted_at is not None]

    def make_current(self, document_id: uuid.UUID) -> Document:
        """Go back to an older version: it is searched from now on, as the latest one.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: it is searched already, was never read, or is in the trash.
        """
        document = self._workspace.store.documents.get(document_id)
        if not self._workspace.store.documents.make_current(document_id):
            raise errors.ConflictError(
                f"{document.name} is no older version that was read and is not in the trash. List its versions."
            )
        return self._workspace.store.documents.get(document_id)

    def diff(self, old_id: uuid.UUID, new_id: uuid.UUID) -> VersionDiff:
        """What differs between two documents, which need not be versions of one, paragraph by paragraph.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: one of them has no text yet, or is in the trash.
        """
        old, new = (self._workspace.store.documents.get(one) for one in (old_id, new_id))
        changes, unchanged = differences(self._paragraphs(old), self._paragraphs(new))
        return VersionDiff(
            old_id=old.id,
            new_id=new.id,
            old_version=old.version,
            new_version=new.version,
            changes=tuple(changes),
            unchanged=unchanged,
        )

    def _paragraphs(self, document: Document) -> Sequence[Paragraph]:
        if document.deleted_at is not None or document.indexed_at is None:
            state = "in the trash; restore it" if document.deleted_at else "not read yet; wait until it is ready"
            raise errors.ConflictError(f"{document.name} (version {document.version}) is {state}.")
        return paragraphs_of(self._workspace.store.chunks.of_document(document.id))

    def later_places(self, response: AnswerResponse) -> Mapping[int, LaterPlace]:
        """What became of what an answer quotes from older versions in those that are searched now, by citation number.

        Nothing of citations of what is searched still, and of documents that are gone or in the trash.
        """
        cited = {hit.passage.document_id for hit in response.contexts}
        latest = self._latest(cited)
        texts: dict[uuid.UUID, Text] = {}
        places: dict[int, LaterPlace] = {}
        for number, (citation, hit) in enumerate(response.cited):
            if hit.passage.document_id not in latest:
                continue
            old, new = latest[hit.passage.document_id]
            text = texts.get(new.id) or texts.setdefault(new.id, Text(self._paragraphs(new)))
            lines = citation.lines_in(hit)
            found = text.find(citation.quote or hit.chunk.text, lines[0].page_number)
            places[number] = LaterPlace(
                document_id=new.id,
                version=old.version,
                latest_version=new.version,
                change=found.change,
                page_number=found.lines[0].page_number if found.lines else None,
                text=" ".join(line.text for line in found.lines) or None,
                regions=found.regions,
            )
        return places

    def _latest(self, ids: set[uuid.UUID]) -> dict[uuid.UUID, tuple[Document, Document]]:
        """Those of `ids` that are older versions, each with the version that is searched."""
        versions = self._workspace.store.documents.versions([*ids], in_trash=False) if ids else []
        present = {one.lineage_id: one for one in versions if one.superseded_by is None and one.indexed_at is not None}
        return {
            one.id: (one, present[one.lineage_id])
            for one in versions
            if one.id in ids and one.superseded_by is not None and one.lineage_id in present
        }
