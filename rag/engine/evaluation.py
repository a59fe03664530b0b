"""Evaluate retrieval and answers of an index on questions with known answers."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag import evaluation, types
from rag.engine.library.pages import Pages
from rag.engine.questions.questions import Questions
from rag.evaluation import Question


@dataclass(frozen=True)
class Corpus:
    """The documents to ask, by file name.

    `everything` filters a search over all of them; None if there is nothing to search.
    """

    index_name: str
    ids: Mapping[str, uuid.UUID]
    everything: types.Filters | None


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
        self, questions: Sequence[Question], options: types.RetrievalOptions, on_progress: types.OnProgress
    ) -> list[evaluation.retrieval.ResultRow]:
        """Search for each question. Raises as `Questions.search`."""

        def find(question: Question) -> Sequence[types.Hit] | None:
            narrowed = self._narrow(question, options)
            if narrowed is None:
                return None
            request = types.SearchRequest(
                index_name=self._corpus.index_name, query=question.question, retrieval=narrowed
            )
            return self._questions.search(request).results

        return evaluation.retrieval.ask(questions, find, on_progress)

    def answer(
        self,
        questions: Sequence[Question],
        options: types.RetrievalOptions,
        generation: types.GenerationOptions,
        on_progress: types.OnProgress,
    ) -> list[evaluation.answers.AnswerRow]:
        """Answer each question. Raises as `Questions.answer`."""

        def reply(question: Question) -> types.AnswerResponse | None:
            narrowed = self._narrow(question, options)
            if narrowed is None:
                return None
            request = types.AnswerRequest(
                index_name=self._corpus.index_name,
                question=question.question,
                retrieval=narrowed,
                generation=generation,
            )
            return self._questions.answer(request)

        return evaluation.answers.ask(questions, reply, on_progress)

    def _narrow(self, question: Question, options: types.RetrievalOptions) -> types.RetrievalOptions | None:
        filters = self._corpus.everything
        if self._scope == "document":
            document_id = self._corpus.ids.get(question.file_name)
            filters = types.Filters(document_ids=(document_id,)) if document_id else None
        return None if filters is None else options.model_copy(update={"filters": filters})

    def lookups(self, questions: Sequence[Question]) -> set[str]:
        """Return the ids of questions whose answer is on a gold page word for word."""
        return {question.id for question in questions if self._is_lookup(question)}

    def _is_lookup(self, question: Question) -> bool:
        document_id = self._corpus.ids.get(question.file_name)
        return document_id is not None and evaluation.answers.is_lookup(
            question, lambda number: self._pages.text(document_id, [number]).text
        )
