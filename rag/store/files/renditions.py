"""Renditions of documents that there are."""

import uuid
from pathlib import Path

from rag import errors
from rag.store.files.file_storage import UserFiles
from rag.store.store import UserStore


def put_rendition(store: UserStore, files: UserFiles, document_id: uuid.UUID, path: Path) -> None:
    """Keep a document's rendition. Of a document that is purged meanwhile nothing stays.

    It is put first and the row looked for afterwards: a purge after that finds it, and one before is found.

    Raises:
        errors.NotFoundError: there is no such document any more.
        errors.StoreError: the storage or the database fails.
    """
    files.put(document_id, "rendition", path)
    try:
        store.documents.get(document_id)
    except errors.NotFoundError:
        with store.pending_deletions.taking(document_id) as is_unowned:
            if is_unowned:
                files.delete(document_id)
        raise
