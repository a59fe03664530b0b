"""Indexes: filled from folders, inspected, and given other embedding models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag import providers
from rag.engine.folders import find_index
from rag.engine.question_methods import QuestionMethods
from rag.engine.reembedding import Reembedding
from rag.engine.requests import parse
from rag.engine.sync import OnFile
from rag.types import (
    DEFAULT_INDEX,
    EmbeddingGeneration,
    GenerationComparison,
    GenerationOptions,
    Index,
    IndexRequest,
    IndexStats,
    OnProgress,
    SyncReport,
    ignore_progress,
)

CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"


class IndexMethods(QuestionMethods):
    """What can be done with a whole index."""

    def inspect_index(self, name: str = DEFAULT_INDEX) -> IndexStats:
        """What an index holds. Raises NotFoundError if there is none of this name or id."""
        return self._resources.store.indexes.stats(self.user_id, self._asked(name).id)

    def build_index(self, request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncReport:
        """Take a folder's files into an index; what is in it and no longer in the folder stays.

        `on_file` is called for each file as it is done. Raises as `Folders.take_in`.
        """
        return self._folders.take_in(parse(IndexRequest, request), remove=False, on_file=on_file)

    def sync_index(self, request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncReport:
        """Make an index follow a folder: new and changed files are read, documents of files that are gone are trashed.

        Files are compared by their content. Raises as `Folders.take_in`.
        """
        return self._folders.take_in(parse(IndexRequest, request), remove=True, on_file=on_file)

    def models(self, index_name: str = DEFAULT_INDEX) -> dict[str, str]:
        """Which model embeds, which one writes answers, and which one orders candidates anew, as `provider:model`."""
        space = self.index(index_name).space
        llm = self._resources.language_model(GenerationOptions())
        return {
            "embedding": f"{space.provider}:{space.model}",
            "answers": llm.metadata.model_name if llm else providers.EXTRACTIVE,
            "reranking": CROSS_ENCODER,
        }

    # --- another embedding model ---

    def embedding_generations(self, index_name: str = DEFAULT_INDEX) -> list[EmbeddingGeneration]:
        """The embedding models whose vectors an index has, oldest first; one of them is searched."""
        return self._reembedding(index_name).generations()

    def reembed(self, index_name: str, model: str, on_progress: OnProgress = ignore_progress) -> EmbeddingGeneration:
        """Build the vectors of `model` (`provider:model`) beside those that are searched, which stay as they are.

        Called again it goes on where it was. `on_progress` is told how many of how many chunks are done.

        Raises:
            errors.NotFoundError: there is no such index.
            errors.ValidationError: there is no such model.
            errors.IndexError: another process is at it, or the vectors were dropped meanwhile.
            errors.ProviderError: the vendor refuses; what is embedded is kept.
        """
        return self._reembedding(index_name).build(model, on_progress)

    def compare_generations(
        self, index_name: str, questions_file: Path, generation: int | None = None
    ) -> GenerationComparison:
        """How the searched vectors and others (the latest built, unless named) serve the questions of a JSONL file.

        Raises:
            errors.SourceError: the file cannot be read.
            errors.ValidationError: it has no question on a document of the index.
            errors.IndexError: there are no other vectors, or not all of them.
        """
        return self._reembedding(index_name).compare(questions_file, self._search_in, generation)

    def switch_generation(self, index_name: str = DEFAULT_INDEX, generation: int | None = None) -> Index:
        """Search with other vectors (the latest built, unless named) from the next search on.

        Documents that came since they were built are embedded first. Raises as `reembed`.
        """
        return self._reembedding(index_name).switch(generation)

    def rollback_generation(self, index_name: str = DEFAULT_INDEX) -> Index:
        """Undo the last switch. Raises IndexError if there was none, or the earlier vectors were dropped."""
        return self._reembedding(index_name).rollback()

    def drop_generation(
        self, index_name: str = DEFAULT_INDEX, generation: int | None = None
    ) -> list[EmbeddingGeneration]:
        """Remove vectors that are not searched, all of them unless one is named; a build of them ends.

        Raises:
            errors.IndexError: the named ones are searched.
        """
        return self._reembedding(index_name).drop(generation)

    def _reembedding(self, index_name: str) -> Reembedding:
        return Reembedding(self._resources, find_index(self._resources, self.user_id, index_name))

    def forget_provider(self, name: str) -> None:
        """Open a provider's embedding models anew when they are needed next: another adapter bears its name."""
        self._resources.forget_provider(name)
