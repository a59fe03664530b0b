"""Indexes: their contents, models, statistics and problems."""

import builtins
import shlex
import uuid

from rag import errors, ingestion, providers, types
from rag.engine.library.documents import Documents
from rag.engine.workspace import Workspace
from rag.messages import N_

MAX_ROUNDS = 100
"""Maximum number of passes before a build gives up because documents keep changing."""

STAGE = "chunks"
"""Stage name in progress reports."""


class EmbeddingGenerations:
    """The embedding generations of one index."""

    def __init__(self, workspace: Workspace, index: types.Index) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._index = index

    def list(self) -> builtins.list[types.EmbeddingGeneration]:
        """Return the generations, oldest first; one of them is searched."""
        return self._store.generations.list(self._index.id)

    # --- building ---

    def build(self, model: str, on_progress: types.OnProgress = types.ignore_progress) -> types.EmbeddingGeneration:
        """Embed all chunks with `model` (`provider:model`) beside the current vectors, which stay in use.

        An interrupted build resumes when called again. `on_progress` is called with the numbers of chunks done and in
        total; an exception that it raises interrupts the build.

        Raises:
            errors.ValidationError: there is no such model.
            errors.IndexError: another process is building, or the vectors were dropped meanwhile.
            errors.ProviderError: the vendor refuses; what is embedded is kept.
        """
        space = self._workspace.models.find_space(model)
        generation = self._store.generations.add(self._index.id, space)
        self._complete(generation, on_progress)
        return self._numbered(generation.generation)

    def _complete(self, generation: types.EmbeddingGeneration, on_progress: types.OnProgress) -> None:
        with self._store.generations.lock(self._index.id) as claimed:
            if not claimed:
                raise errors.IndexError(
                    N_("Another process is re-embedding the index {name}. Let it finish, or stop it."),
                    name=repr(self._index.name),
                )
            for _ in range(MAX_ROUNDS):
                missing = self._store.generations.missing(generation)
                if not missing:
                    return
                self._embed_all(missing, generation, on_progress)
        raise _changing_too_fast(self._index)

    def _embed_all(
        self,
        document_ids: builtins.list[uuid.UUID],
        generation: types.EmbeddingGeneration,
        on_progress: types.OnProgress,
    ) -> None:
        progress = self._current(generation).progress
        done, total = progress.done, progress.total

        def report(count: int) -> None:
            on_progress(STAGE, done + count, total)

        space, cache = generation.space, self._store.embedding_cache
        for document_id in document_ids:
            try:
                chunks = self._store.chunks.to_embed(document_id)
                embedder = providers.CachedEmbedding(self._workspace.models.embedder(space), space, cache, report)
                vectors = embedder.get_text_embedding_batch([ingestion.search_text(chunk) for chunk in chunks])
                if self._store.chunks.add_vectors(document_id, space, chunks=chunks, vectors=vectors):
                    done += len(chunks)  # else the document was replaced meanwhile
            except errors.NotFoundError:  # purged, or the generation dropped
                self._current(generation)
        on_progress(STAGE, min(done, total), total)

    def _current(self, generation: types.EmbeddingGeneration) -> types.EmbeddingGeneration:
        """Return the generation as it is now. Raises IndexError if it was dropped, which cancels a build."""
        for current in self.list():
            if (current.generation, current.space) == (generation.generation, generation.space):
                return current
        raise errors.IndexError(
            N_("The vectors of {model} were dropped while they were built. Start again if you want them."),
            model=generation.space.name,
        )

    # --- switching ---

    def switch(self, generation: int | None = None) -> types.Index:
        """Search with another generation (by default the latest) from now on.

        Documents added since it was built are embedded first. Raises as `build`.
        """
        return self._switch(self._candidate(generation))

    def rollback(self) -> types.Index:
        """Undo the last switch. Raises IndexError if there was none, or the earlier vectors were dropped."""
        for generation in self.list():
            if generation.state is types.GenerationState.RETIRED:
                return self._switch(generation)
        raise errors.IndexError(
            N_("The index {name} has no earlier vectors to go back to: it was never switched, or they were dropped."),
            name=repr(self._index.name),
        )

    def _switch(self, generation: types.EmbeddingGeneration) -> types.Index:
        self._workspace.models.embedder(generation.space)  # raise here, not in every search, if its key is missing
        for _ in range(MAX_ROUNDS):
            switched = self._store.generations.switch(generation)
            if switched is not None:
                return switched
            self._complete(generation, types.ignore_progress)
        raise _changing_too_fast(self._index)

    def drop(self, generation: int | None = None) -> builtins.list[types.EmbeddingGeneration]:
        """Delete inactive generations, all or the named one; this cancels their builds.

        Raises IndexError if the named one is active.
        """
        dropped = [other for other in self.list() if other.state is not types.GenerationState.ACTIVE]
        if generation is not None:
            dropped = [self._numbered(generation)]
        for inactive in dropped:
            self._store.generations.drop(inactive)
        return dropped

    def _numbered(self, number: int) -> types.EmbeddingGeneration:
        for generation in self.list():
            if generation.generation == number:
                return generation
        raise errors.NotFoundError(
            N_("The index {name} has no generation {generation}. List them: pagelight reembed"),
            name=repr(self._index.name),
            generation=number,
        )

    def _candidate(self, generation: int | None) -> types.EmbeddingGeneration:
        """Return the generation with that number, by default the latest that is not yet active."""
        if generation is not None:
            return self._numbered(generation)
        unused = {types.GenerationState.READY, types.GenerationState.BUILDING}
        waiting = [candidate for candidate in self.list() if candidate.state in unused]
        if not waiting:
            raise errors.IndexError(
                N_("The index {name} has no vectors of another model to switch to. Build them first: {command}"),
                name=repr(self._index.name),
                command="pagelight reembed --model PROVIDER:MODEL",
            )
        return waiting[-1]


def _changing_too_fast(index: types.Index) -> errors.IndexError:
    return errors.IndexError(
        N_(
            "Documents of the index {name} change faster than they can be embedded anew. What is embedded is kept: try "
            "again when fewer are being added."
        ),
        name=repr(index.name),
    )


CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"
MAX_REPAIRED = 1000
"""Maximum number of documents queued at once; the next check finds the rest."""


class Indexes:
    """One user's indexes."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def list(self) -> builtins.list[types.Index]:
        """Return all indexes by name."""
        return self._workspace.store.indexes.list()

    def ensure(self, name: str = types.DEFAULT_INDEX) -> types.Index:
        """Return the index by name or id; create it if there is none.

        Raises IndexError if `RAG_EMBED_MODEL` names another embedding model than the one of its documents.
        """
        return self._workspace.ensure_index(name)

    def follow_settings(self, name: str = types.DEFAULT_INDEX) -> types.Index:
        """Apply the current embedding model to an empty index; one with documents keeps its own."""
        try:
            return self._workspace.create_or_update_index(name)
        except errors.IndexError:
            return self._workspace.find_index(name)

    def models(self, name: str = types.DEFAULT_INDEX) -> dict[str, str]:
        """Return the models that embed, write answers and rerank, as `provider:model`."""
        llm = self._workspace.models.language_model()
        return {
            "embedding": self._workspace.ensure_index(name).space.name,
            "answers": llm.metadata.model_name if llm else providers.EXTRACTIVE,
            "reranking": CROSS_ENCODER,
        }

    def generations(self, name: str = types.DEFAULT_INDEX) -> EmbeddingGenerations:
        """Return the embedding generations of an index. Raises NotFoundError."""
        return EmbeddingGenerations(self._workspace, self._workspace.find_index(name))

    # --- statistics ---

    def stats(self, name: str = types.DEFAULT_INDEX) -> types.IndexStats:
        """Return the statistics of an index. Raises NotFoundError."""
        stats = self._workspace.store.indexes.stats(self._workspace.requested_index(name).id)
        return stats.model_copy(update={"advice": self._advice(stats)})

    def _advice(self, stats: types.IndexStats) -> str | None:
        """Suggest a multilingual model if most chunks are in languages that the index's model does not support."""
        space = stats.index.space
        supported = self._workspace.models.languages(space)
        foreign = sum(chunks for language, chunks in stats.languages.items() if language not in supported)
        if not supported or foreign * 2 <= sum(stats.languages.values()):
            return None
        name = providers.MULTILINGUAL_DOWNLOAD
        commands = (
            f"pagelight models download {name}",
            f"pagelight reembed --index {shlex.quote(stats.index.name)} --model folder:{name}",
        )
        return N_(
            "{model} does not speak the language of most of this text. A multilingual model, which runs on this "
            "machine, finds more: {command}"
        ).format(model=space.name, command=" && ".join(commands))

    def wordless(self, name: str = types.DEFAULT_INDEX) -> types.WordlessSummary:
        """Return the pages of ready documents without text, and the documents that have the most of them."""
        return self._workspace.store.indexes.wordless(self._workspace.requested_index(name).id)

    # --- problems of documents ---

    def findings(self, name: str = types.DEFAULT_INDEX) -> builtins.list[types.HealthFinding]:
        """Return the problems of an index, each with its first documents; documents being read are left out."""
        return self._workspace.store.indexes.findings(self._workspace.requested_index(name).id)

    def repair(self, kind: types.FindingKind, name: str = types.DEFAULT_INDEX) -> builtins.list[uuid.UUID]:
        """Queue the documents of a finding to be read again, and return their ids. They stay searchable as they are.

        Raises ValidationError if re-reading does not help; the owner has to act.
        """
        if kind not in types.REPAIRABLE:
            raise errors.ValidationError(N_("Reading again does not help these. Give each its password."))
        index = self._workspace.requested_index(name)
        findings = self._workspace.store.indexes.findings(index.id, kind=kind, most=MAX_REPAIRED)
        documents = [document for finding in findings for document in finding.documents]
        return [self._documents.retry(document.document_id).id for document in documents]
