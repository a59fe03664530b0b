"""Conversations, their messages, and reruns of saved answers."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Literal

from rag.types.answers import AnswerResponse
from rag.types.base import Model


class Conversation(Model):
    """A chat of one user over one index: their own, or one of `index_owner`, who shares it."""

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    index_owner: str | None = None
    title: str
    document_ids: tuple[uuid.UUID, ...] = ()
    pinned: bool = False
    created_at: dt.datetime
    updated_at: dt.datetime


class FoundConversation(Model):
    """A chat that was found, with the words around what was found and the turn they are of, None for the title."""

    conversation: Conversation
    message_id: uuid.UUID | None
    excerpt: str


Rating = Literal["good", "bad"]


class ChatMessage(Model):
    """A kept turn; an assistant's turn keeps its whole response, so that its citations light up again.

    `versions` are the ids of the turns that stand in the same place, its own among them, in the order in which they
    were made. `rating` is what the user thinks of an answer, `reason` why.
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


class DifferenceKind(StrEnum):
    """What an answer is made from."""

    DOCUMENT = "document"
    LIBRARY = "library"
    INDEX = "index"
    PROMPT = "prompt"
    MODEL = "model"
    PARAMETER = "parameter"
    PROGRAM = "program"


class Difference(Model):
    """Something that an answer is made from and that is not as it was; `message` says it in words."""

    kind: DifferenceKind
    message: str


ClaimState = Literal["same", "changed", "gone", "new"]


class ClaimChange(Model):
    """A claim of the earlier answer, of the later one, or of both. The same is one with the same words and quotes."""

    state: ClaimState
    before: str | None = None
    after: str | None = None


class AskedAgain(Model):
    """An answer beside the one that its question gets now.

    `differences` are those in what they were made from; None: it was not kept then what the answer was made from.
    """

    asked_at: dt.datetime
    same: bool
    differences: tuple[Difference, ...] | None
    claims: tuple[ClaimChange, ...]
    response: AnswerResponse

    @property
    def summary(self) -> str:
        """In a sentence: the same, or changed and because of what."""
        if self.differences is None:
            reasons = "what the first answer was made from was not kept"
        else:
            reasons = "; ".join(one.message for one in self.differences)
        if self.same:
            return f"The same answer, though {reasons}." if self.differences else "The same answer."
        if self.differences == ():
            return "Changed, though nothing that it is made from did: the model wrote it in another way."
        return f"Changed because {reasons}." if self.differences else f"Changed; {reasons}."
