"""`pagelight chats`: list, export, re-run and share conversations."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, Grantee, IndexName, IsGroup, NewFile
from rag.contract import AgainBody

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.export import ExportFormat

Chat = Annotated[uuid.UUID, typer.Argument(metavar="CHAT", help="A chat's id, as listed.", show_default=False)]
AnswerNumber = Annotated[
    int | None,
    typer.Option("--answer", metavar="N", min=1, help="Only the chat's Nth answer.", show_default=False),
]
AnswerPosition = Annotated[int, typer.Argument(metavar="N", min=1, help="The chat's Nth answer.", show_default=False)]
FORMAT_BY_SUFFIX: "dict[str, ExportFormat]" = {
    ".md": "markdown",
    ".docx": "docx",
    ".pdf": "pdf",
    ".json": "json",
    ".xlsx": "xlsx",
    ".txt": "text",
}


def chats(index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """List your chats, the latest first.

    pagelight chats
    pagelight chats export 6f0c… answer.docx --answer 2
    pagelight chats again 6f0c… 2
    """
    with open_engine(index_name) as engine:
        found = engine.chats.list(index_name)
    if as_json:
        output.print_json([one.model_dump(mode="json", by_alias=True, exclude={"user_id"}) for one in found])
        return
    output.print_table(["id", "title", "last"], [(one.id, one.title, f"{one.updated_at:%Y-%m-%d}") for one in found])


def export_chat(
    chat: Chat,
    file: NewFile,
    answer: AnswerNumber = None,
) -> None:
    """Export a conversation or an answer, with its evidence.

    The evidence of a claim is its quote, place, picture and verdict. The suffix chooses the format: .md, .docx, .pdf,
    .json, .txt, or .xlsx for a table of the evidence.

    pagelight chats export 6f0c… chat.pdf
    pagelight chats export 6f0c… evidence.xlsx --answer 2
    """
    chosen = FORMAT_BY_SUFFIX.get(file.suffix.lower())
    if chosen is None:
        raise errors.ValidationError(f"{file.name} needs one of these suffixes: {', '.join(FORMAT_BY_SUFFIX)}.")
    with open_engine() as engine:
        about = engine.access.conversation(chat)
        message_id = _answer(engine, chat, answer) if answer else None
        output.write_new(file, about.answers.export(chat, chosen, message_id).content)


def marked(
    chat: Chat,
    answer: AnswerPosition,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder for the copies.", show_default=False)],
    pages_only: Annotated[bool, typer.Option("--quoted-pages", help="Only the quoted pages.")] = False,
) -> None:
    """Write a copy of each PDF that an answer quotes, with the quotes highlighted and annotated.

    pagelight chats marked 6f0c… 2 copies
    """
    with open_engine() as engine:
        about = engine.access.conversation(chat)
        message_id = _answer(engine, chat, answer)
        response = next(one.response for one in about.chats.messages(chat) if one.id == message_id)
        cited = response.cited if response else ()
        names = {hit.passage.document_id: hit.document_name for citation, hit in cited if citation.regions}
        for number, (document_id, name) in enumerate(names.items(), start=1):
            copy = about.answers.marked(chat, message_id, document_id, whole=not pages_only)
            output.write_new(folder / f"{number} {Path(name.replace('/', '_')).stem} – marked.pdf", copy.content)


def again(
    chat: Chat,
    answer: AnswerPosition,
    as_json: AsJson = False,
) -> None:
    """Ask the question of a saved answer again, with the same settings, and report the differences.

    pagelight chats again 6f0c… 2
    """
    with open_engine() as engine:
        asked = engine.access.conversation(chat).answers.rerun(chat, _answer(engine, chat, answer))
    if as_json:
        output.print_json(AgainBody.of(asked))
        return
    output.print_text(asked.summary)
    rows = [(one.state, one.after or "", one.before or "") for one in asked.claims]
    output.print_table(["claim", "now", "then"], rows)


def show_chat(
    chat: Chat,
    grantee: Grantee,
    *,
    answer: AnswerNumber = None,
    group: IsGroup = False,
) -> None:
    """Share a chat, or one answer, read-only with people who may read its collection.

    pagelight chats show 6f0c… analyst@example.org
    """
    with open_engine() as engine:
        message_id = _answer(engine, chat, answer) if answer else None
        kind = "group" if group else "user"
        asked = {"grantee": grantee, "grantee_kind": kind, "message_id": message_id}
        engine.answers.show(chat, asked)
        _print(engine.answers.shown(chat))


def withdraw(
    link: Annotated[uuid.UUID, typer.Argument(metavar="LINK", help="A link's id, as listed.", show_default=False)],
) -> None:
    """Stop sharing a chat or an answer, at once."""
    with open_engine() as engine:
        engine.answers.withdraw(link)
        _print(engine.answers.shown())


def links(as_json: AsJson = False) -> None:
    """List the chats and answers that you share, and those shared with you."""
    with open_engine() as engine:
        given, got = engine.answers.shown(), engine.answers.with_me()
    if as_json:
        output.print_json({"given": given, "got": got})
        return
    _print(given)
    rows = [(one.id, one.title, one.owner_name or one.owner) for one in got]
    output.print_table(["link", "shown to you", "by"], rows)


def _answer(engine: "RAGEngine", chat: uuid.UUID, number: int) -> uuid.UUID:
    answers = [one for one in engine.chats.messages(chat) if one.response]
    if number > len(answers):
        raise errors.NotFoundError(f"The chat has only {len(answers)} answers.")
    return answers[number - 1].id


def _print(given: list[types.AnswerLink]) -> None:
    rows = [(one.id, one.title, "answer" if one.message_id else "chat", one.grantee, one.grantee_kind) for one in given]
    output.print_table(["link", "shown", "what", "to", "kind"], rows)
