"""An index that follows a folder: what is new, changed, gone, left as it is, and what happens when something fails."""

import hashlib
import os
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from rag import errors, providers
from rag.config import load_config
from rag.contract import SearchBody, SyncBody
from rag.engine import RAGEngine
from rag.store.store import Store
from rag.types import SyncReport
from tests import drive_server, pdfs
from tests.embeddings import bag_of_words, register

HARBOUR = "The harbour handled 4,812 ships in 2019."
ORCHARD = "The orchard grows eleven kinds of pears."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "reports"
    (root / "below").mkdir(parents=True)
    (root / "harbour.txt").write_text(HARBOUR)
    (root / "below" / "orchard.md").write_text(ORCHARD)
    return root


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


def request(folder: Path | str, *, options: dict[str, Any] | None = None, **source: Any) -> dict[str, Any]:
    return {"source": {"folderId": str(folder), **source}, "options": options or {}}


def states(report: SyncReport) -> dict[str, str]:
    """State by file name."""
    return {file.source.rpartition("/")[2]: file.state for file in report.files}


def chunks_made(report: SyncReport) -> int:
    return sum(file.chunks for file in report.files)


def texts(engine: RAGEngine) -> set[str]:
    """What a search over everything can find."""
    found = engine.search(
        {"query": "harbour orchard ships pears mill bridge", "mode": "lexical", "minScore": 0, "topK": 50}
    )
    return {hit.chunk.text for hit in found.results}


def test_building_takes_everything_in_and_again_nothing(engine: RAGEngine, folder: Path) -> None:
    report = engine.build_index(request(folder))
    assert states(report) == {"harbour.txt": "added", "orchard.md": "added"}
    assert (report.count("added"), chunks_made(report), report.count("failed")) == (2, 2, 0)
    assert {document.source for document in engine.documents.list()} == {
        str(folder / "harbour.txt"),
        str(folder / "below" / "orchard.md"),
    }
    assert texts(engine) == {HARBOUR, ORCHARD}
    before = engine.documents.list()
    again = engine.build_index(request(folder))
    assert set(states(again).values()) == {"unchanged"}
    assert (again.count("unchanged"), chunks_made(again)) == (2, 0)
    assert engine.documents.list() == before


def test_syncing_follows_additions_changes_and_removals(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    (folder / "harbour.txt").write_text("The harbour handled 9 ships.")
    (folder / "below" / "orchard.md").unlink()
    (folder / "mill.txt").write_text("The mill stands idle; the ships are gone.")
    report = engine.sync_index(request(folder))
    assert states(report) == {"harbour.txt": "changed", "mill.txt": "added", "orchard.md": "removed"}
    counted = SyncBody.of(report)
    assert (counted.added, counted.changed, counted.removed, counted.unchanged) == (1, 1, 1, 0)
    assert texts(engine) == {"The harbour handled 9 ships.", "The mill stands idle; the ships are gone."}
    assert {document.name for document in engine.documents.list(in_trash=True)} == {"orchard.md"}


def test_building_leaves_what_is_gone(engine: RAGEngine, folder: Path) -> None:
    engine.build_index(request(folder))
    (folder / "harbour.txt").unlink()
    assert engine.build_index(request(folder)).count("removed") == 0
    assert texts(engine) == {HARBOUR, ORCHARD}


def test_a_file_that_returns_is_restored_from_the_trash(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    ids = {document.id for document in engine.documents.list()}
    (folder / "harbour.txt").rename(folder.parent / "aside.txt")
    engine.sync_index(request(folder))
    (folder.parent / "aside.txt").rename(folder / "harbour.txt")
    report = engine.sync_index(request(folder))
    assert (report.count("added"), report.count("unchanged"), chunks_made(report)) == (1, 1, 0)
    assert {document.id for document in engine.documents.list()} == ids


def test_a_former_version_comes_back_at_once(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    (folder / "harbour.txt").write_text("Nothing about ships.")
    engine.sync_index(request(folder))
    (folder / "harbour.txt").write_text(HARBOUR)
    report = engine.sync_index(request(folder))
    assert (report.count("changed"), chunks_made(report)) == (1, 0)
    assert texts(engine) == {HARBOUR, ORCHARD}


def test_equal_files_are_told_apart(engine: RAGEngine, folder: Path) -> None:
    (folder / "copy.txt").write_text(HARBOUR)
    assert engine.sync_index(request(folder)).count("added") == 3
    assert len(engine.documents.list()) == 3
    (folder / "copy.txt").unlink()
    report = engine.sync_index(request(folder))
    assert states(report) == {"harbour.txt": "unchanged", "orchard.md": "unchanged", "copy.txt": "removed"}
    assert texts(engine) == {HARBOUR, ORCHARD}


def test_an_upload_of_the_same_content_stays_a_duplicate(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    with pytest.raises(errors.DuplicateError):
        engine.documents.add(HARBOUR.encode(), "upload.txt")
    engine.documents.add(b"An upload of its own.", "own.txt", enqueue=False)
    assert engine.sync_index(request(folder)).count("removed") == 0


def test_a_renamed_file_is_one_that_went_and_one_that_came(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    (folder / "harbour.txt").rename(folder / "port.txt")
    report = engine.sync_index(request(folder))
    assert states(report) == {"orchard.md": "unchanged", "port.txt": "added", "harbour.txt": "removed"}


def test_a_file_that_cannot_be_read_is_reported_and_tried_again(engine: RAGEngine, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    report = engine.sync_index(request(folder))
    (failure,) = report.failures
    assert (failure.source, failure.code) == (str(folder / "broken.pdf"), "unreadable_file")
    assert failure.reason
    assert report.count("added") == 2
    assert engine.sync_index(request(folder)).count("failed") == 1
    (folder / "broken.pdf").write_bytes(pdfs.plain(["The bridge is mended."]))
    assert engine.sync_index(request(folder)).count("changed") == 1
    assert "The bridge is mended." in texts(engine)
    assert len(engine.documents.list()) == 3


def test_a_changed_file_that_fails_leaves_the_old_version_searchable(engine: RAGEngine, folder: Path) -> None:
    report_pdf = folder / "report.pdf"
    report_pdf.write_bytes(pdfs.plain(["The bridge is mended."]))
    engine.sync_index(request(folder))
    old = next(document for document in engine.documents.list() if document.name == "report.pdf")
    report_pdf.write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    assert states(engine.sync_index(request(folder)))["report.pdf"] == "failed"
    assert "The bridge is mended." in texts(engine)
    assert old in engine.documents.list()
    assert engine.files.rendition(old.id).read_bytes().startswith(b"%PDF")
    assert engine.documents.list(in_trash=True) == []


def test_an_embedder_that_fails_leaves_the_old_version_and_the_next_run_catches_up(
    engine: RAGEngine, folder: Path, registry: providers.Registry
) -> None:
    engine.sync_index(request(folder))

    def refuse(_: list[str]) -> list[list[float]]:
        raise errors.ProviderError("The vendor is down.")

    register(registry, "words", 384, refuse)
    engine.installation.models.forget_provider("words")
    (folder / "harbour.txt").write_text("The harbour handled 9 ships.")
    report = engine.sync_index(request(folder))
    assert (report.count("failed"), report.count("unchanged")) == (1, 1)
    assert report.failures[0].code == "provider"
    assert texts(engine) == {HARBOUR, ORCHARD}
    register(registry, "words", 384, bag_of_words(384))
    engine.installation.models.forget_provider("words")
    assert engine.sync_index(request(folder)).count("changed") == 1
    assert texts(engine) == {"The harbour handled 9 ships.", ORCHARD}


def test_failures_need_not_be_skipped(engine: RAGEngine, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    with pytest.raises(errors.SourceError, match=r"broken\.pdf") as caught:
        engine.build_index(request(folder, options={"skipParseFailures": False}))
    assert caught.value.details["code"] == "unreadable_file"


# --- which files ---


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ({}, {"harbour.txt", "orchard.md", "orchard.txt"}),
        ({"includeSubfolders": False}, {"harbour.txt"}),
        ({"includeMimeTypes": ["text/markdown"]}, {"orchard.md"}),
        ({"includeMimeTypes": ["application/pdf"]}, set()),
        ({"excludeFileIds": ["below/orchard.md"]}, {"harbour.txt", "orchard.txt"}),
        ({"excludeFileIds": ["orchard.md"]}, {"harbour.txt", "orchard.md", "orchard.txt"}),
    ],
)
def test_a_source_chooses_its_files(engine: RAGEngine, folder: Path, source: dict[str, Any], names: set[str]) -> None:
    (folder / "below" / "orchard.txt").write_text(ORCHARD)
    (folder / "picture.psd").write_bytes(b"8BPS\x00\x01")
    (folder / ".hidden.txt").write_text("hidden")
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("hidden")
    (folder / "loop").symlink_to(folder)
    assert set(states(engine.build_index(request(folder, **source)))) == names


def test_a_file_is_excluded_by_path_or_by_its_documents_id(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    ids = {document.name: str(document.id) for document in engine.documents.list()}
    excluded = [str(folder / "harbour.txt"), ids["orchard.md"]]
    assert engine.sync_index(request(folder, excludeFileIds=excluded)).count("removed") == 2
    assert engine.documents.list() == []


def test_answers_show_paths_in_the_folder_and_filters_understand_them(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    (alone := folder.parent / "alone.txt").write_text("The mill grinds beside the bridge.")
    assert engine.ingest([str(alone)])["ingested_count"] == 1

    def found(**filters: Any) -> set[str | None]:
        body = {"query": "harbour orchard mill", "mode": "lexical", "minScore": 0, "filters": filters}
        return {hit.shown_source for hit in engine.search(body).results}

    assert found() == {"harbour.txt", "below/orchard.md", "alone.txt"}
    assert found(sources=["below/orchard.md", "alone.txt"]) == {"below/orchard.md", "alone.txt"}
    assert found(sources=[str(folder / "harbour.txt")]) == {"harbour.txt"}
    assert found(sourcePrefix="below/") == {"below/orchard.md"}
    assert found(sourcePrefix=str(folder)) == {"harbour.txt", "below/orchard.md"}
    own = folder.name  # as in `pagelight sync data`
    for prefix in (f"{own}/", own, f"{own}/b", f"{own}/below", f"{own}/below/", f"{own}\\below\\", "below", "below\\"):
        expected = {"below/orchard.md"} if "b" in prefix.removeprefix(own) else {"harbour.txt", "below/orchard.md"}
        assert found(sourcePrefix=prefix) == expected, prefix
    for prefix in (own[:-1], f"{own[1:]}/", f"{own}/nothing/", "/below/"):
        assert found(sourcePrefix=prefix) == set(), prefix
    assert found(sources=[f"{own}\\below\\orchard.md"]) == found(sources=["below\\orchard.md"]) == {"below/orchard.md"}
    shown = [*found(sourcePrefix="below/")]
    assert states(engine.sync_index(request(folder, excludeFileIds=shown)))["orchard.md"] == "removed"


def test_a_file_that_came_alone_is_shown_by_its_path_once_its_folder_is_followed(
    engine: RAGEngine, folder: Path
) -> None:
    path = folder / "below" / "orchard.md"
    engine.ingest([str(path)])
    assert [document.shown_source for document in engine.documents.list()] == ["orchard.md"]
    engine.sync_index(request(folder))
    path.write_text("Nothing grows here any more.")
    engine.ingest([str(path)])
    assert {document.shown_source for document in engine.documents.list()} == {"harbour.txt", "below/orchard.md"}


def test_syncing_without_subfolders_leaves_what_is_in_them(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    report = engine.sync_index(request(folder, includeSubfolders=False))
    assert states(report) == {"harbour.txt": "unchanged"}


def test_a_folder_of_a_similar_name_is_another_one(engine: RAGEngine, folder: Path) -> None:
    other = folder.parent / "reports-old"
    other.mkdir()
    (other / "mill.txt").write_text("The mill.")
    engine.sync_index(request(folder))
    engine.sync_index(request(other))
    assert engine.sync_index(request(folder)).count("removed") == 0


def test_limits_of_files_and_chunks(engine: RAGEngine, folder: Path) -> None:
    (folder / "long.txt").write_text("\n\n".join(f"{number}. " + "word " * 180 for number in range(8)))
    report = engine.build_index(request(folder, options={"maxFiles": 1}))
    assert states(report) == {"orchard.md": "added", "harbour.txt": "left_out", "long.txt": "left_out"}
    report = engine.sync_index(request(folder, options={"maxChunks": 3}))
    assert states(report) == {"orchard.md": "unchanged", "harbour.txt": "added", "long.txt": "left_out"}
    assert "maxChunks" in str(report.files[-1].reason)
    assert {document.name for document in engine.documents.list()} == {"orchard.md", "harbour.txt"}
    assert engine.documents.list(in_trash=True) == []
    assert engine.sync_index(request(folder)).count("added") == 1


def test_a_folder_that_is_not_there_removes_nothing(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    folder.rename(folder.parent / "elsewhere")
    with pytest.raises(errors.SourceError, match="reports"):
        engine.sync_index(request(folder))
    assert len(engine.documents.list()) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_below_that_may_not_be_read_removes_nothing(engine: RAGEngine, folder: Path) -> None:
    engine.sync_index(request(folder))
    (folder / "below").chmod(0)
    try:
        with pytest.raises(errors.SourceError):
            engine.sync_index(request(folder))
    finally:
        (folder / "below").chmod(0o755)
    assert len(engine.documents.list()) == 2


def test_a_folder_in_another_file_system(engine: RAGEngine) -> None:
    root = f"bucket-{uuid.uuid4().hex}"
    files = fsspec.filesystem("memory")
    files.pipe(f"/{root}/harbour.txt", HARBOUR.encode())
    files.pipe(f"/{root}/below/orchard.txt", ORCHARD.encode())
    url = f"memory://{root}"
    assert engine.sync_index(request(url)).count("added") == 2
    assert {document.source for document in engine.documents.list()} == {
        f"{url}/harbour.txt",
        f"{url}/below/orchard.txt",
    }
    files.pipe(f"/{root}/harbour.txt", b"The harbour handled 9 ships.")
    files.rm(f"/{root}/below/orchard.txt")
    report = engine.sync_index(request(url))
    assert (report.count("changed"), report.count("removed")) == (1, 1)
    assert texts(engine) == {"The harbour handled 9 ships."}


def test_an_address_that_nobody_knows(engine: RAGEngine) -> None:
    with pytest.raises(errors.SourceError):
        engine.sync_index(request("nosuch://place"))


# --- which index, with which model and chunks ---


def test_an_index_is_made_by_name_and_named_by_id(engine: RAGEngine, folder: Path) -> None:
    report = engine.build_index({**request(folder), "index": {"indexName": "project", "destinationFolderId": "x"}})
    assert report.index.name == "project"
    by_id = engine.sync_index({**request(folder), "index": {"indexFileId": str(report.index.id)}})
    assert (by_id.index.id, by_id.count("unchanged")) == (report.index.id, 2)
    for name in ("project", str(report.index.id)):
        assert engine.search({"indexFileId": name, "query": "harbour", "minScore": 0}).results
        assert engine.inspect_index(name).documents == 2
    assert engine.documents.list() == []  # of the default index
    for name in ("unknown", str(uuid.uuid4())):
        with pytest.raises(errors.NotFoundError):
            engine.search({"indexFileId": name, "query": "harbour"})
        with pytest.raises(errors.NotFoundError):
            engine.build_index({**request(folder), "index": {"indexFileId": name}})
    assert {index.name for index in engine.indexes.list()} == {"default", "project"}


def test_another_chunking_reads_everything_again(engine: RAGEngine, folder: Path) -> None:
    (folder / "long.txt").write_text("\n\n".join(f"{number}. " + "word " * 30 for number in range(10)))
    engine.build_index(request(folder))
    chunking = {"chunkSizeChars": 200, "chunkOverlapChars": 0, "minChunkChars": 10}
    report = engine.build_index({**request(folder), "chunking": chunking})
    assert set(states(report).values()) == {"changed"}
    assert report.index.chunking.chunk_size_chars == 200
    assert chunks_made(report) > 10
    assert engine.build_index({**request(folder), "chunking": chunking}).count("unchanged") == 3
    assert engine.build_index(request(folder)).count("unchanged") == 3


def test_an_index_has_the_model_that_was_asked_for(
    engine: RAGEngine, folder: Path, registry: providers.Registry
) -> None:
    register(registry, "other", 256)
    body = {**request(folder), "index": {"indexName": "second"}, "embedding": {"provider": "other", "model": "model"}}
    assert engine.build_index(body).index.space.dimensions == 256
    assert engine.search({"indexName": "second", "query": HARBOUR, "mode": "vector"}).results[0].chunk.text == HARBOUR
    again = engine.sync_index({**request(folder), "index": {"indexName": "second"}})
    assert (again.count("unchanged"), again.index.space.provider) == (2, "other")
    with pytest.raises(errors.IndexError, match="other:model"):
        engine.build_index({**body, "embedding": {"provider": "words"}})


@pytest.mark.parametrize(
    ("embedding", "error"),
    [
        ({"provider": "nobody"}, errors.ValidationError),
        ({"provider": "perplexity"}, errors.ValidationError),
        ({"provider": "openai", "model": "text-embedding-3-small"}, errors.ConfigError),
        ({"provider": "words", "providerOptions": {"dimensions": 100}}, errors.EmbeddingCapabilityError),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_anything_is_read(
    engine: RAGEngine, folder: Path, embedding: dict[str, Any], error: type[errors.Error]
) -> None:
    with pytest.raises(error):
        engine.build_index({**request(folder), "embedding": embedding})
    assert engine.documents.list() == []


@pytest.mark.long
def test_what_a_killed_run_left_behind_makes_room(engine: RAGEngine, folder: Path, database_url: str) -> None:
    index = engine.sync_index(request(folder)).index
    (folder / "harbour.txt").write_text("The harbour handled 9 ships.")
    with Store.open(database_url) as opened:
        half = opened.of(engine.user_id).documents.add(
            index.id,
            document_id=uuid.uuid4(),
            name="harbour.txt",
            mime_type="text/plain",
            sha256=hashlib.sha256((folder / "harbour.txt").read_bytes()).hexdigest(),
            size=28,
            source=str(folder / "harbour.txt"),
            follows_source=True,
            in_trash=True,
        )
    assert texts(engine) == {HARBOUR, ORCHARD}
    assert engine.sync_index(request(folder)).count("changed") == 1
    assert texts(engine) == {"The harbour handled 9 ships.", ORCHARD}
    assert half.id not in {document.id for document in engine.documents.list() + engine.documents.list(in_trash=True)}


def test_only_one_at_a_time_takes_files_into_an_index(engine: RAGEngine, folder: Path) -> None:
    seen: list[str] = []

    def meanwhile(_: object) -> None:
        if not seen:
            with pytest.raises(errors.IndexError, match="Another process"):
                engine.sync_index(request(folder))
            seen.append("refused")

    assert engine.sync_index(request(folder), meanwhile).count("added") == 2
    assert seen == ["refused"]


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.pop("source"),
        lambda body: body["source"].pop("folderId"),
        lambda body: body["options"].update(maxFiles=0),
        lambda body: body["source"].update(folder="x"),
    ],
)
def test_a_malformed_request_names_its_field(
    engine: RAGEngine, folder: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    body = request(folder)
    change(body)
    with pytest.raises(errors.ValidationError, match=r"source|folderId|maxFiles|folder"):
        engine.build_index(body)


# --- Google Drive ---


def test_a_folder_in_google_drive(
    database_url: str, tmp_path: Path, registry: providers.Registry, folder: Path
) -> None:
    doc, slides = "application/vnd.google-apps.document", "application/vnd.google-apps.presentation"
    with drive_server.drive_server() as drive:
        drive.add("doc", "Minutes", doc, "root", pdfs.plain([HARBOUR]))
        drive.add("deck", "Outlook", slides, "root", pdfs.pages(8))
        drive.add("sheet", "Budget", "application/vnd.google-apps.spreadsheet", "root")
        drive.add("below", "Below", drive_server.FOLDER, "root")
        drive.add("note", "note.txt", "text/plain", "below", ORCHARD.encode())
        config = load_config(
            rag_data_dir=tmp_path / "data",
            rag_database_url=database_url,
            rag_embed_model="words:model",
            google_application_credentials=drive_server.service_account(tmp_path, drive.url),
            google_drive_base_url=f"{drive.url}/drive/v3/",
        )
        with RAGEngine(config, registry=registry) as engine:
            assert states(engine.sync_index(request("gdrive://root"))) == {
                "doc": "added",
                "deck": "added",
                "note": "added",
            }
            assert {document.name: document.mime_type for document in engine.documents.list()} == {
                "Minutes": doc,
                "Outlook": slides,
                "note.txt": "text/plain",
            }
            found = engine.search({"query": "lighthouse tide", "mode": "lexical", "minScore": 0})
            hits = SearchBody.of(found).results
            assert {(hit.file_name, hit.page) for hit in hits} == {("Outlook", None)}
            assert max(hit.slide or 0 for hit in hits) > 1
            assert engine.files.rendition(hits[0].file_id).read_bytes().startswith(b"%PDF")
            drive.contents["doc"] = pdfs.plain(["The harbour handled 9 ships."])
            del drive.files["note"]
            report = engine.sync_index(request("gdrive:root"))
            assert states(report) == {"doc": "changed", "deck": "unchanged", "note": "removed"}
            (shown,) = {hit.shown_source for hit in found.results}
            assert shown == "gdrive://root/deck"
            for source in (shown, "deck"):
                body = {"query": "lighthouse", "minScore": 0, "filters": {"sources": [source]}}
                assert engine.search(body).results
            assert states(engine.sync_index(request("gdrive:root", excludeFileIds=["deck"])))["deck"] == "removed"
            engine.sync_index(request("gdrive:root"))
            only_slides = engine.sync_index(request("gdrive://root", includeMimeTypes=[slides]))
            assert states(only_slides) == {"deck": "unchanged", "doc": "removed"}
            assert engine.sync_index(request(folder)).count("removed") == 0


def test_a_name_with_accents_written_apart_is_the_same_name(engine: RAGEngine, folder: Path) -> None:
    composed, apart = (unicodedata.normalize(form, "Größe/Übersicht.txt") for form in ("NFC", "NFD"))
    (folder / apart).parent.mkdir()
    (folder / apart).write_text("Pears grow in the orchard.")
    assert states(engine.sync_index(request(folder)))["Übersicht.txt"] == "added"
    (document,) = [one for one in engine.documents.list() if one.name == "Übersicht.txt"]
    assert (document.source, document.shown_source) == (str(folder / composed), composed)
    (folder / composed).parent.mkdir()
    (folder / apart).rename(folder / composed)  # as a copy through another system does
    (folder / apart).parent.rmdir()
    assert set(states(engine.sync_index(request(folder))).values()) == {"unchanged"}
    engine.ingest([str(folder / composed)])
    assert [one.id for one in engine.documents.list() if one.name == "Übersicht.txt"] == [document.id]
    found = engine.search({"query": "pears", "mode": "lexical", "minScore": 0, "filters": {"sources": [apart]}})
    assert [hit.document_name for hit in found.results] == ["Übersicht.txt"]


def test_two_files_whose_names_differ_in_how_accents_are_written_are_two(engine: RAGEngine, folder: Path) -> None:
    for form in ("NFC", "NFD"):
        (folder / unicodedata.normalize(form, "Größe.txt")).write_text(f"Pears grow in the orchard {form}.")
    assert engine.sync_index(request(folder)).count("added") == 4
    assert engine.sync_index(request(folder)).count("unchanged") == 4
