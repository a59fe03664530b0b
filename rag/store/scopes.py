"""A scope as parameters of SQL."""

from rag.types import Scope


def parameters(scope: Scope) -> dict[str, object]:
    """What the SQL function `documents_in_scope` takes, to be bound; None means no filter."""
    filters = scope.filters
    return {
        "user_id": scope.user_id,
        "index_id": scope.index_id,
        "document_ids": [*filters.document_ids] or None,
        "mime_types": [*filters.mime_types] or None,
        "sources": [*filters.sources] or None,
        "source_prefix": filters.source_prefix or None,
    }
