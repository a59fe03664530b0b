"""An answer beside the one that its question gets now, and why they differ."""

import datetime as dt
from enum import StrEnum
from typing import Literal

from rag.types.answers import AnswerResponse
from rag.types.text import Model


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
