"""Conversations, their messages, and reruns of saved answers."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Annotated, Literal

import pydantic

from rag.messages import N_
from rag.types.answers import AnswerResponse
from rag.types.base import IN_READING_ORDER, TEXT, Model

ConversationTitle = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=TEXT), IN_READING_ORDER]


class Conversation(Model):
    """A conversation of a user about one index, which `index_owner` shares unless it is the user's own.

    `sources` are what was ticked in the app when it began: ids of documents, and groups such as `tag:council`, which
    have other documents later than `document_ids`.
    """

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    index_owner: str | None = None
    title: str
    document_ids: tuple[uuid.UUID, ...] = ()
    sources: tuple[str, ...] = pydantic.Field(default=(), exclude_if=lambda sources: not sources)
    pinned: bool = False
    created_at: dt.datetime
    updated_at: dt.datetime


class ConversationEdit(Model):
    """A new title, or whether the chat is pinned to the top of the list."""

    title: ConversationTitle | None = None
    pinned: bool | None = None


class FoundConversation(Model):
    """A search result among conversations: an excerpt around the match and its message, None for the title."""

    conversation: Conversation
    message_id: uuid.UUID | None
    excerpt: str


Rating = Literal["good", "bad"]


class Feedback(Model):
    """A rating of an answer, null to remove it, and its reason."""

    rating: Rating | None = None
    reason: str | None = pydantic.Field(default=None, max_length=2000, pattern=TEXT)


class ChatMessage(Model):
    """A saved message; an assistant's message includes its response, so that its citations can be shown.

    Without a response it is unfinished: being written, or broken off when the program ended.
    `versions` are the ids of all alternatives of the message, including its own, oldest first. `rating` and `reason`
    are the user's feedback on an answer.
    """

    id: uuid.UUID
    conversation_id: uuid.UUID
    role: Literal["user", "assistant"]
    content: str
    response: AnswerResponse | None = None
    created_at: dt.datetime
    versions: tuple[uuid.UUID, ...] = ()
    rating: Rating | None = None
    reason: str | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether this is an answer that is being written, or that broke off."""
        return self.role == "assistant" and self.response is None


class DifferenceKind(StrEnum):
    """The input of an answer that differs."""

    DOCUMENT = "document"
    LIBRARY = "library"
    INDEX = "index"
    PROMPT = "prompt"
    MODEL = "model"
    PARAMETER = "parameter"
    PROGRAM = "program"


class Difference(Model):
    """An input of an answer that changed; `message` describes the change."""

    kind: DifferenceKind
    message: str


ClaimState = Literal["same", "changed", "gone", "new"]


class ClaimChange(Model):
    """A claim compared between two answers; `same` means equal words and quotes."""

    state: ClaimState
    before: str | None = None
    after: str | None = None


class Rerun(Model):
    """A saved answer compared with the answer that its question gets now.

    `differences` are the changed inputs, None if the inputs of the saved answer were not recorded.
    """

    asked_at: dt.datetime
    same: bool
    differences: tuple[Difference, ...] | None
    claims: tuple[ClaimChange, ...]
    response: AnswerResponse

    @property
    def summary(self) -> str:
        """One sentence: whether the answer changed, and why."""
        if self.differences is None:
            reasons = N_("what the first answer was made from was not kept")
        else:
            reasons = "; ".join(one.message for one in self.differences)
        if self.same:
            return (
                N_("The same answer, though {_reasons}.").format(_reasons=reasons)
                if self.differences
                else N_("The same answer.")
            )
        if self.differences == ():
            return N_("Changed, though nothing that it is made from did: the model wrote it in another way.")
        return (
            N_("Changed because {_reasons}.").format(_reasons=reasons)
            if self.differences
            else N_("Changed; {_reasons}.").format(_reasons=reasons)
        )
