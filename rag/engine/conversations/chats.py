"""Chats: one user's conversations over an index, and their answers: rated, exported, re-run and shared."""

import builtins
import contextlib
import datetime as dt
import functools
import itertools
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from rag import errors, export, types
from rag.answering.conversation.followups import CONDENSED_MESSAGES
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.generation.model_answer import drop_struck, drop_unproved
from rag.answering.text.markup import CITATION_MARK
from rag.engine.conversations.provenance import differences
from rag.engine.library.files import safe_name
from rag.engine.library.pages import MarkedCopy, Pages
from rag.engine.library.versions import Versions
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.export.report import evidence
from rag.messages import N_
from rag.store.users.audit_log import Subject

NO_FILTERS = types.Filters()

MAX_FOUND = 50
"""Maximum number of search results."""
EXCERPT_CHARS = 120
SAME_CLAIM = 60.0
"""Minimum similarity (0..100) of a changed sentence, whose figures may differ."""
TITLE_CHARS = 80
HIDDEN_ANSWER = "This answer is about a document that is not there any more, or that you may not read."
"""Shown instead of an answer that the user may not read."""


class Chats:
    """One user's chats."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

    def start(
        self,
        title: str,
        *,
        index_name: str = types.DEFAULT_INDEX,
        document_ids: Sequence[uuid.UUID] = (),
        sources: Sequence[str] = (),
    ) -> types.Conversation:
        """Create a chat over an index, or some of its documents, which were chosen as `sources` say.

        Raises ValidationError if the title is empty or too long, NotFoundError if there is no such index.
        """
        title = parse(types.ConversationEdit, {"title": title}).title or ""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.conversations.create(
            index.id, title=title, document_ids=document_ids, sources=sources
        )

    def list(self, index_name: str = types.DEFAULT_INDEX) -> list[types.Conversation]:
        """Return the user's chats, pinned ones first, then latest first. Raises NotFoundError for an unknown index.

        Chats over collections that are no longer shared are listed with the default index.
        """
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.conversations.list(index.id, with_lost=index_name == types.DEFAULT_INDEX)

    def search(self, text: str, index_name: str = types.DEFAULT_INDEX) -> builtins.list[types.FoundConversation]:
        """Return chats with all words of `text` in the title or messages, in the order of `list`, at most `MAX_FOUND`.

        Raises NotFoundError if there is no such index.
        """
        words = text.split()
        if not words:
            return []
        index = self._workspace.requested_index(index_name)
        chats = self._workspace.store.conversations.search(
            index.id, words, most=MAX_FOUND, with_lost=index_name == types.DEFAULT_INDEX
        )
        return [chat.model_copy(update={"excerpt": _excerpt(chat.excerpt, words)}) for chat in chats]

    def get(self, conversation_id: uuid.UUID) -> types.Conversation:
        """Return a chat. Raises NotFoundError."""
        return self._workspace.store.conversations.get(conversation_id)

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> Sequence[types.ChatMessage]:
        """Return a chat's turns in order, or the `last` ones. Raises NotFoundError.

        If the documents are no longer shared with the user, answers keep their text and quotes, but not the context of
        these.
        """
        conversation = self.get(conversation_id)
        turns = self._workspace.store.conversations.messages(conversation_id, last=last)
        if conversation.index_owner is None or self._workspace.is_shared(conversation.index_id):
            return turns
        return [turn.model_copy(update={"response": turn.response and _only_quotes(turn.response)}) for turn in turns]

    def request(
        self,
        conversation_id: uuid.UUID,
        question: str,
        document_ids: Sequence[uuid.UUID] | None = None,
        *,
        filters: types.Filters = NO_FILTERS,
        before: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> types.AnswerRequest:
        """Return the request for a chat's next question, with the latest turns as history.

        `document_ids` replace the chat's own documents, and `filters` narrow them. With `before`, only earlier turns
        count: for a question that replaces that turn. `top_k` and `model` (`provider:model`) override the defaults.
        Raises NotFoundError if there is no such chat.
        """
        conversation = self.get(conversation_id)
        if before is None:
            earlier = self.messages(conversation_id, last=CONDENSED_MESSAGES)
        else:
            turns = itertools.takewhile(lambda turn: turn.id != before, self.messages(conversation_id))
            earlier = [*turns][-CONDENSED_MESSAGES:]
        generation = types.GenerationOptions(model=model)
        narrowed, options = {}, types.AnswerOptions()
        if top_k:  # more passages than usual need more room in the context
            narrowed["top_k"] = top_k
            models = self._workspace.models
            options = models.with_context_budget(options, models.language_model(generation))
            tokens = int((options.max_context_tokens or 0) * max(top_k / types.RetrievalOptions().top_k, 1.0))
            options = options.model_copy(update={"max_context_tokens": tokens})
        scope = conversation.document_ids if document_ids is None else tuple(document_ids)
        return types.AnswerRequest(
            index_name=str(conversation.index_id),
            question=question,
            history=tuple(_history(earlier)),
            retrieval=types.RetrievalOptions(filters=filters.model_copy(update={"document_ids": scope}), **narrowed),
            generation=generation,
            options=options,
        )

    def ask(
        self,
        conversation_id: uuid.UUID,
        question: str,
        *,
        filters: types.Filters = NO_FILTERS,
        beside: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> types.ChatMessage:
        """Answer a chat's next question and save both turns, or neither if it fails. Raises as `Questions.answer`.

        With `beside`, the question is an alternative to an earlier one, which is kept with all that followed.
        """
        request = self.request(conversation_id, question, filters=filters, before=beside, top_k=top_k, model=model)
        response = self._questions.answer(request)
        return self._workspace.store.conversations.append_both(conversation_id, question, response, beside=beside)

    def update(self, conversation_id: uuid.UUID, *, title: str | None = None, pinned: bool | None = None) -> None:
        """Rename a chat, or pin or unpin it; None changes nothing. Raises ValidationError and NotFoundError."""
        changes = parse(types.ConversationEdit, {"title": title, "pinned": pinned})
        self._workspace.store.conversations.update(conversation_id, title=changes.title, pinned=changes.pinned)


def _excerpt(text: str, words: Sequence[str]) -> str:
    flowing = " ".join(CITATION_MARK.sub("", text).split())
    places = [place for word in words if (place := flowing.lower().find(word.lower())) >= 0]
    start = max(min(places, default=0) - EXCERPT_CHARS // 4, 0)
    start = flowing.rfind(" ", 0, start) + 1
    excerpt = flowing[start : start + EXCERPT_CHARS]
    return f"{'… ' if start else ''}{excerpt}{' …' if start + EXCERPT_CHARS < len(flowing) else ''}"


def _only_quotes(response: types.AnswerResponse) -> types.AnswerResponse:
    quoted = {
        own: {line.number for citation in response.citations if citation.citation_id == own for line in citation.lines}
        for own in response.sources
    }
    sources = {own: _only_lines(hit, quoted[own]) for own, hit in response.sources.items()}
    return response.model_copy(update={"sources": sources, "nearest": (), "hint": None, "follow_ups": ()})


def _only_lines(hit: types.Hit, numbers: Collection[int]) -> types.Hit:
    parts = {"chunk": hit.chunk.model_copy(update={"context": "", "section": None}), "passage": hit.passage}
    for name, part in parts.items():
        lines = [line if line.number in numbers else line.model_copy(update={"text": ""}) for line in part.lines]
        parts[name] = part.model_copy(update={"lines": tuple(lines)})
    return hit.model_copy(update=parts)


def _history(turns: Sequence[types.ChatMessage]) -> Iterator[types.Message]:
    """Return the history for the next question: of answers only what is proved, and questions as rules rewrote them.

    A language model reads the original questions.
    """
    for turn, following in itertools.zip_longest(turns, turns[1:]):
        if turn.is_unfinished:
            continue
        answer = following.response if following and turn.role == "user" else None
        meant = answer.question if answer and answer.model == EXTRACTIVE_MODEL else None
        content_shown = drop_unproved(turn.response).answer if turn.response else turn.content
        yield types.Message(role=turn.role, content=(meant or content_shown)[: types.MAX_TURN_CHARS])


class ExportedFile(NamedTuple):
    """A file to download."""

    name: str
    mime_type: str
    content: bytes


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

        `say` translates the file's own words. Raises NotFoundError and UnreadableFileError.
        """
        title, messages = self._chats.get(conversation_id).title, self._chats.messages(conversation_id)
        if message_id is not None:
            question, answer, _ = find_answer(messages, message_id)
            questions = [turn for turn in messages[: messages.index(answer)] if turn.role == "user"]
            title, messages = question or title, [*questions[-1:], answer]
        chosen = export.FORMATS[format_name]
        report = _report(self._workspace, title, messages, say, with_pictures=chosen.with_pictures)
        if not report.turns:
            raise errors.NotFoundError(N_("There is no answer to export yet. Ask a question first."))
        content = export.write(report, format_name, say)
        subject = Subject("conversation", str(conversation_id), title)
        self._workspace.store.audit.add("answer.export", subject, format=format_name, answers=len(report.turns))
        return ExportedFile(safe_name(title[:TITLE_CHARS] + chosen.suffix), chosen.mime_type, content)

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
        pages.download(document_id, copy)
        return copy

    def rerun(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> types.Rerun:
        """Answer the question of a saved answer again with the same options, and compare. Nothing is saved.

        Raises NotFoundError if there is no such answer. And as `Questions.answer`.
        """
        question, turn, before = find_answer(self._chats.messages(conversation_id), message_id)
        made = before.provenance
        if made is None:
            request = self._chats.request(conversation_id, before.question or question)
            options = request.options.model_copy(update={"use_cache": False})
            request = request.model_copy(update={"history": (), "options": options})
        else:
            request = types.AnswerRequest(
                index_name=str(made.index_id),
                question=made.question,
                retrieval=types.RetrievalOptions.model_validate(made.retrieval.model_dump(exclude_none=True)),
                generation=types.GenerationOptions.model_validate(made.writing),
                options=types.AnswerOptions.model_validate({**made.answering, "use_cache": False}),
            )
        after = self._questions.answer(request)
        claims = compare_claims(before, after)
        return types.Rerun(
            asked_at=turn.created_at,
            same=before.status == after.status and all(claim.state == "same" for claim in claims),
            differences=differences(before, after, self._workspace),
            claims=claims,
            response=after,
        )

    # --- sharing ---

    def share(self, conversation_id: uuid.UUID, request: types.LinkRequest | Mapping[str, Any]) -> types.AnswerLink:
        """Share a conversation, or one of its answers, read-only with a user or a group.

        They need read access to the collection, too. Raises ValidationError and NotFoundError.
        """
        parsed = parse(types.LinkRequest, request)
        if (parsed.grantee_kind, parsed.grantee) == ("user", self._chats.get(conversation_id).user_id):
            raise errors.ValidationError(N_("This is your own conversation. Name somebody else."))
        return self._workspace.store.answer_links.share(conversation_id, parsed)

    def unshare(self, link_id: uuid.UUID) -> None:
        """End a share at once. Raises NotFoundError."""
        if not self._workspace.store.answer_links.unshare(link_id):
            raise errors.NotFoundError(
                N_("There is no link {id}. List what you show others and check the id."), id=link_id
            )

    def shared_turns(self, link_id: uuid.UUID) -> builtins.list[types.ChatMessage]:
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


def _report(
    workspace: Workspace,
    title: str,
    messages: Sequence[types.ChatMessage],
    say: export.Translate,
    *,
    with_pictures: bool,
) -> export.Report:
    """Return the answers among `messages` as a report. Evidence is from the version that was read, if it exists."""
    ids = {hit.passage.document_id for turn in messages if turn.response for hit in turn.response.contexts}
    versions = workspace.store.versions.list([*ids]) if ids else []
    documents = {version.id: version for version in versions}

    @functools.cache
    def picture(document_id: uuid.UUID, region: types.Region) -> bytes | None:
        """Return a picture of the region; None if the document is gone, was never rendered, or cannot be drawn."""
        with contextlib.suppress(errors.NotFoundError, errors.UnreadableFileError, errors.ForbiddenError):
            return Pages(workspace).place(document_id, region)
        return None

    def evidence_of(label: str, citation: types.Citation, hit: types.Hit) -> export.Evidence:
        cited = evidence(label, citation, hit)
        pictures = [picture(cited.file_id, region) for region in citation.regions if with_pictures]
        update: dict[str, object] = {"pictures": tuple(filter(None, pictures))}
        if document := documents.get(cited.file_id):
            update |= {"version": document.version, "sha256": document.sha256}
        return cited.model_copy(update=update)

    turns: list[export.Turn] = []
    question = ""
    for message in messages:
        if message.role == "user":
            question = message.content
        elif (response := message.response) is not None:
            turns.append(
                export.Turn(
                    id=message.id,
                    question=question,
                    understood=response.question,
                    answer=export.marked_answer(response, response.labels, say),
                    summary=export.summary_of(response, say),
                    status=response.status,
                    model=response.model,
                    at=message.created_at,
                    claims=export.claims_of(response, evidence_of, say),
                    provenance=response.provenance,
                )
            )
    return export.Report(title=title, made_at=dt.datetime.now(dt.UTC), turns=tuple(turns))


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
    proved = drop_struck(response)
    quotes: dict[int, list[str]] = {}
    for citation in proved.citations:
        quotes.setdefault(citation.sentence, []).append(" ".join((citation.quote or "").split()))
    return [
        (" ".join(sentence.text.split()), tuple(quotes.get(number, ())))
        for number, sentence in enumerate(proved.sentences)
        if sentence.support is not None or number in quotes
    ]
