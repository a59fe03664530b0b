"""One user's rows, files, models and queue."""

import uuid
from functools import cached_property
from typing import TYPE_CHECKING

from rag import errors, types
from rag.engine.resources import Resources
from rag.messages import N_
from rag.store import AuditOfAllUsers, Queue, UserFiles, UserStore

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.node_parser import NodeParser

UNKNOWN_ORIGIN = types.RequestOrigin()


class Workspace:
    """The resources of one user; the user is bound here, once."""

    def __init__(self, resources: Resources, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> None:
        """Bind a user; `origin` is recorded in the audit log."""
        if not user_id:
            raise errors.ValidationError(N_("A user is needed: user_id is empty."))
        self._resources = resources
        self.config = resources.config
        self.models = resources.models
        self.node_parser = resources.node_parser  # replaces our chunking, if one was given
        self.user_id = user_id
        self.origin = origin

    @cached_property
    def store(self) -> UserStore:
        """The user's rows in the database, which is opened on first use."""
        return self._resources.store.of(self.user_id, self.origin)

    @property
    def audit_of_all_users(self) -> AuditOfAllUsers:
        """The audit log of all users; for admins only."""
        return self._resources.store.audit

    @property
    def files(self) -> UserFiles:
        """The user's originals and renditions."""
        return self._resources.files.of(self.user_id)

    @property
    def queue(self) -> Queue:
        """The queue of background work."""
        return self._resources.store.queue

    def find_index(self, name: str) -> types.Index:
        """Return an index by name or id. Raises NotFoundError."""
        return self.store.indexes.find(name)

    @property
    def is_admin(self) -> bool:
        """Whether the user is an admin, by the settings or by role."""
        return self.user_id in self.config.admins or self.store.account.get().role.may_administer

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether another user shares the index with this user now."""
        return any(shared.index.id == index_id for shared in self.store.shares.with_me())

    def ensure_index(self, name: str) -> types.Index:
        """Return an index by name or id; create it if there is none.

        Raises IndexError if `RAG_EMBED_MODEL` names another embedding model than the one of its documents.
        """
        try:
            index = self.find_index(name)
        except errors.NotFoundError:
            return self.create_or_update_index(name)
        if self.config.rag_embed_model and self.models.default_space() != index.space:
            return self.create_or_update_index(index.name)
        return index

    def requested_index(self, name: str) -> types.Index:
        """Return the index that a request names. Only the default index is created on demand.

        Other indexes are searched with the model they were built with, whatever `RAG_EMBED_MODEL` says.
        """
        return self.ensure_index(name) if name == types.DEFAULT_INDEX else self.find_index(name)

    def create_or_update_index(self, name: str) -> types.Index:
        """Create an index, or apply the current settings to an empty one.

        Raises IndexError if it has documents with vectors of another model.
        """
        return self.store.indexes.ensure(name, self.models.default_space(), self.config.rag_chunking)
