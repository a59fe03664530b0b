"""Export one user's data in open formats: the original files, and JSON lines of everything else."""

import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pydantic_core

from rag import errors, export, types
from rag.engine.library.files import unique_names
from rag.engine.workspace import Workspace
from rag.store.users.audit_log import Subject

DOCUMENTS_FOLDER = "documents"


class ExportReport(NamedTuple):
    """The numbers of exported documents, chunks and chats, and the names of documents whose file is missing."""

    documents: int
    chunks: int
    conversations: int
    missing: tuple[str, ...]


class Export:
    """Exports one user's data."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def write(
        self,
        folder: Path,
        index_name: str | None = None,
        *,
        vectors: bool = False,
        on_progress: types.OnProgress = types.ignore_progress,
    ) -> ExportReport:
        """Export the user's documents (except those in the trash) and chats into `folder`, from one index or all.

        Writes the originals to ``documents/``, and ``documents.jsonl``, ``chunks.jsonl`` (with active vectors of length
        1 if `vectors`), and ``conversations.jsonl``. If anything fails, nothing is left.

        Raises:
            errors.ValidationError: the folder is not empty.
            errors.NotFoundError: there is no such index.
            errors.SourceError: the folder cannot be written.
        """
        store = self._workspace.store
        indexes = store.indexes.list()
        if index_name is not None:
            indexes = [index for index in indexes if index_name in {index.name, str(index.id)}]
            if not indexes:
                raise errors.NotFoundError(f"There is no index “{index_name}”. List the indexes and check the name.")
        with _export_folder(folder):
            documents = [(index, document) for index in indexes for document in self._exported_documents(index)]
            names = unique_names([document.name for _, document in documents])
            missing = self._export_files(folder, [document for _, document in documents], names)
            _write_lines(
                folder / "documents.jsonl",
                (
                    {
                        **_document(index, document, None if document.id in missing else name),
                        "keyFacts": store.documents.key_facts(document.id),
                    }
                    for (index, document), name in zip(documents, names, strict=True)
                ),
            )
            chunks = _write_lines(
                folder / "chunks.jsonl", self._chunks([document for _, document in documents], vectors, on_progress)
            )
            conversations = _write_lines(
                folder / "conversations.jsonl",
                (
                    _conversation(index, conversation, store.conversations.messages(conversation.id))
                    for index in indexes
                    for conversation in store.conversations.list(index.id)
                ),
            )
        store.audit.add("export", Subject("index", name=index_name or "all"), documents=len(documents), vectors=vectors)
        missing_names = tuple(document.name for _, document in documents if document.id in missing)
        return ExportReport(len(documents), chunks, conversations, missing_names)

    def _exported_documents(self, index: types.Index) -> list[types.Document]:
        """Return documents with older versions, which old answers cite; oldest first, so that it keeps its name."""
        listed = self._workspace.store.documents.list(index.id)[::-1]
        ids = [document.id for document in listed]
        versions = self._workspace.store.versions.list(ids, in_trash=False) if ids else []
        older = [version for version in versions if version.superseded_by and version.index_id == index.id]
        return sorted([*listed, *older], key=lambda document: document.created_at)

    def _export_files(self, folder: Path, documents: Sequence[types.Document], names: Sequence[str]) -> set[uuid.UUID]:
        missing = set()
        (folder / DOCUMENTS_FOLDER).mkdir()
        for document, name in zip(documents, names, strict=True):
            try:
                source = self._workspace.files.open(document.id, "original")
            except errors.NotFoundError:
                missing.add(document.id)
                continue
            with source, (folder / DOCUMENTS_FOLDER / name).open("xb") as target:
                shutil.copyfileobj(source, target)
        return missing

    def _chunks(
        self, documents: Sequence[types.Document], vectors: bool, on_progress: types.OnProgress
    ) -> Iterator[dict[str, Any]]:
        store = self._workspace.store.chunks
        for done, document in enumerate(documents, start=1):
            chunks = store.of_document(document.id)
            vectors_by_id = store.vectors([chunk.id for chunk in chunks]) if vectors else {}
            for chunk in chunks:
                line = _chunk(document, chunk)
                yield {**line, "vector": vectors_by_id[chunk.id].tolist()} if chunk.id in vectors_by_id else line
            on_progress("documents", done, len(documents))


@contextmanager
def _export_folder(folder: Path) -> Iterator[None]:
    """Provide `folder`, new or empty, for the block to fill; it is cleaned up if the block fails."""
    try:
        was_there = folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise errors.ValidationError(f"{folder} is not empty. Give a new folder, or an empty one.")
        try:
            yield
        except BaseException:
            shutil.rmtree(folder / DOCUMENTS_FOLDER, ignore_errors=True)
            for path in folder.glob("*.jsonl"):
                path.unlink()
            if not was_there:
                folder.rmdir()
            raise
    except OSError as error:
        raise errors.SourceError(
            f"{folder} cannot be written: {error.strerror or type(error).__name__}. Check the path, the rights and the "
            "free space.",
            details={"path": str(folder)},
        ) from error


def _write_lines(path: Path, lines: Iterable[object]) -> int:
    count = 0
    with path.open("x", encoding="utf-8") as file:
        for count, line in enumerate(lines, start=1):  # noqa: B007  # used after the loop
            plain = pydantic_core.to_jsonable_python(line, by_alias=True)
            file.write(json.dumps(plain, ensure_ascii=False) + "\n")
    return count


def _document(index: types.Index, document: types.Document, name: str | None) -> dict[str, Any]:
    fields = document.model_dump(mode="json", by_alias=True, exclude={"user_id", "progress", "pages", "deleted_at"})
    return {**fields, "indexName": index.name, "file": name and f"{DOCUMENTS_FOLDER}/{name}"}


def _chunk(document: types.Document, chunk: types.Chunk) -> dict[str, Any]:
    return {
        **chunk.model_dump(by_alias=True),
        "documentName": document.name,
        "text": chunk.text,
        "pages": chunk.pages,
        "lineStart": chunk.line_start,
        "lineEnd": chunk.line_end,
    }


def _conversation(
    index: types.Index, conversation: types.Conversation, messages: Sequence[types.ChatMessage]
) -> dict[str, Any]:
    fields = conversation.model_dump(mode="json", by_alias=True, exclude={"user_id"})
    return {**fields, "indexName": index.name, "messages": [_message(message) for message in messages]}


def _message(message: types.ChatMessage) -> dict[str, Any]:
    line: dict[str, Any] = {"role": message.role, "content": message.content, "createdAt": message.created_at}
    if response := message.response:
        line |= {"content": response.answer, "status": response.status, "model": response.model}
        line |= {"summary": export.summary_of(response), "claims": export.claims_of(response)}
    return line
