"""Re-embed an index with another model: build beside the old vectors, switch, drop.

The chunks stay; each model's vectors are a generation. Documents without vectors are queried repeatedly until there
are none, so an interrupted build resumes, and documents that change meanwhile are embedded before the switch.
"""

import builtins
import uuid

from rag import errors, ingestion, providers, types
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
        """Return the generation with that number. Raises NotFoundError."""
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
