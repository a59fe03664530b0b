"""Turn a search scope into SQL parameters."""

import re

from rag import types


def parameters(scope: types.Scope) -> dict[str, object]:
    """Return the parameters of the SQL function `documents_in_scope` and the patterns of `must_include`.

    None means no filter.
    """
    filters = scope.filters
    patterns = [pattern(keyword) for keyword in scope.must_include] or None
    return {
        "index_id": scope.index_id,
        "document_ids": [*filters.document_ids] or None,
        "mime_types": [*filters.mime_types] or None,
        "sources": [*filters.sources] or None,
        "source_prefix": filters.source_prefix or None,
        "added_after": filters.added_after,
        "added_before": filters.added_before,
        "tags": [*filters.tags] or None,
        "author": filters.author or None,
        "dated_after": filters.dated_after,
        "dated_before": filters.dated_before,
        "must_all": patterns if scope.must_include_mode == "all" else None,
        "must_any": patterns if scope.must_include_mode == "any" else None,
    }


def pattern(words: str) -> str:
    """Return a PostgreSQL regular expression that matches the words with any whitespace between them."""
    return r"\s+".join(map(re.escape, words.split()))
