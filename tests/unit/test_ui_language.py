"""The pages in other languages: no message escapes, each is translated, numbers are written as the language does."""

import ast
import datetime as dt
import io
import re
import string
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from rag import errors
from rag.types import DocumentStatus, Progress, page_name, reading_of
from rag.ui import language, messages, text
from rag.ui.component import ASSETS, in_html
from rag.ui.said import SHAPES, said
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
PUT_TOGETHER = ("of 1 file", "files in it", "Says ", "The nearest", "was not found", "were not found", "No ")
"""How sentences begin whose words the engine chooses by what it tells of."""
KEYS_OF_A_KEYBOARD = {"Enter", "Escape", "Esc", "ArrowLeft", "ArrowRight", "Files"}


@pytest.fixture
def german() -> Iterator[None]:
    with language.spoken("de-AT"):
        yield


def catalogue(tag: str) -> Catalog:
    return read_po(io.BytesIO(messages.catalogue_path(tag).read_bytes()), locale=tag)


# --- messages ---


def test_the_template_has_what_the_pages_say() -> None:
    assert messages.TEMPLATE.read_bytes() == messages.written(messages.template(), with_header=False), "make messages"


@pytest.mark.parametrize("tag", OTHERS)
def test_every_message_is_translated_and_names_the_same(tag: str) -> None:
    translated = {message.id: message.string or "" for message in catalogue(tag) if message.id}
    assert translated.keys() == {message.id for message in messages.template() if message.id}
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
    told = in_html(path.read_text("utf-8"), lambda _: "…")
    assert re.findall(r">[^<>]*[a-z]{2}[^<>]*<", told) == []
    assert re.findall(r'(?:aria-label|title|placeholder)="[^"]*[a-z]{2}[^"]*"', told) == []


# --- what is said ---


def test_messages_are_said_in_the_language_asked_for(german: None) -> None:
    assert language._("Library") == "Bibliothek"
    assert text.plural(1, "{count} page", "{count} pages") == "1 Seite"
    assert text.plural(1234, "{count} page", "{count} pages") == "1.234 Seiten"
    assert text.listed(["a", "b", "c"]) == "a, b und c"


@pytest.mark.parametrize(
    ("tag", "spoken"), [("de-CH", "de"), ("DE", "de"), ("en-GB", "en"), ("xx", "en"), (None, "en")]
)
def test_a_language_that_is_not_there_is_english(tag: str | None, spoken: str) -> None:
    with language.spoken(tag):
        assert language.current() == spoken


def test_numbers_sizes_shares_and_days_are_written_as_in_german(german: None) -> None:
    assert text.decimal(1234.56, 1) == "1.234,6"
    assert text.percent(0.6) == "60\xa0%"
    assert text.size(5_300_000) == "5,3 MB"
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    assert text.moment(at, language._("d MMM y, HH:mm")) == "9. März 2026, 08:05"


def test_english_is_written_as_it_always_was() -> None:
    assert text.decimal(1234.56, 1) == "1,234.6"
    assert text.percent(0.6) == "60%"
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    assert text.moment(at, language._("d MMM y, HH:mm")) == f"{at:%-d %b %Y, %H:%M}"


# --- what the engine says ---


def test_the_engine_is_understood(german: None) -> None:
    progress = Progress(done=3, total=1200, seconds_left=120)
    reading = document(DocumentStatus.PARSING, progress=progress)
    assert said(reading_of(reading) or "") == "Seite 3 von 1.200, noch 2 min"
    assert said(page_name(54, "53", 203)) == "S. 53 (Seite 54 von 203)"
    assert said("The nearest stands in Waiting.pdf, page 7.") == "Das Nächstliegende steht in Waiting.pdf, Seite 7."
    refusal = "“1954” was not found. The nearest (2016) stands in a.pdf, page 22."
    assert said(refusal) == "“1954” wurde nicht gefunden. Das Nächstliegende (2016) steht in a.pdf, Seite 22."


def test_what_a_document_is_called_is_not_translated(german: None) -> None:
    assert said("“page 7” is encrypted. Give its password.").startswith("„page 7“ ist verschlüsselt.")


def test_what_is_not_known_is_said_as_it_is(german: None) -> None:
    unknown = str(errors.StoreError("The database {x} is away."))
    assert said(unknown) == unknown


def test_the_engine_says_what_is_known_of_it() -> None:
    """A sentence of the engine that is reworded is reworded here, too."""
    told = "\n".join(_constants(path) for path in (ROOT / "rag").rglob("*.py") if path.name != "said.py")
    parts = {part.strip(" .,;()“”") for shape in SHAPES for part in re.split(r"\{\w+\}", shape)}
    assert {part for part in parts if len(part) > 12 and not part.startswith(PUT_TOGETHER)} <= {
        part for part in parts if part in told
    }


def _constants(path: Path) -> str:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return "\n".join(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
