"""Mails and archives as their user sees them: what is in them is a document of its own, and goes where they go."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import errors, providers, worker
from rag.config import load_config
from rag.engine import RAGEngine
from rag.engine.library.files import DELETED_REASON
from rag.types import CONTAINERS, Document, DocumentStatus, IndexRequest
from tests import mails, pdfs
from tests.embeddings import register

TIDES = b"The tide table says that high water is at nine."
ANCHOR = b"The anchor of the lighthouse ship weighs forty tons."
FILES = {"tides.txt": TIDES, "logo.svg": b"<svg></svg>"}


@pytest.fixture
def registry() -> providers.Registry:
    made = providers.Registry()
    register(made, "words", 384)
    return made


@pytest.fixture
def engine(database_url: str, tmp_path: Path, registry: providers.Registry) -> Iterator[RAGEngine]:
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_embed_model="words:model")
    with RAGEngine(config, registry=registry) as opened:
        yield opened


def work(engine: RAGEngine) -> None:
    """Read all that is queued, as a worker does."""
    worker.run(engine.installation, wait=False)


def take_in(engine: RAGEngine, content: bytes, name: str = "Offer.eml") -> Document:
    added = engine.documents.add(content, name)
    work(engine)
    return engine.documents.get(added.id)


def parts_of(engine: RAGEngine, document: Document) -> dict[str, Document]:
    return {part.name: part for part in engine.documents.attachments(document.id)}


def in_sight(engine: RAGEngine) -> set[str]:
    return {document.name for document in engine.documents.list()}


def found(engine: RAGEngine, query: str) -> set[str]:
    request = {"query": query, "mode": "lexical", "minScore": 0, "topK": 50}
    return {hit.document_name for hit in engine.search(request).results}


# --- taking in ---


def test_attachments_of_a_mail_are_documents(engine: RAGEngine) -> None:
    mail = take_in(engine, mails.eml(FILES | {"report.pdf": pdfs.plain()}))
    assert mail.status is DocumentStatus.READY
    parts = parts_of(engine, mail)
    assert set(parts) == {"tides.txt", "report.pdf"}
    for part in parts.values():
        assert part.status is DocumentStatus.READY
        assert part.container_id == mail.id
        assert part.shown_source == f"Offer.eml › {part.name}"
        assert part.container_name == "Offer.eml"
        assert (part.user_id, part.index_id) == (mail.user_id, mail.index_id)
    assert [(part.name, part.document_id, part.reason) for part in mail.parts] == [
        ("tides.txt", parts["tides.txt"].id, None),
        ("logo.svg", None, "of a kind that cannot be read (an SVG image)"),
        ("report.pdf", parts["report.pdf"].id, None),
    ]
    assert found(engine, "high water nine") == {"tides.txt"}
    assert engine.files.original(parts["tides.txt"].id).read_bytes() == TIDES


def test_nested_attachments_are_documents_up_to_a_depth(engine: RAGEngine) -> None:
    content = mails.archive({"a.txt": ANCHOR})
    for level in range(5):
        content = mails.archive({f"level {level}.zip": content})
    take_in(engine, content, "outer.zip")
    assert in_sight(engine) == {"outer.zip", "level 4.zip", "level 3.zip", "level 2.zip"}
    (innermost,) = [document for document in engine.documents.list() if document.name == "level 2.zip"]
    assert innermost.shown_source == "outer.zip › level 4.zip › level 3.zip › level 2.zip"
    (part,) = innermost.parts
    assert "in more than 3 mails or archives" in (part.reason or "")


def test_the_limits_are_those_of_the_outermost(engine: RAGEngine, registry: providers.Registry) -> None:
    """As in 42.zip: each archive is small, and all together are not."""
    innermost = [mails.archive({f"{n}-{m}.txt": b"%d %d" % (n, m) for m in range(4)}) for n in range(4)]
    limited = engine.config.model_copy(
        update={"rag_parsing": engine.config.rag_parsing.model_copy(update={"max_parts": 10})}
    )
    with RAGEngine(limited, registry=registry) as bounded:
        zipped = take_in(bounded, mails.archive({f"{n}.zip": one for n, one in enumerate(innermost)}), "42.zip")
        assert len(bounded.documents.attachments(zipped.id)) == 10
        left_out = [part for document in bounded.documents.list() for part in document.parts if part.reason]
        assert {part.reason for part in left_out} == {"more than 10 files"}
        assert len(left_out) == 4 + 16 - 10


def test_known_attachments_are_not_added_again(engine: RAGEngine) -> None:
    first = take_in(engine, TIDES, "Tides.txt")
    gone = take_in(engine, ANCHOR, "Anchor.txt")
    engine.documents.trash([gone.id])
    mail = take_in(engine, mails.eml({"a.txt": TIDES, "b.txt": ANCHOR, "c.txt": b"new words", "d.txt": b"new words"}))
    assert in_sight(engine) == {"Tides.txt", "Offer.eml", "c.txt"}
    a, b, c, d = mail.parts
    assert (a.document_id, a.reason) == (first.id, "its content was in the index already, as Tides.txt")
    assert (b.document_id, b.reason) == (None, "its content is in the trash, as Anchor.txt")
    assert d.document_id == c.document_id
    assert c.reason is None


def test_reading_again_doubles_nothing_and_brings_nothing_back(engine: RAGEngine) -> None:
    mail = take_in(engine, mails.eml({"a.txt": TIDES, "b.txt": ANCHOR, "c.txt": b"new words"}))
    parts = parts_of(engine, mail)
    engine.documents.trash([parts["b.txt"].id, parts["c.txt"].id])
    engine.documents.purge([parts["c.txt"].id])
    engine.documents.process(mail.id, again=True)
    work(engine)
    again = engine.documents.get(mail.id)
    assert {part.name: part.id for part in engine.documents.attachments(mail.id)} == {
        name: parts[name].id for name in ("a.txt", "b.txt")
    }
    assert in_sight(engine) == {"Offer.eml", "a.txt"}
    assert [part.reason for part in again.parts] == [None, None, DELETED_REASON]


def test_a_crash_between_loses_and_doubles_nothing(engine: RAGEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step it comes after, reading the mail again adds what lacks."""
    mail = engine.documents.add(mails.eml({"a.txt": TIDES, "b.txt": ANCHOR}), "Offer.eml")
    store = type(engine.documents._workspace.store.attachments)
    for method in ("set_parts", "match_trash_state"):
        with monkeypatch.context() as crashing:
            crashing.setattr(store, method, _crash)
            with pytest.raises(KeyboardInterrupt):
                engine.documents.process(mail.id)
    engine.installation.recover_queue()
    work(engine)
    parts = engine.documents.attachments(mail.id)
    assert [(part.name, part.status) for part in parts] == [
        ("a.txt", DocumentStatus.READY),
        ("b.txt", DocumentStatus.READY),
    ]
    assert [part.document_id for part in engine.documents.get(mail.id).parts] == [part.id for part in parts]


def _crash(*_: object) -> None:
    raise KeyboardInterrupt


# --- the trash ---


def test_parts_go_to_the_trash_with_their_mail_and_come_back_with_it(engine: RAGEngine) -> None:
    inner = mails.archive({"deep.txt": b"deep words"})
    mail = take_in(engine, mails.eml({"a.txt": TIDES, "b.txt": ANCHOR, "inner.zip": inner}))
    parts = parts_of(engine, mail)
    assert set(parts) == {"a.txt", "b.txt", "inner.zip", "deep.txt"}
    assert engine.documents.trash([parts["b.txt"].id]) == [parts["b.txt"].id]
    assert in_sight(engine) == {"Offer.eml", "a.txt", "inner.zip", "deep.txt"}
    touched = engine.documents.trash([mail.id])
    assert set(touched) == {mail.id, *(parts[name].id for name in ("a.txt", "inner.zip", "deep.txt"))}
    assert in_sight(engine) == set()
    assert found(engine, "high water deep words anchor") == set()
    assert set(engine.documents.restore([mail.id])) == set(touched)
    assert in_sight(engine) == {"Offer.eml", "a.txt", "inner.zip", "deep.txt"}, "what was thrown away alone stays"
    assert found(engine, "high water") == {"a.txt"}


def test_a_part_may_come_back_alone_and_stays_when_its_mail_is_purged(engine: RAGEngine) -> None:
    mail = take_in(engine, mails.eml({"a.txt": TIDES, "b.txt": ANCHOR}))
    parts = parts_of(engine, mail)
    engine.documents.trash([mail.id])
    assert engine.documents.restore([parts["a.txt"].id]) == [parts["a.txt"].id]
    assert set(engine.documents.purge([mail.id]).document_ids) == {mail.id, parts["b.txt"].id}
    (left,) = engine.documents.list()
    assert (left.name, left.container_id, left.shown_source) == ("a.txt", None, "Offer.eml › a.txt")
    assert not engine.documents.list(in_trash=True)
    with pytest.raises(errors.NotFoundError):
        engine.files.original(parts["b.txt"].id)


def test_an_attachment_of_another_mail_stays(engine: RAGEngine) -> None:
    first = take_in(engine, mails.eml({"a.txt": TIDES, "b.txt": ANCHOR}), "first.eml")
    second = take_in(engine, mails.eml({"c.txt": TIDES}, subject="second"), "second.eml")
    engine.documents.trash([first.id])
    assert in_sight(engine) == {"second.eml", "a.txt"}
    engine.documents.trash([second.id])
    assert in_sight(engine) == {"a.txt"}, "it was never the second one's"
    engine.documents.restore([first.id])
    assert in_sight(engine) == {"first.eml", "a.txt", "b.txt"}


def test_parts_of_what_was_thrown_away_while_it_was_read_are_there_too(engine: RAGEngine) -> None:
    mail = engine.documents.add(mails.eml({"a.txt": TIDES}), "Offer.eml")
    engine.documents.trash([mail.id])
    engine.documents.process(mail.id)
    assert in_sight(engine) == set()
    engine.documents.restore([mail.id])
    assert in_sight(engine) == {"Offer.eml", "a.txt"}


# --- whose they are ---


# --- folders ---


def follow(engine: RAGEngine, folder: Path) -> dict[str, str]:
    request = IndexRequest.model_validate({"source": {"folderId": str(folder)}})
    return {Path(file.source).name: file.state for file in engine.sync_index(request).files}


def test_parts_follow_a_folder_with_their_mail(engine: RAGEngine, tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "tides.txt").write_bytes(TIDES)
    (folder / "Offer.eml").write_bytes(mails.eml({"a.txt": TIDES, "b.txt": ANCHOR}))
    assert follow(engine, folder) == {"tides.txt": "added", "Offer.eml": "added"}
    assert in_sight(engine) == {"tides.txt", "Offer.eml", "a.txt", "b.txt"}, "equal content at two places is two"
    assert {document.status for document in engine.documents.list()} == {DocumentStatus.READY}
    before = {document.name: document.id for document in engine.documents.list()}
    assert set(follow(engine, folder).values()) == {"unchanged"}
    assert {document.name: document.id for document in engine.documents.list()} == before
    (folder / "Offer.eml").write_bytes(mails.eml({"a.txt": TIDES, "c.txt": b"new words"}, text="changed"))
    assert follow(engine, folder)["Offer.eml"] == "changed"
    assert in_sight(engine) == {"tides.txt", "Offer.eml", "a.txt", "c.txt"}
    assert found(engine, "anchor lighthouse") == set()
    (folder / "Offer.eml").unlink()
    assert follow(engine, folder) == {"tides.txt": "unchanged", "Offer.eml": "removed"}
    assert in_sight(engine) == {"tides.txt"}


def test_files_attached_to_a_pdf_go_where_it_goes(engine: RAGEngine, tmp_path: Path) -> None:
    offer = take_in(engine, pdfs.with_attachments(FILES), "Offer.pdf")
    assert {part.name: part.reason for part in offer.parts} == {
        "tides.txt": None,
        "logo.svg": "of a kind that cannot be read (an SVG image)",
    }
    assert found(engine, "high water nine") == {"tides.txt"}
    assert parts_of(engine, offer)["tides.txt"].shown_source == "Offer.pdf › tides.txt"
    engine.documents.trash([offer.id])
    assert in_sight(engine) == set()
    folder = tmp_path / "offers"
    folder.mkdir()
    (folder / "Other.pdf").write_bytes(pdfs.with_attachments({"a.txt": TIDES, "b.txt": ANCHOR}))
    assert follow(engine, folder) == {"Other.pdf": "added"}
    assert {document.status for document in engine.documents.list()} == {DocumentStatus.READY}
    assert in_sight(engine) == {"Other.pdf", "a.txt", "b.txt"}
    (folder / "Other.pdf").write_bytes(pdfs.with_attachments({"a.txt": TIDES, "c.txt": b"new words"}, "Changed."))
    assert follow(engine, folder) == {"Other.pdf": "changed"}
    assert in_sight(engine) == {"Other.pdf", "a.txt", "c.txt"}


def test_files_that_python_takes_in_are_read_with_what_is_in_them(engine: RAGEngine, tmp_path: Path) -> None:
    (tmp_path / "Offer.eml").write_bytes(mails.eml({"a.txt": TIDES}))
    assert engine.ingest([str(tmp_path / "Offer.eml")])["failed_count"] == 0
    assert found(engine, "high water") == {"a.txt"}
    assert {document.mime_type in CONTAINERS for document in engine.documents.list()} == {True, False}
    assert {document.container_name for document in engine.documents.list()} == {None, "Offer.eml"}
