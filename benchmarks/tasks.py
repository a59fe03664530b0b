"""Measure clicks and seconds of ten analyst tasks in the app, performed by a script in a browser.

Needs Chromium. A task that does not succeed is named and fails the part.
"""

import json
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pydantic
from playwright.sync_api import Error, FilePayload, Locator, Position, expect

from benchmarks import apps, databases
from benchmarks.filings import Contract, Filing, Minutes, Report, companies, filings
from benchmarks.report import Section
from benchmarks.settings import Options
from benchmarks.simulated_user import SimulatedUser
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import LOCAL_USER, PILOT_DOCUMENTS

DOCUMENTS, QUICK_DOCUMENTS = 300, 5
CHATS, QUICK_CHATS = 60, 2
POINTER_SEEN_MS = 1000
"""Pause before a click on a canvas table, which must first see the pointer."""
MATRIX, QUICK_MATRIX = (8, 5), (2, 2)
"""Numbers of documents and questions."""
ADDED, QUICK_ADDED = 20, 2
PATIENCE_MS, QUICK_PATIENCE_MS = 600_000, 300_000
SETTINGS = {"RAG_EMBED_MODEL": "local", "RAG_GEN_MODEL": "extractive", "RAG_WORKER": "true"}
YESTERDAY = """
    UPDATE conversations SET created_at = created_at - interval '1 day', updated_at = updated_at - interval '1 day'
"""
LOST = 3
"""Number of documents deleted by mistake."""
ROWS = ".documents tbody tr"
PLACEHOLDER = "Ask about your documents"
TAG = "tender of 2024"
QUESTIONS = (
    "What was the revenue?",
    "How many employees are there?",
    "How many warehouses were closed?",
    "What does the board propose?",
    "How is demand expected to grow?",
)


@dataclass(frozen=True)
class Desk:
    """The library, and the sizes of the tasks."""

    report: Report
    contract: Contract
    minutes: Minutes
    matrix: tuple[int, int]
    added: int
    folder: Path
    """Folder for downloads."""

    @property
    def question(self) -> str:
        return f"What was the revenue of {self.report.company} in {self.report.year}?"

    @property
    def figure(self) -> str:
        return self.report.revenue(self.report.year)


Task = Callable[[SimulatedUser, Desk], None]


def measure(options: Options, section: Section) -> None:
    """Prepare the library, then perform each task once."""
    apps.chromium()  # fail early if Chromium is missing
    count = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    section.about = f"a library of {count} documents, each task once"
    with ExitStack() as stack:
        folder, url = stack.enter_context(_library(options, count))
        base_url = stack.enter_context(apps.serving(str(folder), url, **SETTINGS))
        patience = QUICK_PATIENCE_MS if options.quick else PATIENCE_MS
        expect.set_options(timeout=patience)
        page = stack.enter_context(apps.opened(base_url, patience))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        user = SimulatedUser(page, options.screenshots)
        desk = _desk(options, filings(count), folder)
        for task in TASKS:
            _do(task, user, desk, section)


def _do(task: Task, user: SimulatedUser, desk: Desk, section: Section) -> None:
    name = (task.__doc__ or "").rstrip(".")
    user.begin()
    try:
        task(user, desk)
    except (AssertionError, Error) as error:
        section.failed = True
        section.notes.append(f"Failed: {name}. {str(error).splitlines()[0]}")
        user.see(f"{name} failed")
        return
    section.add(f"{name}: clicks", user.clicks, "clicks")
    section.add(f"{name}: time", user.seconds, "s")


# --- Preparation ------------------------------------------------------------------------------------


@contextmanager
def _library(options: Options, count: int) -> Iterator[tuple[Path, str]]:
    """Yield the folder and database URL of a copy of the library, since tasks change it. A large one is reused."""
    with ExitStack() as stack:
        server_url = stack.enter_context(databases.server(options))
        name = f"tasks_{count}"
        kept = options.folder / f"{name}_{databases.schema_version()}"

        def fill(url: str) -> None:
            shutil.rmtree(kept, ignore_errors=True)
            _fill(options, kept, url, count)

        if options.quick:
            stack.callback(shutil.rmtree, kept, ignore_errors=True)
        made = stack.enter_context(databases.filled(server_url, name, fill, keep=not options.quick))
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder))
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        yield Path(folder), stack.enter_context(databases.copied(made))


def _fill(options: Options, folder: Path, url: str, count: int) -> None:
    """Add ingested documents and yesterday's chats, of which the first is the oldest."""
    changes = {
        "rag_data_dir": folder,
        "rag_storage_url": None,
        "rag_database_url": pydantic.SecretStr(url),
        "rag_gen_model": SETTINGS["RAG_GEN_MODEL"],
    }
    known = filings(count)
    with RAGEngine(options.config.model_copy(update=changes), user_id=LOCAL_USER) as engine:
        ids = [engine.documents.add(one.content(), one.name, enqueue=False).id for one in known]
        for document_id in ids:
            engine.documents.process(document_id)
        _chat(engine, f"How many invoices were open at the harbour association's meeting {_minutes(known).number}?")
        for number in range(QUICK_CHATS if options.quick else CHATS):
            company = companies()[number]
            engine.store.conversations.append(
                engine.chats.start(f"Employees of {company}").id, "user", f"Employees of {company}"
            )
    with psycopg.connect(url) as connection:
        connection.execute(YESTERDAY)


def _chat(engine: RAGEngine, question: str) -> uuid.UUID:
    chat = engine.chats.start(question)
    engine.store.conversations.append(chat.id, "user", question)
    response = engine.answer(question)
    engine.store.conversations.append(chat.id, "assistant", response.answer, response)
    return chat.id


def _desk(options: Options, known: Sequence[Filing], folder: Path) -> Desk:
    reports = [one for one in known if isinstance(one, Report)]
    contracts = [one for one in known if isinstance(one, Contract)]
    return Desk(
        report=reports[-2],
        contract=contracts[-1],
        minutes=_minutes(known),
        matrix=QUICK_MATRIX if options.quick else MATRIX,
        added=QUICK_ADDED if options.quick else ADDED,
        folder=folder,
    )


def _minutes(known: Sequence[Filing]) -> Minutes:
    return next(one for one in known if isinstance(one, Minutes))


# --- Tasks ------------------------------------------------------------------------------------------


def find_a_figure(user: SimulatedUser, desk: Desk) -> None:
    """Find a figure and prove it."""
    with user.counting():
        answer = _ask(user, desk.question)
        _prove(user, answer, desk.figure)


def compare_two_years(user: SimulatedUser, desk: Desk) -> None:
    """Compare two years."""
    company, year = desk.report.company, desk.report.year
    with user.counting():
        answer = _ask(user, f"Compare the revenue of {company} in {year - 1} and {year}")
        _prove(user, answer, desk.report.revenue(year - 1))
        _prove(user, answer, desk.report.revenue(year))


def find_a_clause(user: SimulatedUser, desk: Desk) -> None:
    """Find a clause in a contract."""
    page = user.page
    with user.counting():
        user.go_to("Library")
        _find_by_name(user, f"{desk.contract.seller} – {desk.contract.buyer}")
        expect(page.locator(ROWS)).to_have_count(1)
        user.see("the contract in the library")
        user.click(page.get_by_role("button", name=desk.contract.name))
        user.click(page.get_by_role("button", name="Find in the document"))
        page.get_by_label("Words to find").fill("terminate this agreement by giving")
        expect(page.locator(".tally")).to_have_text("1 of 1")
        expect(page.locator(".mark.hit.now").first).to_be_in_viewport()
        expect(page.locator(".line").filter(has_text=f"giving {desk.contract.notice_days} days")).to_have_count(1)
        user.see("where the contract says it")


def find_that_something_is_missing(user: SimulatedUser, desk: Desk) -> None:
    """Find that something is missing."""
    with user.counting():
        answer = _ask(user, f"How many patents does {desk.report.company} hold in Japan?")
        expect(answer).to_have_class("answer insufficient")


def export_an_answer(user: SimulatedUser, desk: Desk) -> None:
    """Export an answer as a report."""
    page = user.page
    _ask(user, desk.question)
    with user.counting():
        user.click(page.get_by_role("button", name="Export", exact=True))
        user.click(page.get_by_text("Save as …", exact=True).last)
        user.see("as what to save it")
        given = user.download(page.get_by_role("dialog").get_by_role("button", name="Download"))
    given.save_as(desk.folder / given.suggested_filename)
    with pymupdf.open(desk.folder / given.suggested_filename) as report:
        assert desk.figure in "".join(sheet.get_text() for sheet in report), "the report lacks the figure"


def undo_a_mistake(user: SimulatedUser, _: Desk) -> None:
    """Undo a mistake."""
    page = user.page
    user.begin("/library")
    names = [page.locator(f"{ROWS} td.name").nth(number).inner_text() for number in range(LOST)]
    _tick(user, LOST)
    page.get_by_role("button", name="Delete").click()
    for name in names:
        page.get_by_role("checkbox", name=f"Select {name}").wait_for(state="detached")
    user.see("they are gone")
    with user.counting():
        user.click(page.get_by_role("button", name="Undo"))
        for name in names:
            page.get_by_role("checkbox", name=f"Select {name}").wait_for()
    user.see("they are back")


def give_a_colleague_the_evidence(user: SimulatedUser, desk: Desk) -> None:
    """Give a colleague the evidence."""
    page = user.page
    _ask(user, desk.question)
    page.locator(".mark.quote").first.wait_for()
    with user.counting():
        user.click(page.get_by_role("button", name="Copy a link to here"))
        expect(page.locator(".notice")).to_have_text("Link copied")
        user.see("a link to the place")
        user.click(page.get_by_role("button", name="Marked copy"))
        given = user.download(page.get_by_role("dialog").get_by_role("button", name="Download"))
    user.see("a marked copy")
    given.save_as(desk.folder / given.suggested_filename)
    with pymupdf.open(desk.folder / given.suggested_filename) as copy:
        assert any(desk.figure in mark.info["content"] for sheet in copy for mark in sheet.annots()), (
            "nothing is marked"
        )
    user.begin(page.evaluate("navigator.clipboard.readText()"))
    expect(page.locator(".mark.quote").first).to_be_in_viewport()
    user.see("what the link leads to")


def fill_a_matrix(user: SimulatedUser, desk: Desk) -> None:
    """Fill a matrix."""
    page = user.page
    documents, questions = desk.matrix
    with user.counting():
        user.go_to("Library")
        _find_by_name(user, "annual report")
        expect(page.locator(f"{ROWS} td.name").filter(has_not_text="annual report")).to_have_count(0)
        _tick(user, documents)
        user.click(page.get_by_role("button", name="Matrix"))
        _paste_questions(user, questions)
        user.see("documents and fields")
        if documents > PILOT_DOCUMENTS:
            user.click(page.get_by_text("Pilot on the first three documents"))
        user.click(page.get_by_role("button", name="Fill", exact=True))
        page.locator(".st-key-matrix-table").wait_for()
        page.get_by_role("button", name="Cancel").wait_for(state="detached")
    user.see("the matrix")
    saved = page.get_by_test_id("stDownloadButton").filter(has_text="JSON").get_by_role("button")
    rows = json.loads(user.download(saved).path().read_text("utf-8"))["rows"]
    assert len(rows) == documents, f"{len(rows)} documents"
    states = [row["fields"].get(question, {}).get("state") for row in rows for question in QUESTIONS[:questions]]
    assert set(states) <= {"found", "not_stated"}, f"cells that are neither found nor not stated: {states}"


def return_to_yesterday(user: SimulatedUser, desk: Desk) -> None:
    """Return to yesterday's chat."""
    page = user.page
    with user.counting():
        user.type(page.get_by_placeholder("Search chats"), "open invoices")
        found = page.locator('[class*="st-key-open-"] button')
        expect(found).to_have_count(1)  # until the words are searched for, the list shows all chats
        user.see("chats that have the words")
        user.click(found)
        answer = page.locator(".answer")
        expect(answer).to_contain_text(f"{desk.minutes.number + 12} invoices")
        expect(page.locator(".mark.quote").first).to_be_in_viewport()
        user.see("the answer of yesterday")


def add_and_organise_files(user: SimulatedUser, desk: Desk) -> None:
    """Add and organise files."""
    page = user.page
    tenders = [_tender(number) for number in range(desk.added)]
    with user.counting():
        user.go_to("Library")
        field = page.locator('[data-testid="stFileUploaderDropzone"]:visible input[type=file]')
        user.bring(field, tenders)
        expect(page.locator('[class*="st-key-file-ready"]')).to_have_count(desk.added)
        user.see("they are read")
        user.click(page.get_by_role("button", name="Edit these"))
        dialog = page.get_by_role("dialog")
        user.type(dialog.get_by_role("combobox").first, TAG)
        page.keyboard.press("Tab")  # the list of tags would cover the button
        user.see("their tag")
        user.click(dialog.get_by_role("button", name="Save"))
        expect(page.locator('[class*="st-key-file-ready"]').filter(has_text=TAG)).to_have_count(desk.added)
    user.see("they are in order")


def _tender(number: int) -> FilePayload:
    content = f"Tender {number}\n\nThe bidder of this tender offers {number * 7 + 100} lamps for the harbour."
    return FilePayload(name=f"Tender {number}.txt", mimeType="text/plain", buffer=content.encode())


TASKS: tuple[Task, ...] = (
    find_a_figure,
    compare_two_years,
    find_a_clause,
    find_that_something_is_missing,
    export_an_answer,
    undo_a_mistake,
    give_a_colleague_the_evidence,
    fill_a_matrix,
    return_to_yesterday,
    add_and_organise_files,
)


# --- Shared steps -----------------------------------------------------------------------------------


def _ask(user: SimulatedUser, question: str) -> Locator:
    """Ask a question and return the complete answer."""
    user.type(user.page.get_by_placeholder(PLACEHOLDER), question)
    answer = user.page.locator(".answer").last
    answer.locator(".source").first.wait_for()
    user.see(question)
    return answer


def _prove(user: SimulatedUser, answer: Locator, figure: str) -> None:
    """Click the citation whose quote has the figure, and wait for its highlight."""
    user.click(answer.locator(f'.text .chip[data-tip*="{figure}"]').first)
    expect(user.page.locator(".mark.quote").first).to_be_in_viewport()
    user.see(f"{figure} is proved")


def _find_by_name(user: SimulatedUser, words: str) -> None:
    user.type(user.page.get_by_placeholder("Name, title, author or tag"), words)


def _tick(user: SimulatedUser, count: int) -> None:
    """Select the first rows of the library with a click and a shift-click."""
    rows = user.page.locator(ROWS)
    user.click(rows.nth(0).locator("td.tick input"))
    user.click(rows.nth(count - 1).locator("td.tick input"), with_shift=True)
    user.page.locator(".documents .chosen").filter(has_text=f"{count} selected").wait_for()


def _paste_questions(user: SimulatedUser, count: int) -> None:
    """Paste lines into the table of fields from the clipboard."""
    table = user.page.locator(".st-key-matrix-form").get_by_test_id("stDataFrame")
    user.page.evaluate("text => navigator.clipboard.writeText(text)", "\n".join(QUESTIONS[:count]))
    at = Position(x=120, y=50)
    table.hover(position=at)
    user.page.wait_for_timeout(POINTER_SEEN_MS)
    table.click(position=at)
    user.clicks += 1
    table.locator("canvas").first.focus()  # a rerun may have taken it
    user.page.keyboard.press("Control+v")
    table.locator("[role=gridcell]").filter(has_text=QUESTIONS[count - 1]).wait_for(state="attached")
