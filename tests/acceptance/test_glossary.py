"""The glossary at every door: `pagelight glossary`, REST, and its page."""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag import vocabulary
from rag.config import load_config
from rag.engine import RAGEngine
from rag.ui import session
from tests.acceptance import api, command_line

APP = Path(__file__).parents[2] / "app.py"
GLOSSARY = """title = "Harbour"  # our own words – all of them

[[synonyms]]
terms = ["moggy", "quayside crane"]

[[abbreviations]]
short = "TEU"
long = "twenty-foot equivalent unit"
"""
LOST = 'title = "x"\n[[items]]\nterms = ["a"]\nplace = "nowhere"\n'


# --- the command line ---

pagelight = functools.partial(command_line.pagelight, "glossary")
parsed = functools.partial(command_line.parsed, "glossary")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "glossary.toml"
    path.write_text(GLOSSARY, encoding="utf-8")
    return path


@pytest.mark.usefixtures("settings")
def test_a_file_is_set_shown_tried_and_cleared(file: Path) -> None:
    assert pagelight().stdout == ""
    assert "glossary example" in pagelight().stderr
    assert parsed() == {"toml": None}
    assert pagelight("set", file).stdout == "“Harbour”: synonyms 1, abbreviations 1.\n"
    assert pagelight().stdout == GLOSSARY
    assert parsed() == {"toml": GLOSSARY}
    (synonym,) = parsed("try", "Where is the moggy?")
    assert (synonym["found"], synonym["added"], synonym["trade"]) == ("moggy", ["quayside crane"], "Harbour")
    shown = pagelight("try", "Where is the moggy, and what is the quick ratio?").stdout
    assert all(word in shown for word in ("quayside crane", "Harbour", "Finance", "balance sheet"))
    assert "Nothing is added" in pagelight("try", "Who?").stdout
    assert "no glossary now" in pagelight("clear").stdout
    assert parsed("clear") == parsed() == {"toml": None}


@pytest.mark.usefixtures("settings")
def test_the_example_is_taken_as_it_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(pagelight("example").stdout, encoding="utf-8-sig")  # as Windows saves it
    assert "pagelight reindex" in pagelight("set", path).stderr
    assert pagelight().stdout == vocabulary.example()
    assert parsed("set", path)["places"] == 1


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"moggy = crane", 2, "not valid TOML"),
        (LOST.encode(), 2, "“nowhere”"),
        (b'title = "x"\n# ' + b"x" * 200_000, 5, "200 kB"),
        ('title = "caf\xe9"'.encode("latin-1"), 5, "Save it as UTF-8"),
        (None, 5, "cannot be read"),
    ],
)
def test_a_file_that_is_none_says_why(file: Path, content: bytes | None, code: int, message: str) -> None:
    pagelight("set", file)
    other = file.with_name("other.toml")
    if content is not None:
        other.write_bytes(content)
    assert message in " ".join(pagelight("set", other, code=code).stderr.split())
    assert message in parsed("set", other, code=code)["error"]["message"]
    assert pagelight().stdout == GLOSSARY


@pytest.mark.usefixtures("settings")
def test_options_stand_behind_the_subcommand() -> None:
    assert "Put the options behind “clear”" in pagelight("--json", "clear", code=2).stderr


# --- REST ---


def put(web: httpx.Client, toml: str | bytes, **headers: str) -> httpx.Response:
    return web.put("/glossary", content=toml, headers=headers)


@pytest.mark.parametrize("kind", [{}, {"content-type": "application/toml"}, {"content-type": "application/json"}])
def test_a_glossary_goes_up_and_comes_down_as_the_file_it_is(web: httpx.Client, kind: dict[str, str]) -> None:
    assert web.delete("/glossary").status_code == 204
    assert api.error_of(web.get("/glossary")) == (404, "not_found")
    sent = put(web, GLOSSARY, **kind)
    assert (sent.status_code, sent.json()) == (
        200,
        {"title": "Harbour", "synonyms": 1, "derived": 0, "places": 0, "items": 0, "abbreviations": 1},
    )
    got = web.get("/glossary")
    assert (got.text, got.headers["content-type"]) == (GLOSSARY, "text/plain; charset=utf-8")
    assert web.delete("/glossary").status_code == 204
    assert web.delete("/glossary").status_code == 204
    assert web.get("/glossary").status_code == 404


@pytest.mark.parametrize(
    ("toml", "error", "message"),
    [
        ("", (422, "validation"), "title: is missing"),
        (LOST, (422, "validation"), "“nowhere”"),
        (b'title = "\xe9"', (422, "validation"), "UTF-8"),
        (".".join("a" * 90_000) + " = 1", (422, "validation"), "too many parts"),
        ('title = "x"\n# ' + "x" * 200_000, (422, "limit"), "200 kB"),
        ("#" * 5_000_000, (413, "content_too_large"), "larger than allowed"),
    ],
)
def test_what_is_none_is_refused_and_the_old_one_stays(
    web: httpx.Client, toml: str | bytes, error: tuple[int, str], message: str
) -> None:
    put(web, GLOSSARY)
    refused = put(web, toml)
    assert api.error_of(refused) == error
    assert message in refused.json()["error"]["message"]
    assert web.get("/glossary").text == GLOSSARY


def test_each_user_has_their_own_and_readers_only_read(engine: RAGEngine, web: httpx.Client, base_url: str) -> None:
    put(web, GLOSSARY)
    reader, writer = api.key_of(engine, "ann", "read"), api.key_of(engine, "ann", "write")
    with api.client(base_url, writer) as ann:
        assert ann.get("/glossary").status_code == 404
        assert ann.delete("/glossary").status_code == 204
        assert put(ann, 'title = "Ann\'s"').json()["title"] == "Ann's"
    with api.client(base_url, reader) as ann:
        assert ann.get("/glossary").text == 'title = "Ann\'s"'
        assert api.error_of(put(ann, GLOSSARY)) == (403, "forbidden")
        assert api.error_of(ann.delete("/glossary")) == (403, "forbidden")
    assert web.get("/glossary").text == GLOSSARY
    assert api.error_of(httpx.get(f"{base_url}/glossary")) == (401, "auth")


def test_a_search_over_rest_knows_the_words(web: httpx.Client, documents: dict[str, str]) -> None:
    asked = {"query": "moggies", "retrieval": {"mode": "lexical", "minScore": 0, "trace": True}}
    web.delete("/glossary")
    assert web.post("/search", json=asked).json()["results"] == []
    put(web, 'title = "Harbour"\n[[synonyms]]\nterms = ["moggy", "crane"]')
    found = web.post("/search", json=asked).json()
    assert [hit["fileName"] for hit in found["results"]] == ["harbour.pdf"]
    web.delete("/glossary")


# --- the page ---


@pytest.fixture
def page(settings: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The glossary page of the app."""
    monkeypatch.setenv("RAG_WORKER", "false")
    opened = AppTest.from_file(APP, default_timeout=60)
    opened.run().switch_page("pages/glossary.py").run()
    assert not opened.exception
    yield opened
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def local(page: AppTest) -> Iterator[RAGEngine]:
    """The engine of the user before the page."""
    with RAGEngine(load_config()) as opened:
        yield opened


def texts(page: AppTest) -> str:
    kinds = (*page.text, *page.markdown, *page.caption, *page.subheader, *page.code)
    return "\n".join(str(element.value) for element in kinds)


def edit(page: AppTest, monkeypatch: pytest.MonkeyPatch, rows: Sequence[dict[str, object]]) -> AppTest:
    """The page as if somebody had changed the table so, which AppTest cannot do."""
    monkeypatch.setattr(st, "data_editor", lambda *_, **__: rows)
    page.run()
    assert not page.exception
    return page


def test_a_question_is_tried_by_the_house_and_the_trades(page: AppTest, local: RAGEngine) -> None:
    assert "Contracts, Finance, General and Science" in texts(page)
    local.glossary.set(GLOSSARY)
    page.text_input[0].set_value("What does the moggy have to do with the quick ratio in FY23?").run()
    shown = texts(page)
    for words in (
        "“FY23”",
        "2023",
        "“moggy”",
        "quayside crane",
        "Harbour",
        "Finance",
        "Looks in",
        "balance sheet",
    ):
        assert words in shown
    page.text_input[0].set_value("Who?").run()
    assert "searched unchanged" in texts(page)


def test_what_a_glossary_says_is_shown_as_it_is(page: AppTest, local: RAGEngine) -> None:
    local.glossary.set('title = "<b>H</b>"\n[[synonyms]]\nterms = ["moggy", "<b>x</b> **y**"]')
    page.text_input[0].set_value("What is a moggy?").run()
    assert "<b>x</b> **y**" in [one.value for one in page.text]
    assert not any("<b>" in str(one.value) for one in page.markdown)


def test_the_table_is_kept_with_the_rest_of_the_file(
    page: AppTest, local: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.glossary.set(GLOSSARY)
    page.run()
    assert "The file also has abbreviations." in texts(page)
    save, discard = page.button
    assert (save.disabled, discard.disabled) == (True, True)
    edit(page, monkeypatch, [{"term": "moggy", "also": ["quayside crane", "big one"]}, {"term": None, "also": None}])
    save, discard = page.button
    assert (save.disabled, discard.disabled) == (False, False)
    save.click().run()
    assert not page.exception
    assert not page.error
    assert local.glossary.get() == GLOSSARY.replace('crane"]', 'crane", "big one"]')
    assert "Saved" in page.toast[0].value


def test_a_row_of_one_word_is_asked_about(page: AppTest, local: RAGEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(page, monkeypatch, [{"term": "box", "also": ["crate"]}, {"term": "moggy", "also": []}])
    page.button[0].click().run()
    assert "moggy" in page.error[0].value
    assert "Add a synonym" in page.error[0].value
    assert local.glossary.get() == ""


def open_file(page: AppTest) -> AppTest:
    page.button_group[0].set_value("File").run()
    assert not page.exception
    return page


def test_a_file_goes_up_is_shown_and_goes_away(page: AppTest, local: RAGEngine) -> None:
    open_file(page)
    page.file_uploader[0].set_value([("bad.toml", LOST.encode(), "application/toml")]).run()
    assert "nowhere" in page.error[0].value
    assert local.glossary.get() == ""
    page.file_uploader[0].set_value([("house.toml", GLOSSARY.encode(), "application/toml")]).run()
    assert not page.error
    assert local.glossary.get() == GLOSSARY
    assert GLOSSARY.strip() in texts(page)
    page.button[0].click().run()
    assert local.glossary.get() == ""
    assert "Harbour" not in texts(page)


def test_one_that_no_longer_fits_is_told_and_can_be_replaced(page: AppTest, local: RAGEngine) -> None:
    local._workspace.store.glossary.put(LOST)
    page.run()
    assert "nowhere" in page.error[0].value
    open_file(page)
    assert not page.error
    assert LOST.strip() in texts(page)
