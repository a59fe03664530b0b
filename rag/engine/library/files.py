"""The files of a user's documents."""

import tempfile
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from rag import errors
from rag.engine.library.attachments import Parts
from rag.engine.library.documents import Documents
from rag.engine.library.file_names import unique_names
from rag.engine.workspace import Workspace
from rag.providers import WebDownloader
from rag.store.users.audit_log import Subject
from rag.types import DEFAULT_INDEX, Document, OnSameName


class Files:
    """The originals and renditions of one user's documents, and the documents that came out of mails and archives."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def original(self, document_id: uuid.UUID) -> Path:
        """The file as it was uploaded."""
        return self._workspace.files.local_path(document_id, "original")

    def taken(self, document_id: uuid.UUID) -> bytes:
        """The file as it was uploaded, to be kept elsewhere, which the audit tells. Raises as `archive`."""
        content = self.original(document_id).read_bytes()
        self._note([self._workspace.store.documents.get(document_id)])
        return content

    def rendition(self, document_id: uuid.UUID) -> Path:
        """The PDF that is parsed, shown and highlighted."""
        return self._workspace.files.local_path(document_id, "rendition")

    def fetch(
        self,
        address: str,
        *,
        index_name: str = DEFAULT_INDEX,
        on_same_name: OnSameName = "keep",
        web: WebDownloader | None = None,
    ) -> Document:
        """Take in a file from an address of the public Internet, for a worker to read. `web` fetches it.

        Raises as `documents.add`, and:
            errors.ValidationError: it is no address of http or https.
            errors.ForbiddenError: its host is not one of the public Internet, or RAG_WEB_ADDRESSES is off.
            errors.LimitError: the file is too large, or takes too long.
            errors.SourceError: it cannot be fetched.
        """
        if not self._workspace.config.rag_web_addresses:
            raise errors.ForbiddenError(
                "Files are not fetched from the web here: RAG_WEB_ADDRESSES is off. Save the file in your browser and "
                "upload it."
            )
        fetcher = web or WebDownloader(self._workspace.config.rag_parsing.max_file_mb)
        with fetcher.fetch(address) as file:
            return self._documents.add(
                file.path, file.name, index_name=index_name, source=address, on_same_name=on_same_name
            )

    def archive(self, document_ids: Sequence[uuid.UUID]) -> BinaryIO:
        """The originals of documents as a ZIP, each under a name that every file system takes; to be closed.

        The audit tells of each.

        Raises:
            errors.NotFoundError: there is no such document, or its file is not there.
        """
        documents = [self._workspace.store.documents.get(document_id) for document_id in document_ids]
        packed = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for document, name in zip(documents, unique_names([one.name for one in documents]), strict=True):
                archive.write(self.original(document.id), name)
        packed.seek(0)
        self._note(documents)
        return packed

    def _note(self, taken: Sequence[Document]) -> None:
        subjects = [Subject("document", str(one.id), one.name) for one in taken]
        self._workspace.store.audit.add("export", *subjects, owner=self._workspace.user_id, format="original")

    def parts(self, *document_ids: uuid.UUID) -> list[Document]:
        """What was taken out of mails and archives, and out of what was in these, in the trash or not."""
        return Parts(self._workspace).of(*document_ids)
