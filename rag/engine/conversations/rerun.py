"""Re-run the question of a saved answer, and report the differences."""

import uuid
from collections.abc import Sequence

from rapidfuzz import fuzz

from rag import answering, errors, types
from rag.engine.conversations.chats import Chats
from rag.engine.conversations.provenance import differences
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Workspace
from rag.messages import N_

SAME_CLAIM = 60.0
"""Minimum similarity (0..100) of a changed sentence, whose figures may differ."""


def rerun(
    workspace: Workspace, chats: Chats, questions: Questions, conversation_id: uuid.UUID, message_id: uuid.UUID
) -> types.Rerun:
    """Answer the question of a saved answer again with the same options, and compare. Nothing is saved.

    Raises NotFoundError if there is no such answer. And as `Questions.answer`.
    """
    question, kept, before = find_answer(chats.messages(conversation_id), message_id)
    after = questions.answer(_same_request(chats, conversation_id, question, before))
    claims = compare_claims(before, after)
    return types.Rerun(
        asked_at=kept.created_at,
        same=before.status == after.status and all(one.state == "same" for one in claims),
        differences=differences(before, after, workspace),
        claims=claims,
        response=after,
    )


def _same_request(
    chats: Chats, conversation_id: uuid.UUID, question: str, before: types.AnswerResponse
) -> types.AnswerRequest:
    """Return the original request; defaults are used for an answer without provenance."""
    made = before.provenance
    if made is None:
        request = chats.request(conversation_id, before.question or question)
        options = request.options.model_copy(update={"use_cache": False})
        return request.model_copy(update={"history": (), "options": options})
    return types.AnswerRequest(
        index_name=str(made.index_id),
        question=made.question,
        retrieval=types.RetrievalOptions.model_validate(made.retrieval.model_dump(exclude_none=True)),
        generation=types.GenerationOptions.model_validate(made.writing),
        options=types.AnswerOptions.model_validate({**made.answering, "use_cache": False}),
    )


def find_answer(
    messages: Sequence[types.ChatMessage], message_id: uuid.UUID
) -> tuple[str, types.ChatMessage, types.AnswerResponse]:
    """Return the question, the turn and the response of a saved answer. Raises NotFoundError."""
    question = ""
    for message in messages:
        if message.id == message_id and message.response is not None:
            return question, message, message.response
        if message.role == "user":
            question = message.content
    raise errors.NotFoundError(
        N_("There is no answer {id}. List the conversation's turns and check the id."), id=message_id
    )


def compare_claims(before: types.AnswerResponse, after: types.AnswerResponse) -> tuple[types.ClaimChange, ...]:
    """Compare the claims of two answers: those of the later one in order, then those that are gone."""
    old, new = _claims(before), _claims(after)
    unmatched = [*old]
    for claim in new:
        if claim in unmatched:
            unmatched.remove(claim)
    changes: list[types.ClaimChange] = []
    for claim in new:
        if claim in old:
            old.remove(claim)
            changes.append(types.ClaimChange(state="same", before=claim[0], after=claim[0]))
            continue
        was = max(unmatched, key=lambda one: fuzz.ratio(one[0], claim[0]), default=None)
        if was is None or fuzz.ratio(was[0], claim[0]) < SAME_CLAIM:
            changes.append(types.ClaimChange(state="new", after=claim[0]))
        else:
            unmatched.remove(was)
            changes.append(types.ClaimChange(state="changed", before=was[0], after=claim[0]))
    return (*changes, *(types.ClaimChange(state="gone", before=claim[0]) for claim in unmatched))


def _claims(response: types.AnswerResponse) -> list[tuple[str, tuple[str, ...]]]:
    """Return the proved claims: each statement with its quotes."""
    shown = answering.drop_struck(response)
    quotes: dict[int, list[str]] = {}
    for citation in shown.citations:
        quotes.setdefault(citation.sentence, []).append(" ".join((citation.quote or "").split()))
    return [
        (" ".join(sentence.text.split()), tuple(quotes.get(number, ())))
        for number, sentence in enumerate(shown.sentences)
        if sentence.support is not None or number in quotes
    ]
