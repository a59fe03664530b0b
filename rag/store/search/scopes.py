"""A scope as parameters of SQL."""

import re

from rag.types import Scope


def parameters(scope: Scope) -> dict[str, object]:
    """What the SQL function `documents_in_scope` takes, and the patterns of `must_include`; None means no filter."""
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
    """A regular expression of PostgreSQL that matches the words, however much space or line end is between them."""
    return r"\s+".join(map(re.escape, words.split()))
