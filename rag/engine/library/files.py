"""The files of documents: originals, renditions, downloads and attachments."""

import tempfile
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from rag import errors, types
from rag.engine.library.attachments import Attachments
from rag.engine.library.documents import Documents
from rag.engine.library.file_names import unique_names
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.providers import WebDownloader
from rag.store.users.audit_log import Subject


class Files:
    """The files of one user's documents."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def original(self, document_id: uuid.UUID) -> Path:
        """Return the path of the uploaded file."""
        return self._workspace.files.local_path(document_id, "original")

    def taken(self, document_id: uuid.UUID) -> bytes:
        """Return the uploaded file for download, which is recorded in the audit log. Raises as `archive`."""
        content = self.original(document_id).read_bytes()
        self._note([self._workspace.store.documents.get(document_id)])
        return content

    def rendition(self, document_id: uuid.UUID) -> Path:
        """Return the path of the PDF that is parsed, shown and highlighted."""
        return self._workspace.files.local_path(document_id, "rendition")

    def fetch(
        self,
        address: str,
        *,
        index_name: str = types.DEFAULT_INDEX,
        on_same_name: types.OnSameName = "keep",
        web: WebDownloader | None = None,
    ) -> types.Document:
        """Download a file from a public URL and add it as a document. `web` fetches it.

        Raises as `documents.add`, and:
            errors.ValidationError: it is no http or https URL.
            errors.ForbiddenError: its host is not public, or RAG_WEB_ADDRESSES is off.
            errors.LimitError: the file is too large, or takes too long.
            errors.SourceError: it cannot be fetched.
        """
        if not self._workspace.config.rag_web_addresses:
            raise errors.ForbiddenError(
                N_(
                    "Files are not fetched from the web here: RAG_WEB_ADDRESSES is off. Save the file in your browser "
                    "and upload it."
                )
            )
        fetcher = web or WebDownloader(self._workspace.config.rag_parsing.max_file_mb)
        with fetcher.fetch(address) as file:
            return self._documents.add(
                file.path, file.name, index_name=index_name, source=address, on_same_name=on_same_name
            )

    def archive(self, document_ids: Sequence[uuid.UUID]) -> BinaryIO:
        """Return the originals of documents as an open ZIP file, recorded in the audit log.

        Raises NotFoundError if a document or its file is missing.
        """
        documents = [self._workspace.store.documents.get(document_id) for document_id in document_ids]
        packed = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for document, name in zip(documents, unique_names([one.name for one in documents]), strict=True):
                archive.write(self.original(document.id), name)
        packed.seek(0)
        self._note(documents)
        return packed

    def _note(self, taken: Sequence[types.Document]) -> None:
        subjects = [Subject("document", str(one.id), one.name) for one in taken]
        self._workspace.store.audit.add("export", *subjects, owner=self._workspace.user_id, format="original")

    def parts(self, *document_ids: uuid.UUID) -> list[types.Document]:
        """Return the attachments of mails and archives, recursively, including those in the trash."""
        return Attachments(self._workspace).of(*document_ids)
