"""Another embedding model for an index that has documents: built beside the old one, compared, switched, dropped.

The chunks stay what they are; each model's vectors for them are a generation. Which documents lack vectors in one is
asked of the database again and again until none does, so a build that was killed goes on where it was, and documents
that are added or replaced meanwhile are embedded before the switch.
"""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from rag import errors, evaluation, ingestion
from rag.engine.resources import Resources
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
    SearchResponse,
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

Search = Callable[[Index, SearchRequest], SearchResponse]


class Reembedding:
    """The generations of one index."""

    def __init__(self, resources: Resources, index: Index) -> None:
        self._resources = resources
        self._store = resources.store
        self._index = index
        self._user_id = index.user_id

    def generations(self) -> list[EmbeddingGeneration]:
        """All of them, oldest first."""
        return self._store.generations.list(self._user_id, self._index.id)

    # --- building ---

    def build(self, model: str, on_progress: OnProgress = ignore_progress) -> EmbeddingGeneration:
        """Give every chunk a vector of `model` beside the one it has, or go on with that.

        An exception that `on_progress` raises ends the build, which can be taken up again.
        """
        space = self._resources.named_space(model)
        generation = self._store.generations.add(self._user_id, self._index.id, space)
        self._complete(generation, on_progress)
        return next(found for found in self.generations() if found.generation == generation.generation)

    def _complete(self, generation: EmbeddingGeneration, on_progress: OnProgress) -> None:
        with self._store.generations.claim(self._user_id, self._index.id) as claimed:
            if not claimed:
                raise errors.IndexError(
                    f"Another process is re-embedding the index {self._index.name!r}. Let it finish, or stop it."
                )
            for _ in range(MOST_ROUNDS):
                missing = self._store.generations.missing(self._user_id, generation)
                if not missing:
                    return
                self._embed_all(missing, generation, on_progress)
        raise _changing(self._index)

    def _embed_all(
        self, document_ids: list[uuid.UUID], generation: EmbeddingGeneration, on_progress: OnProgress
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
        chunks = self._store.chunks.to_embed(self._user_id, document_id)
        vectors = ingestion.embed_cached(
            [ingestion.search_text(chunk) for chunk in chunks],
            store=self._store,
            user_id=self._user_id,
            space=generation.space,
            embedder=self._resources.embedder(generation.space),
            on_progress=lambda done, _total: on_progress(done),
        )
        added = self._store.chunks.add_vectors(
            self._user_id, document_id, generation.space, chunks=chunks, vectors=list(vectors)
        )
        return len(chunks) if added else 0

    def _present(self, generation: EmbeddingGeneration) -> EmbeddingGeneration:
        """The generation as it is now. Raises IndexError if it was dropped: that is how a build is cancelled."""
        for found in self.generations():
            if (found.generation, found.space) == (generation.generation, generation.space):
                return found
        raise errors.IndexError(
            f"The vectors of {generation.space.name} were dropped while they were built. Start again if you want them."
        )

    # --- choosing ---

    def compare(self, questions_file: Path, search: Search, generation: int | None = None) -> GenerationComparison:
        """Ask the questions of a file of the active generation and of another."""
        active, candidate = self._active(), self._beside(generation)
        if candidate.progress.done < candidate.progress.total:
            raise errors.IndexError(
                f"Not every chunk has a vector of {candidate.space.name} yet. Finish the build first: "
                f"pagelight reembed --model {candidate.space.name}"
            )
        documents = self._store.documents.list(self._user_id, self._index.id)
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
            active=self._score(active, questions, search),
            candidate=self._score(candidate, questions, search),
        )

    def _score(
        self, generation: EmbeddingGeneration, questions: list[evaluation.Question], search: Search
    ) -> GenerationScore:
        index = self._index.model_copy(update={"space": generation.space, "generation": generation.generation})
        options = RetrievalOptions(top_k=COMPARED_DEPTH, min_score=0.0)

        def find(question: evaluation.Question) -> Sequence[Hit]:
            request = SearchRequest(index_name=index.name, query=question.question, retrieval=options)
            return search(index, request).results

        rows = evaluation.ask(questions, find)
        measures = evaluation.score(questions, rows, (COMPARED_AT,))
        return GenerationScore(
            generation=generation, recall_at_5=measures[f"recall@{COMPARED_AT}"], mrr=measures["mrr"]
        )

    def switch(self, generation: int | None = None) -> Index:
        """Search with another generation from now on; documents that came since it was built are embedded first."""
        return self._switch(self._beside(generation))

    def rollback(self) -> Index:
        """Search with the generation that was searched before the last switch."""
        for found in self.generations():
            if found.state is GenerationState.RETIRED:
                return self._switch(found)
        raise errors.IndexError(
            f"The index {self._index.name!r} has no earlier vectors to go back to: it was never switched, or they were "
            "dropped."
        )

    def _switch(self, generation: EmbeddingGeneration) -> Index:
        self._resources.embedder(generation.space)  # raises here, and not in every search, if its key is missing
        for _ in range(MOST_ROUNDS):
            switched = self._store.generations.switch(self._user_id, generation)
            if switched is not None:
                return switched
            self._complete(generation, ignore_progress)
        raise _changing(self._index)

    def drop(self, generation: int | None = None) -> list[EmbeddingGeneration]:
        """Remove the vectors of one generation that is not in use, or of all such; returns what was there."""
        chosen = [found for found in self.generations() if found.state is not GenerationState.ACTIVE]
        if generation is not None:
            chosen = [found for found in self.generations() if found.generation == generation]
            if not chosen:
                raise _unknown(self._index, generation)
        for found in chosen:
            self._store.generations.drop(self._user_id, found)
        return chosen

    def _active(self) -> EmbeddingGeneration:
        return next(found for found in self.generations() if found.state is GenerationState.ACTIVE)

    def _beside(self, generation: int | None) -> EmbeddingGeneration:
        """The generation of that number; without one, the latest that has not been searched yet."""
        found = self.generations()
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
