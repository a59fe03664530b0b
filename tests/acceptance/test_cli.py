"""The command line over a real database, real files and the embedded models."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import uuid
from pathlib import Path

import pytest

from benchmarks.processes import free_port
from rag import errors
from rag.cli.app import main
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.store.files.file_storage import PARTIAL_FOLDER, Kind, UserFiles
from tests import forked, mails, pdfs, vendors
from tests.acceptance.command_line import HARBOUR, ORCHARD, pagelight, parsed
from tests.folders import open_folder, processes
from tests.waiting import PATIENCE_SECONDS, eventually

REPOSITORY = Path(__file__).parents[2]
PASSWORD = "open sesame"


def names(*arguments: object) -> list[str]:
    return [document["name"] for document in parsed("documents", "list", *arguments)]


def write_files(folder: Path, **contents: bytes) -> Path:
    """A folder with a file for each of `contents`, `__` in a name standing for its dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two PDFs."""
    return write_files(tmp_path / "files", harbour__pdf=pdfs.plain(HARBOUR), orchard__pdf=pdfs.plain(ORCHARD))


@pytest.fixture(scope="module")
def library(shared_settings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same two, taken in once for all tests that only read; returns their folder."""
    folder = write_files(
        tmp_path_factory.mktemp("library"), harbour__pdf=pdfs.plain(HARBOUR), orchard__pdf=pdfs.plain(ORCHARD)
    )
    assert parsed("ingest", folder)["ingested"] == 2
    return folder


# Documentation and help


def commands() -> list[str]:
    text = pagelight("--help").stdout
    return re.findall(r"^│ ([a-z]+)  ", text[text.index("Commands") :], re.MULTILINE)


def test_the_documentation_has_each_command_with_an_example() -> None:
    documentation = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    assert len(commands()) == 23
    for command in commands():
        assert f"\n## {command}\n" in documentation
        assert re.search(rf"^pagelight {command}\b", documentation, re.MULTILINE), command


def test_each_command_explains_itself_with_an_example() -> None:
    for command in commands():
        assert f"pagelight {command}" in pagelight(command, "--help").stdout.partition("Usage:")[2].partition("\n")[2]


def test_the_version_is_the_package_s() -> None:
    assert re.fullmatch(r"pagelight \d+\.\d+\.\d+\S*\n", pagelight("--version").stdout)


# Taking files in


@pytest.mark.usefixtures("settings")
def test_a_folder_is_taken_in_with_what_is_in_it_of_the_supported_kinds(folder: Path) -> None:
    write_files(folder / "below", slides__pptx=pdfs.presentation(), picture__psd=b"8BPS\0\1")
    write_files(folder / ".hidden", secret__pdf=pdfs.plain(["Not to be seen."]))
    report = parsed("ingest", folder)
    assert {Path(file["path"]).name: file["state"] for file in report["files"]} == {
        "harbour.pdf": "ingested",
        "orchard.pdf": "ingested",
        "slides.pptx": "ingested",
    }
    assert report["chunks"] >= 3
    assert sorted(names()) == ["harbour.pdf", "orchard.pdf", "slides.pptx"]


@pytest.mark.usefixtures("settings")
def test_an_archive_is_taken_in_with_what_is_in_it(tmp_path: Path) -> None:
    mail = mails.eml({"orchard.pdf": pdfs.plain(ORCHARD), "logo.svg": b"<svg></svg>"})
    files = write_files(tmp_path, bundle__zip=mails.archive({"a/harbour.pdf": pdfs.plain(HARBOUR), "Offer.eml": mail}))
    told = pagelight("ingest", files / "bundle.zip").stderr
    assert "1 of 2 files in it was taken in. Left out: logo.svg: of a kind that cannot be read (an SVG image)" in told
    assert set(names()) == {"bundle.zip", "harbour.pdf", "Offer.eml", "orchard.pdf"}
    assert "bundle.zip › Offer.eml" in pagelight("documents").stdout
    assert (
        "bundle.zip › Offer.eml › orchard.pdf" in pagelight("search", "When does the harvest begin?", "--json").stdout
    )
    assert parsed("ingest", files / "bundle.zip")["skipped"] == 1
    pagelight("documents", "delete", "bundle.zip")
    assert names() == []


@pytest.mark.usefixtures("settings")
def test_a_file_that_fails_does_not_keep_the_others_and_decides_the_exit_code(folder: Path) -> None:
    write_files(folder, broken__docx=b"PK\x03\x04 not really", picture__psd=b"8BPS\0\1")
    result = pagelight("ingest", folder, folder / "picture.psd", folder / "nowhere.pdf", code=5)
    assert "✗" in result.stderr
    assert "“.psd”" in result.stderr
    assert "nowhere.pdf" in result.stderr
    assert re.search(r"ingested\s+2", result.stdout)
    assert re.search(r"failed\s+3", result.stdout)
    assert sorted(names()) == ["harbour.pdf", "orchard.pdf"]


@pytest.mark.usefixtures("settings")
def test_files_beyond_the_disk_reserve_are_left_to_a_worker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put = UserFiles.put

    def refuse(files: UserFiles, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        if kind == "rendition":
            raise errors.StoreError("The disk is full. Make room.")
        put(files, document_id, kind, path)

    with monkeypatch.context() as full:
        full.setattr(UserFiles, "put", refuse)
        (failed,) = parsed("ingest", folder / "harbour.pdf", code=5)["files"]
    assert failed["state"] == "failed"
    assert failed["reason"]["message"].startswith("The disk is full. Make room. A worker tries again")
    pagelight("worker", "--once")
    (document,) = parsed("documents", "list")
    assert (document["status"], document["error"]) == ("ready", None)


@pytest.mark.usefixtures("settings")
def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    assert "no files" in pagelight("ingest", tmp_path, code=5).stderr


@pytest.mark.usefixtures("settings")
def test_a_worker_reads_what_is_queued(folder: Path) -> None:
    with RAGEngine() as engine:
        engine.documents.add(folder / "harbour.pdf", "harbour.pdf")
    assert [document["status"] for document in parsed("documents")] == ["queued"]
    pagelight("worker", "--once")
    assert [document["status"] for document in parsed("documents")] == ["ready"]


# Searching and asking


@pytest.mark.usefixtures("library")
def test_a_search_shows_hits_with_their_scores() -> None:
    result = pagelight("search", "How many ships did the harbour handle?", "--rerank", "--min-score", 0)
    assert result.stdout.index("harbour.pdf") < result.stdout.index("orchard.pdf")
    response = parsed("search", "How many ships did the harbour handle?", "--rerank", "--k", 1)
    (hit,) = response["results"]
    assert hit["fileName"] == "harbour.pdf"
    for score in ("vectorScore", "lexicalScore", "rerankScore", "finalScore"):
        assert 0 < hit[score] <= 1


@pytest.mark.usefixtures("library")
def test_a_search_keeps_to_the_documents_that_are_named() -> None:
    results = parsed("search", "harbour ships", "--document", "orchard.pdf", "--min-score", 0)["results"]
    assert {hit["fileName"] for hit in results} == {"orchard.pdf"}


@pytest.mark.usefixtures("library")
def test_a_document_can_be_named_by_the_beginning_of_its_id() -> None:
    (harbour,) = parsed("documents", "list", "--search", "harbour")
    listed = pagelight("documents").stdout
    assert harbour["id"][:8] in listed
    results = parsed("search", "pears", "--document", harbour["id"][:8], "--min-score", 0)["results"]
    assert {hit["fileName"] for hit in results} == {"harbour.pdf"}


@pytest.mark.usefixtures("library")
def test_an_unknown_document_is_an_error_that_suggests_another() -> None:
    result = pagelight("search", "ships", "--document", "harbor.pdf", "--json", code=5)
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "not_found"
    assert "harbour.pdf" in error["message"]
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("command", [["search", "x"], ["ask", "x"], ["documents", "list"], ["inspect"]])
def test_a_mistyped_index_is_an_error_and_is_not_made(command: list[str]) -> None:
    assert "default" in pagelight(*command, "--index", "mistyped", code=5).stderr
    with RAGEngine() as engine:
        assert [index.name for index in engine.indexes.list()] == ["default"]


@pytest.mark.usefixtures("library")
def test_an_answer_comes_with_its_quote_document_and_page() -> None:
    result = pagelight("ask", "When does the harvest of pears begin?")
    answer, _, citations = result.stdout.partition("\n\n")
    assert "last week of August" in answer
    assert "[S1]" in answer
    assert "[S1] orchard.pdf, page 1\n" in citations
    assert f"“{ORCHARD[1]}”" in citations
    response = parsed("ask", "When does the harvest of pears begin?", "--document", "orchard.pdf")
    assert response["status"] == "ok"
    assert response["citations"][0]["quote"] == ORCHARD[1]
    assert response["citations"][0]["regions"][0]["pageNumber"] == 1


@pytest.mark.usefixtures("settings")
def test_a_row_of_a_table_is_printed_as_one_and_the_answer_with_its_likelihood(tmp_path: Path) -> None:
    pagelight("ingest", write_files(tmp_path / "reports", ferries__pdf=pdfs.annual_report("Northmoor Ferries")))
    question = "What were accounts payable in 2020?"
    shown = pagelight("ask", question).stdout
    header, cells = (line.split() for line in shown.splitlines()[1:3])
    assert header == ["2021", "2020"]
    assert cells == ["Accounts", "payable", "350", "▸", "310"]
    assert shown.splitlines()[0] == "in thousands of crowns"
    assert parsed("ask", question)["citations"][0]["row"] == {
        "label": "Accounts payable",
        "columns": ["2021", "2020"],
        "cells": ["350", "310"],
        "caption": "in thousands of crowns",
        "asked": 1,
    }
    question = "How many employees did Northmoor Ferries have at the end of 2021?"
    likelihood = parsed("ask", question)["likelihood"]
    assert f"Likelihood that this is right: {likelihood:.0%}" in pagelight("ask", question).stdout


@pytest.mark.usefixtures("library")
def test_a_refusal_names_what_is_missing_and_the_nearest_place() -> None:
    question = "How many ships did the harbour of Lindmark handle in 2031?"
    response = parsed("ask", question)
    assert response["hint"].startswith("“2031” does not occur in the passages read.")
    assert response["likelihood"] is None
    shown = pagelight("ask", question).stdout
    assert f"{response['answer']}\n{response['hint']}\n" in shown
    assert "Nearest passages:" in shown


def test_a_question_that_each_document_answers_is_asked_back(settings: Path, tmp_path: Path) -> None:
    reports = {f"{name}__pdf": pdfs.annual_report(name) for name in ("Acme", "Birch", "Cedar", "Dune")}
    pagelight("ingest", write_files(tmp_path / "reports", **reports))
    response = parsed("ask", "What was the revenue?")
    names = sorted(found["fileName"] for found in response["nearest"])
    assert names == ["Acme.pdf", "Birch.pdf", "Cedar.pdf", "Dune.pdf"]
    shown = pagelight("ask", "What was the revenue?").stdout
    assert "Which of the 4 documents?" in shown
    assert "Ask one of these:" in shown
    assert "  What was the revenue? (in Birch.pdf)\n" in shown
    answer = parsed("ask", "What was the revenue? (in Birch.pdf)")
    assert {citation["fileName"] for citation in answer["citations"]} == {"Birch.pdf"}


@pytest.mark.usefixtures("library")
def test_a_model_without_a_key_is_a_setting_that_is_missing() -> None:
    assert parsed("ask", "Ships?", "--model", "openai", code=3)["error"]["code"] == "config"


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("options", "stage"),
    [
        ([], "given"),
        (["--rerank"], "given"),
        (["--document", "orchard.pdf"], "filters"),
        (["--must-include", "pears"], "must_include"),
        (["--must-include", "ships in"], "given"),
        (["--k", 1, "--min-score", 0], "top_k"),
        (["--min-score", 1, "--mode", "vector"], "min_score"),
    ],
)
def test_why_names_the_stage_of_a_passage(options: list[object], stage: str) -> None:
    question = "When is the harvest?" if stage == "top_k" else "How many ships did the harbour handle?"
    told = parsed("why", question, "--passage", "4,812 ships in  2019", *options)
    assert told["stage"] == stage
    assert told["message"]
    assert told["documentName"] == "harbour.pdf"


@pytest.mark.usefixtures("library")
def test_search_and_why_tell_on_one_line_what_the_question_was_widened_with() -> None:
    question = "Which items make the quick ratio of the harbour in FY19?"
    told = (
        "Widened: FY19 → 2019; quick ratio → cash and cash equivalents, short-term investments, accounts receivable "
        "(+3); preferred: balance sheet\n"
    )
    searched = pagelight("search", question)
    assert searched.stderr == told
    assert "harbour.pdf" in searched.stdout
    assert pagelight("why", question, "--passage", "4,812 ships").stderr == told
    rewritings = parsed("why", question, "--passage", "4,812 ships", "--no-vocabulary", "--no-landmarks")["rewritings"]
    assert [(one["kind"], one["found"], one["added"]) for one in rewritings] == [("period", "FY19", ["2019"])]
    assert pagelight("search", "harbour ships").stderr == ""
    assert parsed("search", question)["trace"] is None


@pytest.mark.usefixtures("library")
def test_why_names_documents_that_were_never_read() -> None:
    told = parsed("why", "How many ships?", "--passage", "words that stand nowhere at all")
    assert (told["stage"], told["documentName"]) == ("not_indexed", None)
    assert "given" in pagelight("why", "How many ships?", "--passage", "4,812 ships").stdout
    assert parsed("why", "How many ships?", "--passage", " ", code=2)["error"]["code"] == "validation"


# Documents


@pytest.mark.usefixtures("settings")
def test_a_document_goes_to_the_trash_and_comes_back_and_goes_for_good(folder: Path) -> None:
    pagelight("ingest", folder)
    assert "deleted" in pagelight("documents", "delete", "harbour.pdf").stdout
    assert names() == ["orchard.pdf"]
    assert names("--trash") == ["harbour.pdf"]
    assert {hit["fileName"] for hit in parsed("search", "harbour ships", "--min-score", 0)["results"]} == {
        "orchard.pdf"
    }
    assert parsed("documents", "restore", "harbour.pdf")["restored"][0]["name"] == "harbour.pdf"
    assert sorted(names()) == ["harbour.pdf", "orchard.pdf"]
    pagelight("documents", "purge", "harbour.pdf", "--yes", code=5)  # it is not in the trash
    pagelight("documents", "delete", "harbour.pdf", "orchard.pdf")
    pagelight("documents", "purge", "--all", answer="n\n", code=1)
    assert len(names("--trash")) == 2
    assert "gone: " in pagelight("documents", "purge", "orchard.pdf", answer="y\n").stdout
    receipt = parsed("documents", "purge", "--all", "--yes")["receipt"]
    assert (receipt["chunks"], receipt["vectors"], receipt["files"], receipt["unfinished"]) == (1, 1, 2, 0)
    assert names("--trash") == []
    assert "empty" in pagelight("documents", "--trash").stdout


@pytest.mark.usefixtures("settings")
def test_of_two_documents_with_one_name_neither_is_deleted(folder: Path) -> None:
    other = write_files(folder / "other", harbour__pdf=pdfs.plain(["Another harbour altogether."]))
    pagelight("ingest", folder / "harbour.pdf", other)
    message = pagelight("documents", "delete", "harbour.pdf", code=2).stderr
    assert names() == ["harbour.pdf", "harbour.pdf"]
    pagelight("documents", "delete", re.findall(r"\b[0-9a-f]{8}\b", message)[0])
    assert names() == ["harbour.pdf"]


@pytest.mark.usefixtures("settings")
def test_a_failed_document_is_listed_with_its_reason_and_can_be_read_again(tmp_path: Path) -> None:
    file = write_files(tmp_path / "files", blank__pdf=pdfs.blank()) / "blank.pdf"
    pagelight("ingest", file, code=5)
    assert "no text" in pagelight("documents").stdout
    report = parsed("ingest", file, code=5)
    assert report["files"][0]["reason"]["code"] == "unreadable_file"


@pytest.mark.usefixtures("settings")
def test_a_password_can_be_given_later(tmp_path: Path) -> None:
    file = write_files(tmp_path, locked__pdf=pdfs.encrypted(PASSWORD)) / "locked.pdf"
    pagelight("ingest", file, code=5)
    assert parsed("ingest", file, "--password", PASSWORD)["ingested"] == 1


@pytest.mark.usefixtures("library")
def test_options_before_a_subcommand_are_refused_rather_than_lost() -> None:
    pagelight("documents", "--index", "other", "delete", "harbour.pdf", code=2)
    assert "harbour.pdf" in names()


# Looking inside


@pytest.mark.usefixtures("library")
def test_an_index_says_what_it_holds() -> None:
    stats = parsed("inspect")
    assert (stats["documents"], stats["pages"], stats["failedDocuments"]) == (2, 2, 0)
    shown = pagelight("inspect").stdout
    assert "bge-small-en-v1.5" in shown
    assert "not read as seen" not in shown
    assert (stats["languages"], stats["advice"]) == ({"english": 2}, None)
    assert {document["language"] for document in parsed("documents", "list")} == {"english"}


@pytest.mark.usefixtures("library")
def test_a_document_s_chunks_are_shown_page_by_page() -> None:
    (chunk,) = parsed("inspect", "--document", "harbour.pdf", "--page", 1)
    assert [line["text"] for line in chunk["lines"]] == [*HARBOUR]
    shown = pagelight("inspect", "--document", "harbour.pdf").stdout
    assert "crane" in shown
    assert "characters kept" not in shown
    assert "1 page" in pagelight("inspect", "--document", "harbour.pdf", "--page", 2, code=5).stderr
    pagelight("inspect", "--page", 1, code=2)


# Reading without a database


@pytest.mark.parametrize("rotation", [0, 90])
def test_a_file_is_parsed_to_its_lines_and_their_boxes(settings: Path, tmp_path: Path, rotation: int) -> None:
    file = write_files(tmp_path, turned__pdf=pdfs.turned(rotation)) / "turned.pdf"
    rows = [json.loads(line) for line in pagelight("parse", file, "--jsonl").stdout.splitlines()]
    assert [row["text"] for row in rows] == [*pdfs.SENTENCES]
    assert [row["line"] for row in rows] == [*range(1, len(rows) + 1)]
    assert {(row["pdf"], row["page"]) for row in rows} == {(str(file), 1)}
    with pymupdf.open(str(file)) as document:
        page = document[0]
        for row in rows:
            (found,) = page.search_for(row["text"])
            assert row["bbox"] == pytest.approx([*(found * page.rotation_matrix).normalize()], abs=2)
    assert not settings.exists()


@pytest.mark.usefixtures("settings")
def test_a_file_s_outline_is_shown(tmp_path: Path) -> None:
    file = write_files(tmp_path, outline__pdf=pdfs.headings()) / "outline.pdf"
    shown = pagelight("parse", file).stdout
    assert re.search(r"pages\s+4", shown)
    assert re.search(r"Section 3\s+· 3", shown)
    assert len(parsed("parse", file)["pages"]) == 4


@pytest.mark.usefixtures("settings")
def test_how_much_of_a_file_is_kept_is_shown_with_what_is_missing(tmp_path: Path) -> None:
    write_files(tmp_path, whole__txt=b"High at noon.", cut__txt="High at noon.\nA glyph of no font: \u0378".encode())
    assert "characters" not in pagelight("parse", tmp_path / "whole.txt").stdout
    shown = pagelight("parse", tmp_path / "cut.txt").stdout
    assert "characters kept: 26 of 27 (96.2 %)" in shown
    assert "missing at line 2: 1 character, “\u0378”" in shown


@pytest.mark.usefixtures("settings")
def test_a_file_that_cannot_be_parsed_says_why(tmp_path: Path) -> None:
    write_files(tmp_path, locked__pdf=pdfs.encrypted(PASSWORD))
    assert parsed("parse", tmp_path / "locked.pdf", code=5)["error"]["code"] == "password"
    pagelight("parse", tmp_path / "locked.pdf", "--password", PASSWORD)
    pagelight("parse", tmp_path / "nowhere.pdf", code=5)


# Evaluation


@pytest.fixture
def questions(folder: Path, tmp_path: Path) -> Path:
    """Questions whose pages are known; one is about page 4 of a longer document."""
    write_files(
        folder, report__pdf=pdfs.pages(5, line=lambda number: f"Chapter {number} tells of {TOPICS[number - 1]}.")
    )
    rows = [
        ("q1", "How many ships did the harbour handle?", "some/where/harbour.pdf", [1], [HARBOUR[0]]),
        ("q2", "When does the harvest begin?", "orchard.pdf", [1], [ORCHARD[1]]),
        ("q3", "Which chapter tells of volcanoes?", "report.pdf", [4], []),
    ]
    keys = ("id", "question", "pdf", "gold_pages", "evidence")
    return write_questions(tmp_path, [dict(zip(keys, row, strict=True)) for row in rows])


TOPICS = ("glaciers", "whales", "railways", "volcanoes", "bees")


def write_questions(folder: Path, rows: list[dict[str, object]]) -> Path:
    file = folder / "qa.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("scope", ["corpus", "document"])
def test_questions_are_asked_and_scored(folder: Path, questions: Path, tmp_path: Path, scope: str) -> None:
    out = tmp_path / "runs" / "run.jsonl"
    report = parsed("eval", questions, "--documents", folder, "--scope", scope, "--k", 5, "--out", out)
    assert report["measures"]["questions"] == 3
    assert report["measures"]["recall@5"] == 1
    assert report["measures"]["evidence_coverage@5"] == 1
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(set(row) == {"id", "rank", "pdf", "page", "pages", "text", "bboxes", "score"} for row in rows)
    documents = {(row["id"], row["pdf"]) for row in rows}
    assert (len(documents) == 3) == (scope == "document")  # else a question finds places in others, too
    for number in ("q1", "q2", "q3"):
        own = [row for row in rows if row["id"] == number]
        assert [row["rank"] for row in own] == [*range(1, len(own) + 1)]


ANSWERED = {"id", "status", "answer", "citations", "sentences", "likelihood", "seconds"}


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("scope", ["corpus", "document"])
def test_answers_are_asked_for_and_scored(folder: Path, tmp_path: Path, scope: str) -> None:
    file = write_questions(
        tmp_path,
        [
            {
                "id": 1,
                "question": "How many ships did the harbour handle in 2019?",
                "pdf": "harbour.pdf",
                "gold_pages": [1],
                "answer": "4812 ships",
            },
            {"id": 2, "question": "When does the harvest begin?", "pdf": "orchard.pdf", "gold_pages": [2]},
            {"id": 3, "question": "xylophone quasar", "pdf": "orchard.pdf", "answerable": False},
            {"id": 4, "question": "Who spoke?", "pdf": "lost.pdf", "gold_pages": [1]},
        ],
    )
    out = tmp_path / "answers.jsonl"
    report = parsed("eval", file, "--documents", folder, "--answers", "--scope", scope, "--out", out)
    rows = {row["id"]: row for row in map(json.loads, out.read_text("utf-8").splitlines())}
    assert all(row.keys() == ANSWERED for row in rows.values())
    assert rows.keys() == ({"1", "2", "3"} if scope == "document" else {"1", "2", "3", "4"})
    assert rows["1"]["citations"][0] == {"pdf": "harbour.pdf", "page": 1, "quote": HARBOUR[0], "verdict": "verified"}
    assert "4,812 ships" in rows["1"]["answer"]
    counts, measures = report["counts"], report["measures"]
    assert (counts["said"], measures["said"], measures["said_first"]) == (1, 1, 1)
    assert (counts["refused_right"], measures["refused_right"]) == (1, 1)
    assert counts["first_page"] == len(rows) - 1
    assert measures["first_page"] == pytest.approx(1 / counts["first_page"])
    assert report["secondsPerAnswer"]["p50"] <= report["secondsPerAnswer"]["p95"]
    assert report["quotes"]["verified"] >= 2


@pytest.mark.usefixtures("settings")
def test_scores_of_answers_are_printed_with_their_intervals(folder: Path, questions: Path) -> None:
    shown = pagelight("eval", questions, "--documents", folder, "--answers").stdout
    assert re.search(r"first citation on a right page +1\.000 \[1\.00 1\.00\] +3", shown)
    assert re.search(r"Time per answer: p50 \d+\.\d\d s, p95 \d+\.\d\d s, over 3 of 3 questions", shown)
    assert "refused_right" not in shown


@pytest.mark.usefixtures("settings")
def test_documents_are_taken_in_once_into_an_index_of_their_own(folder: Path, questions: Path) -> None:
    first = pagelight("eval", questions, "--documents", folder)
    assert "3 to add" in first.stderr
    assert re.search(r"MRR \d\.\d{3} \[.*\] over 3 of 3 questions", first.stdout)
    assert "3 ready, 0 to add" in pagelight("eval", questions, "--documents", folder).stderr
    assert names() == []


@pytest.mark.usefixtures("settings")
def test_only_what_the_questions_name_is_searched_if_all_of_it_is_there(folder: Path, questions: Path) -> None:
    write_files(folder, other__pdf=pdfs.plain())
    assert parsed("eval", questions, "--documents", folder)["documents"] == 3
    assert parsed("eval", questions, "--documents", folder, "--all-files")["documents"] == 4
    (folder / "orchard.pdf").unlink()
    report = parsed("eval", questions, "--documents", folder)
    assert (report["documents"], report["missing"]) == (3, ["orchard.pdf"])


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("scope", ["corpus", "document"])
def test_a_file_that_cannot_be_taken_in_costs_its_own_questions_only(folder: Path, questions: Path, scope: str) -> None:
    (folder / "orchard.pdf").write_bytes(pdfs.blank())
    report = parsed("eval", questions, "--documents", folder, "--scope", scope)
    assert [Path(file["path"]).name for file in report["failed"]] == ["orchard.pdf"]
    assert report["measures"]["recall@10"] == pytest.approx(2 / 3)


@pytest.mark.usefixtures("settings")
def test_a_line_that_is_no_question_is_named(folder: Path, tmp_path: Path) -> None:
    file = write_questions(tmp_path, [{"id": 1, "question": "What?", "pdf": "a.pdf"}, {"id": 2}])
    assert "line 2" in pagelight("eval", file, "--documents", folder, code=2).stderr
    pagelight("eval", tmp_path / "nowhere.jsonl", "--documents", folder, code=5)


@pytest.mark.usefixtures("settings")
def test_ask_tells_what_reading_all_pages_takes_and_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fees = pdfs.pages(6, line=lambda n: f"In May the fee of berth {n} is {n}00 francs.")
    question = "List all fees in fees.pdf"
    with vendors.vendor("openai") as vendor:
        for name, value in {
            "OPENAI_API_KEY": vendors.KEY,
            "OPENAI_BASE_URL": vendor.server.url,
            "RAG_EMBED_MODEL": "local",
            "RAG_GEN_MODEL": "openai:gpt-4.1",
            "RAG_MAX_CONTEXT_TOKENS": "200",
        }.items():
            monkeypatch.setenv(name, value)
        vendor.server.reply_to = lambda prompt: "- The fee of berth 1 is 100 francs. [S1]"
        pagelight("ingest", write_files(tmp_path / "fees", **{"fees.pdf": fees}))
        offered = " ".join(pagelight("ask", question).stdout.split())
        assert "To read all 6 pages in" in offered
        assert "(about $0.0" in offered
        assert "--reading whole" in offered
        read = pagelight("ask", question, "--reading", "whole").stdout
        assert "Read: 6 pages in" in read
        assert "The fee of berth 1 is 100 francs." in read
        assert parsed("ask", question, "--reading", "passages").get("reading") is None


# The state of the machine


@pytest.mark.usefixtures("settings")
def test_the_doctor_finds_a_sound_machine_and_tells_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-printed")
    report = parsed("doctor")
    states = {check["name"]: check for check in report["checks"]}
    assert report["ok"]
    assert states["Key of openai"]["message"] == "given"
    assert "pgvector" in states["Database"]["message"]
    assert "0 documents waiting" in states["Queue"]["message"]
    shown = pagelight("doctor").output
    assert "✓ Database" in shown
    assert "not-to-be-printed" not in shown + json.dumps(report)


@pytest.mark.usefixtures("settings")
@pytest.mark.not_on_citus("a database without Citus")
def test_the_doctor_says_what_distributing_needs() -> None:
    checks = {check["name"]: check for check in parsed("doctor", "--distribute", code=1)["checks"]}
    assert checks["Distribution"]["state"] == "broken"
    assert "Install Citus" in checks["Distribution"]["message"]
    assert "Distribution" not in {check["name"] for check in parsed("doctor")["checks"]}


@pytest.mark.usefixtures("settings")
@pytest.mark.needs_citus
def test_the_doctor_distributes_and_shows_what_is_where() -> None:
    shown = [check for check in parsed("doctor")["checks"] if check["name"].startswith("Distribution")]
    assert [check["name"].split(" ")[1:2] for check in shown] == [[], ["(coordinator"], ["(node"], ["(node"]]
    assert "documents" in shown[0]["message"].split("; on the coordinator")[0]
    again = [check for check in parsed("doctor", "--distribute")["checks"] if check["name"].startswith("Distribution")]
    assert again == shown


def test_the_doctor_clears_away_what_was_left_behind(settings: Path, folder: Path) -> None:
    pagelight("ingest", folder)
    (user,) = (path for path in (settings / "files").iterdir() if path.name != PARTIAL_FOLDER)
    old = user / str(uuid.uuid4())
    old.mkdir(mode=0o700)
    (old / "original").write_bytes(b"nobody's")
    for path in (old / "original", old):
        os.utime(path, (0, 0))

    def told(*options: str) -> str:
        checks = {check["name"]: check["message"] for check in parsed("doctor", *options)["checks"]}
        return str(checks["Left behind"])

    assert "1 of documents that no row knows" in told()
    assert (old / "original").exists()
    assert "deleted: 1 of documents that no row knows" in told("--fix")
    assert not old.exists()
    assert "no row knows" not in told()


@pytest.mark.usefixtures("settings")
def test_the_status_tells_what_waits_and_the_last_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pagelight("backup", tmp_path / "kept.tar")
    monkeypatch.setenv("RAG_DISK_WARNING_MB", "1000000000")
    status = json.loads(pagelight("api", "GET", "/status").stdout)
    assert {lane["lane"]: lane["waiting"] for lane in status["lanes"]}["reading"] == 0
    assert status["backup"]["path"] == str(tmp_path / "kept.tar")
    assert status["backup"]["isPresent"]
    assert "nearly full" in status["warnings"][0]
    disk = {check["name"]: check["state"] for check in parsed("doctor")["checks"]}["Disk (data)"]
    assert disk == "warning"


def test_the_doctor_names_what_is_broken(settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://someone:hidden-word@127.0.0.1:1/nothing")
    monkeypatch.setenv("RAG_LOCAL_MODEL_DIR", str(tmp_path))
    settings.write_text("a file where the data folder should be")
    result = pagelight("doctor", code=1)
    for name in ("Data folder", "Embedding model", "Cross-encoder", "Reader", "Entailment model", "Database"):
        assert f"✗ {name}" in result.stdout
    assert "hidden-word" not in result.output


def test_a_wrong_setting_is_named(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_FUSION", "cold")
    assert "RAG_FUSION" in pagelight("documents", code=3).stderr
    assert not settings.exists()


def test_an_unexpected_error_is_logged_and_ends_with_a_clear_line(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("boom")

    with pytest.raises(SystemExit) as end:
        main(fail)
    assert end.value.code == 1
    assert "unexpected happened (RuntimeError)" in capsys.readouterr().err.splitlines()[-1]
    assert caplog.records[-1].exc_info is not None


# Processes


def environment(data: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    return {**kept, "RAG_DATA_DIR": str(data), "PYTHONPATH": str(REPOSITORY)}


def test_a_fresh_machine_takes_a_file_in_and_leaves_no_process_behind(tmp_path: Path) -> None:
    file = write_files(tmp_path, harbour__pdf=pdfs.plain(HARBOUR)) / "harbour.pdf"
    command = [sys.executable, "-m", "rag", "ingest", str(file), "--json"]
    with open_folder() as folder:
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(folder / "data"))
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout)["ingested"] == 1
        assert eventually(lambda: not processes(str(folder)))


def is_served(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_ctrl_c_while_modules_load_ends_the_command_without_a_traceback() -> None:
    interrupt = """
import builtins, os, signal
load = builtins.__import__
def interrupted(name, *rest):
    if name == "rag.cli.app":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *rest)
from rag.cli import main
builtins.__import__ = interrupted
main()
"""
    run = subprocess.run([sys.executable, "-c", interrupt], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_the_app_is_served_until_ctrl_c_ends_it(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "rag", "run", "--no-browser", "--port", str(port)]
    with open_folder() as folder:
        server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(folder / "data")
        )
        try:
            assert eventually(lambda: is_served(port) or server.poll() is not None)
            assert server.poll() is None
            server.send_signal(signal.SIGINT)
            server.wait(PATIENCE_SECONDS)
            assert not is_served(port)
            assert not processes(f"--server.port {port}")
        finally:
            server.kill()
            server.communicate()


@pytest.mark.usefixtures("settings")
def test_a_worker_logs_only_its_work(tmp_path: Path) -> None:
    with RAGEngine() as engine:
        engine.documents.add(pdfs.plain(HARBOUR), "harbour.pdf")
    output, errors = tmp_path / "output", tmp_path / "errors"
    assert forked.run(forked.PAGELIGHT, "worker", "--once", output=output, errors=errors) == 0
    note, *lines = errors.read_text().splitlines()
    assert note == "Reading queued documents."
    assert {line.split()[3] for line in lines} == {"rag.worker"}
    assert output.read_text() == ""


@pytest.mark.usefixtures("settings")
def test_a_taken_port_is_named_before_anything_starts() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"Port {port} of localhost is taken" in pagelight("run", "--port", port, code=3).stderr


# Versions
