"""Evaluations of an index on its user's own questions."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rag import evaluation
from rag.types import Document, DocumentStatus, Filters, Hit, OnProgress, SearchRequest, SearchResponse

CUTOFFS = (1, 3, 5, 10)
"""Hits that are looked at."""


def evaluate(
    request: evaluation.EvaluationRequest,
    documents: list[Document],
    search: Callable[[SearchRequest], SearchResponse],
    on_progress: OnProgress,
) -> dict[str, Any]:
    """Ask all questions and score what is found.

    Returns:
        `measures` and `intervals` as `rag.evaluation.Scores` has them; `missing`, names of documents that are not in
        the index; and for each question under `questions` its `id` and the `rank` of its first hit on a gold page,
        None if there is no such hit.
    """
    ids = {document.name: document.id for document in documents if document.status is DocumentStatus.READY}

    def find(question: evaluation.Question) -> Sequence[Hit] | None:
        filters = _filters(request, question, ids)
        if filters is None:
            return None
        options = request.retrieval.model_copy(update={"filters": filters})
        asked = SearchRequest(index_name=request.index_name, query=question.question, retrieval=options)
        return search(asked).results

    rows = evaluation.ask(request.questions, find, on_progress)
    return {
        **evaluation.score(request.questions, rows, CUTOFFS).to_json(),
        "missing": sorted({question.file_name for question in request.questions} - ids.keys()),
        "questions": [
            {"id": question.id, "rank": evaluation.first_rank(question, rows)} for question in request.questions
        ],
    }


def _filters(
    request: evaluation.EvaluationRequest, question: evaluation.Question, ids: Mapping[str, uuid.UUID]
) -> Filters | None:
    """Where to search; None when the question's own document is not there."""
    if request.scope == "corpus":
        return request.retrieval.filters
    own = ids.get(question.file_name)
    return Filters(document_ids=(own,)) if own else None
