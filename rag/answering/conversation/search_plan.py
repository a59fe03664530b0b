"""Have a language model complete a question and plan the searches that its answer needs."""

import contextlib
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import pydantic

from rag import errors, prompts, providers, retrieval, types
from rag.answering.conversation.followups import CONDENSED_MESSAGE_CHARS, conversation_turns
from rag.answering.text.json_replies import INTEGER, TEXT, closed_object, list_of, read_object

MAX_SEARCHES = 12
"""Maximum number of searches for one question: one for each of so many compared documents."""

MAX_LISTED = 60
"""Maximum number of documents that the model chooses from."""

MAX_ABOUT_CHARS = 160
"""Maximum length of what the model is told that a document is about."""

PLAN_TOKENS = 1500
"""Most tokens of a plan."""


class PlannedSearch(pydantic.BaseModel):
    """A text to search for, and the numbers of the documents to search, counted from 1; empty for all."""

    text: Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    documents: tuple[int, ...] = ()


class SearchPlan(NamedTuple):
    """A question that needs no conversation, "" if the model gave none, and the searches that its answer needs."""

    question: str
    searches: tuple[PlannedSearch, ...]


_SEARCH = closed_object({"text": TEXT, "documents": list_of(INTEGER)})
PLAN_SCHEMA = closed_object({"question": TEXT, "searches": list_of(_SEARCH)})
"""The reply to `prompts.PLAN_SEARCHES`, where a server takes a schema."""


def plan_searches(
    question: str,
    history: Sequence[types.Message],
    documents: Sequence[types.DocumentNames],
    completions: retrieval.Completions,
) -> SearchPlan | None:
    """Return the plan of a language model for `question` after `history`; None if it gives none that can be read.

    Of documents that its window has no room for, it is told the number.
    """
    lines = [f"{number}. {_described(one)}" for number, one in enumerate(documents[:MAX_LISTED], start=1)]

    def prompt(chars: int) -> str:
        left_out = len(documents) - len(lines)
        more = [prompts.MORE_DOCUMENTS.format(count=left_out)] if left_out else []
        return prompts.PLAN_SEARCHES.format(
            most=MAX_SEARCHES,
            documents="\n".join([*lines, *more]),
            conversation="\n".join(conversation_turns(history, chars)) or prompts.NO_CONVERSATION,
            question=question,
        )

    request = completions.longest(prompt, CONDENSED_MESSAGE_CHARS)
    while lines and providers.remaining_tokens(completions.llm, request) < 0:
        del lines[len(lines) // 2 :]
        request = completions.longest(prompt, CONDENSED_MESSAGE_CHARS)
    try:
        return _read(completions.complete("plans", request, PLAN_SCHEMA, is_usable=_read))
    except errors.ProviderError:  # the answer's own request says what is wrong, if it fails as well
        return None


def _read(reply: str) -> SearchPlan | None:
    """Read a model's reply; what it says wrongly of one search leaves the others."""
    plan = read_object(reply)
    question, rows = " ".join(str(plan.get("question") or "").split()), plan.get("searches")
    if not isinstance(rows, list):
        return None
    searches = []
    for row in rows[:MAX_SEARCHES]:
        with contextlib.suppress(pydantic.ValidationError):
            searches.append(PlannedSearch.model_validate(row))
    if not searches and (rows or not question):
        return None
    return SearchPlan(question if len(question) <= types.MAX_QUESTION_CHARS else "", tuple(searches))


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
