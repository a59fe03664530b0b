"""Indexes: what there is, what they hold, and the models that serve them."""

from rag import providers
from rag.engine.generations import Generations
from rag.engine.workspace import Workspace
from rag.types import DEFAULT_INDEX, Index, IndexStats

CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"


class Indexes:
    """One user's indexes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> list[Index]:
        """All indexes by name."""
        return self._workspace.store.indexes.list()

    def ensure(self, name: str = DEFAULT_INDEX) -> Index:
        """The index called `name`, or with this id; made empty if there is none.

        Raises:
            errors.IndexError: `RAG_EMBED_MODEL` names another embedding model than the one its documents have.
        """
        return self._workspace.ensure_index(name)

    def stats(self, name: str = DEFAULT_INDEX) -> IndexStats:
        """What an index holds. Raises NotFoundError if there is none of this name or id."""
        return self._workspace.store.indexes.stats(self._workspace.asked_index(name).id)

    def models(self, name: str = DEFAULT_INDEX) -> dict[str, str]:
        """Which model embeds, which one writes answers, and which one orders candidates anew, as `provider:model`."""
        llm = self._workspace.models.language_model()
        return {
            "embedding": self._workspace.ensure_index(name).space.name,
            "answers": llm.metadata.model_name if llm else providers.EXTRACTIVE,
            "reranking": CROSS_ENCODER,
        }

    def generations(self, name: str = DEFAULT_INDEX) -> Generations:
        """The embedding models whose vectors an index has, and the ways to another. Raises NotFoundError."""
        return Generations(self._workspace, self._workspace.find_index(name))
