"""The pages in the language that their reader chose; documents, and the engine for programs, as they are."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag import errors
from rag.config import load_config
from rag.engine import RAGEngine
from tests.acceptance.conftest import APP, PATIENCE_SECONDS

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


def library() -> "AppTest":
    """The page Library for somebody who comes anew: AppTest formats what is chosen where no page speaks a language."""
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS).run().switch_page("pages/library.py").run()
    assert not page.exception
    return page


def test_each_reader_has_the_language_that_they_chose(app: "AppTest") -> None:
    app.run().switch_page("pages/settings.py").run()
    assert app.header[0].value == "Settings"
    app.selectbox[0].select("de").run()
    assert app.header[0].value == "Einstellungen"
    with RAGEngine(load_config()) as engine:
        assert engine.installation.accounts.get("local").language == "de"
        assert engine.installation.accounts.get("bob").language is None
        assert library().subheader[0].value == "Ihre Bibliothek ist leer"
        engine.profile.choose_language(None)
    assert library().subheader[0].value == "Your library is empty"


def test_only_a_language_is_taken_for_one(settings: Path) -> None:
    with RAGEngine(load_config()) as engine, pytest.raises(errors.ValidationError, match="no tag of a language"):
        engine.profile.choose_language("'; drop table accounts")


def test_no_file_is_fetched_where_that_is_switched_off(app: "AppTest", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_WEB_ADDRESSES", "false")
    app.run().switch_page("pages/library.py").run()
    assert not app.exception
    assert "Address of a file or web page" not in [field.label for field in app.text_input]
    with RAGEngine(load_config()) as engine, pytest.raises(errors.ForbiddenError, match="RAG_WEB_ADDRESSES is off"):
        engine.documents.fetch("https://example.com/report.pdf")
