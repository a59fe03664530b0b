"""The app's pages, run without a browser over the real engine; how they look and click is tested in `tests/e2e`."""

import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag.engine import RAGEngine
from rag.engine.library.documents import Documents
from rag.types import AuditFilter, Document, DocumentStatus, Line, OverviewEstimate, Support
from rag.ui import session
from rag.ui.formatting import escape
from rag.ui.library import document_table
from tests import mails, pdfs, vendors
from tests.vendor_servers import Held, Paused, VendorServer

APP = Path(__file__).parents[2] / "app.py"
PATIENCE_SECONDS = 60

MINUTES = pdfs.plain()
BALANCE_SHEET = ("Consolidated balance sheet 2022", "Accounts receivable 74", "Total current liabilities 133")

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    """The engine of the app's only user."""
    with RAGEngine() as engine:
        yield engine


def add(engine: RAGEngine, name: str = "minutes.pdf", content: bytes = MINUTES) -> Document:
    """A document that is ready to be asked."""
    document = engine.documents.add(content, name, enqueue=False)
    return engine.documents.process(document.id)


def open_page(app: AppTest, name: str) -> AppTest:
    app.run().switch_page(f"pages/{name}.py").run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    """All words on the page."""
    elements = [*app.markdown, *app.text, *app.caption, *app.subheader, *app.error, *app.header]
    return "\n".join(str(element.value) for element in elements)


def listed(app: AppTest, field: str) -> list[Any]:
    """What a field of the library's table has, row by row."""
    tables = [node for node in app.get("bidi_component") if node.key and node.key.endswith("-table")]
    return [row[field] for table in tables for row in json.loads(table.proto.json)["rows"]]


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What a component whose key begins with `key` was given."""
    (found,) = [node for node in app.get("bidi_component") if node.key and node.key.startswith(key)]
    data: dict[str, Any] = json.loads(found.proto.json)
    return data


def lit(shown: dict[str, Any]) -> list[dict[str, Any]]:
    """What the viewer lights of its active mark."""
    shapes: list[dict[str, Any]] = shown["marks"][shown["active"]]["lit"]
    return shapes


def lines(engine: RAGEngine, shown: dict[str, Any]) -> tuple[Line, ...]:
    """The lines of the page that the viewer goes to."""
    return engine.pages.text(uuid.UUID(shown["document"]["id"]), [shown["target"]["page"]]).lines


def ask(app: AppTest, question: str, ended: Callable[[], bool]) -> None:
    """Ask, and wait until it has ended."""
    app.chat_input[0].set_value(question).run()
    wait(app, ended)


def wait(app: AppTest, ended: Callable[[], bool]) -> None:
    """Look again until it has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ended() and time.monotonic() < deadline:
        time.sleep(0.1)
        app.run()


def answered(app: AppTest, question: str) -> dict[str, Any]:
    """Ask; gives the answer."""
    ask(app, question, lambda: not app.session_state["pending"])
    assert not app.error
    return component(app, "answer-")


# --- Chat -------------------------------------------------------------------------------------------


def test_empty_library_leads_to_the_upload(app: AppTest) -> None:
    app.run()
    assert "No documents yet" in texts(app)
    assert not app.chat_input
    weights = {button.label: button.proto.type for button in app.main.button}
    assert weights == {"Upload documents": "primary"}
    next(button for button in app.main.button if button.label == "Upload documents").click().run()
    assert [header.value for header in app.header] == ["Library"]


def test_answer_cites_and_lights_its_words(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    answer = answered(app, "By how many percent did copper prices rise?")
    assert answer["likelihood"]["name"] in ("likely", "unsure")
    assert "14 percent" in answer["html"]
    assert 'data-citation="0"' in answer["html"]
    assert [quote["text"] for quote in answer["sources"][0]["quotes"]] == [pdfs.SENTENCES[1]]
    shown = component(app, "viewer")
    (quote,) = [shape for shape in lit(shown) if shape["kind"] == "quote"]
    (line,) = [line for line in lines(engine, shown) if "14 percent" in line.text]
    assert quote["rects"][0] == pytest.approx(line.bbox, abs=2)


def test_a_follow_up_is_shown_as_it_was_understood(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    answered(app, "By how many percent did copper prices rise in 2021?")
    assert not any("Understood" in caption.value for caption in app.caption)
    ask(app, "and in 2020?", lambda: not app.session_state["pending"])
    shown = [caption.value for caption in app.caption if caption.value.startswith("Understood as")]
    assert shown == ["Understood as: By how many percent did copper prices rise in 2020?"]


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[VendorServer]:
    """The server of the model that writes the app's answers: two sentences, of which words prove the first."""
    with vendors.vendor("openai") as vendor:
        monkeypatch.setenv("RAG_EMBED_MODEL", "local")
        monkeypatch.setenv("OPENAI_API_KEY", vendors.KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", vendor.server.url)
        monkeypatch.setenv("PROVIDER_MAX_RETRIES", "0")
        supported = {"words": [], "missing": "", "verdict": "supported"}
        vendor.server.replies += [
            "It handled 4,812 ships in 2019 [S1]. Heavy loads can be hoisted there [S1].",
            json.dumps({"verdicts": [{"claim": claim, **supported} for claim in (1, 2)]}),
        ]
        yield vendor.server


def test_the_reader_chooses_whether_all_pages_are_read(
    app: AppTest, engine: RAGEngine, writer: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(prompt: str) -> str:
        noted = [line for line in prompt.split("\n") if line.startswith("- The fee")]
        read = [
            ("S" + text.partition("]")[0], fee)
            for text in prompt.split("\n[S")
            for fee in re.findall(r"the fee of berth \d+ is \d+ francs", text)
        ]
        return "\n".join(noted or [f"- T{fee[1:]}. [{source}]" for source, fee in read])

    monkeypatch.setenv("RAG_MAX_CONTEXT_TOKENS", "200")
    writer.reply_to = reply
    add(engine, "fees.pdf", pdfs.pages(8, line=lambda n: f"In May the fee of berth {n} is {n}00 francs."))
    app.run()
    shown = answered(app, "List all fees")
    assert "all 8 pages" in shown["html"]
    assert not any("is read in parts" in str(request.body) for request in writer.requests)
    assert "8 pages" in texts(app)
    assert "tokens" in texts(app)
    add(engine, "tolls.pdf", pdfs.pages(3, line=lambda n: f"In June the fee of quay {n} is {n}00 francs."))
    app.run()  # its price was for the other document
    next(button for button in app.button if button.label == "Read all 8 pages").click().run()
    wait(app, lambda: not app.session_state["pending"])
    shown = component(app, "answer-")
    assert "berth 8 is 800 francs" in shown["html"]
    assert shown["writer"].endswith("8 pages read")
    assert not any("Read all" in button.label for button in app.button)
    assert len(writer.requests) > 2
    (conversation,) = engine.chats.list()
    *_, turn = engine.chats.messages(conversation.id)
    assert turn.response
    assert turn.response.reading
    assert turn.response.reading.is_done
    assert turn.response.reading.pages == 8
    assert {hit.document_name for hit in turn.response.contexts} == {"fees.pdf"}
    assert len(turn.versions) == 2


def test_an_answer_tells_who_chose_what_was_asked(
    app: AppTest, engine: RAGEngine, writer: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(prompt: str) -> str:
        if "You plan the searches" not in prompt:
            return "Fees are due in May [S1]."
        return json.dumps({"question": "Which fees?", "searches": [{"text": "fees", "documents": planned}]})

    planned: list[int] = []
    monkeypatch.setenv("RAG_MAX_CONTEXT_TOKENS", "200")
    writer.reply_to = reply
    plan = add(engine, "plan.pdf")
    for name in ("fees.pdf", "rents.pdf"):
        add(engine, name, pdfs.pages(8, line=lambda n: f"In May the fee of berth {n} is {n}00 francs."))

    def asked() -> tuple[str, str]:
        """What the last answer says of the documents that were asked, and why."""
        captions = [caption for caption in app.caption if caption.value.startswith("Asked: ")]
        return captions[-1].value, captions[-1].proto.help

    def is_ended() -> bool:
        return not app.session_state["pending"]

    app.run()
    ask(app, "When is money due?", is_ended)
    assert asked() == ("Asked: all sources", "Searched for: fees")
    tick_source(app, plan.id, value=False)
    ask(app, "When is rent due?", is_ended)
    assert asked() == ("Asked: all ticked sources", "Searched for: fees")
    planned.append(1)
    ask(app, "When is anything due?", is_ended)
    assert asked()[1] == "The model chose these for the question. Searched for: fees"


def ask_until_judged(app: AppTest, engine: RAGEngine) -> dict[str, Any]:
    """Ask; gives the answer as it is shown while the model judges it."""
    lines = ("The harbour of Lindmark handled 4,812 ships in 2019.", "Its largest crane lifts 95 tonnes.")
    add(engine, "harbour.pdf", pdfs.plain(lines))
    app.run()
    ask(app, "How many ships were there in 2019?", lambda: any("A model judges" in each.value for each in app.caption))
    return component(app, "answer-")


def support(engine: RAGEngine) -> list[Support | None]:
    """The verdicts of the saved answer."""
    (conversation,) = engine.chats.list()
    _, turn = engine.chats.messages(conversation.id)
    assert turn.response
    return [sentence.support for sentence in turn.response.sentences]


def test_an_answer_is_shown_and_saved_while_the_model_judges_it(
    writer: VendorServer, app: AppTest, engine: RAGEngine
) -> None:
    judging = threading.Event()
    writer.faults += [None, Held(judging)]
    shown = ask_until_judged(app, engine)
    assert "Heavy loads" in shown["html"]
    assert "not verified" not in shown["html"]
    assert shown["summary"] == "Being checked … 1 of 2 sentences verified so far"
    assert shown["unproved"] == []
    assert shown["lit"] == f"{shown['id']}:0"
    assert support(engine) == [Support.SUPPORTED, Support.NOT_VERIFIED]  # should the app end now
    viewed = component(app, "viewer")
    judging.set()
    wait(app, lambda: not app.session_state["pending"])
    judged = component(app, "answer-")
    assert (judged["id"], judged["lit"]) == (shown["id"], shown["lit"])
    assert judged["summary"] == "All 2 sentences verified"
    assert support(engine) == [Support.SUPPORTED, Support.SUPPORTED]
    assert not any("A model judges" in caption.value for caption in app.caption)
    now = component(app, "viewer")
    assert now["target"] == viewed["target"]
    assert len(now["marks"]) == 2
    assert all(mark["lit"] for mark in now["marks"])
    assert not app.exception


def test_a_reader_who_stops_the_judging_keeps_the_answer(writer: VendorServer, app: AppTest, engine: RAGEngine) -> None:
    judging = threading.Event()
    writer.faults += [None, Held(judging)]
    shown = ask_until_judged(app, engine)
    ((_, pending),) = app.session_state["pending"].items()
    app.button(key="stop").click().run()
    assert not app.session_state["pending"]
    assert shown["summary"].startswith("Being checked")
    assert component(app, "answer-")["summary"] == "1 of 2 sentences verified; 1 could not be decided"
    assert not app.chat_input[0].disabled
    judging.set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not pending.done and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pending.done
    assert support(engine) == [Support.SUPPORTED, Support.NOT_VERIFIED]


def ask_until_paused(app: AppTest, engine: RAGEngine, writer: VendorServer, released: threading.Event) -> AppTest:
    """Ask a model that writes two of its three pieces; gives another window of the same chat."""
    writer.faults.append(Paused(2, released))
    writer.replies.clear()
    writer.pieces[:] = ["The harbour handled ", "4,812 ", "ships in 2019 [S1]."]
    add(engine, "harbour.pdf", pdfs.plain(("The harbour of Lindmark handled 4,812 ships in 2019.",)))
    app.run()
    ask(app, "How many ships were there in 2019?", lambda: "handled 4,812" in written(app))
    other = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    other.query_params["chat"] = app.query_params["chat"]
    return other.run()


def written(app: AppTest) -> str:
    """The text of the answer that is being written, or that broke off."""
    return "\n".join(str(html.proto.body) for html in app.main.get("html"))


def test_an_answer_that_is_stopped_in_one_window_is_stopped_in_the_other(
    writer: VendorServer, app: AppTest, engine: RAGEngine
) -> None:
    released = threading.Event()
    other = ask_until_paused(app, engine, writer, released)
    other.button(key="stop").click().run()
    released.set()
    for window in (other, app):
        wait(window, lambda window=window: not window.session_state["pending"])  # type: ignore[misc]
        assert component(window, "answer-")["writer"].startswith("Stopped")


def test_a_question_sent_while_another_window_asks_stays_in_its_field(
    writer: VendorServer, app: AppTest, engine: RAGEngine
) -> None:
    released = threading.Event()
    other = ask_until_paused(app, engine, writer, released)
    released.set()
    for window in (other, app):
        wait(window, lambda window=window: not window.session_state["pending"])  # type: ignore[misc]
    released.clear()
    writer.faults.append(Paused(2, released))
    ask(app, "How many ships did Lindmark handle in 2019?", lambda: "handled 4,812" in written(app))
    other.chat_input[0].set_value("Who paid?").run()
    (error,) = other.error
    assert error.value.startswith("An answer is being written in this chat")
    assert other.chat_input[0].proto.value == "Who paid?"
    assert "handled 4,812" in written(other)
    released.set()
    wait(other, lambda: not other.session_state["pending"])
    assert [turn.role for turn in engine.chats.messages(engine.chats.list()[0].id)] == ["user", "assistant"] * 2


def test_a_chat_that_was_deleted_in_another_window_says_so(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    chat = engine.chats.start("Birds")
    app.query_params["chat"] = str(chat.id)
    app.run()
    engine.store.conversations.delete(chat.id)
    app.chat_input[0].set_value("What do birds eat?").run()
    assert "There is no such chat" in texts(app)
    assert not app.error
    app.button(key="new-instead").click().run()
    assert app.chat_input[0].proto.value == "What do birds eat?"
    assert engine.chats.list() == []


def test_nobody_else_sees_an_answer_that_is_being_written(
    writer: VendorServer, app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    other = ask_until_paused(app, engine, writer, released)
    monkeypatch.setattr(session, "user_id", lambda: "bob")
    add(engine.installation.for_user("bob"))
    stranger = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    stranger.query_params["chat"] = other.query_params["chat"]
    stranger.run()
    assert "4,812" not in written(stranger) + texts(stranger)
    assert "There is no such chat" in texts(stranger)
    assert not stranger.session_state["pending"]
    released.set()


def test_an_answer_written_by_another_process_is_shown_until_it_breaks_off(app: AppTest, engine: RAGEngine) -> None:
    """The chat is locked as by another process, which saves what it writes and then dies."""
    document = add(engine)
    chat = engine.chats.start("Copper", document_ids=[document.id])
    engine.store.conversations.append(chat.id, "user", "By how many percent did copper prices rise in 2021?")
    app.query_params["chat"] = str(chat.id)
    with engine.store.conversations.lock(chat.id):
        assert "Reading" in written(app.run())
        assert app.chat_input[0].disabled
        engine.store.conversations.append(chat.id, "assistant", "They rose by [S1] a lot")
        assert "They rose by" in written(app.run())
        assert "Stopped" not in texts(app)
    app.run()
    assert "They rose by  a lot" in written(app)
    assert "Stopped before the end: this is what was written until then. It is not checked." in texts(app)
    assert not app.chat_input[0].disabled
    assert "14 percent" in answered(app, "By how many percent did copper prices rise?")["html"]


def test_a_model_that_cannot_judge_is_no_error(writer: VendorServer, app: AppTest, engine: RAGEngine) -> None:
    judging = threading.Event()
    writer.faults += [None, Held(judging)]
    writer.replies[-1] = "I cannot."
    shown = ask_until_judged(app, engine)
    judging.set()
    wait(app, lambda: not app.session_state["pending"])
    assert not app.error
    assert shown["summary"].startswith("Being checked")
    assert component(app, "answer-")["summary"] == "1 of 2 sentences verified; 1 could not be decided"
    assert support(engine) == [Support.SUPPORTED, Support.NOT_VERIFIED]


def test_conversation_is_kept_and_opened_again(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    answered(app, "What was approved?")
    (conversation,) = engine.chats.list()
    assert conversation.title == "What was approved?"
    again = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    again.query_params["chat"] = str(conversation.id)
    again.run()
    assert "What was approved?" in texts(again)
    assert component(again, "answer-")["html"]


def test_a_visit_to_another_page_loses_nothing_of_the_conversation(app: AppTest, engine: RAGEngine) -> None:
    minutes = add(engine)
    add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    app.run()
    answered(app, "By how many percent did copper prices rise?")
    lit = component(app, "viewer")["marks"]
    open_page(app, "library")
    app.query_params.clear()  # the address of another page has no conversation
    open_page(app, "chat")
    assert component(app, "answer-")["html"]
    assert component(app, "viewer")["marks"] == lit
    again = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    again.query_params["chat"] = str(engine.chats.list()[0].id)
    again.run()
    assert component(again, "viewer")["document"]["id"] == str(minutes.id)  # and not the newest
    assert component(again, "viewer")["marks"] == lit


def test_documents_that_are_being_read_are_not_missing(app: AppTest, engine: RAGEngine) -> None:
    engine.documents.add(MINUTES, "minutes.pdf", enqueue=False)
    app.run()
    assert "Reading your documents" in texts(app)
    assert "minutes" in texts(app)
    assert "No documents yet" not in texts(app)


def test_a_question_is_edited_and_an_answer_made_anew_beside_the_former(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    first = answered(app, "By how many percent did copper prices rise?")
    (conversation,) = engine.chats.list()
    (_, turn) = engine.chats.messages(conversation.id)
    (again,) = [node for node in app.get("menu_button") if node.proto.id.endswith(f"again-{turn.id}")]
    assert again.proto.options[:2] == ["Same question", "With more sources"]
    button(app, f"good-{turn.id}").click().run()
    button(app, f"edit-{conversation_start(engine)}").click().run()
    assert app.text_area[0].value == "By how many percent did copper prices rise?"
    engine.chats.ask(conversation.id, "What was approved?", beside=turn_before(engine, turn.id))
    app.run()
    assert component(app, "answer-")["html"] != first["html"]
    assert "1/2" not in texts(app)
    assert "2/2" in texts(app)
    button(app, f"earlier-{conversation_start(engine)}").click().run()
    assert component(app, "answer-")["html"] == first["html"]


def conversation_start(engine: RAGEngine) -> str:
    """The id of the first turn that the only conversation shows."""
    (conversation,) = engine.chats.list()
    return str(engine.chats.messages(conversation.id)[0].id)


def turn_before(engine: RAGEngine, turn_id: uuid.UUID) -> uuid.UUID:
    """The id of the question of an answer in the only conversation."""
    (conversation,) = engine.chats.list()
    ids = [turn.id for turn in engine.chats.messages(conversation.id)]
    return ids[ids.index(turn_id) - 1]


def button(app: AppTest, key: str) -> Any:
    (found,) = [one for one in app.button if one.key == key]
    return found


def test_address_of_another_users_conversation_shows_nothing_of_it(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    other = engine.installation.for_user("somebody else")
    conversation = other.chats.start("Private matters")
    other.store.conversations.append(conversation.id, "user", "The secret question")
    app.query_params["chat"] = str(conversation.id)
    app.run()
    assert not app.exception
    assert "secret" not in texts(app)
    assert "Private matters" not in [button.label for button in app.button]


def test_question_without_an_answer_offers_the_nearest_passages(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    answer = answered(app, "Which enzyme phosphorylates glucose in the liver?")
    assert answer["insufficient"]
    assert 'data-citation="' not in answer["html"]
    assert "Marked copy" not in [button.label for button in app.button]


def test_where_many_documents_answer_one_is_chosen(app: AppTest, engine: RAGEngine) -> None:
    for name in ("Acme", "Birch", "Cedar", "Dune"):
        add(engine, f"{name}.pdf", pdfs.annual_report(name))
    app.run()
    answer = answered(app, "What was the revenue?")
    assert "Which of the 4 documents?" in answer["html"]
    assert sorted(row["name"] for row in answer["sources"]) == ["Acme.pdf", "Birch.pdf", "Cedar.pdf", "Dune.pdf"]
    chosen = escape("What was the revenue? (in Cedar.pdf)")
    (button,) = [button for button in app.button if button.label == chosen]
    button.click().run()
    wait(app, lambda: not app.session_state["pending"])
    last = [node for node in app.get("bidi_component") if node.key and node.key.startswith("answer-")][-1]
    assert {row["name"] for row in json.loads(last.proto.json)["sources"]} == {"Cedar.pdf"}


def test_failing_model_is_named_and_can_be_asked_again(
    app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_EMBED_MODEL", "local")
    monkeypatch.setenv("RAG_GEN_MODEL", "openai:gpt-4o-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PROVIDER_MAX_RETRIES", "0")
    add(engine)
    app.run()
    ask(app, "What was approved?", lambda: bool(app.error))
    assert "sk-not-a-key" not in app.error[0].value
    assert not app.chat_input[0].disabled
    assert "Ask again" in [button.label for button in app.button]


def test_scope_limits_the_question(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    birds = add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    app.run()
    tick_source(app, "all", value=False)
    assert app.chat_input[0].disabled
    assert "Tick at least one document to ask." in texts(app)
    tick_source(app, birds.id)
    sources = answered(app, "Where did the seven herons nest?")["sources"]
    assert {source["name"] for source in sources} == {"birds.pdf"}


def tick_source(app: AppTest, entry: object, *, within: str = "", value: bool = True) -> None:
    """Tick or untick a document or a group in the panel of sources."""
    keys = (f"source-{within}-{entry}", f"source-all-{entry}")
    (box,) = [box for box in app.checkbox if box.key and box.key.rpartition("-")[0] in keys]
    box.set_value(value).run()
    assert not app.exception
    assert not app.error


def source_boxes(app: AppTest) -> dict[str, bool]:
    """The tick boxes of sources by label."""
    return {box.label: box.value for box in app.checkbox if box.key and box.key.startswith("source-")}


def chosen_sources(app: AppTest) -> set[str]:
    """The documents that are ticked in the panel of sources, where there are no groups."""
    keys = [box.key.rpartition("-")[0] for box in app.checkbox if box.key and box.value]
    return {key.removeprefix("source-all-") for key in keys if key.startswith("source-all-")}


def open_groups(app: AppTest, *keys: str) -> None:
    """Open groups of sources for one run; a browser does it by a click, and keeps them open."""
    for key in keys:
        app.session_state[f"members-{key}"] = True
    app.run()
    assert not app.exception


@pytest.fixture
def three(engine: RAGEngine) -> tuple[Document, Document, Document]:
    """Minutes with two tags, birds with one, and a plan with none."""
    minutes, birds, plan = (
        add(engine, name, pdfs.plain((text,)))
        for name, text in (
            ("minutes.pdf", "Ten members met."),
            ("birds.pdf", "Seven herons nested beside the canal."),
            ("plan.pdf", "Nine quays will be built."),
        )
    )
    engine.documents.edit(minutes.id, {"tags": ["Council", "2024"], "subject": {"names": ["Harbour board"]}})
    engine.documents.edit(birds.id, {"tags": ["council"]})
    return minutes, birds, plan


def test_sources_are_found_by_name_subject_and_tag(app: AppTest, three: tuple[Document, ...]) -> None:
    app.run()
    for query, hits in (
        ("BIRD", {"birds.pdf"}),
        ("harbour", {"minutes.pdf"}),
        ("council", {"birds.pdf", "minutes.pdf"}),
        ("council harbour", {"minutes.pdf"}),
        ("whale", set()),
    ):
        app.text_input("source-search").set_value(query).run()
        assert set(source_boxes(app)) == {"All documents", *hits}, query
    assert "No document matches." in texts(app)


def group_counts(app: AppTest) -> list[str]:
    """Return how many documents of each group are ticked."""
    return [caption.value for caption in app.main.caption if re.fullmatch(r"\d+ of \d+", caption.value)]


def test_a_group_of_sources_is_ticked_as_a_whole(
    app: AppTest, engine: RAGEngine, three: tuple[Document, Document, Document]
) -> None:
    minutes, birds, plan = three
    engine.filters.save("ours", {"tags": ["2024"]})
    app.run()
    assert component(app, "sources")["label"] == "Sources: all 3"
    groups = {"ours": "1 of 1", "2024": "1 of 1", "Council": "2 of 2", "No tag": "1 of 1"}
    assert source_boxes(app) == {"All documents": True, **{f"All of “{name}”": True for name in groups}}
    assert [box.label for box in app.main.expander] == [*groups]
    assert group_counts(app) == [*groups.values()]
    tick_source(app, "all", value=False)
    assert set(source_boxes(app).values()) == {False}
    tick_source(app, "tag:council")
    assert component(app, "sources")["label"] == "Sources: 2 of 3"
    assert source_boxes(app)["All of “2024”"]  # its only document is in both groups
    assert app.query_params["about"] == "tag:council"
    open_groups(app, "tag:council", "tag:2024")
    assert [box.value for box in app.checkbox if box.label == "minutes.pdf"] == [True, True]
    engine.documents.edit(plan.id, {"tags": ["Council"]})  # joins the group, in which nothing was unticked
    open_groups(app, "tag:2024")
    assert component(app, "sources")["label"] == "Sources: 3 of 3"
    tick_source(app, minutes.id, within="tag:2024", value=False)
    open_groups(app, "tag:council", "tag:2024")
    assert [box.value for box in app.checkbox if box.label == "minutes.pdf"] == [False, False]
    assert source_boxes(app)["All of “Council”"] is False
    assert group_counts(app) == ["0 of 1", "0 of 1", "2 of 3"]
    assert app.query_params["about"] == [str(plan.id), str(birds.id)]
    engine.documents.edit(birds.id, {"disabled": True})
    app.run()
    assert component(app, "sources")["label"] == "Sources: 1 of 2"


def test_ticked_groups_outlive_pages_reloads_and_other_chats(
    app: AppTest, engine: RAGEngine, three: tuple[Document, Document, Document]
) -> None:
    minutes, birds, plan = three
    app.run()
    tick_source(app, "all", value=False)
    tick_source(app, "tag:council")
    open_page(app, "library")
    open_page(app, "chat")
    assert component(app, "sources")["label"] == "Sources: 2 of 3"
    sources = answered(app, "How many herons nested beside the canal?")["sources"]
    assert {source["name"] for source in sources} == {"birds.pdf"}
    (conversation,) = engine.chats.list()
    assert set(conversation.document_ids) == {minutes.id, birds.id}
    engine.documents.edit(plan.id, {"tags": ["council"]})
    reloaded = AppTest.from_file(str(APP), default_timeout=PATIENCE_SECONDS)
    reloaded.query_params.update({"chat": app.query_params["chat"], "about": app.query_params["about"]})
    reloaded.run()
    assert component(reloaded, "sources")["label"] == "Sources: 3 of 3"
    ask(reloaded, "How many quays will be built?", lambda: not reloaded.session_state["pending"])
    response = engine.chats.messages(conversation.id)[-1].response
    assert response
    assert {hit.document_name for hit in response.sources.values()} == {"plan.pdf"}
    next(button for button in reloaded.button if button.label == "New chat").click().run()
    assert component(reloaded, "sources")["label"] == "Sources: all 3"
    reloaded.button(f"open-{conversation.id}").click().run()
    bookmarked = AppTest.from_file(str(APP), default_timeout=PATIENCE_SECONDS)
    bookmarked.query_params["chat"] = str(conversation.id)
    for window in (reloaded, bookmarked.run()):
        assert component(window, "sources")["label"] == "Sources: 3 of 3"
        assert source_boxes(window)["All of “Council”"]


def test_a_source_that_is_still_read_is_ticked_and_asked_when_it_is_ready(app: AppTest, engine: RAGEngine) -> None:
    plan = add(engine, "plan.pdf")
    waiting = engine.documents.add(pdfs.plain(("Nine goats grazed beside the quay.",)), "goats.pdf")
    app.run()
    assert "goats.pdf · waiting" in source_boxes(app)
    tick_source(app, plan.id, value=False)
    assert component(app, "sources")["label"] == "Sources: 1 of 2 · 1 being read"
    assert chosen_sources(app) == {str(waiting.id)}
    assert "Reading your documents" in texts(app)
    engine.documents.process(waiting.id)
    app.run()
    assert component(app, "sources")["label"] == "Sources: 1 of 2"
    sources = answered(app, "How many goats grazed beside the quay?")["sources"]
    assert {source["name"] for source in sources} == {"goats.pdf"}


def test_ticked_documents_that_are_gone_are_not_replaced_by_all(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "plan.pdf")
    birds = add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    chat = engine.chats.start("Birds", document_ids=[birds.id])
    app.run()
    tick_source(app, "all", value=False)
    assert app.query_params["about"] == ""
    tick_source(app, birds.id)
    later = engine.documents.add(
        pdfs.plain(("Nine herons nested there.",)), "birds.pdf", replaces=birds.id, enqueue=False
    )
    engine.documents.process(later.id)
    app.run()
    assert chosen_sources(app) == {str(later.id)}
    engine.documents.edit(later.id, {"disabled": True})
    bookmarked, opened = (AppTest.from_file(str(APP), default_timeout=PATIENCE_SECONDS) for _ in range(2))
    bookmarked.query_params["about"] = str(birds.id)
    opened.query_params["chat"] = str(chat.id)
    for window in (app.run(), bookmarked.run(), bookmarked.run(), opened.run()):
        assert component(window, "sources")["label"] == "Sources: 0 of 1"
        assert "Tick at least one document to ask." in texts(window)
        assert window.chat_input[0].disabled


def test_a_question_sent_before_everything_was_unticked_is_not_asked(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    app.session_state["scope"] = ()
    app.session_state["sent-question"] = "What rose?"
    app.run()
    assert [error.value for error in app.error] == ["Tick at least one document to ask\\."]
    assert app.chat_input[0].proto.value == "What rose?"
    assert engine.chats.list() == []


def test_a_group_without_documents_is_ticked_and_unticked(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    engine.filters.save("drafts", {"tags": ["draft"]})
    app.run()
    tick_source(app, "all", value=False)
    tick_source(app, "saved:drafts")
    assert source_boxes(app)["All of “drafts”"]
    assert "Tick at least one document to ask." in texts(app)
    tick_source(app, "saved:drafts", value=False)
    assert not source_boxes(app)["All of “drafts”"]


def test_a_chat_whose_ticked_documents_are_still_read_shows_its_answers(app: AppTest, engine: RAGEngine) -> None:
    plan = add(engine)
    app.run()
    answered(app, "By how many percent did copper prices rise?")
    engine.documents.add(pdfs.plain(("Nine goats grazed beside the quay.",)), "goats.pdf")
    app.run()
    tick_source(app, plan.id, value=False)
    assert "14 percent" in component(app, "answer-")["html"]
    assert app.chat_input[0].disabled
    assert "You can ask questions as soon as the first one is read." in texts(app)


def test_more_documents_than_a_filter_names_are_asked_all_or_not_at_all(
    app: AppTest, three: tuple[Document, Document, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.types.MAX_FILTER_DOCUMENTS", 1)
    app.run()
    assert not app.chat_input[0].disabled
    tick_source(app, "tag:council", value=False)
    assert not app.chat_input[0].disabled
    tick_source(app, "tag:council")
    assert app.chat_input[0].disabled
    assert "3 documents are ticked, but at most 1 can be asked one by one." in texts(app)


def test_another_collection_is_opened_without_the_search_in_the_sources_of_the_last(app: AppTest) -> None:
    def page() -> None:
        import streamlit as st

        from rag.ui import session

        st.session_state["source-search"] = "herons"
        session.open_collection("default")
        st.text(st.session_state.get("source-search"))

    assert AppTest.from_function(page).run().text[0].value == "None"


def test_long_lists_of_sources_are_shown_in_parts(
    app: AppTest, three: tuple[Document, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.ui.chat.document_scope.PAGE_ROWS", 1)
    app.run()
    app.text_input("source-search").set_value("pdf").run()
    assert list(source_boxes(app)) == ["All documents", "birds.pdf"]
    next(button for button in app.button if button.label == "Show 1 more").click().run()
    assert list(source_boxes(app)) == ["All documents", "birds.pdf", "minutes.pdf"]


def test_a_question_that_is_too_long_stays_in_its_field(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    app.run()
    question = "What rose? " * 400
    app.chat_input[0].set_value(question).run()
    (error,) = app.error
    assert error.value.startswith("The question has 4,399 characters, but at most 4,000 are possible")
    assert app.chat_input[0].proto.value == question
    assert engine.chats.list() == []
    app.run()
    assert not app.error


# --- Upload -----------------------------------------------------------------------------------------


def upload(app: AppTest, name: str, content: bytes) -> None:
    app.file_uploader[0].set_value([(name, content, "application/octet-stream")]).run()
    assert not app.exception


def test_the_former_address_of_the_upload_leads_to_the_library(app: AppTest) -> None:
    open_page(app, "upload")
    assert [header.value for header in app.header] == ["Library"]
    assert app.file_uploader


def links(app: AppTest) -> list[str]:
    """The pages in the menu."""
    return [link.proto.label for link in app.sidebar.get("page_link")]


def test_menu_of_one_user_has_no_pages_for_teams(app: AppTest, engine: RAGEngine) -> None:
    app.run()
    assert links(app) == ["Chat", "Library", "Matrix", "Settings", "Index", "Status"]
    assert [expander.label for expander in app.sidebar.expander] == ["More"]
    add(engine)
    open_page(app, "library")
    assert "Share" not in [popover.proto.popover.label for popover in app.get("popover")]
    with RAGEngine(user_id="bert") as other:
        add(other, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    open_page(app, "library")
    assert links(app)[-2:] == ["Audit", "Admin"]


def test_what_was_brought_in_is_put_in_order_there(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "plan.pdf")
    open_page(app, "library")
    for name, line in (("may.pdf", "The herons came in May."), ("june.pdf", "The herons left in June.")):
        assert "Edit these" not in [button.label for button in app.button]
        upload(app, name, pdfs.plain((line,)))
    ids = [engine.documents.process(one.id).id for one in engine.documents.list(status=DocumentStatus.QUEUED)]
    app.run()
    next(button for button in app.button if button.label == "Edit these").click().run()
    assert "2 documents" in texts(app)
    assert "Add tags" in [field.label for field in app.multiselect]
    engine.documents.tag(ids, add=["Council"])
    app.run()
    assert [caption.value for caption in app.caption].count(":material/sell: Council") == 2


def test_an_upload_is_asked_alone(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "plan.pdf")
    open_page(app, "library")
    upload(app, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    (brought,) = engine.documents.list(status=DocumentStatus.QUEUED)
    assert "Ask about these" not in [button.label for button in app.button]
    engine.documents.process(brought.id)
    app.run()
    next(button for button in app.button if button.label == "Ask about these").click().run()
    assert not app.exception
    assert chosen_sources(app) == {str(brought.id)}


def test_documents_still_being_read_join_the_chat_opened_about_them(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "plan.pdf")
    open_page(app, "library")
    for name, line in (("birds.pdf", "Seven herons nested."), ("goats.pdf", "Nine goats grazed beside the quay.")):
        upload(app, name, pdfs.plain((line,)))
    upload(app, "sealed.pdf", pdfs.encrypted("open sesame"))
    upload(app, "broken.pdf", b"%PDF-1.7\nnothing that could be read")
    birds, goats, sealed, broken = sorted(
        (one for one in engine.documents.list() if one.name != "plan.pdf"), key=lambda one: one.created_at
    )
    engine.documents.process(birds.id)
    app.run()
    next(button for button in app.button if button.label == "Ask about these").click().run()
    chosen = {str(one.id) for one in (birds, goats, sealed, broken)}
    assert chosen_sources(app) == chosen
    assert ":material/schedule: goats\\.pdf: waiting" in texts(app)
    assert ":material/lock: sealed\\.pdf: Needs password" in texts(app)
    engine.documents.process(broken.id)
    engine.documents.process(goats.id)
    reloaded = AppTest.from_file(str(APP), default_timeout=PATIENCE_SECONDS)
    reloaded.query_params["about"] = app.query_params["about"]
    for page in (open_page(app, "chat"), reloaded.run()):
        assert chosen_sources(page) == chosen
        assert ":material/error: broken\\.pdf: Failed" in texts(page)
        assert ":material/schedule: goats" not in texts(page)
    sources = answered(reloaded, "How many goats grazed beside the quay?")["sources"]
    assert {source["name"] for source in sources} == {"goats.pdf"}
    (conversation,) = engine.chats.list()
    assert {str(one) for one in conversation.document_ids} == chosen
    assert "about" not in reloaded.query_params


def test_a_chat_about_documents_that_are_still_read_waits_for_them(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "plan.pdf")
    waiting = engine.documents.add(pdfs.plain(("Nine goats grazed.",)), "goats.pdf")
    app.query_params["about"] = [str(waiting.id), "no id"]
    app.run()
    assert "Reading your documents" in texts(app)
    assert not app.chat_input
    engine.documents.process(waiting.id)
    app.run()
    assert app.chat_input
    assert component(app, "viewer")["document"]["name"] == "goats.pdf"


def test_selected_documents_that_are_still_read_are_asked_too(app: AppTest, engine: RAGEngine) -> None:
    plan = add(engine, "plan.pdf")
    waiting = engine.documents.add(pdfs.plain(("Nine goats grazed.",)), "goats.pdf")
    open_page(app, "library")
    tick(app, plan, waiting)
    next(button for button in app.button if button.label == "Ask about them").click().run()
    assert chosen_sources(app) == {str(plan.id), str(waiting.id)}


def test_attachments_are_shown_with_their_mail(app: AppTest, engine: RAGEngine) -> None:
    open_page(app, "library")
    upload(app, "Offer.eml", mails.eml({"minutes.pdf": MINUTES, "logo.svg": b"<svg></svg>"}))
    mail = engine.documents.list()[0]
    engine.documents.process(mail.id)
    (part,) = engine.documents.attachments(mail.id)
    engine.documents.process(part.id)
    app.run()
    assert "1 of 2 files in it was taken in" in texts(app)
    assert escape("logo.svg: of a kind that cannot be read (an SVG image)") in texts(app)
    assert escape("in Offer.eml") in texts(app)
    open_page(app, "library")
    assert {*listed(app, "inside")} == {"", "Offer.eml"}


def test_uploads_are_limited_as_the_settings_say(monkeypatch: pytest.MonkeyPatch, app: AppTest) -> None:
    monkeypatch.setenv("RAG_PARSING__MAX_FILE_MB", "7")
    open_page(app, "library")
    assert {uploader.proto.max_upload_size_mb for uploader in app.get("file_uploader")} == {7}


def test_duplicate_and_unknown_kinds_say_so(app: AppTest, engine: RAGEngine) -> None:
    document = add(engine)
    open_page(app, "library")
    upload(app, "again.pdf", MINUTES)
    assert "already in the library" in texts(app)
    engine.documents.trash([document.id])
    upload(app, "again.pdf", MINUTES)
    assert "in the trash" in texts(app)
    upload(app, "tool.exe", b"MZ\x90\x00" + bytes(range(256)))
    assert "cannot be taken in" in texts(app)
    app.button("restore-1").click().run()
    assert [document.name for document in engine.documents.list()] == ["minutes.pdf"]


def test_a_file_of_the_same_name_is_asked_about_and_becomes_a_version(app: AppTest, engine: RAGEngine) -> None:
    first = add(engine)
    open_page(app, "library")
    upload(app, "minutes.pdf", pdfs.plain(("The herons left in May.",)))
    assert "new version of" in texts(app)
    app.button("version-0").click().run()
    assert not app.exception
    waiting = next(one for one in engine.documents.list() if one.id != first.id)
    assert (waiting.version, waiting.lineage_id) == (2, first.id)
    engine.documents.process(waiting.id)
    upload(app, "minutes.pdf", pdfs.plain(("The herons came in April.",)))
    app.button("own-0").click().run()
    assert [(one.name, one.version) for one in engine.documents.list()] == [("minutes.pdf", 1), ("minutes.pdf", 2)]
    upload(app, "minutes.pdf", MINUTES)
    assert "as version 1" in texts(app)
    app.button("current-0").click().run()
    assert engine.documents.get(first.id).superseded_by is None


def tick(app: AppTest, *documents: Document, turn: int = 0) -> None:
    """Choose documents in the library's table, as its component says so."""
    app.session_state["library-table"] = {"chosen": {"turn": turn, "ids": [str(one.id) for one in documents]}}
    app.run()


def open_versions(app: AppTest) -> None:
    next(button for button in app.button if button.label == "Versions").click().run()
    assert not app.exception


def test_versions_are_compared_side_by_side(app: AppTest, engine: RAGEngine) -> None:
    first = add(engine)
    changed = [sentence.replace("14 percent", "9 percent") for sentence in pdfs.SENTENCES]
    second = engine.documents.add(pdfs.plain(changed), "minutes.pdf", replaces=first.id, enqueue=False)
    engine.documents.process(second.id)
    open_page(app, "library")
    tick(app, second)
    open_versions(app)
    assert "1 changed" in texts(app)
    assert component(app, "compared-viewer")["document"]["id"] == str(second.id)
    app.button("change-0-1").click().run()
    open_versions(app)  # a click in a dialog closes it here, where the whole page is run
    assert component(app, "compared-viewer")["document"]["id"] == str(first.id)


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    assert not app.error


def test_the_library_shows_an_overview_beside_the_pages(app: AppTest, engine: RAGEngine) -> None:
    report = add(engine, "acme.pdf", pdfs.annual_report("Acme Harbours Ltd"))
    question = engine.questions.suggestions(report.id)[0]
    open_page(app, "library")
    tick(app, report)
    press(app, "Overview")
    assert escape("Company report · Acme Harbours Ltd") in texts(app)
    (improve,) = [button for button in app.button if button.label == "Improve with the model"]
    assert improve.disabled
    facts = engine.documents.overview(report.id).facts
    number = next(number for number, fact in enumerate(facts) if fact.text.startswith("Net income"))
    app.button(f"overview-fact-{report.id}-{number}").click().run()
    press(app, "Overview")  # a click in a dialog closes it here, where the whole page is run
    assert component(app, f"overview-{report.id}")["target"]["page"] == 5
    assert escape(question) in [button.label for button in app.button]


def test_a_model_improves_the_overview_after_its_cost_was_shown(
    app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = add(engine)
    estimates, estimate = [], Documents.estimate_overview

    def counted(documents: Documents, document_id: uuid.UUID) -> OverviewEstimate:
        estimates.append(document_id)
        return estimate(documents, document_id)

    monkeypatch.setattr(Documents, "estimate_overview", counted)
    with vendors.vendor("openai") as vendor:
        monkeypatch.setenv("OPENAI_API_KEY", vendors.KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", vendor.server.url)
        open_page(app, "library")
        tick(app, report)
        press(app, "Overview")
        press(app, "Improve with the model")
        for _ in range(2):
            press(app, "Overview")
            assert "tokens and writes at most" in texts(app)
        assert len(estimates) == 1
        assert vendor.server.bodies == []
        vendor.server.pieces = [f"- {pdfs.SENTENCES[0]} [S1]\n- Cows can fly [S1]."]
        press(app, "Write the overview")
        press(app, "Overview")
        assert vendor.server.bodies
    overview = engine.documents.overview(report.id)
    assert overview.model
    assert [fact.page_number for fact in overview.facts] == [1]


def password(app: AppTest) -> Any:
    (field,) = [field for field in app.text_input if field.label == "Password"]
    return field


def unlock(app: AppTest) -> Any:
    (button,) = [button for button in app.button if button.label == "Unlock"]
    return button


def shelf(app: AppTest, field: str) -> list[Any]:
    """What the library shows in a column."""
    open_page(app, "library")
    return listed(app, field)


def test_encrypted_file_is_unlocked_by_its_password(app: AppTest, engine: RAGEngine) -> None:
    open_page(app, "library")
    upload(app, "sealed.pdf", pdfs.encrypted("open sesame"))
    (document,) = engine.documents.list()
    assert [one["reason"] for one in shelf(app, "status")] == ["Enter it above."]
    open_page(app, "library")
    password(app).set_value("wrong")
    unlock(app).click().run()
    (error,) = app.error
    assert "does not open “sealed" in error.value
    password(app).set_value("open sesame")
    unlock(app).click().run()
    assert engine.documents.process(document.id).status == "ready"


def test_damaged_file_can_be_tried_again_or_removed(app: AppTest, engine: RAGEngine) -> None:
    document = add(engine, "damaged.pdf", b"%PDF-1.7\nnothing that could be read")
    assert document.status == "failed"
    assert shelf(app, "status") == [{"text": "Failed", "reason": document.error}]
    open_page(app, "library")
    assert document.error is not None
    assert "Failed" in texts(app)
    app.button(f"retry-{document.id}").click().run()
    assert engine.documents.get(document.id).status == "queued"
    engine.documents.process(document.id)
    app.run()
    app.button(f"remove-{document.id}").click().run()
    assert engine.documents.list() == []


# --- Library and index ------------------------------------------------------------------------------


def test_library_lists_documents_and_searches_their_names(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    open_page(app, "library")
    assert {*listed(app, "name")} == {"minutes.pdf", "birds.pdf"}
    (search,) = [field for field in app.text_input if field.label == "Search"]
    search.set_value("bird").run()
    assert listed(app, "name") == ["birds.pdf"]
    (minutes,) = engine.documents.list(search="minutes")
    engine.documents.edit(minutes.id, {"author": "Ursula Thornwick", "tags": ["Council"]})
    for words in ("thornwick", "COUNC"):
        app.text_input("library-search").set_value(words).run()
        assert listed(app, "name") == ["minutes.pdf"]


def test_a_document_that_lacks_text_is_not_simply_ready(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "cut.txt", "High at noon.\nA character of no font: \u0378.\n".encode())
    open_page(app, "library")
    assert [one["text"] for one in listed(app, "status")] == ["Ready, incomplete"]
    open_page(app, "index")
    assert [warning.value for warning in app.warning] == ["1 document incomplete. See **Health**."]
    app.segmented_control[0].set_value("Health").run()
    assert "31 of 32" in texts(app), texts(app)
    assert "line 2" in texts(app)


def test_library_is_filtered_and_the_filter_is_saved(app: AppTest, engine: RAGEngine) -> None:
    minutes = add(engine)
    birds = add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    engine.documents.edit(minutes.id, {"tags": ["Council"], "author": "Ann"})
    engine.documents.edit(birds.id, {"tags": ["nature"], "disabled": True})
    open_page(app, "library")
    assert [one["text"] for one in listed(app, "status")] == ["Disabled", "Ready"]
    app.multiselect("library-filter-tags").set_value(["Council"]).run()
    assert listed(app, "name") == ["minutes.pdf"]
    app.text_input("library-filter-name").set_value("ours").run()
    next(button for button in app.button if button.label == "Save").click().run()
    assert engine.store.saved_filters.get("ours").filters.tags == ("Council",)
    assert app.selectbox("library-filter-saved").value == "ours"
    assert listed(app, "name") == ["minutes.pdf"]
    next(button for button in app.button if button.label == "Clear").click().run()
    app.selectbox("library-filter-status").set_value("Disabled").run()
    assert listed(app, "name") == ["birds.pdf"]


def test_what_is_chosen_is_a_document_and_is_read_at_the_click(app: AppTest, engine: RAGEngine) -> None:
    minutes = add(engine)
    birds = add(engine, "birds.pdf", pdfs.plain(("Seven herons nested beside the old canal.",)))
    open_page(app, "library")
    tick(app, minutes)
    app.text_input("library-search").set_value("bird").run()
    assert component(app, "library-table")["chosen"] == {"turn": 1, "ids": []}  # it is not shown any more
    assert next(button for button in app.button if button.label == "Delete").disabled
    app.text_input("library-search").set_value("").run()
    tick(app, minutes, turn=1)
    app.session_state["library-table"] = {"chosen": {"turn": 1, "ids": [str(birds.id)]}}
    next(button for button in app.button if button.label == "Delete").click().run()
    assert [one.name for one in engine.documents.list(in_trash=True)] == ["birds.pdf"]
    next(button for button in app.button if button.label == "Undo").click().run()
    assert {*listed(app, "name")} == {"minutes.pdf", "birds.pdf"}
    assert not app.exception


def test_library_is_ordered_and_turned_by_the_database(
    app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_table, "PAGE_ROWS", 2)
    for number in (3, 1, 2):
        engine.documents.add(pdfs.plain((f"Report {number}.",)), f"report {number}.pdf", enqueue=False)
    open_page(app, "library")
    app.session_state["library-table"] = {"order": {"by": "name", "descending": False}}
    app.run()
    assert listed(app, "name") == ["report 1.pdf", "report 2.pdf"]
    shown = component(app, "library-table")
    assert (shown["total"], shown["first"]) == (3, 0)
    app.session_state["library-table"] = {"page": {"of": shown["of"], "first": 2}}
    app.run()
    assert listed(app, "name") == ["report 3.pdf"]
    assert not app.exception


def test_own_collections_are_looked_at_and_documents_moved_there(app: AppTest, engine: RAGEngine) -> None:
    minutes = add(engine)
    other = engine.indexes.ensure("Filings")
    assert engine.documents.move([minutes.id], "Filings") == [minutes.id]
    open_page(app, "library")
    assert "Your library is empty" in texts(app)
    (switch,) = [box for box in app.selectbox if box.label == "Collection"]
    assert switch.options == ["My documents", "Filings"]
    switch.set_value(str(other.id)).run()
    assert listed(app, "name") == ["minutes.pdf"]
    assert engine.search({"query": pdfs.SENTENCES[0], "index_name": "Filings"}).results
    assert not app.exception


def test_trash_lists_what_was_deleted(app: AppTest, engine: RAGEngine) -> None:
    document = add(engine)
    engine.documents.trash([document.id])
    open_page(app, "library")
    assert "Your library is empty" in texts(app)
    app.button_group[0].set_value("Trash").run()
    assert listed(app, "name") == ["minutes.pdf"]


def test_hostile_name_is_shown_as_it_is(app: AppTest, engine: RAGEngine) -> None:
    name = "![x](https:evil.example) :red[b] www.evil.example.pdf"
    engine.documents.add(MINUTES, name)
    open_page(app, "library")
    (row,) = [element.value for element in app.markdown if "evil" in element.value]
    assert all(active not in row for active in ("![", ":red[", "www.", "]("))


def test_index_counts(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    open_page(app, "index")
    figures = {metric.label: metric.value for metric in app.metric}
    assert (figures["Documents"], figures["Pages"]) == ("1", "1")
    assert "bge-small" in texts(app)


def test_a_multilingual_model_is_advised_where_most_text_is_not_english(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "harbour.pdf", pdfs.plain(("The harbour handled 4,812 ships, and its crane lifts 95 tonnes.",)))
    open_page(app, "index")
    assert "English" in texts(app)
    assert not app.info
    for number in (1, 2):
        text = f"Im Hafen legten in diesem Jahr {number} Schiffe an, und der größte Kran hebt 95 Tonnen."
        add(engine, f"hafen{number}.pdf", pdfs.plain((text,)))
    app.run()
    assert "German, English" in texts(app)
    (advice,) = [element.value for element in app.info]
    assert "reembed" in advice


def test_chunks_are_outlined_on_their_page(app: AppTest, engine: RAGEngine) -> None:
    document = add(engine, "pages.pdf", pdfs.pages(3))
    open_page(app, "index")
    app.button_group[0].set_value("Chunks").run()
    app.number_input[0].set_value(2).run()
    assert any(caption.value.startswith("Lines: ") and "text" in caption.value for caption in app.caption)
    shown = component(app, "chunk-viewer")
    expected = {
        region.page_number
        for chunk in engine.store.chunks.of_document(document.id, page_number=2)
        for region in chunk.regions
    }
    assert {shape["page"] for mark in shown["marks"] for shape in mark["lit"]} == expected
    assert shown["target"]["page"] in expected


def test_playground_shows_every_score(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    open_page(app, "index")
    app.button_group[0].set_value("Search").run()
    app.text_input[0].set_value("copper prices")
    app.toggle[0].set_value(True)
    app.button[0].click().run()
    best = app.dataframe[0].value.iloc[0]
    assert all(0 <= best[score] <= 1 for score in ("final", "meaning", "words", "rerank"))
    assert (best["rank by meaning"], best["rank by words"]) == (1, 1)


def test_playground_tells_how_the_question_was_understood(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "report.pdf", pdfs.plain(BALANCE_SHEET))
    add(engine)
    search(app, "What was the quick ratio in FY22?")
    shown = app.table[0].value
    assert list(shown.iloc[0]) == ["places named", "balance sheet", "preferred"]
    assert list(shown.iloc[1]) == ["FY22", "2022", "period"]
    assert shown.iloc[2]["In the question"] == "quick ratio"
    assert "accounts receivable" in shown.iloc[2]["Also searched for"]
    assert shown.iloc[2]["Why"] == "calculated from · Finance"
    hits = app.dataframe[0].value.set_index("document")
    assert 0 < hits.loc["report.pdf", "place"] <= 1
    assert 1 >= hits.loc["report.pdf", "fit"] == hits["fit"].max() > 0
    assert hits["place"].isna()["minutes.pdf"]


def test_hostile_question_is_shown_as_it_is(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    search(app, "![x](https://evil.example)<b>'22 of Q2'23</b> https://evil.example/FY22")
    cells = " ".join(app.table[0].value.to_numpy().ravel())
    assert "second quarter 2023" in cells
    assert "evil" in cells
    assert all(active not in cells for active in ("![", "](", "<b>", "https://"))


def search(app: AppTest, question: str, *, off: str = "") -> None:
    """Search in the playground with all switches on but one."""
    open_page(app, "index")
    app.button_group[0].set_value("Search").run()
    app.text_input[0].set_value(question)
    for toggle in app.toggle:
        if toggle.label == off:
            toggle.set_value(False)
    app.button[0].click().run()
    assert not app.exception
    assert not app.error


def test_playground_tells_why_a_passage_is_missing(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    open_page(app, "index")
    app.button_group[0].set_value("Search").run()
    app.text_input[0].set_value("copper prices")
    app.button[0].click().run()
    app.text_input(key="why-passage").set_value("words that stand *nowhere* at all")
    app.button[1].click().run()
    assert "No chunk of the index has these words" in app.info[0].value


def suggested(app: AppTest, document: Document) -> list[str]:
    """The questions that the chat page suggests for a document, when they are found."""
    open_page(app, "chat")
    while not (found := [one.label for one in app.button if one.key and one.key.endswith(str(document.id))]):
        time.sleep(0.1)
        app.run()
    return found


def test_questions_that_the_document_answers_are_suggested_and_asked(app: AppTest, engine: RAGEngine) -> None:
    report = add(engine, "acme.pdf", pdfs.annual_report("Acme Harbours"))
    labels = suggested(app, report)
    assert labels == [escape(question) for question in engine.questions.suggestions(report.id)]
    assert "What was the revenue?" in labels
    app.button(key=f"topic-0-{report.id}").click().run()
    assert not app.exception
    assert [one.value for one in app.text if one.value == labels[0]]


def test_an_empty_chat_tells_what_its_document_is(app: AppTest, engine: RAGEngine) -> None:
    report = add(engine, "acme.pdf", pdfs.annual_report("Acme Harbours Ltd"))
    open_page(app, "chat")
    facts = engine.documents.overview(report.id).facts
    shown = [button.label for button in app.button if button.key and button.key.startswith(f"fact-{report.id}")]
    assert [escape(fact.text) in label for fact, label in zip(facts, shown, strict=True)] == [True] * len(facts)
    assert escape("Company report · Acme Harbours Ltd") in texts(app)
    number = next(number for number, fact in enumerate(facts) if fact.text.startswith("Net income"))
    app.button(key=f"fact-{report.id}-{number}").click().run()
    app.run()
    assert not app.exception
    viewer = component(app, "viewer")
    assert viewer["target"]["page"] == facts[number].page_number == 5
    assert lit(viewer)[0]["kind"] == "quote"


def test_an_empty_chat_about_several_documents_has_a_line_for_each(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    add(engine, "acme.pdf", pdfs.annual_report("Acme Harbours Ltd"))
    open_page(app, "chat")
    lines_shown = [caption.value for caption in app.caption if caption.value.startswith("**")]
    assert [line.split("**")[1] for line in lines_shown] == [escape("acme.pdf"), escape("minutes.pdf")]
    assert escape("Company report · Acme Harbours Ltd") in lines_shown[0]
    assert not [button for button in app.button if button.key and button.key.startswith("fact-")]


def test_among_several_documents_suggested_questions_name_theirs(app: AppTest, engine: RAGEngine) -> None:
    add(engine)
    report = add(engine, "acme.pdf", pdfs.annual_report("Acme Harbours"))
    assert escape("What was the revenue? (in acme.pdf)") in suggested(app, report)


# --- Login ------------------------------------------------------------------------------------------


# --- Status -----------------------------------------------------------------------------------------


def test_the_status_page_tells_how_the_installation_is(
    app: AppTest, engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_DISK_WARNING_MB", "1000000000")
    add(engine)
    engine.documents.add(pdfs.plain(["It waits."]), "waiting.pdf")
    engine.installation.backup(tmp_path / "kept.tar")
    page = open_page(app, "status")
    figures = {metric.label: metric.value for metric in page.metric}
    assert (figures["Users"], figures["Documents"], figures["Waiting"], figures["Workers"]) == ("1", "2", "1", "0")
    warned = "".join(warning.value for warning in page.warning)
    assert "nearly full" in warned
    assert "no worker is alive" in warned
    assert str(tmp_path / "kept.tar") in texts(page)
    assert "nearly full" in "".join(warning.value for warning in open_page(app, "library").warning)


def test_the_status_page_is_for_administrators(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ADMINS", "somebody else")
    page = open_page(app, "status")
    assert "for administrators" in page.info[0].value
    assert not page.metric


# --- Citations of deleted documents -----------------------------------------------------------------


def test_a_cited_document_in_the_trash_is_shown_with_a_note_and_restored(app: AppTest, engine: RAGEngine) -> None:
    document = ask_one_of_two(app, engine)
    engine.documents.trash([document.id])
    app.run()
    assert component(app, "viewer")["document"]["id"] == str(document.id)
    assert lit(component(app, "viewer"))
    assert f"{escape('minutes.pdf')} is in the trash since" in texts(app)
    next(button for button in app.main.button if button.label == "Restore").click().run()
    assert "in the trash" not in texts(app)
    assert engine.documents.get(document.id).deleted_at is None


def test_a_citation_of_a_purged_document_says_that_and_when_it_was_deleted(app: AppTest, engine: RAGEngine) -> None:
    document = ask_one_of_two(app, engine)
    engine.documents.trash([document.id])
    engine.documents.purge([document.id])
    app.run()
    assert not app.error
    assert str(document.id) not in texts(app)
    assert "“minutes.pdf” was deleted" in texts(app)
    assert f"It was permanently deleted on {purged_on(engine)}" in texts(app)
    app.session_state["viewing"] = None
    app.query_params["document"] = str(document.id)
    app.run()
    assert "This document was deleted" in texts(app)
    assert f"It was permanently deleted on {purged_on(engine)}" in texts(app)


def purged_on(engine: RAGEngine) -> str:
    """The time of the last purge, as the pages show it."""
    return f"{engine.audit.list(AuditFilter(action='purge'))[0].at.astimezone():%-d %b %Y, %H:%M}"


def ask_one_of_two(app: AppTest, engine: RAGEngine) -> Document:
    """Ask, so that a citation is shown; gives its document."""
    document = add(engine)
    add(engine, "harbour.pdf", pdfs.plain(("The harbour of Lindmark handled 4,812 ships in 2019.",)))
    app.run()
    answered(app, "By how many percent did copper prices rise?")
    return document


# --- The session ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("app")
def test_two_users_on_one_thread_have_engines_of_their_own() -> None:
    def page() -> None:
        from unittest import mock

        import streamlit as st

        from rag.ui import session

        for user in ("ada", "bob", "ada"):
            with mock.patch.object(session, "user_id", return_value=user):
                st.text(f"{session.engine().user_id} {session.own_engine().user_id}")

    run = AppTest.from_function(page, default_timeout=PATIENCE_SECONDS).run()
    assert [text.value for text in run.text] == ["ada ada", "bob bob", "ada ada"]


def test_a_run_of_a_page_makes_one_engine() -> None:
    def page() -> None:
        import streamlit as st

        from rag.ui import session

        st.text(str(session.engine() is session.engine() is session.own_engine()))

    run = AppTest.from_function(page, default_timeout=PATIENCE_SECONDS).run()
    assert [text.value for text in run.text] == ["True"]
