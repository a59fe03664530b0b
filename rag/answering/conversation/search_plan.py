"""Have a language model complete a question and plan the searches that its answer needs."""

from collections.abc import Sequence
from typing import Annotated, Any

import pydantic

from rag import prompts, retrieval, types
from rag.answering.conversation.followups import CONDENSED_MESSAGE_CHARS, conversation_turns

MAX_SEARCHES = 12
"""Maximum number of searches for one question: one for each of so many compared documents."""

MAX_LISTED = 60
"""Maximum number of documents that the model chooses from."""

MAX_ABOUT_CHARS = 160
"""Maximum length of what the model is told that a document is about."""

_Text = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class PlannedSearch(pydantic.BaseModel):
    """A text to search for, and the numbers of the documents to search, counted from 1; empty for all."""

    text: _Text
    documents: tuple[int, ...] = ()


class SearchPlan(pydantic.BaseModel):
    """A question that needs no conversation, and the searches that its answer needs."""

    question: _Text
    searches: Annotated[tuple[PlannedSearch, ...], pydantic.AfterValidator(lambda searches: searches[:MAX_SEARCHES])]


PLAN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "searches": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "documents": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["text", "documents"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["question", "searches"],
    "additionalProperties": False,
}
"""The reply to `prompts.PLAN_SEARCHES`, where a server takes a schema."""


def plan_searches(
    question: str,
    history: Sequence[types.Message],
    documents: Sequence[types.DocumentNames],
    completions: retrieval.Completions,
) -> SearchPlan | None:
    """Return the plan of a language model for `question` after `history`; None if its reply is none.

    Raises:
        errors.ProviderError: the language model refuses or is down.
    """
    lines = [f"{number}. {_described(one)}" for number, one in enumerate(documents[:MAX_LISTED], start=1)]
    if len(documents) > MAX_LISTED:
        lines.append(prompts.MORE_DOCUMENTS.format(count=len(documents) - MAX_LISTED))
    listed = "\n".join(lines)

    def prompt(chars: int) -> str:
        conversation = "\n".join(conversation_turns(history, chars)) or prompts.NO_CONVERSATION
        return prompts.PLAN_SEARCHES.format(
            most=MAX_SEARCHES, documents=listed, conversation=conversation, question=question
        )

    reply = completions.complete("plans", completions.longest(prompt, CONDENSED_MESSAGE_CHARS), PLAN_SCHEMA)
    try:
        return SearchPlan.model_validate_json(reply[reply.find("{") : reply.rfind("}") + 1])
    except pydantic.ValidationError:
        return None


def chosen_documents(
    search: PlannedSearch, documents: Sequence[types.DocumentNames]
) -> tuple[types.DocumentNames, ...]:
    """Return those of the listed `documents` that a search names by number; empty for all."""
    numbers = dict.fromkeys(number for number in search.documents if 0 < number <= min(len(documents), MAX_LISTED))
    return tuple(documents[number - 1] for number in numbers)


def _described(document: types.DocumentNames) -> str:
    subject = document.subject
    told = [", ".join(subject.names), subject.kind or "", subject.period or ""]
    if document.title and document.title not in (document.name, *subject.names):
        told.insert(0, document.title)
    return " — ".join([document.name, *(" ".join(text.split())[:MAX_ABOUT_CHARS] for text in told if text)])
