"""Evaluate retrieval and answers of an index on the user's own questions, and compare past evaluations."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag import errors, evaluation, types
from rag.engine.library.pages import Pages
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Workspace
from rag.evaluation import Question
from rag.messages import N_

CUTOFFS = (1, 3, 5, 10)
"""Ranks at which retrieval is scored."""


@dataclass(frozen=True)
class Corpus:
    """The documents to ask, by file name.

    `everything` filters a search over all of them; None if there is nothing to search.
    """

    index_name: str
    ids: Mapping[str, uuid.UUID]
    everything: types.Filters | None

    def filters(self, question: Question, scope: evaluation.EvaluationScope) -> types.Filters | None:
        """Return the filters for a question; None if its document is missing."""
        if scope == "corpus":
            return self.everything
        own = self.ids.get(question.file_name)
        return types.Filters(document_ids=(own,)) if own else None


class Evaluation:
    """Asks questions of a whole corpus, or each of its own document."""

    def __init__(
        self, questions: Questions, pages: Pages, corpus: Corpus, scope: evaluation.EvaluationScope = "corpus"
    ) -> None:
        self._questions = questions
        self._pages = pages
        self._corpus = corpus
        self._scope = scope

    def search(
        self,
        asked: Sequence[Question],
        options: types.RetrievalOptions,
        on_progress: types.OnProgress,
        remember: evaluation.Checkpoint = evaluation.no_checkpoint,
    ) -> list[evaluation.retrieval.ResultRow]:
        """Search for each question. Raises as `Questions.search`."""

        def find(question: Question) -> Sequence[types.Hit] | None:
            narrowed = self._narrowed(question, options)
            if narrowed is None:
                return None
            request = types.SearchRequest(
                index_name=self._corpus.index_name, query=question.question, retrieval=narrowed
            )
            return self._questions.search(request).results

        return evaluation.retrieval.ask(asked, find, on_progress, remember)

    def answer(
        self,
        asked: Sequence[Question],
        options: types.RetrievalOptions,
        generation: types.GenerationOptions,
        on_progress: types.OnProgress,
        remember: evaluation.Checkpoint = evaluation.no_checkpoint,
    ) -> list[evaluation.answers.AnswerRow]:
        """Answer each question. Raises as `Questions.answer`."""

        def reply(question: Question) -> types.AnswerResponse | None:
            narrowed = self._narrowed(question, options)
            if narrowed is None:
                return None
            request = types.AnswerRequest(
                index_name=self._corpus.index_name,
                question=question.question,
                retrieval=narrowed,
                generation=generation,
            )
            return self._questions.answer(request)

        return evaluation.answers.ask(asked, reply, on_progress, remember)

    def lookups(self, asked: Sequence[Question]) -> set[str]:
        """Return the ids of questions whose answer is on a gold page word for word."""
        return {question.id for question in asked if self._is_lookup(question)}

    def _is_lookup(self, question: Question) -> bool:
        own = self._corpus.ids.get(question.file_name)
        if own is None:
            return False
        return evaluation.answers.is_lookup(question, lambda number: self._pages.text(own, [number]).text)

    def _narrowed(self, question: Question, options: types.RetrievalOptions) -> types.RetrievalOptions | None:
        filters = self._corpus.filters(question, self._scope)
        return None if filters is None else options.model_copy(update={"filters": filters})


def evaluate(
    request: evaluation.EvaluationRequest,
    documents: list[types.Document],
    questions: Questions,
    pages: Pages,
    on_progress: types.OnProgress,
    *,
    remember: evaluation.Checkpoint,
) -> dict[str, Any]:
    """Ask all questions that `remember` does not know, and score the results.

    Returns:
        `subject` and `scope` as requested; `measures`, `intervals` and more of `evaluation.Scores` or `AnswerScores`;
        `missing`, names of documents that are not in the index; and `questions`, each with `id`, text, document, gold
            pages
        and result: for retrieval the `rank` of the first hit on a gold page (or None) and the page `found` first; for
        answers the `status`, the `mistake` (or None) and the page `found` first.
    """
    ids = {document.name: document.id for document in documents if document.status is types.DocumentStatus.READY}
    corpus = Corpus(request.index_name, ids, request.retrieval.filters)
    asking = Evaluation(questions, pages, corpus, request.scope)
    evaluated = _answers if request.subject == "answers" else _retrieval
    return {
        "subject": request.subject,
        "scope": request.scope,
        **evaluated(request, asking, on_progress, remember),
        "missing": sorted({question.file_name for question in request.questions} - ids.keys()),
    }


def _retrieval(
    request: evaluation.EvaluationRequest,
    asking: Evaluation,
    on_progress: types.OnProgress,
    remember: evaluation.Checkpoint,
) -> dict[str, Any]:
    rows = asking.search(request.questions, request.retrieval, on_progress, remember)
    best = {row.id: row for row in rows if row.rank == 1}
    outcomes = [
        {"rank": evaluation.retrieval.first_rank(question, rows), "found": _page(best.get(question.id))}
        for question in request.questions
    ]
    scores = evaluation.retrieval.score(request.questions, rows, CUTOFFS)
    return {**scores.to_json(), "questions": _question_results(request, outcomes)}


def _answers(
    request: evaluation.EvaluationRequest,
    asking: Evaluation,
    on_progress: types.OnProgress,
    remember: evaluation.Checkpoint,
) -> dict[str, Any]:
    rows = asking.answer(request.questions, request.retrieval, request.generation, on_progress, remember)
    answered = {row.id: row for row in rows}
    outcomes = [_outcome(question, answered.get(question.id)) for question in request.questions]
    scores = evaluation.answers.score(request.questions, rows, asking.lookups(request.questions))
    return {**scores.to_json(), "questions": _question_results(request, outcomes)}


def _outcome(question: Question, row: evaluation.answers.AnswerRow | None) -> dict[str, Any]:
    if row is None:
        return {"status": None, "mistake": None, "found": None}
    first = next(iter(row.shown), None)
    return {"status": row.status, "mistake": evaluation.answers.mistake(question, row), "found": _page(first)}


def _page(found: evaluation.retrieval.ResultRow | evaluation.answers.CitedPage | None) -> dict[str, Any] | None:
    return {"pdf": found.pdf, "page": found.page} if found else None


def _question_results(
    request: evaluation.EvaluationRequest, outcomes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {
            "id": question.id,
            "question": question.question,
            "pdf": question.file_name,
            "goldPages": question.gold_pages,
            **outcome,
        }
        for question, outcome in zip(request.questions, outcomes, strict=True)
    ]


MAX_RUNS = 200


class EvaluationRuns:
    """One user's finished evaluations."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, *, most: int = MAX_RUNS) -> builtins.list[types.EvaluationRun]:
        """Return the latest runs with their measures, latest first."""
        return self._workspace.store.evaluation_runs.list(most=most)

    def compare(self, before: uuid.UUID, after: uuid.UUID) -> builtins.list[evaluation.ComparedQuestion]:
        """Compare two runs question by question. See `evaluation.compare`.

        Raises:
            errors.NotFoundError: there is no such evaluation.
            errors.ValidationError: one is unfinished, or they have different subjects.
        """
        results = [self._workspace.store.jobs.get(job_id).result for job_id in (before, after)]
        if any(result is None or "subject" not in result for result in results):
            raise errors.ValidationError(
                N_("Only evaluations that are done are compared. Wait for them, or measure again.")
            )
        return evaluation.compare(*(result or {} for result in results))
