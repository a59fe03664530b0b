"""`pagelight chats`: conversations, taken along, asked again and shown to others."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName
from rag.contract import AgainBody
from rag.types import DEFAULT_INDEX, AnswerLink

if TYPE_CHECKING:
    from rag.engine import RAGEngine

Chat = Annotated[uuid.UUID, typer.Argument(metavar="CHAT", help="A chat's id, as listed.", show_default=False)]
AnswerNumber = Annotated[
    int | None,
    typer.Option("--answer", metavar="N", min=1, help="Only the chat's Nth answer.", show_default=False),
]
FORMAT_BY_SUFFIX = {".md": "markdown", ".docx": "docx", ".pdf": "pdf", ".json": "json", ".xlsx": "xlsx", ".txt": "text"}
"""What a file's ending says of its format."""


def chats(context: typer.Context, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Show your chats, the latest first.

    pagelight chats
    pagelight chats export 6f0c… answer.docx --answer 2
    pagelight chats again 6f0c… 2
    """
    if context.invoked_subcommand:
        return
    with open_engine(index_name) as engine:
        found = engine.chats.list(index_name)
    if as_json:
        output.print_json([one.model_dump(mode="json", by_alias=True, exclude={"user_id"}) for one in found])
        return
    output.print_table(["id", "title", "last"], [(one.id, one.title, f"{one.updated_at:%Y-%m-%d}") for one in found])


def export_chat(
    chat: Chat,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; not there yet.", show_default=False)],
    answer: AnswerNumber = None,
) -> None:
    """Write a chat, or one answer, with the quote, place, picture and verdict of each claim.

    The ending says the format: .md, .docx, .pdf, .json, .txt, or .xlsx for a table of the evidence.

    pagelight chats export 6f0c… chat.pdf
    pagelight chats export 6f0c… evidence.xlsx --answer 2
    """
    from rag.export import ExportFormat

    format_name = FORMAT_BY_SUFFIX.get(file.suffix.lower())
    chosen = next((one for one in get_args(ExportFormat) if one == format_name), None)
    if chosen is None:
        endings = ", ".join(FORMAT_BY_SUFFIX)
        raise errors.ValidationError(f"{file.name} ends with no format. End it with one of {endings}.")
    with open_engine() as engine:
        about = engine.access.conversation(chat)
        message_id = _answer(engine, chat, answer) if answer else None
        output.write_new(file, about.answers.export(chat, chosen, message_id).content)


def marked(
    chat: Chat,
    answer: Annotated[int, typer.Argument(metavar="N", min=1, help="The chat's Nth answer.", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the copies go.", show_default=False)],
    pages_only: Annotated[bool, typer.Option("--quoted-pages", help="Only the pages that are quoted.")] = False,
) -> None:
    """Write a copy of each PDF that an answer quotes, with highlights and notes on the quoted words.

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
    answer: Annotated[int, typer.Argument(metavar="N", min=1, help="The chat's Nth answer.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Ask an answer's question again, as it was asked then: the same, or changed because of what.

    pagelight chats again 6f0c… 2
    """
    with open_engine() as engine:
        asked = engine.access.conversation(chat).answers.rerun(chat, _answer(engine, chat, answer))
    if as_json:
        output.print_json(AgainBody.of(asked).model_dump(mode="json", by_alias=True))
        return
    output.print_text(asked.summary)
    rows = [(one.state, one.after or "", one.before or "") for one in asked.claims]
    output.print_table(["claim", "now", "then"], rows)


def show_chat(
    chat: Chat,
    grantee: Annotated[str, typer.Argument(metavar="NAME", help="A user's id, or a group.", show_default=False)],
    *,
    answer: AnswerNumber = None,
    group: Annotated[bool, typer.Option("--group", help="NAME is a group.")] = False,
) -> None:
    """Show a chat, or one answer, read-only to who may read the collection that it is about.

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
    """Show it no longer, from this moment on."""
    with open_engine() as engine:
        engine.answers.withdraw(link)
        _print(engine.answers.shown())


def links(as_json: AsJson = False) -> None:
    """Show what you show others, and what others show you."""
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
        raise errors.NotFoundError(f"The chat has {len(answers)} answers. Name one of them by its number.")
    return answers[number - 1].id


def _print(given: list[AnswerLink]) -> None:
    rows = [(one.id, one.title, "answer" if one.message_id else "chat", one.grantee, one.grantee_kind) for one in given]
    output.print_table(["link", "shown", "what", "to", "kind"], rows)
