"""Indexes, their contents and their models."""

import shlex

from rag import errors, providers, types
from rag.engine.indexes.embedding_generations import EmbeddingGenerations
from rag.engine.workspace import Workspace
from rag.messages import N_

CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"


class Indexes:
    """One user's indexes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> list[types.Index]:
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

    def stats(self, name: str = types.DEFAULT_INDEX) -> types.IndexStats:
        """Return the statistics of an index. Raises NotFoundError."""
        stats = self._workspace.store.indexes.stats(self._workspace.requested_index(name).id)
        return stats.model_copy(update={"advice": self._advice(stats)})

    def _advice(self, stats: types.IndexStats) -> str | None:
        """Suggest a multilingual model if most chunks are in languages that the index's model does not support."""
        space = stats.index.space
        spoken = self._workspace.models.languages(space)
        foreign = sum(chunks for language, chunks in stats.languages.items() if language not in spoken)
        if not spoken or foreign * 2 <= sum(stats.languages.values()):
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
