"""Export answers and conversations with pictures of the cited passages."""

import contextlib
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag import errors, export, types
from rag.engine.library.file_names import safe_name
from rag.engine.library.pages import Pages
from rag.engine.workspace import Workspace
from rag.export.report import evidence
from rag.messages import N_
from rag.store.users.audit_log import Subject

TITLE_CHARS = 80


class ExportedFile(NamedTuple):
    """A file to download."""

    name: str
    mime_type: str
    content: bytes


class Reports:
    """Exports one user's conversations."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pages = Pages(workspace)

    def file(
        self, title: str, messages: Sequence[types.ChatMessage], format_name: export.ExportFormat, say: export.Translate
    ) -> ExportedFile:
        """Export the answers among `messages`, each with its question; `say` translates the file's own words.

        Raises:
            errors.NotFoundError: there is no answer among them.
            errors.UnreadableFileError: the file cannot be created.
        """
        chosen = export.FORMATS[format_name]
        report = self.report(title, messages, say, with_pictures=chosen.with_pictures)
        if not report.turns:
            raise errors.NotFoundError(N_("There is no answer to export yet. Ask a question first."))
        content = export.write(report, format_name, say)
        subject = Subject("conversation", str(messages[0].conversation_id), title)
        self._workspace.store.audit.add("answer.export", subject, format=format_name, answers=len(report.turns))
        return ExportedFile(safe_name(title[:TITLE_CHARS] + chosen.suffix), chosen.mime_type, content)

    def report(
        self,
        title: str,
        messages: Sequence[types.ChatMessage],
        say: export.Translate = str,
        *,
        with_pictures: bool = True,
    ) -> export.Report:
        """Return the answers among `messages` as a report. Evidence is from the version that was read, if it exists."""
        cited = {hit.passage.document_id for one in messages if one.response for hit in one.response.contexts}
        documents = self._documents(cited)
        pictures: dict[tuple[uuid.UUID, types.Region], bytes | None] = {}

        def evidence_of(label: str, citation: types.Citation, hit: types.Hit) -> export.Evidence:
            update: dict[str, object] = {}
            document_id = hit.chunk.document_id
            if document := documents.get(document_id):
                update = {"version": document.version, "sha256": document.sha256}
            if with_pictures:
                drawn = (self._picture(document_id, region, pictures) for region in citation.regions)
                update["pictures"] = tuple(filter(None, drawn))
            return evidence(label, citation, hit).model_copy(update=update)

        turns: list[export.Turn] = []
        question = ""
        for message in messages:
            if message.role == "user":
                question = message.content
            elif message.response is not None:
                claims = export.claims_of(message.response, evidence_of, say)
                turns.append(_turn(question, message, message.response, claims, say))
        return export.Report(title=title, made_at=dt.datetime.now(dt.UTC), turns=tuple(turns))

    def _documents(self, ids: set[uuid.UUID]) -> Mapping[uuid.UUID, types.Document]:
        found = self._workspace.store.versions.list([*ids]) if ids else []
        return {one.id: one for one in found if one.id in ids}

    def _picture(
        self, document_id: uuid.UUID, region: types.Region, known: dict[tuple[uuid.UUID, types.Region], bytes | None]
    ) -> bytes | None:
        """Return a picture of the region; None if the document is gone, was never rendered, or cannot be drawn."""
        key = (document_id, region)
        if key not in known:
            known[key] = None
            with contextlib.suppress(errors.NotFoundError, errors.UnreadableFileError, errors.ForbiddenError):
                known[key] = self._pages.place(document_id, region)
        return known[key]


def _turn(
    question: str,
    message: types.ChatMessage,
    response: types.AnswerResponse,
    claims: tuple[export.Claim, ...],
    say: export.Translate,
) -> export.Turn:
    return export.Turn(
        id=message.id,
        question=question,
        understood=response.question,
        answer=export.marked_answer(response, response.labels, say),
        summary=export.summary_of(response, say),
        status=response.status,
        model=response.model,
        at=message.created_at,
        claims=claims,
        provenance=response.provenance,
    )
