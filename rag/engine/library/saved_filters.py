"""Saved filters, which requests refer to by name."""

from collections.abc import Mapping
from typing import Any, TypeVar

from rag import errors, types
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.store import UserStore

Request = TypeVar("Request", bound=types.RetrievalRequest)


class _Named(types.Model):
    name: types.FilterName


class SavedFilters:
    """One user's saved filters."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def save(self, name: str, filters: types.Filters | Mapping[str, Any]) -> types.SavedFilter:
        """Save filters under a name, replacing earlier ones.

        Raises ValidationError if the name is empty or too long, or the filters are malformed, empty, or refer to a
        saved filter themselves.
        """
        label, parsed = parse(_Named, {"name": name}).name, parse(types.Filters, filters)
        if parsed.saved is not None:
            raise errors.ValidationError(
                N_("A saved filter cannot name another. Give its fields instead."), details={"field": "saved"}
            )
        if parsed == types.Filters():
            raise errors.ValidationError(
                N_("The filter lets everything through. Give tags, an author, a date or another field."),
                details={"field": "filters"},
            )
        self._workspace.store.saved_filters.put(label, parsed)
        return types.SavedFilter(name=label, filters=parsed)


def resolve_filters(store: UserStore, filters: types.Filters) -> types.Filters:
    """Merge the saved filter that `filters` refer to; explicit fields take precedence. Raises NotFoundError."""
    if filters.saved is None:
        return filters
    explicit = {name: value for name, value in filters if name != "saved" and value}
    return store.saved_filters.get(filters.saved).filters.model_copy(update=explicit)


def resolve_saved_filter(store: UserStore, request: Request) -> Request:
    """Replace the name of a saved filter in `request` by its fields. Raises NotFoundError."""
    if request.retrieval.filters.saved is None:
        return request
    filters = resolve_filters(store, request.retrieval.filters)
    return request.model_copy(update={"retrieval": request.retrieval.model_copy(update={"filters": filters})})
