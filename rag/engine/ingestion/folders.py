"""Build and sync indexes from folders, and ingest single files."""

import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path

from rag import errors, providers, types
from rag.engine.ingestion.sync import FileIngestion, Once, OnFile, SourceFolder, run_once
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.store import AllowedFolders, Folder

logger = logging.getLogger(__name__)


CONFINED = "confined"
"""Set in a saved request if the folder must be below a root whenever it is synced."""


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
