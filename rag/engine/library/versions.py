"""Versions of documents: list and compare them, and follow quotes into later versions."""

import builtins
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rag import errors, types
from rag.engine.library.file_names import display_name
from rag.engine.library.originals import sha256_of
from rag.engine.library.version_diff import Paragraph, QuoteFinder, diff_paragraphs, paragraphs_of
from rag.engine.workspace import Workspace
from rag.messages import N_


class Versions:
    """The versions of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, document_id: uuid.UUID) -> list[types.Document]:
        """Return all versions of a document, latest first; those in the trash only if it is. Raises NotFoundError."""
        found = self._workspace.store.versions.list([document_id])
        asked = next((one for one in found if one.id == document_id), None)
        if asked is None:
            raise errors.NotFoundError(
                N_("There is no document {id}. List the documents and check the id."), id=document_id
            )
        return [one for one in found if one.deleted_at is None or asked.deleted_at is not None]

    def of_same_name(self, path: Path, name: str, index_name: str = types.DEFAULT_INDEX) -> types.Document | None:
        """Return the document that a file may be a new version of: it has the same name but other content.

        Documents that follow a folder do not count. Raises NotFoundError if there is no such index.
        """
        index = self._workspace.ensure_index(index_name)
        return self._workspace.store.versions.of_same_name(index.id, display_name(name), sha256_of(path))

    def make_current(self, document_id: uuid.UUID) -> types.Document:
        """Make an older version the current one.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: it is current already, was never read, or is in the trash.
        """
        document = self._workspace.store.documents.get(document_id)
        if not self._workspace.store.versions.make_current(document_id):
            raise errors.ConflictError(
                N_("{name} is no older version that was read and is not in the trash. List its versions."),
                name=document.name,
            )
        return self._workspace.store.documents.get(document_id)

    def before(self, document_id: uuid.UUID) -> types.Document:
        """Return the preceding version.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: it is the first version.
        """
        versions = self.list(document_id)
        place = next(place for place, one in enumerate(versions) if one.id == document_id)
        if place + 1 == len(versions):
            raise errors.ConflictError(
                N_("{name} has no earlier version. Name what to compare it with."), name=versions[place].name
            )
        return versions[place + 1]

    def diff(self, old_id: uuid.UUID, new_id: uuid.UUID) -> types.VersionDiff:
        """Compare two documents by paragraph; they need not be versions of one document.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: one has no text yet, or is in the trash.
        """
        old, new = (self._workspace.store.documents.get(one) for one in (old_id, new_id))
        changes, unchanged = diff_paragraphs(self._paragraphs(old), self._paragraphs(new))
        return types.VersionDiff(
            old_id=old.id,
            new_id=new.id,
            old_version=old.version,
            new_version=new.version,
            changes=tuple(changes),
            unchanged=unchanged,
        )

    def _paragraphs(self, document: types.Document) -> Sequence[Paragraph]:
        if document.deleted_at is not None or document.indexed_at is None:
            state = (
                N_("in the trash; restore it") if document.deleted_at else N_("not read yet; wait until it is ready")
            )
            raise errors.ConflictError(
                N_("{name} (version {version}) is {_state}."),
                name=document.name,
                version=document.version,
                _state=state,
            )
        return paragraphs_of(self._workspace.store.chunks.of_document(document.id))

    def later_places(self, responses: Sequence[types.AnswerResponse]) -> builtins.list[Mapping[int, types.LaterPlace]]:
        """Return where quotes from older versions are in the current ones, by citation number.

        Leaves out quotes from current documents, and from documents that are gone or in the trash.
        """
        latest = self.latest({hit.passage.document_id for response in responses for hit in response.contexts})
        texts = {
            new.id: QuoteFinder(self._paragraphs(new)) for new in {new.id: new for _, new in latest.values()}.values()
        }
        return [
            {
                number: _later_place(citation, hit, texts, *latest[hit.passage.document_id])
                for number, (citation, hit) in enumerate(response.cited)
                if hit.passage.document_id in latest
            }
            for response in responses
        ]

    def latest(self, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[types.Document, types.Document]]:
        """Map each older version among `ids` to itself and the current version."""
        versions = self._workspace.store.versions.list([*ids], in_trash=False) if ids else []
        present = {one.lineage_id: one for one in versions if one.superseded_by is None and one.indexed_at is not None}
        return {
            one.id: (one, present[one.lineage_id])
            for one in versions
            if one.id in ids and one.superseded_by is not None and one.lineage_id in present
        }


def _later_place(
    citation: types.Citation,
    hit: types.Hit,
    texts: Mapping[uuid.UUID, QuoteFinder],
    old: types.Document,
    new: types.Document,
) -> types.LaterPlace:
    found = texts[new.id].find(citation.quote or hit.chunk.text, citation.lines_in(hit)[0].page_number)
    return types.LaterPlace(
        document_id=new.id,
        version=old.version,
        latest_version=new.version,
        change=found.change,
        page_number=found.lines[0].page_number if found.lines else None,
        text=" ".join(line.text for line in found.lines) or None,
        regions=found.regions,
    )
