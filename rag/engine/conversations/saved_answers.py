"""Saved answers: rate, export, re-run and share them; and which chats have one being written."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rag import errors, export, types
from rag.engine.conversations.chats import Chats
from rag.engine.conversations.reports import ExportedFile, Reports
from rag.engine.conversations.rerun import find_answer, rerun
from rag.engine.library.pages import MarkedCopy, Pages
from rag.engine.library.versions import Versions
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_


class Answers:
    """One user's saved answers."""

    def __init__(self, workspace: Workspace, chats: Chats, questions: Questions) -> None:
        self._workspace = workspace
        self._chats = chats
        self._questions = questions

    def later_places(self, messages: Sequence[types.ChatMessage]) -> Mapping[uuid.UUID, Mapping[int, types.LaterPlace]]:
        """Return what became of quotes in later versions, by the turn's id and the citation's number."""
        answers = {message.id: message.response for message in messages if message.response}
        return dict(zip(answers, Versions(self._workspace).later_places([*answers.values()]), strict=True))

    def rate(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, rating: types.Rating | None, reason: str | None = None
    ) -> None:
        """Save the user's rating of an answer and the reason; None removes it.

        Raises ValidationError if the reason is too long, NotFoundError if there is no such answer.
        """
        given = parse(types.Feedback, {"rating": rating, "reason": reason})
        self._workspace.store.conversations.rate(conversation_id, message_id, given.rating, given.reason)

    def export(
        self,
        conversation_id: uuid.UUID,
        format_name: export.ExportFormat,
        message_id: uuid.UUID | None = None,
        *,
        say: export.Translate = str,
    ) -> ExportedFile:
        """Export a conversation, or one answer with its question, as a file with the evidence of each claim.

        `say` translates the file's own words.

        Raises:
            errors.NotFoundError: there is no such conversation or answer, or it has no answer yet.
            errors.UnreadableFileError: the file cannot be created.
        """
        title, messages = self._turns(conversation_id, message_id)
        return Reports(self._workspace).file(title, messages, format_name, say)

    def marked(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, document_id: uuid.UUID, *, whole: bool = False
    ) -> MarkedCopy:
        """Return the quoted pages of a document, or with `whole` all pages, with highlights and notes.

        The export is recorded in the audit log. Raises NotFoundError if there is no such answer, it quotes nothing of
        the document, or the document is gone.
        """
        _, _, response = find_answer(self._chats.messages(conversation_id), message_id)
        pages = Pages(self._workspace)
        copy = pages.marked(response, document_id, whole=whole)
        pages.taken(document_id, copy)
        return copy

    def rerun(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> types.Rerun:
        """Answer the question of a saved answer again, and report differences. See `rerun`."""
        return rerun(self._workspace, self._chats, self._questions, conversation_id, message_id)

    def _turns(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID | None
    ) -> tuple[str, Sequence[types.ChatMessage]]:
        title, messages = self._chats.get(conversation_id).title, self._chats.messages(conversation_id)
        if message_id is None:
            return title, messages
        question, kept, _ = find_answer(messages, message_id)
        asked = [one for one in messages[: messages.index(kept)] if one.role == "user"]
        return question or title, [*asked[-1:], kept]

    # --- writing ---

    def writing(self, conversation_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Reserve a chat for one answer that is being written, and give whether it was free.

        The chat is free again after the block, or when this process ends, however that ends.
        """
        return self._workspace.store.answer_locks.lock(conversation_id)

    def is_being_written(self, conversation_id: uuid.UUID) -> bool:
        """Return whether an answer is being written in a chat, in this process or another one."""
        return self._workspace.store.answer_locks.is_locked(conversation_id)

    # --- sharing ---

    def show(self, conversation_id: uuid.UUID, request: types.LinkRequest | Mapping[str, Any]) -> types.AnswerLink:
        """Share a conversation, or one of its answers, read-only with a user or a group.

        They need read access to the collection, too.

        Raises:
            errors.ValidationError: the request is malformed, or names the user.
            errors.NotFoundError: there is no such conversation or answer.
        """
        parsed = parse(types.LinkRequest, request)
        if (parsed.grantee_kind, parsed.grantee) == ("user", self._chats.get(conversation_id).user_id):
            raise errors.ValidationError(N_("This is your own conversation. Name somebody else."))
        return self._workspace.store.answer_links.give(conversation_id, parsed)

    def shown(self, conversation_id: uuid.UUID | None = None) -> builtins.list[types.AnswerLink]:
        """Return what the user shares, of one conversation or of all."""
        return self._workspace.store.answer_links.list(conversation_id)

    def withdraw(self, link_id: uuid.UUID) -> None:
        """End a share at once. Raises NotFoundError."""
        if not self._workspace.store.answer_links.withdraw(link_id):
            raise errors.NotFoundError(
                N_("There is no link {id}. List what you show others and check the id."), id=link_id
            )

    def with_me(self) -> builtins.list[types.SharedAnswer]:
        """Return what is shared with the user, latest first."""
        return self._workspace.store.answer_links.with_me()

    def shown_turns(self, link_id: uuid.UUID) -> builtins.list[types.ChatMessage]:
        """Return the turns of a share; an answer that the user may not read is replaced by a notice.

        Raises NotFoundError if it is not shared with the user.
        """
        turns = self._workspace.store.answer_links.turns(link_id)
        if not turns:
            raise errors.NotFoundError(N_("This is not shown to you any more. Ask who gave you the link."))
        return [
            turn.message.model_copy(update={"content": HIDDEN_ANSWER}) if turn.held_back else turn.message
            for turn in turns
        ]


HIDDEN_ANSWER = "This answer is about a document that is not there any more, or that you may not read."
"""Shown instead of an answer that the user may not read."""
