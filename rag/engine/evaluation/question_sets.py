"""Question sets with known answers for evaluations; rated answers can be added to them."""

import itertools
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag import answering, errors, types
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.evaluation import Question
from rag.messages import N_

FROM_CHATS = "From chats"
"""Default name of the set of rated answers."""


class _Named(types.Model):
    name: types.FilterName


class QuestionSets:
    """One user's question sets."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> list[types.QuestionSet]:
        """Return all sets in alphabetical order."""
        return self._workspace.store.evaluation_cases.list()

    def get(self, name: str) -> tuple[Question, ...]:
        """Return the questions of a set, oldest first. Raises NotFoundError."""
        found = self._workspace.store.evaluation_cases.get(name)
        if not found:
            raise errors.NotFoundError(
                N_("There is no question set “{name}”. List the question sets and check the name."), name=name
            )
        return tuple(Question.model_validate(one) for one in found)

    def add(self, name: str, question: Question | Mapping[str, Any]) -> Question:
        """Add a question to a set, creating the set if needed; it replaces the question with the same id.

        Raises ValidationError if the name is empty or too long, or the question is malformed.
        """
        named, kept = parse(_Named, {"name": name}).name, parse(Question, question)
        self._workspace.store.evaluation_cases.put(named, kept.id, kept.model_dump(mode="json", by_alias=True))
        return kept

    def remove(self, name: str, question_id: str) -> None:
        """Remove a question; a set is gone with its last one. Raises NotFoundError."""
        self._workspace.store.evaluation_cases.delete(name, question_id)

    def add_answered(
        self,
        conversation_id: uuid.UUID,
        message_id: uuid.UUID,
        *,
        name: str = FROM_CHATS,
        pages: Sequence[int] | None = None,
        answer: str | None = None,
    ) -> Question:
        """Add the question of a chat's answer. Its quotes count as right unless `pages` or `answer` are given.

        A refusal without them becomes an unanswerable question. An answer rated as wrong gives no gold pages. Raises
        NotFoundError if there is no such turn among the visible ones.
        """
        turns = self._workspace.store.conversations.messages(conversation_id)
        for asked, turn in itertools.pairwise(turns):
            if turn.id == message_id and turn.response:
                return self.add(name, _question_from_answer(asked.content, turn, turn.response, pages, answer))
        raise errors.NotFoundError(
            N_("There is no answer {id} in this chat. List its messages and check the id."), id=message_id
        )


def _question_from_answer(
    asked: str, turn: types.ChatMessage, response: types.AnswerResponse, pages: Sequence[int] | None, answer: str | None
) -> Question:
    is_right = turn.rating != "bad"
    is_given = bool(pages or answer)
    cited = response.cited if is_right else ()
    documents = [hit.document_name for hit in (*response.contexts, *response.nearest)]
    document = documents[0] if documents else ""
    quoted = [(citation, hit) for citation, hit in cited if hit.document_name == document]
    found = {citation.lines_in(hit)[0].page_number for citation, hit in quoted}
    return Question(
        id=str(turn.id),
        question=response.question or asked,
        pdf=document,
        gold_pages=tuple(pages) if pages else tuple(sorted(found)),
        answer=answer or (_answer_text(response) if is_right and response.status == "ok" else None),
        evidence=tuple(citation.quote for citation, _ in quoted if citation.quote),
        answerable=is_given or response.status == "ok" or not is_right,
    )


def _answer_text(response: types.AnswerResponse) -> str:
    """Return the answer text: the requested figure of a quoted table row, else the proved sentences."""
    rows = [citation.row for citation in response.citations if citation.row and citation.row.asked is not None]
    if len(rows) == 1 and rows[0].asked is not None:
        return rows[0].cells[rows[0].asked]
    return " ".join(answering.CITATION_MARK.sub("", answering.drop_struck(response).answer).split())
