"""One user's part of what a process shares."""

import uuid
from typing import TYPE_CHECKING

from rag import errors
from rag.config import Config
from rag.engine.models import Models
from rag.engine.resources import Resources
from rag.store import AuditOfAllUsers, Queue, UserFiles, UserStore
from rag.types import DEFAULT_INDEX, Index, RequestOrigin

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.node_parser import NodeParser

UNKNOWN_ORIGIN = RequestOrigin()


class Workspace:
    """A user's rows and files, and the models and the queue that work on them. The user is bound here, once."""

    def __init__(self, resources: Resources, user_id: str, origin: RequestOrigin = UNKNOWN_ORIGIN) -> None:
        """`origin` is what the audit tells of where the user is."""
        if not user_id:
            raise errors.ValidationError("A user is needed: user_id is empty.")
        self._resources = resources
        self.user_id = user_id
        self.origin = origin

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._resources.config

    @property
    def models(self) -> Models:
        """The models."""
        return self._resources.models

    @property
    def node_parser(self) -> "NodeParser | None":
        """What cuts documents in the place of ours."""
        return self._resources.node_parser

    @property
    def store(self) -> UserStore:
        """What the user has in the database, which is opened if need be."""
        return self._resources.store.of(self.user_id, self.origin)

    @property
    def audit_of_all(self) -> AuditOfAllUsers:
        """What everybody did; only for who `administers`."""
        return self._resources.store.audit

    @property
    def files(self) -> UserFiles:
        """The user's originals and renditions."""
        return self._resources.files.of(self.user_id)

    @property
    def queue(self) -> Queue:
        """Where work for the background is put."""
        return self._resources.store.queue

    def find_index(self, name: str) -> Index:
        """The index of this name or id. Raises NotFoundError."""
        return self.store.indexes.find(name)

    @property
    def administers(self) -> bool:
        """Whether the user is an admin: by the settings, or by role."""
        return self.user_id in self.config.admins or self.store.account.get().role.may_administer

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether an index is one that another shares with this user now."""
        return any(shared.index.id == index_id for shared in self.store.shares.with_me())

    def ensure_index(self, name: str) -> Index:
        """The index of this name or id, made empty if there is none.

        Raises:
            errors.IndexError: `RAG_EMBED_MODEL` names another embedding model than the one its documents have.
        """
        try:
            index = self.find_index(name)
        except errors.NotFoundError:
            return self.renew_index(name)
        if self.config.rag_embed_model and self.models.preferred_space() != index.space:
            return self.renew_index(index.name)
        return index

    def asked_index(self, name: str) -> Index:
        """The index that a request names: it is not made by asking, but for the default one.

        An index of another name is searched with the model that it was built with, whatever `RAG_EMBED_MODEL` says.
        """
        return self.ensure_index(name) if name == DEFAULT_INDEX else self.find_index(name)

    def renew_index(self, name: str) -> Index:
        """The index of this name, made if there is none; an empty one takes on the settings of new ones.

        Raises:
            errors.IndexError: it has documents, and their vectors are of another model.
        """
        return self.store.indexes.ensure(name, self.models.preferred_space(), self.config.rag_chunking)
