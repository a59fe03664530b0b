"""Validate the arguments and build the results of `RAGEngine.ingest`, `query` and `delete`."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rag import errors, types

BY_SIMILARITY = types.RetrievalOptions(top_k=5, min_score=0.5, mode="vector", passage="chunk")
"""Retrieval options of `RAGEngine.query`: single chunks, scored by cosine similarity."""

MIN_QUERY_CHARS = 3


def require_list(field: str, values: object) -> list[str]:
    """Return `values` as strings. Raises ValidationError if it is empty or no list."""
    if isinstance(values, str) or not isinstance(values, Collection) or not values:
        raise errors.ValidationError(f"{field} must be a list with at least one entry.", details={"field": field})
    return [str(value) for value in values]


def require_query(text: object) -> str:
    """Return a query without surrounding white space. Raises ValidationError if it is too short or no text."""
    stripped = text.strip() if isinstance(text, str) else ""
    if len(stripped) < MIN_QUERY_CHARS:
        raise errors.ValidationError(
            f"query_text must be a text of at least {MIN_QUERY_CHARS} characters.", details={"field": "query_text"}
        )
    return stripped


def ingest_result(paths: Sequence[str], reports: Sequence[types.FileReport]) -> dict[str, Any]:
    """Return the result of `RAGEngine.ingest`."""
    failed = [path for path, report in zip(paths, reports, strict=True) if report.state == "failed"]
    return {
        "ingested_count": len(paths) - len(failed),
        "failed_count": len(failed),
        "chunk_count": sum(report.chunks for report in reports),
        "failed_files": failed,
    }


def delete_result(
    references: Sequence[str], found: Mapping[str, Sequence[uuid.UUID]], touched: Sequence[uuid.UUID]
) -> dict[str, Any]:
    """Return the result of `RAGEngine.delete`."""
    done = [reference for reference in references if set(found.get(reference, ())) & set(touched)]
    return {
        "deleted_count": len(touched),
        "deleted_ids": done,
        "not_found_ids": [reference for reference in references if reference not in done],
    }
