"""`pagelight matrix`: ask several documents the same questions, by a worker."""

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from rag import errors, types
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, DocumentNames, IndexName, NewFile
from rag.contract import MatrixBody

if TYPE_CHECKING:
    from rag.engine import RAGEngine

Named = Annotated[
    str, typer.Argument(metavar="MATRIX", help="Its name, its id, or the beginning of its id.", show_default=False)
]
Questions = Annotated[
    list[str] | None,
    typer.Option("--question", metavar="TEXT", help="A question; may be repeated.", show_default=False),
]
Template = Annotated[
    str | None, typer.Option(metavar="NAME", help="Start with the questions of this template.", show_default=False)
]
MAX_ANSWER_CHARS = 60


def matrix(as_json: AsJson = False) -> None:
    """Ask many documents the same questions. Without a command, list the matrices.

    pagelight matrix make "Filings" --template annual_report --document apple.pdf --document tesla.pdf
    pagelight matrix show Filings
    pagelight matrix export Filings filings.xlsx
    """
    with open_engine() as engine:
        found = engine.matrices.list()
    output.print_list(
        found,
        ["id", "name", "documents", "questions"],
        lambda one: (name_lookup.short_id(one.id), one.name, len(one.lineage_ids), len(one.questions)),
        as_json=as_json,
        right=["documents", "questions"],
        empty="There is no matrix. Make one: pagelight matrix make NAME --question TEXT --document NAME",
    )


def templates(as_json: AsJson = False) -> None:
    """List the templates: common questions for kinds of documents.

    pagelight matrix templates
    """
    with open_engine() as engine:
        found = engine.matrices.templates()
    columns = ["template", "title", "questions"]
    output.print_list(found, columns, lambda one: (one.name, one.title, len(one.questions)), as_json=as_json)


def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the matrix.", show_default=False)],
    *,
    document: DocumentNames = None,
    question: Questions = None,
    template: Template = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Ask documents questions, of a template or your own; a worker asks, and asks again when a document changes.

    Without `--document`, all documents of the index are asked.

    pagelight matrix make "Filings" --template annual_report --question "Who audits it?"
    """
    with open_engine(index_name) as engine:
        asked = [*_template(engine, template), *(types.MatrixQuestion(text=text) for text in question or ())]
        found = (
            name_lookup.find_documents(engine, index_name, document) if document else engine.documents.list(index_name)
        )
        request = {"name": name, "document_ids": [one.id for one in found], "questions": asked}
        made = engine.matrices.create(request)
    _print(made, "made", as_json=as_json)


def show(named: Named, as_json: AsJson = False) -> None:
    """Show the answers, with marks: ≠ contradicts another, ↻ the document has changed since.

    pagelight matrix show Filings
    """
    with open_engine() as engine:
        filled = engine.matrices.get(_find(engine, named).id)
    if as_json:
        output.print_json(MatrixBody.of(filled))
        return
    for number, question in enumerate(filled.matrix.questions):
        output.print_text(f"\n{question.text}", style="bold")
        rows = [_row(one, filled.at(one, number)) for one in filled.documents]
        output.print_table(["document", "answer", "page", "verdict"], rows)
    if filled.to_ask:
        output.print_note(f"{filled.to_ask} to ask: pagelight matrix fill {named}")


def edit(
    named: Named,
    *,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The new name.", show_default=False)] = None,
    document: DocumentNames = None,
    question: Questions = None,
    without_document: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave this document out; may be repeated.",
            show_default=False,
            autocompletion=name_lookup.complete_document_name,
        ),
    ] = None,
    without_question: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="Leave the Nth question out; may be repeated.", show_default=False),
    ] = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Add or remove documents and questions, or rename the matrix. The other answers are kept.

    pagelight matrix edit Filings --question "Who audits it?" --without-document apple.pdf
    """
    with open_engine(index_name) as engine:
        found = _find(engine, named)
        change: dict[str, object] = {"name": name} if name else {}
        if document or without_document:
            added = name_lookup.find_documents(engine, index_name, document or ())
            left_out = name_lookup.find_documents(engine, index_name, without_document or ())
            present = [*engine.matrices.get(found.id).documents, *added]
            change["document_ids"] = [one.id for one in present if one not in left_out]
        if question or without_question:
            left = [one for n, one in enumerate(found.questions, 1) if n not in (without_question or ())]
            change["questions"] = [*left, *(question or ())]
        edited = engine.matrices.edit(found.id, change)
    _print(edited, "changed", as_json=as_json)


def fill(named: Named, as_json: AsJson = False) -> None:
    """Let a worker ask for the cells that are empty, failed, or older than their document.

    pagelight matrix fill Filings
    """
    with open_engine() as engine:
        job = engine.matrices.fill(_find(engine, named).id)
    output.print_result(job, f"A worker asks: pagelight jobs show {name_lookup.short_id(job.id)}", as_json=as_json)


def cancel(named: Named, as_json: AsJson = False) -> None:
    """Stop asking after the current question; the answers so far are kept.

    pagelight matrix cancel Filings
    """
    with open_engine() as engine:
        found = _find(engine, named)
        engine.matrices.cancel(found.id)
    _print(found, "cancelled", as_json=as_json)


def delete(named: Named, as_json: AsJson = False) -> None:
    """Delete a matrix with its answers; the documents stay.

    pagelight matrix delete Filings
    """
    with open_engine() as engine:
        found = _find(engine, named)
        engine.matrices.delete(found.id)
    _print(found, "deleted", as_json=as_json)


def export(
    named: Named,
    file: NewFile,
) -> None:
    """Export the answers as a table: .xlsx, with a second sheet for the evidence, or .csv.

    pagelight matrix export Filings filings.xlsx
    """
    format_name = next((one for one in get_args(types.MatrixFormat) if file.suffix.lower() == f".{one}"), None)
    if format_name is None:
        raise errors.ValidationError(f"{file.name} needs one of these suffixes: .xlsx, .csv.")
    with open_engine() as engine:
        content = engine.matrices.export(_find(engine, named).id, format_name)
    output.write_new(file, content)


def _template(engine: "RAGEngine", name: str | None) -> tuple[types.MatrixQuestion, ...]:
    known = {one.name: one.questions for one in engine.matrices.templates()}
    if name is not None and name not in known:
        raise errors.NotFoundError(f"There is no template “{name}”. Existing templates: {', '.join(known)}.")
    return known[name] if name else ()


def _find(engine: "RAGEngine", named: str) -> types.Matrix:
    """Return the matrix with this name, or the only one whose id begins so."""
    known = engine.matrices.list()
    found = [one for one in known if one.name == named] or name_lookup.with_id(known, named)
    if not found:
        raise errors.NotFoundError(f"There is no matrix “{named}”. List them: pagelight matrix")
    if len(found) > 1:
        ids = ", ".join(name_lookup.short_id(one.id) for one in found)
        raise errors.ValidationError(f"Several matrices are called “{named}”. Name one by its id: {ids}.")
    return found[0]


def _row(document: types.Document, shown: types.ShownCell | None) -> tuple[object, ...]:
    if shown is None:
        return (document.name, "…", "", "")
    cell = shown.cell
    marks = ("≠ " if shown.conflict else "") + ("↻ " if shown.is_stale else "")
    text = cell.answer if cell.status == "answered" else cell.status.replace("_", " ")
    answer = marks + output.excerpt(text, MAX_ANSWER_CHARS)
    return (document.name, answer, cell.page_label or cell.page_number or "", cell.assurance or "")


def _print(one: types.Matrix, done: str, *, as_json: bool) -> None:
    output.print_result(one, f"{done}  {one.name}  {name_lookup.short_id(one.id)}", as_json=as_json)
