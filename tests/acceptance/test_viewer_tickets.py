"""The door of the viewer: whoever has a ticket gets what its user may read, and nobody else anything."""

import uuid

import pytest
from starlette.testclient import TestClient

from rag.engine import RAGEngine
from rag.types import RequestOrigin
from rag.ui.viewer import page_server
from tests import pdfs

HERE = RequestOrigin("app", "")
LINE = "Page 2 speaks of topic number 2."


@pytest.fixture(scope="module")
def door(engine: RAGEngine) -> TestClient:
    return TestClient(page_server.create_app(engine.installation))


def ticket(user_id: str) -> dict[str, str]:
    return {page_server.TICKET: page_server.ticket_store.issue(user_id, None, HERE)}


@pytest.fixture(scope="module")
def document_id(engine: RAGEngine) -> uuid.UUID:
    added = engine.documents.add(pdfs.pages(3), "topics.pdf", enqueue=False)
    return engine.documents.process(added.id).id


def test_a_page_comes_as_picture_and_lines_and_its_words_are_found(
    engine: RAGEngine, door: TestClient, document_id: uuid.UUID
) -> None:
    own = ticket(engine.user_id)
    known = door.get(f"/{document_id}", headers=own).json()
    assert (known["name"], sum(count for *_, count in known["sizes"])) == ("topics.pdf", 3)
    picture = door.get(f"/{document_id}/pages/2/picture?scale=0.5", headers=own)
    assert picture.content.startswith(b"\x89PNG")
    assert picture.headers["cache-control"] == "no-store"
    (line,) = [line for line in door.get(f"/{document_id}/pages/2/lines", headers=own).json() if line[4] == LINE]
    assert door.get(f"/{document_id}/find?words=TOPIC  number 2", headers=own).json() == [[2, 1]]
    ((box,),) = door.get(f"/{document_id}/pages/2/find?words=topic number 2", headers=own).json()
    assert line[0] < box[0] < box[2] < line[2]
    assert door.get(f"/{document_id}/outline", headers=own).status_code == 200


@pytest.mark.parametrize("scale", ["nan", "inf", "-inf", "-1", "0", "1e9", "large"])
def test_a_scale_that_no_page_is_drawn_at_is_refused_with_those_that_are(
    engine: RAGEngine, door: TestClient, document_id: uuid.UUID, scale: str
) -> None:
    refused = door.get(f"/{document_id}/pages/2/picture?scale={scale}", headers=ticket(engine.user_id))
    assert refused.status_code == 422
    assert refused.json() == {"message": "A page is drawn at 0.1 to 6 pixels per point. Give such a number."}


def test_nothing_is_told_without_a_ticket_of_who_may_read_it(door: TestClient, document_id: uuid.UUID) -> None:
    pages = ("/pages/1/picture", "/pages/1/lines", "/pages/1/find?words=topic")
    for path in ("", *pages, "/find?words=topic", "/outline", "/annotations"):
        for headers, refused in (({}, 401), ({page_server.TICKET: "guessed"}, 401), (ticket("another"), 404)):
            assert door.get(f"/{document_id}{path}", headers=headers).status_code == refused, path
    place = {"regions": [{"page_number": 1, "rects": [[1, 2, 3, 4]]}]}
    assert door.post(f"/{document_id}/annotations", json=place, headers=ticket("another")).status_code == 404
    assert door.post(f"/{document_id}/annotations", content=b"x" * (300 * 1024)).status_code == 413
