"""Kept answers: judged, taken along, marked in their documents, asked again, and shown to others."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors, export
from rag.engine.conversations.chats import Chats
from rag.engine.conversations.reports import ExportedFile, Reports
from rag.engine.conversations.rerun import Again, turn_of
from rag.engine.library.pages import MarkedCopy, Pages
from rag.engine.library.versions import Versions
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.types import AnswerLink, ChatMessage, LaterPlace, LinkRequest, Rating, Rerun, SharedAnswer


class Answers:
    """One user's kept answers."""

    def __init__(self, workspace: Workspace, chats: Chats, questions: Questions) -> None:
        self._workspace = workspace
        self._chats = chats
        self._questions = questions

    def later_places(self, messages: Sequence[ChatMessage]) -> Mapping[uuid.UUID, Mapping[int, LaterPlace]]:
        """What became of what kept answers quote in later versions, by the turn's id and the citation's number."""
        answers = {message.id: message.response for message in messages if message.response}
        return dict(zip(answers, Versions(self._workspace).later_places([*answers.values()]), strict=True))

    def rate(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, rating: Rating | None, reason: str | None = None
    ) -> None:
        """Keep what the user thinks of an answer and why, None for nothing. Raises NotFoundError."""
        self._workspace.store.conversations.rate(conversation_id, message_id, rating, reason)

    def export(
        self,
        conversation_id: uuid.UUID,
        format_name: export.ExportFormat,
        message_id: uuid.UUID | None = None,
        *,
        say: export.Say = str,
    ) -> ExportedFile:
        """A conversation, or one answer of it and its question, as a file with the evidence of each claim.

        What the file says besides is in English, or as `say` has it in another language.

        Raises:
            errors.NotFoundError: there is no such conversation or answer, or no answer in it yet.
            errors.UnreadableFileError: the file cannot be made.
        """
        title, messages = self._turns(conversation_id, message_id)
        return Reports(self._workspace).file(title, messages, format_name, say)

    def marked(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, document_id: uuid.UUID, *, whole: bool = False
    ) -> MarkedCopy:
        """The pages that an answer quotes of a document, or with `whole` all of it, each quote lit and with a note.

        It is to be kept elsewhere, which the audit tells.

        Raises:
            errors.NotFoundError: there is no such answer, it quotes nothing of the document, or that is gone.
        """
        _, kept = turn_of(self._chats.messages(conversation_id), message_id)
        if kept.response is None:
            raise errors.NotFoundError("This turn is no answer.")
        pages = Pages(self._workspace)
        copy = pages.marked(kept.response, document_id, whole=whole)
        pages.taken(document_id, copy)
        return copy

    def again(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> Rerun:
        """What a kept answer's question gets now, and what differs. See `Again.ask`."""
        return Again(self._workspace, self._chats, self._questions).ask(conversation_id, message_id)

    def _turns(self, conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> tuple[str, Sequence[ChatMessage]]:
        title, messages = self._chats.get(conversation_id).title, self._chats.messages(conversation_id)
        if message_id is None:
            return title, messages
        question, kept = turn_of(messages, message_id)
        asked = [one for one in messages[: messages.index(kept)] if one.role == "user"]
        return question or title, [*asked[-1:], kept]

    # --- shown to others ---

    def show(self, conversation_id: uuid.UUID, request: LinkRequest | Mapping[str, Any]) -> AnswerLink:
        """Show a conversation, or one answer of it, to a user or a group, read-only.

        They see it as long as they may read the collection that it is about, and it is not withdrawn.

        Raises:
            errors.ValidationError: the request is malformed, or it is the user's own.
            errors.NotFoundError: there is no such conversation or answer.
        """
        asked = parse(LinkRequest, request)
        if (asked.grantee_kind, asked.grantee) == ("user", self._chats.get(conversation_id).user_id):
            raise errors.ValidationError("This is your own conversation. Name somebody else.")
        return self._workspace.store.answer_links.give(conversation_id, asked)

    def shown(self, conversation_id: uuid.UUID | None = None) -> builtins.list[AnswerLink]:
        """What the user shows others, of one conversation or of all."""
        return self._workspace.store.answer_links.list(conversation_id)

    def withdraw(self, link_id: uuid.UUID) -> None:
        """Show it no longer, from this moment on. Raises NotFoundError."""
        if not self._workspace.store.answer_links.withdraw(link_id):
            raise errors.NotFoundError(f"There is no link {link_id}. List what you show others and check the id.")

    def with_me(self) -> builtins.list[SharedAnswer]:
        """What others show the user now, the latest first."""
        return self._workspace.store.answer_links.with_me()

    def shown_turns(self, link_id: uuid.UUID) -> builtins.list[ChatMessage]:
        """The turns of what another shows the user; of an answer that is held back only a word about that.

        Raises:
            errors.NotFoundError: nobody shows it to the user, or not any more.
        """
        turns = self._workspace.store.answer_links.turns(link_id)
        if not turns:
            raise errors.NotFoundError("This is not shown to you any more. Ask who gave you the link.")
        return [
            turn.message.model_copy(update={"content": HELD_BACK}) if turn.held_back else turn.message for turn in turns
        ]


HELD_BACK = "This answer is about a document that is not there any more, or that you may not read."
"""What stands in the place of an answer that is held back."""
