"""The pages in other languages: no message escapes, each is translated, numbers are written as the language does."""

import ast
import csv
import datetime as dt
import io
import re
import string
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import openpyxl
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from rag import errors, export
from rag.messages import N_
from rag.types import (
    CellCitation,
    DocumentStatus,
    FieldDefinition,
    FilledMatrix,
    Matrix,
    MatrixCell,
    Progress,
    ShownCell,
    Support,
    Verdict,
    page_name,
    reading_progress,
)
from rag.ui import formatting, language
from rag.ui.components import ASSETS, translate_html
from rag.ui.translated_messages import translate_error, translate_message
from tests import message_catalogs
from tests.unit.test_reading_progress import document

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "rag" / "ui").glob("*.py"), *(ROOT / "pages").glob("*.py")])
SCRIPTS = sorted(ASSETS.rglob("*.js"))
OTHERS = sorted(language.LANGUAGES.keys() - {language.ENGLISH})

SHOWING = {
    "badge", "button", "caption", "chat_input", "date_input", "download_button", "error", "expander", "file_uploader",
    "form_submit_button", "header", "info", "markdown", "menu_button", "metric", "multiselect", "number_input", "pills",
    "popover", "radio", "segmented_control", "selectbox", "slider", "spinner", "subheader", "success", "text",
    "text_area", "text_input", "toast", "toggle", "warning",
}  # fmt: skip
"""Functions of Streamlit whose first argument people read."""
READ = {"label", "help", "placeholder", "text", "caption"}
"""Arguments that people read, of whichever function."""
SAME_EVERYWHERE = {"12, 13", "https://", "provider:model"}
NO_WORDS = re.compile(r":material/\w*:|:[\w-]+\[")
IN_ENGLISH = (
    *("api/", "cli/", "evaluation/", "mcp_server/", "ui/", "config.py", "foreign_pages.py", "access/gate.py"),
    *(
        "engine/retrieval_api.py",
        "engine/operations/data_export.py",
        "engine/module_functions.py",
        "engine/engine.py",
        "engine/users/accounts.py",
    ),
    *(
        "engine/request_parsing.py",
        "engine/ingestion/folders.py",
        "ingestion/nodes.py",
        "providers/google_drive.py",
        "providers/oidc_tokens.py",
    ),
    *(
        "store/server/cluster_directory.py",
        "store/backup/archive.py",
        "store/backup/backup.py",
        "store/backup/pg_tools.py",
        "store/server/embedded.py",
        "store/files/source_folders.py",
    ),
    *(
        "store/server/migrations.py",
        "store/backup/restore.py",
        "store/server/database_roles.py",
        "store/server/distribution.py",
        "store/files/orphans.py",
    ),
    *("store/users/audit_log.py", "store/files/atomic_files.py"),
)
"""Modules whose errors are for programs, the command line, or the log of an app that did not start."""
KEYS_OF_A_KEYBOARD = {"Enter", "Escape", "Esc", "ArrowLeft", "ArrowRight", "Files"}


@pytest.fixture
def german() -> Iterator[None]:
    with language.use_language("de-AT"):
        yield


def catalogue(tag: str) -> Catalog:
    return read_po(io.BytesIO(message_catalogs.catalog_path(tag).read_bytes()), locale=tag)


# --- messages ---


def test_every_marked_message_is_extracted() -> None:
    """Babel does not look into f-strings, nor at arguments that are no literals."""
    extracted = {message.id for message in message_catalogs.template()}
    marked = {
        (path.name, node.lineno, node.args[0].value)
        for folder in ("rag", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"_", "N_", "dialog"}
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert len(marked) > 1000
    assert [message for message in marked if message[2] not in extracted] == []


def test_every_error_that_may_reach_a_page_is_marked() -> None:
    unmarked = [
        (path.name, node.lineno)
        for path in (ROOT / "rag").rglob("*.py")
        if not str(path.relative_to(ROOT / "rag")).startswith(IN_ENGLISH)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and re.fullmatch(r"errors\.\w+Error", ast.unparse(node.func)) and node.args
        if isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp)
    ]
    assert unmarked == []


@pytest.mark.parametrize("tag", OTHERS)
def test_every_message_is_translated_and_names_the_same(tag: str) -> None:
    translated = {message.id: message.string or "" for message in catalogue(tag) if message.id}
    assert translated.keys() == {message.id for message in message_catalogs.template() if message.id}
    for original, translation in translated.items():
        forms = [*zip(_forms(original), _forms(translation), strict=True)]
        assert all(said for _, said in forms), original
        assert all(_fields(english) == _fields(said) for english, said in forms), original


def _forms(message: str | Sequence[str]) -> list[str]:
    return [message] if isinstance(message, str) else [*message]


def _fields(message: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(message) if field is not None}


def test_whatever_the_pages_show_is_a_message() -> None:
    escaped = [
        f"{path.name}:{node.lineno}: {words}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for words in _shown(node)
    ]
    assert escaped == []


def _shown(call: ast.Call) -> Iterator[str]:
    """Words for people in a call that are no message."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    shown = [argument.value for argument in call.keywords if argument.arg in READ]
    if name in SHOWING and call.args and ast.unparse(call.func).startswith("st."):
        shown.append(call.args[0])
    for one in shown:
        for words in _words(one):
            if words not in SAME_EVERYWHERE and re.search(r"[a-z]{3}", NO_WORDS.sub("", words)):
                yield words


def _words(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(words)):
            yield words
        case ast.JoinedStr(values=parts):
            yield "".join(
                part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from (*_words(one), *_words(other))
        case ast.BoolOp(values=others):
            for other in others:
                yield from _words(other)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_whatever_our_scripts_show_is_a_message(path: Path) -> None:
    script = re.sub(r"^\s*(//|/?\*).*$|\s// .*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
    if path.name == "native.js":  # whose keys are Streamlit's words
        script = re.sub(r'^\s*("[^"]+"|\w+): _\(', "_(", script, flags=re.MULTILINE)
    said_rightly = re.sub(r'(?<![\w.])_\("(?:[^"\\]|\\.)*"', "", script)
    sentences = re.findall(r'(?<!=)"([A-Z][a-z][^"]*)"|`([A-Z][a-z][^`]*)`', said_rightly)
    assert {a or b for a, b in sentences} <= KEYS_OF_A_KEYBOARD


@pytest.mark.parametrize("path", sorted(ASSETS.rglob("*.html")), ids=lambda path: path.name)
def test_every_word_of_our_html_is_a_message(path: Path) -> None:
    told = translate_html(path.read_text("utf-8"), lambda _: "…")
    assert re.findall(r">[^<>]*[a-z]{2}[^<>]*<", told) == []
    assert re.findall(r'(?:aria-label|title|placeholder)="[^"]*[a-z]{2}[^"]*"', told) == []


# --- what is said ---


def test_messages_are_said_in_the_language_asked_for(german: None) -> None:
    assert language._("Library") == "Bibliothek"
    assert formatting.plural(1, "{count} page", "{count} pages") == "1 Seite"
    assert formatting.plural(1234, "{count} page", "{count} pages") == "1.234 Seiten"
    assert formatting.join_names(["a", "b", "c"]) == "a, b und c"


@pytest.mark.parametrize(
    ("tag", "spoken"), [("de-CH", "de"), ("DE", "de"), ("en-GB", "en"), ("xx", "en"), (None, "en")]
)
def test_a_language_that_is_not_there_is_english(tag: str | None, spoken: str) -> None:
    with language.use_language(tag):
        assert language.current_language() == spoken


def test_numbers_sizes_shares_and_days_are_written_as_in_german(german: None) -> None:
    assert formatting.decimal(1234.56, 1) == "1.234,6"
    assert formatting.percent(0.6) == "60\xa0%"
    assert formatting.file_size(5_300_000) == "5,3 MB"
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    assert formatting.date_time(at, language._("d MMM y, HH:mm")) == "9. März 2026, 08:05"


def test_english_is_written_as_it_always_was() -> None:
    assert formatting.decimal(1234.56, 1) == "1,234.6"
    assert formatting.percent(0.6) == "60%"
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    assert formatting.date_time(at, language._("d MMM y, HH:mm")) == f"{at:%-d %b %Y, %H:%M}"


# --- what the engine says ---


def test_the_engine_is_understood(german: None) -> None:
    progress = Progress(done=3, total=1200, seconds_left=120)
    reading = document(DocumentStatus.PARSING, progress=progress)
    assert translate_message(reading_progress(reading) or "") == "Seite 3 von 1.200, noch 2 min"
    assert translate_message(page_name(54, "53", 203)) == "S. 53 (Seite 54 von 203)"
    assert (
        translate_message("The nearest stands in Waiting.pdf, page 7.")
        == "Das Nächstliegende steht in Waiting.pdf, Seite 7."
    )
    refusal = "“1954” does not occur in the passages read. The nearest (2016) stands in a.pdf, page 22."
    assert (
        translate_message(refusal)
        == "“1954” kommt in den gelesenen Stellen nicht vor. Das Nächstliegende (2016) steht in a.pdf, Seite 22."
    )


def test_what_went_wrong_is_said_with_its_reason(german: None) -> None:
    crashed = "“a.pdf” cannot be read: it crashed the process that read it at page 3 of 1200. Open it in another "
    told = translate_message(crashed + "program, save it again, or split it.")
    assert told.startswith(
        "„a.pdf“ kann nicht gelesen werden: der Leseprozess ist daran abgestürzt (Seite 3 von 1.200)."
    )
    left_out = (
        "1 of 3 files in it was taken in. Left out: b.exe: empty; c.pdf: “c.pdf” is encrypted. Give its password."
    )
    assert translate_message(left_out) == (
        "1 von 3 Dateien darin wurde aufgenommen. Ausgelassen: b.exe: leer; c.pdf: „c.pdf“ ist verschlüsselt. "
        "Geben Sie das Passwort ein."
    )


def test_what_is_taken_along_is_in_the_language_of_the_page(german: None) -> None:
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    report = export.Report(title="Leuchtfeuer", made_at=at, turns=(_turn(at),))
    told = {name: export.write(report, name, translate_message).decode() for name in ("markdown", "text", "clipping")}
    assert "*Exportiert aus Pagelight am 9. März 2026, 08:05 UTC*" in told["markdown"]
    for one in told.values():
        assert "beacon.pdf, Version 2, S. 53 (Seite 54 von 203)" in one.replace("\\", "")
    english = export.write(report, "text").decode()
    assert "version 2, p. 53 (page 54 of 203): “The beacon was lit by hand.”" in english


def test_a_matrix_is_taken_along_in_the_language_of_the_page(german: None) -> None:
    ready = document(DocumentStatus.READY)
    ships = FieldDefinition(id=uuid.UUID(int=1), name="Ships", type="number")
    length = FieldDefinition(id=uuid.UUID(int=2), name="Length", type="period")
    flag = FieldDefinition(id=uuid.UUID(int=3), name="Flag")
    matrix = Matrix(
        id=uuid.uuid4(),
        user_id="ann",
        name="Ships",
        fields=(ships, length, flag),
        lineage_ids=(ready.id,),
        created_at=ready.created_at,
        edited_at=ready.created_at,
    )
    cell = MatrixCell(
        lineage_id=ready.id,
        field_id=uuid.UUID(int=1),
        document_id=ready.id,
        version=1,
        sha256=ready.sha256,
        state="found",
        value=4812.5,
        words="4,812.5 ships",
        confidence=0.5,
        citations=(CellCitation(quote="4,812.5 ships", page_number=3),),
        pages_read=(1, 2, 3),
        filled_at=ready.created_at,
    )
    cells = (
        ShownCell(cell=cell, is_stale=True, conflict="Differs from the others"),
        ShownCell(cell=cell.model_copy(update={"field_id": length.id, "value": "P3Y", "confidence": 1.0})),
        ShownCell(
            cell=cell.model_copy(
                update={"field_id": flag.id, "state": "not_stated", "value": None, "words": "", "confidence": 1.0}
            )
        ),
    )
    filled = FilledMatrix(matrix=matrix, documents=(ready,), cells=cells)
    table = export.MATRIX_WRITERS["csv"](filled, translate_message, "de").decode("utf-8-sig")
    assert [*csv.reader(io.StringIO(table))] == [
        ["Dokument", "Ships", "Length", "Flag", "Zu prüfen"],
        ["a.pdf", "4812.5", "P3Y", "", "Ships"],
    ]
    workbook = openpyxl.load_workbook(io.BytesIO(export.MATRIX_WRITERS["xlsx"](filled, translate_message, "de")))
    assert workbook.sheetnames == ["Matrix", "Belege"]
    (row,) = workbook["Matrix"].iter_rows(min_row=2)
    assert [value.value for value in row] == ["a.pdf", 4812.5, "3 Jahre", None]
    assert row[1].comment is not None
    assert row[1].comment.text.splitlines()[0] == "Weicht von den anderen ab"
    assert row[1].hyperlink is not None
    assert row[1].hyperlink.tooltip == "a.pdf, S. 3"
    assert row[3].comment is not None
    assert row[3].comment.text == "Nicht angegeben auf den gelesenen Seiten: 1–3"
    evidence = workbook["Belege"]
    assert [cell.value for cell in evidence[1]][:4] == ["Dokument", "Feld", "Wert", "Einheit"]
    assert [cell.value for cell in evidence[2]][5:10] == ["veraltet", 0.5, None, None, "Weicht von den anderen ab"]


def test_what_a_document_is_called_is_not_translated(german: None) -> None:
    assert translate_message("“page 7” is encrypted. Give its password.").startswith("„page 7“ ist verschlüsselt.")


def test_what_is_not_known_is_said_as_it_is(german: None) -> None:
    unknown = str(errors.StoreError("The database {x} is away."))
    assert translate_message(unknown) == unknown


def test_an_error_is_translated_with_its_fields(german: None) -> None:
    error = errors.LimitError(
        N_("“{name}” has {count} pages; the limit is {limit}. Split it into smaller files."),
        name="The “limit” has 7 pages",
        count="1,200",
        limit=1000,
    )
    assert error.message.startswith("“The “limit” has 7 pages” has 1,200 pages; the limit is 1000.")
    assert translate_error(error).startswith("„The “limit” has 7 pages“ hat 1.200 Seiten")
    assert translate_error(error) != error.message
    assert translate_error(errors.LimitError()) == translate_message(errors.LimitError().message)
    assert translate_error(errors.NotFoundError("No {such} thing.")) == "No {such} thing."


def test_problems_of_a_request_are_translated_one_by_one(german: None) -> None:
    problem = "query: Text should have no zero byte; collection: Field required"
    error = errors.ValidationError(N_("The request is malformed. {_problem}."), _problem=problem)
    told = translate_error(error)
    assert told == translate_message(error.message)
    assert told.endswith("query: Der Text darf kein Nullbyte haben; collection: Pflichtfeld.")


def _turn(at: dt.datetime) -> export.Turn:
    evidence = export.Evidence(
        label="S1",
        chunk_id=uuid.UUID(int=1),
        file_id=uuid.UUID(int=0),
        file_name="beacon.pdf",
        mime_type="application/pdf",
        score=1.0,
        vector_score=None,
        lexical_score=None,
        final_score=1.0,
        citation_id="S1",
        sentence=0,
        unsupported_numbers=(),
        row=None,
        version=2,
        sha256="0" * 64,
        page=54,
        slide=None,
        page_name=page_name(54, "53", 203),
        page_label="53",
        cells=None,
        line_start=1,
        line_end=1,
        set_apart=(),
        quote="The beacon was lit by hand.",
        verdict=Verdict.VERIFIED,
        regions=(),
    )
    claim = export.Claim(
        text="It was lit by hand.",
        support=Support.SUPPORTED,
        mark="✓",
        reason="The sources say this.",
        missing=(),
        struck=False,
        evidence=(evidence,),
    )
    return export.Turn(
        id=uuid.UUID(int=1),
        question="How was the beacon lit?",
        understood=None,
        answer="It was lit by hand. [S1] ✓",
        summary="1 sentence verified",
        status="ok",
        model="extractive",
        at=at,
        claims=(claim,),
        provenance=None,
    )
