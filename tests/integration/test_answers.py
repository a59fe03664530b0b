"""Kept answers: files of them that others open, what they were made from, and to whom they are shown."""

import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import psycopg
import pytest

from rag import errors
from rag.engine import Installation, RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import ChatMessage, Document, Rect
from tests import pdfs

FIRST = "The harbour of Lindmark handled 4,812 ships in 2019."
SECOND = "The harbour of Lindmark handled 5,103 ships in 2019."
CRANE = "Its largest crane lifts 95 tonnes."
QUESTION = "How many ships did the harbour of Lindmark handle in 2019?"
SCRIPTS = "漢字かな交じり文 한국어 😀 ∑ᵢ xᵢ² ≤ ∫ e^(−x²) dx = √π∕2 𝛼𝛽"
FORMULA = '=HYPERLINK("http://evil.example/","harbour")'


class Chat(NamedTuple):
    """A conversation with an answer."""

    engine: RAGEngine
    id: uuid.UUID
    answer: ChatMessage
    document: Document


def add(engine: RAGEngine, content: bytes, name: str = "harbour.pdf", replaces: uuid.UUID | None = None) -> Document:
    return engine.documents.process(engine.documents.add(content, name, replaces=replaces, enqueue=False).id)


@pytest.fixture
def chat(installation: Installation) -> Chat:
    engine = installation.for_user("ada")
    document = add(engine, pdfs.plain([FIRST, CRANE]))
    conversation = engine.chats.start(f"Ships {SCRIPTS}")
    return Chat(engine, conversation.id, engine.chats.ask(conversation.id, QUESTION), document)


def test_a_file_of_each_format_has_claim_quote_place_and_verdict(chat: Chat) -> None:
    answers = chat.engine.answers
    read = {name: answers.export(chat.id, name).content for name in ("markdown", "json", "text", "clipping")}
    for name in ("markdown", "text", "clipping"):
        text = read[name].decode().replace("\\", "")
        assert all(words in text for words in (QUESTION, FIRST, "harbour.pdf, version 1, page 1"))
    assert "These are the document's own words" in read["markdown"].decode()
    (turn,) = json.loads(read["json"])["turns"]
    (evidence,) = turn["claims"][0]["evidence"]
    assert (evidence["quote"], evidence["page"], evidence["version"]) == (FIRST, 1, 1)
    assert evidence["sha256"] == chat.document.sha256
    assert evidence["pictures"][0].startswith("data:image/png;base64,")
    assert turn["provenance"]["documents"][0]["sha256"] == chat.document.sha256

    with pymupdf.open(stream=answers.export(chat.id, "pdf").content) as pdf:
        text = "".join(page.get_text() for page in pdf)
        assert sum(len(page.get_images()) for page in pdf) == 1
    assert all(word in text for word in [*QUESTION.split(), *SCRIPTS.split()])
    with zipfile.ZipFile(io.BytesIO(answers.export(chat.id, "docx").content)) as word:
        document = word.read("word/document.xml").decode()
        assert any(name.startswith("word/media/") for name in word.namelist())
    assert all(word in document for word in (*SCRIPTS.split()[:2], "😀", FIRST))
    assert [entry.action for entry in chat.engine.audit.list() if entry.action == "answer.export"] == [
        "answer.export"
    ] * 6


def test_a_place_is_a_picture_with_the_quoted_words_lit(chat: Chat) -> None:
    (citation, _) = chat.answer.response.cited[0] if chat.answer.response else (None, None)
    assert citation
    (region,) = citation.regions
    picture = pymupdf.Pixmap(chat.engine.pages.place(chat.document.id, region, zoom=1))
    info = chat.engine.documents.get(chat.document.id).pages[0]
    assert picture.width == pytest.approx(info.width, abs=1)
    assert picture.height < info.height / 2
    box: Rect = region.rects[0]
    top = max(0.0, box.y0 - 40)
    red, _, blue = picture.pixel(int(box.x1 - 1), int(box.y0 - top + 1))
    assert blue < 128 < red
    assert picture.pixel(int(box.x1 + 30), int(box.y0 - top + 1)) == (255, 255, 255)


def test_no_cell_of_the_evidence_is_a_formula(installation: Installation) -> None:
    engine = installation.for_user("ada")
    add(engine, f"{FORMULA} handled 4,812 ships in 2019 {SCRIPTS}.".encode(), "=cmd.txt")
    conversation = engine.chats.start("Ships")
    asked = engine.chats.ask(conversation.id, "How many ships were handled in 2019?")
    assert asked.response
    assert asked.response.citations
    sheet: Any = openpyxl.load_workbook(io.BytesIO(engine.answers.export(conversation.id, "xlsx").content)).active
    heads = [cell.value for cell in sheet[1]]
    row = dict(zip(heads, sheet[2], strict=True))
    assert row["Document"].value == "=cmd.txt"
    assert row["Quote"].value.startswith("=HYPERLINK")
    assert "😀" in row["Quote"].value
    assert (row["Page"].value, row["Version"].value) == (1, 1)
    for name in ("Document", "Quote"):
        assert (row[name].data_type, row[name].quotePrefix) == ("s", True)


def test_an_older_versions_citation_is_taken_along_from_that_version(chat: Chat, tmp_path: Path) -> None:
    later = add(chat.engine, pdfs.plain(["A page before.", SECOND]), replaces=chat.document.id)
    (turn,) = json.loads(chat.engine.answers.export(chat.id, "json").content)["turns"]
    (evidence,) = turn["claims"][0]["evidence"]
    assert (evidence["version"], evidence["quote"], evidence["sha256"]) == (1, FIRST, chat.document.sha256)
    assert evidence["pictures"]
    chat.engine.exports.write(tmp_path / "out")
    lines = (tmp_path / "out" / "documents.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["id"] for line in lines} == {str(chat.document.id), str(later.id)}
    chunks = [json.loads(line) for line in (tmp_path / "out" / "chunks.jsonl").read_text("utf-8").splitlines()]
    assert any(FIRST in chunk["text"] for chunk in chunks if chunk["documentId"] == str(chat.document.id))


def test_what_is_gone_leaves_the_words_and_no_picture(chat: Chat) -> None:
    chat.engine.documents.trash([chat.document.id])
    chat.engine.documents.purge([chat.document.id])
    (turn,) = json.loads(chat.engine.answers.export(chat.id, "json").content)["turns"]
    (evidence,) = turn["claims"][0]["evidence"]
    assert (evidence["quote"], evidence["version"], evidence["pictures"]) == (FIRST, None, [])


def test_the_whole_pdf_is_marked(chat: Chat) -> None:
    long = add(
        chat.engine, pdfs.pages(3, line=lambda page: f"On page {page} the mole has {page * 111} bollards."), "long.pdf"
    )
    asked = chat.engine.chats.ask(chat.id, "How many bollards has the mole on page 2?")
    copy = chat.engine.answers.marked(chat.id, asked.id, long.id, whole=True)
    with pymupdf.open(stream=copy.content) as pdf:
        assert len(pdf) == 3
        marked = [[note.info["content"] for note in page.annots()] for page in pdf]
    assert [number for number, notes in enumerate(marked, start=1) if notes] == [*copy.page_numbers]
    assert any("222 bollards" in note for note in marked[1])


def test_asked_again_it_is_the_same_or_changed_and_why(chat: Chat) -> None:
    again = chat.engine.answers.rerun(chat.id, chat.answer.id)
    assert (again.same, again.differences, again.summary) == (True, (), "The same answer.")
    add(chat.engine, pdfs.plain([SECOND, CRANE]), replaces=chat.document.id)
    changed = chat.engine.answers.rerun(chat.id, chat.answer.id)
    assert changed.summary == "Changed because harbour.pdf has version 2 now, where version 1 was read."
    (claim,) = changed.claims
    assert (claim.state, claim.before, claim.after) == ("changed", FIRST, SECOND)
    assert len(chat.engine.chats.messages(chat.id)) == 2
    add(chat.engine, b"Nothing about that.", "beside.txt")
    chat.engine.documents.trash([chat.document.id])
    told = [one.message for one in chat.engine.answers.rerun(chat.id, chat.answer.id).differences or ()]
    assert any("beside.txt" in message and "came since" in message for message in told)


def test_an_answer_that_does_not_tell_what_it_was_made_from_can_be_asked_again(chat: Chat, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE messages SET response = response - 'provenance'")
    again = chat.engine.answers.rerun(chat.id, chat.answer.id)
    assert (again.same, again.differences) == (True, None)


class Shown(NamedTuple):
    """A chat of Ada's about a collection of hers."""

    ada: RAGEngine
    chat: uuid.UUID
    answer: ChatMessage
    document: Document

    def of(self, user_id: str) -> RAGEngine:
        return self.ada.installation.for_user(user_id)


@pytest.fixture
def shown(installation: Installation) -> Shown:
    ada = installation.for_user("local")
    document = ada.documents.process(
        ada.documents.add(pdfs.plain([FIRST]), "harbour.pdf", index_name="team", enqueue=False).id
    )
    conversation = ada.chats.start("Ships", index_name="team")
    return Shown(ada, conversation.id, ada.chats.ask(conversation.id, QUESTION), document)


def test_a_shared_answer_is_shown_to_grantees_who_may_read_its_documents(shown: Shown) -> None:
    link = shown.ada.answers.share(shown.chat, {"grantee": "bob"})
    assert shown.ada.answers.share(shown.chat, {"grantee": "bob"}) == link
    bob, eve = shown.of("bob"), shown.of("eve")
    assert bob.store.answer_links.shared_with_me() == []  # he may not read the collection
    shown.ada.sharing.share({"grantee": "bob"}, "team")
    shown.ada.sharing.share({"grantee": "eve"}, "team")
    assert [one.id for one in bob.store.answer_links.shared_with_me()] == [link.id]
    assert [turn.content for turn in bob.answers.shared_turns(link.id)] == [QUESTION, shown.answer.content]
    for other in (eve, shown.of("x' or '1'='1"), shown.ada):
        assert other.store.answer_links.shared_with_me() == []
        with pytest.raises(errors.NotFoundError):
            other.answers.shared_turns(link.id)
    with pytest.raises(errors.NotFoundError):
        eve.answers.unshare(link.id)
    with pytest.raises(errors.NotFoundError):
        eve.answers.share(shown.chat, {"grantee": "eve"})
    shown.ada.sharing.unshare({"grantee": "bob"}, "team")
    with pytest.raises(errors.NotFoundError):
        bob.answers.shared_turns(link.id)
    shown.ada.sharing.share({"grantee": "bob"}, "team")
    shown.ada.answers.unshare(link.id)
    assert bob.store.answer_links.shared_with_me() == []
    with pytest.raises(errors.NotFoundError):
        bob.answers.shared_turns(link.id)
    told = [entry.action for entry in shown.ada.audit.list() if entry.action.startswith("answer.")]
    assert told == ["answer.withdraw", "answer.show"]


def test_a_shared_answer_is_shown_without_the_rest_of_its_chat(shown: Shown) -> None:
    shown.ada.chats.ask(shown.chat, "What of the secret merger?")
    shown.ada.sharing.share({"grantee": "bob"}, "team")
    link = shown.ada.answers.share(shown.chat, {"grantee": "bob", "message_id": shown.answer.id})
    assert [turn.content for turn in shown.of("bob").answers.shared_turns(link.id)] == [QUESTION, shown.answer.content]
    with pytest.raises(errors.NotFoundError):
        shown.ada.answers.share(shown.chat, {"grantee": "bob", "message_id": uuid.uuid4()})
    with pytest.raises(errors.ValidationError):
        shown.ada.answers.share(shown.chat, {"grantee": "local"})


def test_an_unfinished_answer_is_shown_to_nobody_else(shown: Shown) -> None:
    shown.ada.sharing.share({"grantee": "bob"}, "team")
    link = shown.ada.answers.share(shown.chat, {"grantee": "bob"})
    shown.ada.store.conversations.append(shown.chat, "user", "What of the secret merger?")
    turn = shown.ada.store.conversations.append(shown.chat, "assistant", "It is planned for")
    shown.ada.store.conversations.replace_answer(shown.chat, turn.id, "It is planned for May.")
    assert shown.ada.chats.messages(shown.chat)[-1].is_unfinished
    bob = shown.of("bob").answers
    assert [turn.content for turn in bob.shared_turns(link.id)][2:] == ["What of the secret merger?"]
    own = shown.ada.answers.share(shown.chat, {"grantee": "bob", "message_id": turn.id})
    assert "May" not in str(bob.shared_turns(own.id))


def test_an_unfinished_answer_is_neither_exported_nor_history(shown: Shown) -> None:
    shown.ada.store.conversations.append(shown.chat, "user", "What of the secret merger?")
    shown.ada.store.conversations.append(shown.chat, "assistant", "It is planned for May.")
    history = shown.ada.chats.request(shown.chat, "And then?").history
    assert [turn.content for turn in history][2:] == ["What of the secret merger?"]
    assert b"May" not in shown.ada.answers.export(shown.chat, "markdown").content


def test_one_answer_at_a_time_is_written_in_a_chat(shown: Shown) -> None:
    locks = shown.ada.store.conversations
    with locks.lock(shown.chat) as is_free, locks.lock(shown.chat) as is_free_again:
        assert (is_free, is_free_again) == (True, False)
        assert locks.is_locked(shown.chat)
    assert not locks.is_locked(shown.chat)


def test_an_answer_about_what_is_thrown_away_is_held_back(shown: Shown) -> None:
    shown.ada.sharing.share({"grantee": "bob"}, "team")
    link = shown.ada.answers.share(shown.chat, {"grantee": "bob"})
    shown.ada.documents.trash([shown.document.id])
    question, answer = shown.of("bob").answers.shared_turns(link.id)
    assert question.content == QUESTION
    assert answer.response is None
    assert "4,812" not in answer.content
