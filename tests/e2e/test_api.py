"""The app's port serves the REST API, too."""

import httpx

from tests.waiting import eventually


def test_the_api_answers_beside_the_app(base_url: str) -> None:
    assert httpx.get(f"{base_url}/_stcore/health").text == "ok"
    with httpx.Client(base_url=f"{base_url}/api", timeout=300) as api:
        assert eventually(lambda: api.get("/health").json() == {"ok": True})  # first the database has to start
        assert api.get("/openapi.json").json()["servers"] == [{"url": "/api"}]
        file = ("notes.txt", b"The harbour handled 4,812 ships in 2019.")
        added = api.post("/documents", files={"file": file}, data={"indexName": "by API"})
        assert added.status_code == 202, added.text
        path = f"/documents/{added.json()['id']}"
        # the worker of the app reads it, though nobody opened the app
        assert eventually(lambda: api.get(path).json()["status"] == "ready")
        events = api.post(
            "/ask",
            json={"question": "How many ships?", "indexName": "by API"},
            headers={"accept": "text/event-stream"},
        )
        assert "event: answer" in events.text
        assert "4,812 ships" in events.text
        assert api.get("/documents", headers={"origin": "http://evil.example"}).status_code == 403
        assert api.delete(path).status_code == 204
