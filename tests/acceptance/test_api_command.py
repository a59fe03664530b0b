"""`pagelight api`: the REST API on the command line, without a server."""

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest

from rag.engine import RAGEngine
from tests import pdfs
from tests.acceptance.command_line import HARBOUR, pagelight, parsed

pytestmark = pytest.mark.usefixtures("settings")


def called(method: str, path: str, *options: object, code: int = 0, answer: str | None = None) -> Any:
    """Return the JSON that a request prints."""
    return json.loads(pagelight("api", method, path, *options, code=code, answer=answer).stdout)


@pytest.fixture
def harbour(tmp_path: Path) -> str:
    """The id of a document."""
    file = tmp_path / "harbour.pdf"
    file.write_bytes(pdfs.plain(HARBOUR))
    parsed("ingest", file)
    (document,) = called("GET", "/documents")["items"]
    return str(document["id"])


def test_routes_are_listed_with_what_they_do() -> None:
    shown = pagelight("api", "--routes").stdout
    assert re.search(r"^POST +/matrices  ", shown, re.MULTILINE)
    assert "GET     /indexes " in shown
    assert "List all indexes." in shown


def test_json_is_sent_as_text_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    body = tmp_path / "chat.json"
    body.write_text('{"title": "from a file"}', encoding="utf-8")
    assert called("POST", "/conversations", "--json", '{"title": "typed"}')["title"] == "typed"
    assert called("post", "conversations", "--json", f"@{body}")["title"] == "from a file"
    assert called("POST", "/conversations", "--json", "-", answer='{"title": "piped"}')["title"] == "piped"
    titles = [
        chat["title"] for chat in called("GET", "/conversations?limit=5", "--query", "indexName=default")["items"]
    ]
    assert sorted(titles) == ["from a file", "piped", "typed"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--routes"),
        (["GET", "/nowhere"], 5, "nothing at this address"),
        (["GET", f"/documents/{'0' * 8}-{'0' * 4}-{'0' * 4}-{'0' * 4}-{'0' * 12}"], 5, "no document"),
        (["POST", "/search", "--json", "{}"], 2, "malformed"),
        (["POST", "/search", "--json", "no JSON"], 2, "cannot be read"),
        (["POST", "/retrieve", "--json", '{"query": "x", "collection": "nowhere"}'], 5, "nowhere"),
        (["POST", "/answer", "--json", '{"question": "x", "generation": {"provider": "openai"}}'], 3, "OPENAI_API_KEY"),
        (["POST", "/search", "--json", "@nowhere.json"], 5, "cannot be read"),
        (["GET", "/jobs", "--query", "kind"], 2, "NAME=VALUE"),
    ],
)
def test_refusals_exit_with_the_code_of_their_type(arguments: list[str], code: int, message: str) -> None:
    assert message in pagelight("api", *arguments, code=code).stderr


def test_files_are_written_whole_and_only_if_they_are_new(harbour: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.pdf"
    pagelight("api", "GET", f"/documents/{harbour}/content", "--output", copy)
    assert copy.read_bytes() == (tmp_path / "harbour.pdf").read_bytes()
    pagelight("api", "GET", f"/documents/{harbour}/content", "--output", copy, code=5)
    assert pagelight("api", "GET", f"/documents/{harbour}/content").stdout_bytes == copy.read_bytes()


def test_the_local_user_needs_no_key_and_is_named_in_the_audit() -> None:
    parsed("keys", "create", "--name", "laptop")
    called("PUT", "/shares", "--json", '{"grantee": "ada", "permission": "write"}')
    assert [share["grantee"] for share in called("GET", "/shares")["items"]] == ["ada"]
    assert called("POST", "/shares/withdraw", "--json", '{"grantee": "ada"}')["items"] == []
    entries = called("GET", "/audit", "--query", "action=share")["items"]
    assert [(entry["action"], entry["actor"], entry["door"]) for entry in entries] == [
        ("share.withdraw", "local", "cli"),
        ("share.give", "local", "cli"),
    ]
    assert "share.give" in pagelight("api", "GET", "/audit?csv=true").stdout


def test_old_entries_of_the_audit_are_deleted_which_is_recorded() -> None:
    parsed("keys", "create", "--name", "laptop")
    assert called("DELETE", "/audit?before=2000-01-01T00:00:00Z") == {"forgotten": 0}
    now = dt.datetime.now(dt.UTC).isoformat()
    assert called("DELETE", "/audit", "--query", f"before={now}")["forgotten"] > 0
    assert called("GET", "/audit")["items"][0]["action"] == "audit.forget"
    assert "past" in called("DELETE", "/audit?before=2999-01-01T00:00:00Z", code=2)["error"]["message"]


def test_caches_are_shown_and_emptied(harbour: str) -> None:
    parsed("search", "ships")
    parsed("search", "ships")
    caches = {cache["kind"]: cache for cache in called("GET", "/caches")["items"]}
    assert caches["embeddings"]["entries"] > 2
    assert caches["embeddings"]["hitRate"] > 0
    assert caches["answers"] == {"kind": "answers", "entries": 0, "bytes": 0, "hits": 0, "misses": 0, "hitRate": None}
    assert called("DELETE", "/caches")["removed"] == caches["embeddings"]["entries"]
    assert not any(cache["entries"] for cache in called("GET", "/caches")["items"])


def test_queued_jobs_are_watched_and_cancelled() -> None:
    with RAGEngine() as engine:
        job = engine.jobs.start_reindex()
        other = engine.jobs.start_reindex()
    called("POST", f"/jobs/{other.id}/cancel")
    pagelight("worker", "--once")
    assert called("GET", f"/jobs/{job.id}")["status"] == "done"
    assert {one["id"]: one["status"] for one in called("GET", "/jobs", "--query", "kind=reindex")["items"]} == {
        str(job.id): "done",
        str(other.id): "cancelled",
    }
