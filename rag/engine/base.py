"""What every part of the engine stands on: a user, and what that user's process shares."""

from collections.abc import Mapping
from typing import Self

from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.llms import LLM

from rag import errors, providers
from rag.config import Config, load_config
from rag.engine.folders import Folders, find_index
from rag.engine.library import Library
from rag.engine.resources import Resources
from rag.store import FileStore, Store
from rag.types import DEFAULT_INDEX, LOCAL_USER, EmbeddingSpace, Index


class EngineBase:
    """One user's connections, models and indexes, each opened when first used."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        user_id: str = LOCAL_USER,
        store: Store | None = None,
        files: FileStore | None = None,
        embedders: Mapping[EmbeddingSpace, embeddings.BaseEmbedding] | None = None,
        llm: LLM | None = None,
        reranker: providers.CrossEncoder | None = None,
        registry: providers.Registry | None = None,
    ) -> None:
        resources = Resources(
            config or load_config(),
            store=store,
            files=files,
            embedders=embedders,
            llm=llm,
            reranker=reranker,
            registry=registry,
        )
        self._bind(resources, user_id)

    def _bind(self, resources: Resources, user_id: str) -> None:
        if not user_id:
            raise errors.ValidationError("A user is needed: user_id is empty.")
        self._resources = resources
        self.user_id = user_id
        self._library = Library(resources, user_id)
        self._folders = Folders(resources, self._library, user_id)

    def for_user(self, user_id: str) -> Self:
        """The same connections and models for another user."""
        other = object.__new__(type(self))
        other._bind(self._resources, user_id)
        return other

    def close(self) -> None:
        """Give back connections; every engine over the same resources is closed with it."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._resources.config

    def index(self, name: str = DEFAULT_INDEX) -> Index:
        """The index called `name`, or with this id; created empty if there is none.

        Raises:
            errors.IndexError: `RAG_EMBED_MODEL` names another embedding model than the one its documents have.
        """
        try:
            index = find_index(self._resources, self.user_id, name)
        except errors.NotFoundError:
            return self._create_index(name)
        if self.config.rag_embed_model and self._resources.preferred_space() != index.space:
            return self._create_index(index.name)
        return index

    def _asked(self, name: str) -> Index:
        """The index that a request names: it is not made by asking, but for the default one.

        An index of another name is searched with the model that it was built with, whatever `RAG_EMBED_MODEL` says.
        """
        return self.index() if name == DEFAULT_INDEX else find_index(self._resources, self.user_id, name)

    def _create_index(self, name: str) -> Index:
        return self._resources.store.indexes.ensure(
            self.user_id, name, self._resources.preferred_space(), self.config.rag_chunking
        )

    def indexes(self) -> list[Index]:
        """All indexes of this user."""
        return self._resources.store.indexes.list(self.user_id)
