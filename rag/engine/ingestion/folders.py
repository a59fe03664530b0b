"""Ingest files and folders as documents that follow them: find what is new, changed or gone."""

import logging
import os
import time
import unicodedata
import uuid
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from rag import errors, parsing, providers, types
from rag.engine.ingestion.document_reader import TRANSIENT_CODES, DocumentReader
from rag.engine.library.files import Attachments, Originals, sha256_of
from rag.engine.models import DEFAULT_AUTH, DEFAULT_PROVIDER_OPTIONS
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.files.source_folders import AllowedFolders, Folder

logger = logging.getLogger(__name__)

OnFile = Callable[[types.FileReport], None]
Files = Generator[types.FileReport, None, None]
SourceFolder: TypeAlias = "Folder | providers.DriveFolder"
Once = Callable[[str, Callable[[], Any]], Any]
"""Runs the named step unless it was done before, and returns its JSON result."""

_READABLE = types.GOOGLE_APPS | set(parsing.MIME_TYPE_BY_SUFFIX.values())

CONFINED = "confined"
"""Set in a saved request if the folder must be below a root whenever it is synced."""

_FILE_ERRORS = (errors.SourceError, errors.ValidationError)
"""Errors of one file that do not affect the next."""


def run_once(_step: str, work: Callable[[], Any]) -> Any:
    """Run `work`, without remembering it."""
    return work()


class FileIngestion:
    """Ingests files into one index.

    Documents are found by the file's id (its path or URL), changes by the SHA-256 of the content. A new version is read
    out of sight and then replaces the old one atomically, so that the old one stays searchable if anything fails, and
    readable afterwards. A file that returns to earlier content gets that version back. `max_chunks` limits the chunks
    of all files together. With `again`, unchanged files are re-read. Files of a folder that `once` knows are skipped.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: types.Index,
        *,
        max_chunks: int | None = None,
        skip_failures: bool = True,
        again: bool = False,
        once: Once = run_once,
        auth: types.Auth = DEFAULT_AUTH,
        options: types.ProviderOptions = DEFAULT_PROVIDER_OPTIONS,
    ) -> None:
        self._documents = workspace.store.documents
        self._sources = workspace.store.sources
        self._versions = workspace.store.versions
        self._originals = Originals(workspace)
        self._reader = DocumentReader(workspace, auth, options)
        self._parts = Attachments(workspace)
        self._index = index
        self._chunks_left = max_chunks
        self._skip_failures = skip_failures
        self._again = again
        self._once = once

    # --- folders ---

    def folder(self, folder: SourceFolder, source: types.Source, *, max_files: int, remove: bool) -> Files:
        """Ingest the files of `folder` that `source` selects; with `remove`, trash the documents of other files.

        Raises:
            errors.SourceError: the folder cannot be read.
            errors.IndexError: another process is ingesting files into this index.
        """
        with self._documents.lock(uuid.uuid5(self._index.id, "intake")) as claimed:
            if not claimed:
                raise errors.IndexError(
                    f"Another process is taking files into the index {self._index.name!r}. Wait until it is done.",
                    details={"in_use": True},
                )
            present = self._sources.find(self._index.id, prefix=folder.prefix)
            selected = {file.id: file for file in _selected_files(folder, source, present)}
            documents: dict[str, list[types.Document]] = {}
            for document in present:
                documents.setdefault(_file_id(document, selected), []).append(document)
            labels = {
                document.id: types.shown_source(file.id, file.path)
                for file in selected.values()
                for document in documents.get(file.id, ())
            }
            self._sources.show(labels)
            files = list(selected.values())
            for file in files[:max_files]:
                yield self._ingest_once(folder, file, documents.get(file.id, []))
            for file in files[max_files:]:
                yield _skipped(file, f"The folder has more than {max_files} files. Raise maxFiles, or split it.")
            if remove:
                yield from self._trash_removed(folder, present, selected)

    def _ingest_once(
        self, folder: SourceFolder, file: types.SourceFile, present: Sequence[types.Document]
    ) -> types.FileReport:
        step = str(uuid.uuid5(self._index.id, f"{folder.prefix}\n{file.id}"))
        outcome = self._once(step, lambda: self._try_file(file, folder.fetch(file), present).model_dump(mode="json"))
        report = types.FileReport.model_validate({**outcome, "source": file.id})
        if self._chunks_left is not None and report.document_id is not None and report.state != "failed":
            with suppress(errors.NotFoundError):  # purged meanwhile; a file that was ingested before counts, too
                self._chunks_left = max(0, self._chunks_left - self._documents.get(report.document_id).chunk_count)
        return report

    def _try_file(
        self, file: types.SourceFile, fetched: AbstractContextManager[Path], present: Sequence[types.Document]
    ) -> types.FileReport:
        try:
            with fetched as path:
                report = self._ingest(path, file, present)
        except _FILE_ERRORS as error:
            report = _report(file, "failed", code=error.code, reason=error.message)
        if report.state == "failed" and not self._skip_failures:
            raise errors.SourceError(
                N_("{name}: {_reason}"),
                name=file.id,
                _reason=report.reason,
                details={"source": file.id, "code": report.code},
            )
        return report

    def _trash_removed(
        self, folder: SourceFolder, present: Iterable[types.Document], selected: Collection[str]
    ) -> Iterator[types.FileReport]:
        gone = {
            document.id: types.SourceFile(document.source or "", document.shown_source or document.name, document.name)
            for document in present
            if _is_current(document)
            and _file_id(document, selected) not in selected
            and folder.owns(document.source or "")
        }
        for document_id in self._documents.trash(list(gone)):
            if document_id in gone:  # else an attachment, trashed along with its container
                yield _report(gone[document_id], "removed", document_id=document_id)

    # --- files ---

    def file(self, path: Path) -> types.FileReport:
        """Ingest a local file. One that came with a folder before keeps its path in it."""
        source = source_id_of(path)
        present = self._sources.find(self._index.id, sources=[source, os.path.normpath(path.absolute())])
        label = next((document.shown_source for document in present if document.shown_source), path.name)
        file = types.SourceFile(id=source, path=label, name=path.name)
        return self._try_file(file, nullcontext(path), present)

    def _ingest(self, path: Path, file: types.SourceFile, present: Sequence[types.Document]) -> types.FileReport:
        if not path.is_file():
            raise errors.SourceError(N_("There is no file {path}. Check the path."), path=file.name)
        sha256 = sha256_of(path)
        existing = self._existing_document([document for document in present if document.sha256 == sha256])
        older = [document for document in present if document.sha256 != sha256 and _is_replaced(document, existing)]
        if existing and existing.status is types.DocumentStatus.READY and not self._again:
            self._read_parts(existing)  # left by an interrupted run
            return self._publish(file, existing, existing, older)
        if self._chunks_left == 0:
            return _skipped(file, "The limit of chunks is reached. Raise maxChunks, or split the folder.")
        if existing:
            self._originals.restore_file(existing.id, path)
        document = existing or self._originals.keep(
            path,
            file.name,
            self._index,
            source=file.id,
            source_path=file.path,
            mime_type=file.mime_type if file.mime_type in types.GOOGLE_APPS else None,
            sha256=sha256,
            follows_source=True,
            in_trash=bool(older),
        )
        read = self._read(document)
        if read.status is not types.DocumentStatus.READY:
            return self._report_unread(file, read)
        return self._publish(file, existing, read, older)

    def _existing_document(self, same: Sequence[types.Document]) -> types.Document | None:
        """Return the document with the file's content: a current one, an older version, or a ready one in the trash.

        Unfinished documents that an interrupted run left in the trash are purged.
        """
        current = [document for document in same if document.deleted_at is None]
        if current:
            return min(
                current,
                key=lambda document: (not _is_current(document), document.status is not types.DocumentStatus.READY),
            )
        ready = [document for document in same if document.status is types.DocumentStatus.READY and not self._again]
        if ready:
            return ready[0]
        self._originals.purge([document.id for document in same])
        return None

    def _read(self, document: types.Document) -> types.Document:
        if document.status is types.DocumentStatus.NEEDS_PASSWORD:
            return document
        if document.status in {types.DocumentStatus.FAILED, types.DocumentStatus.READY}:
            self._documents.resume(document.id)
        read = self._reader.read(document.id, max_chunks=self._chunks_left)
        return read if read.status is not types.DocumentStatus.READY else self._read_parts(read)

    def _read_parts(self, document: types.Document) -> types.Document:
        """Read the files in a document, so that it is complete before it replaces an older version.

        Failed attachments record their own errors.
        """
        for part in self._parts.unread(document.id):
            self._read_parts(self._reader.read(part.id, max_chunks=self._chunks_left))
        return document

    def _publish(
        self,
        file: types.SourceFile,
        existing: types.Document | None,
        document: types.Document,
        older: Sequence[types.Document],
    ) -> types.FileReport:
        """Make `document`, which was `known` or has just been read, replace its `older` versions."""
        in_sight = existing is not None and existing.status is types.DocumentStatus.READY and _is_current(existing)
        if older:
            # The older versions stay readable. Documents with files in them are trashed along with these.
            has_parts = any(part.mime_type in types.CONTAINERS or part.parts for part in (document, *older))
            take_over = self._sources.supersede if has_parts else self._versions.take_over
            take_over(document.id, [version.id for version in older])
        elif not in_sight:
            self._documents.restore([document.id])
        state: types.FileState = "added"
        if older or in_sight:
            state = "unchanged" if document is existing and not older else "changed"
        made = 0 if document is existing else document.chunk_count
        return _report(file, state, document_id=document.id, chunks=made)

    def _report_unread(self, file: types.SourceFile, document: types.Document) -> types.FileReport:
        """Report a file that could not be read; its document is kept for a retry unless it replaces another."""
        code, reason = "busy", "Another process is reading it."
        if document.status is types.DocumentStatus.FAILED:
            code, reason = document.error_code or errors.SourceError.code, document.error or ""
        elif document.status is types.DocumentStatus.NEEDS_PASSWORD:
            code, reason = errors.PasswordError.code, f"{document.name} is encrypted. Upload it with its password."
        is_limit = code == errors.LimitError.code
        if document.deleted_at is not None or (is_limit and document.indexed_at is None):
            self._documents.trash([document.id])
            self._originals.purge([document.id])
        if is_limit:
            return _skipped(file, reason)
        if document.deleted_at is None and code in TRANSIENT_CODES:  # a worker retries
            self._documents.resume(document.id)
            self._documents.enqueue(document.id)
        stays = document.id if document.deleted_at is None else None
        return _report(file, "failed", document_id=stays, code=code, reason=reason)


def _is_current(document: types.Document) -> bool:
    return document.deleted_at is None and document.superseded_by is None


def _is_replaced(document: types.Document, existing: types.Document | None) -> bool:
    """Whether new content replaces this document: it is searched, or would be if it were not in the trash."""
    is_later = existing is not None and document.lineage_id == existing.lineage_id and document.superseded_by is None
    return _is_current(document) or is_later


def source_id_of(path: Path) -> str:
    """Return the source id of a local file: its absolute path, links not resolved, accents composed."""
    return _composed(os.path.normpath(path.absolute()))


def _file_id(document: types.Document, present: Collection[str]) -> str:
    """Return the id of a document's file in a folder; older versions of Pagelight did not compose its accents."""
    source = document.source or ""
    return source if source in present else _composed(source)


def _composed(source: str) -> str:
    return unicodedata.normalize("NFC", source)


def _report(file: types.SourceFile, state: types.FileState, **more: Any) -> types.FileReport:
    return types.FileReport(source=file.id, shown_source=types.shown_source(file.id, file.path), state=state, **more)


def _skipped(file: types.SourceFile, reason: str) -> types.FileReport:
    return _report(file, "left_out", code=errors.LimitError.code, reason=reason)


def _selected_files(
    folder: SourceFolder, source: types.Source, present: Iterable[types.Document]
) -> Iterator[types.SourceFile]:
    """Yield the files of supported types that `source` includes and does not exclude."""
    excluded = set(source.exclude_file_ids)
    excluded |= {document.source or "" for document in present if str(document.id) in excluded}
    excluded = {_composed(source_id) for source_id in excluded}
    for file in folder.list():
        by_name = parsing.MIME_TYPE_BY_SUFFIX.get(PurePath(file.name).suffix.lower())
        mime_type = file.mime_type if file.mime_type in _READABLE else by_name
        included = mime_type is not None and (not source.include_mime_types or mime_type in source.include_mime_types)
        if included and not excluded & set(map(_composed, (file.id, file.path, file.id.removeprefix(folder.prefix)))):
            yield file


class Folders:
    """Ingests folders and files for one user; `confined` restricts folders to the roots of the settings."""

    def __init__(self, workspace: Workspace, *, confined: bool = False, once: Once = run_once) -> None:
        """`once` skips files that the same job has ingested before."""
        self._workspace = workspace
        self._confined = confined
        self._once = once

    def ingest_folder(
        self, request: types.IndexRequest, *, remove: bool, on_file: OnFile | None = None
    ) -> types.SyncReport:
        """Ingest the folder that the request names; with `remove`, documents of files that are gone move to the trash.

        Raises:
            errors.SourceError: the folder cannot be read, or a file where failures are not skipped.
            errors.ForbiddenError: the folder is not below a root.
            errors.NotFoundError: there is no index with the requested id.
            errors.IndexError: its vectors are of another model than the requested one.
            errors.EmbeddingCapabilityError: the provider cannot embed as requested.
            errors.ConfigError: the provider needs a key.
        """
        started = time.perf_counter()
        with self._open(request.source) as folder:
            index, again = self._target_index(request)
            intake = FileIngestion(
                self._workspace,
                index,
                max_chunks=request.options.max_chunks,
                skip_failures=request.options.skip_parse_failures,
                again=again,
                once=self._once,
                auth=request.auth,
                options=request.embedding.provider_options,
            )
            limit = request.options.max_files
            reports: list[types.FileReport] = []
            # Releases the lock on the index also if `on_file` raises.
            with closing(intake.folder(folder, request.source, max_files=limit, remove=remove)) as files:
                for report in files:
                    reports.append(report)
                    if on_file:
                        on_file(report)
            if remove:  # the index follows the folder, by an address without password that is valid everywhere
                source = request.source.model_copy(update={"folder_id": folder.prefix.rstrip("/") or folder.prefix})
                followed = request.model_copy(update={"source": source})
                saved = followed.model_dump(mode="json", include={"source", "options"})
                self._workspace.store.indexes.follow(
                    index.id, folder.prefix, {**saved, CONFINED: True} if self._confined else saved
                )
        usage = types.Usage(latency_ms=(time.perf_counter() - started) * 1000)
        return types.SyncReport(index=index, files=tuple(reports), usage=usage)

    def refresh(
        self, index: types.Index, on_file: OnFile | None = None
    ) -> tuple[list[types.SyncReport], list[errors.Error]]:
        """Sync an index with every folder that it follows.

        Returns the reports, and the errors of folders that cannot be read, which are left as they are. Other errors are
        raised as by `ingest_folder`, and CancelledError if `on_file` raises it.
        """
        reports: list[types.SyncReport] = []
        unreadable: list[errors.Error] = []
        for saved in self._workspace.store.indexes.followed(index.id):
            fields = {name: value for name, value in saved.items() if name != CONFINED}
            request = parse(types.IndexRequest, {**fields, "index": {"index_file_id": str(index.id)}})
            folders = Folders(self._workspace, confined=bool(saved.get(CONFINED)), once=self._once)
            try:
                reports.append(folders.ingest_folder(request, remove=True, on_file=on_file))
            except errors.CancelledError:
                raise  # cancels everything, not just this folder
            except (errors.SourceError, errors.ForbiddenError) as error:
                logger.warning("a folder that the index %s follows: %s", index.id, error.code)
                unreadable.append(error)
        return reports, unreadable

    def _open(self, source: types.Source) -> AbstractContextManager[SourceFolder]:
        config, recursive = self._workspace.config, source.include_subfolders
        roots = AllowedFolders(config.folder_roots) if self._confined else None
        if providers.is_drive_url(source.folder_id):
            address = roots.require(source.folder_id) if roots else source.folder_id
            return providers.DriveFolder(address, config, include_subfolders=recursive)
        return nullcontext(Folder(source.folder_id, include_subfolders=recursive, roots=roots))

    def ingest_files(self, paths: Sequence[Path], index: types.Index) -> list[types.FileReport]:
        """Ingest files one after the other; a failed file does not stop the others."""
        intake = FileIngestion(self._workspace, index)
        return [intake.file(path) for path in paths]

    def _target_index(self, request: types.IndexRequest) -> tuple[types.Index, bool]:
        """Return the index to fill, and whether its chunking changes, which requires re-reading everything."""
        indexes, models, config = self._workspace.store.indexes, self._workspace.models, self._workspace.config
        existing: types.Index | None = None
        if request.index.index_file_id:
            existing = self._workspace.find_index(request.index.index_file_id)
        else:
            with suppress(errors.NotFoundError):
                existing = indexes.get(request.index.index_name)
        embedding = request.embedding
        if embedding.provider or embedding.model:
            name = ":".join(part for part in (embedding.provider, embedding.model) if part)
            space = models.find_space(name, request.auth)
        elif existing and (existing.name != types.DEFAULT_INDEX or not config.rag_embed_model):
            space = existing.space  # the setting applies to the default index and new ones
        else:
            space = models.default_space()
        if size := embedding.provider_options.dimensions:
            space = space.model_copy(update={"dimensions": size})
        chunking = request.chunking or (existing.chunking if existing else config.rag_chunking)
        models.embedder(space, request.auth, embedding.provider_options)  # fail here if it cannot be used
        index = indexes.ensure(existing.name if existing else request.index.index_name, space, chunking)
        return index, existing is not None and existing.chunking != chunking
