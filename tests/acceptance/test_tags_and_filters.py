"""Documents kept in order at the doors: on the command line, and over REST."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from tests.acceptance import api
from tests.acceptance.command_line import pagelight, parsed

# --- the command line ---


def printed(*arguments: object, code: int = 0) -> str:
    """What a command prints; its error if `code` is not 0."""
    result = pagelight(*arguments, code=code)
    return result.stdout if code == 0 else " ".join(result.stderr.split())


def names(*arguments: object) -> set[str]:
    return {document["name"] for document in parsed("documents", "list", *arguments)}


def hits(*arguments: object) -> set[str]:
    found = parsed("search", "ships and pears", "--min-score", 0, *arguments)
    return {hit["fileName"] for hit in found["results"]}


def edit(name: str, /, **changes: object) -> None:
    (document,) = parsed("documents", "list", "--search", name)
    pagelight("api", "PATCH", f"/documents/{document['id']}", "--json", json.dumps(changes))


@pytest.fixture
def library(settings: Path) -> None:
    """Two ready documents of whoever types commands."""
    with RAGEngine(load_config()) as opened:
        api.take_in(opened)


@pytest.mark.usefixtures("library")
def test_a_document_is_listed_and_searched_by_what_it_was_given() -> None:
    edit("harbour.pdf", name="Quay", author="Ann Öz", dated="2021-03-04", tags=["Port"])
    assert (names("--tag", "draft"), names("--tag", "port")) == (set(), {"Quay.pdf"})
    edit("Quay.pdf", disabled=True)
    assert "ready, disabled" in printed("documents")
    assert (names("--disabled"), names("--enabled")) == ({"Quay.pdf"}, {"orchard.pdf"})
    assert hits() == {"orchard.pdf"}
    edit("Quay.pdf", disabled=False)
    assert names("--author", "öz") == names("--dated-after", "2021-03-04") == hits("--tag", "PORT") == {"Quay.pdf"}
    assert names("--dated-after", "2021-03-05") == hits("--author", "nobody") == set()
    assert "No document matches" in printed("documents", "list", "--tag", "none")


@pytest.mark.usefixtures("library")
def test_saved_filter_holds_on_the_command_line() -> None:
    edit("harbour.pdf", tags=["Port"])
    pagelight("api", "PUT", "/filters/ports", "--json", '{"tags": ["port"]}')
    assert names("--filter", "ports") == hits("--filter", "ports") == {"harbour.pdf"}
    assert {source["fileName"] for source in parsed("ask", "How many ships?", "--filter", "ports")["sources"]} == {
        "harbour.pdf"
    }
    pagelight("api", "DELETE", "/filters/ports")
    assert "no saved filter “ports”" in printed("search", "ships", "--filter", "ports", code=5)


# --- REST ---


@pytest.fixture
def harbour(web: httpx.Client, documents: dict[str, str]) -> Iterator[str]:
    """The address of a document, which is afterwards as it was."""
    path = f"/documents/{documents['harbour.pdf']}"
    yield path
    cleared: dict[str, Any] = {"name": "harbour.pdf", "title": None, "author": None, "dated": None}
    cleared |= {"tags": [], "disabled": False}
    assert web.patch(path, json=cleared).status_code == 200


def listed(web: httpx.Client, **query: Any) -> set[str]:
    response = web.get("/documents", params=query)
    assert response.status_code == 200, response.text
    return {document["name"] for document in response.json()["items"]}


def found(web: httpx.Client, **filters: object) -> set[str]:
    response = web.post("/search", json={"query": "ships and pears", "minScore": 0, "filters": filters})
    assert response.status_code == 200, response.text
    return {hit["fileName"] for hit in response.json()["results"]}


def test_what_is_edited_filters_lists_searches_and_questions(web: httpx.Client, harbour: str) -> None:
    edited = web.patch(harbour, json={"name": "quay", "author": "Ann", "dated": "2021-03-04", "tags": ["Port", "port"]})
    assert (edited.status_code, edited.json()["name"], edited.json()["tags"]) == (200, "quay.pdf", ["Port"])
    assert web.get(harbour).json()["dated"] == "2021-03-04"
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"tag": "port"}, {"tags": ["port"]}),
        ({"author": "ann"}, {"author": "ann"}),
        ({"datedAfter": "2021-01-01", "datedBefore": "2022-01-01"}, {"datedAfter": "2021-01-01"}),
    ]
    for query, filters in cases:
        assert listed(web, **query) == found(web, **filters) == {"quay.pdf"}
    asked = {"question": "How many kinds of pears?", "filters": {"tags": ["port"]}}
    assert all("quay" in source for source in web.post("/ask", json=asked).json()["sources"])
    assert listed(web, tag=["port", "other"]) == set()
    assert web.get("/tags").json() == [{"name": "Port", "documents": 1}]
    assert web.patch(harbour, json={"disabled": True}).json()["tags"] == ["Port"]
    assert found(web) == {"orchard.pdf"}
    assert listed(web, disabled=True) == {"quay.pdf"}
    assert listed(web, disabled=False, status="ready") == {"orchard.pdf"}
    assert listed(web, status="failed") == set()


def test_tags_and_filters_of_another_user_are_not_shown_and_readers_cannot_edit(
    engine: RAGEngine, web: httpx.Client, base_url: str, documents: dict[str, str], harbour: str
) -> None:
    web.patch(harbour, json={"tags": ["port"]})
    web.put("/filters/ports", json={"tags": ["port"]})
    with api.client(base_url, api.key_of(engine, "mallory", "write")) as other:
        assert api.error_of(other.patch(harbour, json={"name": "mine"})) == (404, "not_found")
        tagging = {"documentIds": [documents["harbour.pdf"]], "add": ["mine"], "remove": ["port"]}
        assert other.post("/tags", json=tagging).json() == {"documentIds": []}
        assert (other.get("/tags").json(), other.get("/filters").json()) == ([], [])
        for response in (other.get("/filters/ports"), other.delete("/filters/ports")):
            assert api.error_of(response) == (404, "not_found")
        asked = {"query": "ships", "filters": {"saved": "ports"}}
        assert api.error_of(other.post("/search", json=asked)) == (404, "not_found")
    with api.client(base_url, api.key_of(engine, "local", "read")) as reader:
        assert api.error_of(reader.patch(harbour, json={"name": "x"})) == (403, "forbidden")
        assert api.error_of(reader.put("/filters/x", json={"tags": ["x"]})) == (403, "forbidden")
        assert api.error_of(reader.post("/tags", json=tagging)) == (403, "forbidden")
    assert web.get(harbour).json()["tags"] == ["port"]
    assert web.delete("/filters/ports").status_code == 204
