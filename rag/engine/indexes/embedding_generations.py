"""Another embedding model for an index that has documents: built beside the old one, compared, switched, dropped.

The chunks stay what they are; each model's vectors for them are a generation. Which documents lack vectors in one is
asked of the database again and again until none does, so a build that was killed goes on where it was, and documents
that are added or replaced meanwhile are embedded before the switch.
"""

import builtins
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from rag import errors, evaluation, ingestion, providers
from rag.engine.questions.query_pipeline import Asking
from rag.engine.workspace import Workspace
from rag.types import (
    EmbeddingGeneration,
    GenerationComparison,
    GenerationScore,
    GenerationState,
    Hit,
    Index,
    OnProgress,
    RetrievalOptions,
    SearchRequest,
    ignore_progress,
)

MOST_ROUNDS = 100
"""How often documents may come or change while others are embedded, before a build gives up."""
COMPARED_AT = 5
"""Places looked at for recall."""
COMPARED_DEPTH = 20
"""Places looked at for the rank of the first right one."""

STAGE = "chunks"
"""What progress is told of."""


class Generations:
    """The generations of one index."""

    def __init__(self, workspace: Workspace, index: Index) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._index = index

    def list(self) -> builtins.list[EmbeddingGeneration]:
        """The embedding models whose vectors the index has, oldest first; one of them is searched."""
        return self._store.generations.list(self._index.id)

    # --- building ---

    def build(self, model: str, on_progress: OnProgress = ignore_progress) -> EmbeddingGeneration:
        """Give every chunk a vector of `model` (`provider:model`) beside the one it has, which is searched as before.

        Called again it goes on where it was. `on_progress` is told how many of how many chunks are done; an exception
        that it raises ends the build, which can be taken up again.

        Raises:
            errors.ValidationError: there is no such model.
            errors.IndexError: another process is at it, or the vectors were dropped meanwhile.
            errors.ProviderError: the vendor refuses; what is embedded is kept.
        """
        space = self._workspace.models.named_space(model)
        generation = self._store.generations.add(self._index.id, space)
        self._complete(generation, on_progress)
        return next(found for found in self.list() if found.generation == generation.generation)

    def _complete(self, generation: EmbeddingGeneration, on_progress: OnProgress) -> None:
        with self._store.generations.lock(self._index.id) as claimed:
            if not claimed:
                raise errors.IndexError(
                    f"Another process is re-embedding the index {self._index.name!r}. Let it finish, or stop it."
                )
            for _ in range(MOST_ROUNDS):
                missing = self._store.generations.missing(generation)
                if not missing:
                    return
                self._embed_all(missing, generation, on_progress)
        raise _changing(self._index)

    def _embed_all(
        self, document_ids: builtins.list[uuid.UUID], generation: EmbeddingGeneration, on_progress: OnProgress
    ) -> None:
        progress = self._present(generation).progress
        done, total = progress.done, progress.total
        for document_id in document_ids:
            try:
                done += self._embed(document_id, generation, _from(done, total, on_progress))
            except errors.NotFoundError:  # purged, or the generation dropped
                self._present(generation)
        on_progress(STAGE, min(done, total), total)

    def _embed(
        self, document_id: uuid.UUID, generation: EmbeddingGeneration, on_progress: Callable[[int], None]
    ) -> int:
        """How many chunks have got their vectors: all of the document's, or none if it was replaced meanwhile."""
        chunks = self._store.chunks.to_embed(document_id)
        embedder = providers.CachedEmbedding(
            self._workspace.models.embedder(generation.space),
            generation.space,
            self._store.embedding_cache,
            on_progress,
        )
        vectors = embedder.get_text_embedding_batch([ingestion.search_text(chunk) for chunk in chunks])
        added = self._store.chunks.add_vectors(document_id, generation.space, chunks=chunks, vectors=vectors)
        return len(chunks) if added else 0

    def _present(self, generation: EmbeddingGeneration) -> EmbeddingGeneration:
        """The generation as it is now. Raises IndexError if it was dropped: that is how a build is cancelled."""
        for found in self.list():
            if (found.generation, found.space) == (generation.generation, generation.space):
                return found
        raise errors.IndexError(
            f"The vectors of {generation.space.name} were dropped while they were built. Start again if you want them."
        )

    # --- choosing ---

    def compare(self, questions_file: Path, generation: int | None = None) -> GenerationComparison:
        """How the searched vectors and others (the latest built, unless named) serve the questions of a JSONL file.

        Raises:
            errors.SourceError: the file cannot be read.
            errors.ValidationError: it has no question on a document of the index.
            errors.IndexError: there are no other vectors, or not all of them.
        """
        active, candidate = self._active(), self._beside(generation)
        if candidate.progress.done < candidate.progress.total:
            raise errors.IndexError(
                f"Not every chunk has a vector of {candidate.space.name} yet. Finish the build first: "
                f"pagelight reembed --model {candidate.space.name}"
            )
        documents = self._store.documents.list(self._index.id)
        present = {document.name for document in documents}
        asked = [question for question in evaluation.load_questions(questions_file) if question.is_scored]
        questions = [question for question in asked if question.file_name in present]
        if not questions:
            raise errors.ValidationError(
                f"No question in {questions_file} is about a document of the index {self._index.name!r} and names the "
                "pages that answer it. Check the names of the files in it."
            )
        return GenerationComparison(
            questions=len(questions),
            missing=tuple(sorted({question.file_name for question in asked} - present)),
            active=self._score(active, questions),
            candidate=self._score(candidate, questions),
        )

    def _score(self, generation: EmbeddingGeneration, questions: builtins.list[evaluation.Question]) -> GenerationScore:
        index = self._index.model_copy(update={"space": generation.space, "generation": generation.generation})
        options = RetrievalOptions(top_k=COMPARED_DEPTH, min_score=0.0)

        def find(question: evaluation.Question) -> Sequence[Hit]:
            request = SearchRequest(index_name=index.name, query=question.question, retrieval=options)
            return Asking(self._workspace, index, request).search(request.query).results

        rows = evaluation.retrieval.ask(questions, find)
        measures = evaluation.retrieval.score(questions, rows, (COMPARED_AT,)).means
        return GenerationScore(
            generation=generation, recall_at_5=measures[f"recall@{COMPARED_AT}"], mrr=measures["mrr"]
        )

    def switch(self, generation: int | None = None) -> Index:
        """Search with other vectors (the latest built, unless named) from the next search on.

        Documents that came since they were built are embedded first. Raises as `build`.
        """
        return self._switch(self._beside(generation))

    def rollback(self) -> Index:
        """Undo the last switch. Raises IndexError if there was none, or the earlier vectors were dropped."""
        for found in self.list():
            if found.state is GenerationState.RETIRED:
                return self._switch(found)
        raise errors.IndexError(
            f"The index {self._index.name!r} has no earlier vectors to go back to: it was never switched, or they were "
            "dropped."
        )

    def _switch(self, generation: EmbeddingGeneration) -> Index:
        self._workspace.models.embedder(generation.space)  # raises here, and not in every search, if its key is missing
        for _ in range(MOST_ROUNDS):
            switched = self._store.generations.switch(generation)
            if switched is not None:
                return switched
            self._complete(generation, ignore_progress)
        raise _changing(self._index)

    def drop(self, generation: int | None = None) -> builtins.list[EmbeddingGeneration]:
        """Remove vectors that are not searched, all of them unless one is named; a build of them ends.

        Raises:
            errors.IndexError: the named ones are searched.
        """
        chosen = [found for found in self.list() if found.state is not GenerationState.ACTIVE]
        if generation is not None:
            chosen = [found for found in self.list() if found.generation == generation]
            if not chosen:
                raise _unknown(self._index, generation)
        for found in chosen:
            self._store.generations.drop(found)
        return chosen

    def _active(self) -> EmbeddingGeneration:
        return next(found for found in self.list() if found.state is GenerationState.ACTIVE)

    def _beside(self, generation: int | None) -> EmbeddingGeneration:
        """The generation of that number; without one, the latest that has not been searched yet."""
        found = self.list()
        if generation is not None:
            found = [one for one in found if one.generation == generation]
            if not found:
                raise _unknown(self._index, generation)
            return found[0]
        waiting = [one for one in found if one.state in {GenerationState.READY, GenerationState.BUILDING}]
        if not waiting:
            raise errors.IndexError(
                f"The index {self._index.name!r} has no vectors of another model to switch to. Build them first: "
                "pagelight reembed --model PROVIDER:MODEL"
            )
        return waiting[-1]


def _from(done: int, total: int, on_progress: OnProgress) -> Callable[[int], None]:
    """Reports what is new on top of what was `done` before."""
    return lambda new: on_progress(STAGE, done + new, total)


def _unknown(index: Index, generation: int) -> errors.NotFoundError:
    return errors.NotFoundError(
        f"The index {index.name!r} has no generation {generation}. List them: pagelight reembed"
    )


def _changing(index: Index) -> errors.IndexError:
    return errors.IndexError(
        f"Documents of the index {index.name!r} change faster than they can be embedded anew. What is embedded is "
        "kept: try again when fewer are being added."
    )
