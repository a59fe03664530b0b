"""The settings at every door: the page, the note in the chat, and `pagelight models`."""

import functools
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag import errors
from rag.config import Config, load_config
from rag.engine import RAGEngine
from rag.store.preferences import Preferences
from rag.types import AnswerRequest, GenerationOptions, KeyPlace, Origin
from rag.ui import session
from tests import keyrings, pdfs, vendor_servers
from tests.acceptance import command_line
from tests.vendor_servers import Refusal, VendorServer, listed

APP = Path(__file__).parents[2] / "app.py"
KEY = "sk-correct-horse-battery-staple"
MODEL = "ollama:llama3.2:3b"
LOCAL = "local:bge-small-en-v1.5"
UNKNOWN_ORIGIN = "http://127.0.0.1:9/v1"
SERVERS = ("OLLAMA_BASE_URL", "OPENAI_BASE_URL", "GEMINI_BASE_URL")


@pytest.fixture
def quiet(settings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which no server of models runs, whatever runs on this one; the data folder."""
    for name in SERVERS:
        monkeypatch.setenv(name, UNKNOWN_ORIGIN)
    monkeypatch.setenv("RAG_WORKER", "false")
    return settings


@pytest.fixture
def server(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    """Ollama on this machine, with a model that writes and one that embeds."""
    with vendor_servers.openai_server() as opened:
        opened.pages["/v1/models"] = listed("llama3.2:3b", "nomic-embed-text")
        opened.pages["/api/ps"] = {"models": []}
        monkeypatch.setenv("OLLAMA_BASE_URL", opened.url)
        yield opened


@pytest.fixture
def engine(quiet: Path) -> Iterator[RAGEngine]:
    with RAGEngine(load_config()) as opened:
        yield opened


@pytest.fixture
def page(quiet: Path) -> Iterator[AppTest]:
    """The app, not run yet."""
    yield AppTest.from_file(APP, default_timeout=60)
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


def opened(page: AppTest) -> AppTest:
    page.run().switch_page("pages/settings.py").run()
    assert not page.exception
    return page


def texts(page: AppTest) -> str:
    kinds = (*page.text, *page.markdown, *page.caption, *page.subheader, *page.code, *page.info, *page.success)
    return "\n".join(str(element.value) for element in kinds).replace("\\", "").replace("\u2060", "")


def select(page: AppTest, label: str) -> Any:
    return next(field for field in page.selectbox if field.label == label)


def kept(folder: Path) -> dict[str, str]:
    return dict(Preferences(folder).get().choices)


# --- the engine ---


def test_a_chosen_model_writes_at_once_and_after_a_restart_and_can_be_unset(
    engine: RAGEngine, server: VendorServer
) -> None:
    with RAGEngine(load_config()) as running:
        assert running.installation.settings.writer().model == "extractive"
        choice = engine.installation.settings.choose_writer(MODEL)
        # not `engine`'s settings: it was opened before the server had its address
        assert (choice.model, choice.label, choice.origin) == (MODEL, "Ollama", Origin.KEPT)
        running.documents.process(running.documents.add(pdfs.plain(["Apples are red."]), "a.pdf", enqueue=False).id)
        answer = running.answer("What colour are apples?")
        assert (answer.model, answer.status) == ("llama3.2:3b", "ok")
    with RAGEngine(load_config()) as restarted:
        assert restarted.installation.settings.writer().model == MODEL
        assert restarted.installation.settings.choose_writer(None).model == "extractive"
        assert restarted.answer("What colour are apples?").model == "extractive"


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("nobody:x", errors.ValidationError),
        ("openai:gpt-6-luna", errors.ConfigError),
        ("ollama", errors.ConfigError),
        ("local", errors.ValidationError),
    ],
)
def test_a_model_that_cannot_write_is_refused(engine: RAGEngine, model: str, error: type[errors.Error]) -> None:
    with pytest.raises(error):
        engine.installation.settings.choose_writer(model)
    assert engine.installation.settings.writer().origin is Origin.DEFAULT


def test_a_choice_that_can_be_used_no_more_says_why(engine: RAGEngine) -> None:
    settings = engine.installation.settings
    settings.keep_key("openai", _secret())
    settings.choose_writer("openai:gpt-6-luna")
    settings.remove_key("openai")
    writer = settings.writer()
    assert writer.model == "openai:gpt-6-luna"
    assert "OPENAI_API_KEY" in (writer.problem or "")


def test_a_kept_key_switches_its_vendor_on_in_every_process(engine: RAGEngine, quiet: Path) -> None:
    with RAGEngine(load_config()) as other, keyrings.using(keyrings.MemoryKeyring()):
        assert other.installation.settings.default_writers() == ()
        assert other.indexes.ensure().space.name == LOCAL
        key = engine.installation.settings.keep_key("openai", _secret())
        assert (key.label, key.setting, key.place) == ("OpenAI", "OPENAI_API_KEY", KeyPlace.KEY_RING)
        assert other.installation.settings.writer().model == "openai:gpt-6-luna"
        assert other.installation.settings.embedder().model == LOCAL
        assert other.indexes.ensure("new").space.name == LOCAL
        assert KEY not in "\n".join(path.read_text() for path in quiet.glob("*.json"))
        assert KEY not in repr(engine.installation.settings.vendor_keys())
        other.installation.settings.remove_key("openai")
        assert engine.installation.settings.writer().model == "extractive"


def test_a_kept_key_embeds_nothing_until_somebody_says_so(engine: RAGEngine) -> None:
    settings = engine.installation.settings
    settings.keep_key("openai", _secret())
    assert settings.embedder().model == LOCAL
    settings.choose_embedder("openai:text-embedding-3-small")
    assert engine.indexes.ensure("new").space.name == "openai:text-embedding-3-small"


def test_a_key_of_the_environment_embeds_as_ever(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with RAGEngine(load_config()) as engine:
        settings = engine.installation.settings
        assert settings.embedder().model == "openai:text-embedding-3-small"
    monkeypatch.setenv("RAG_EMBED_MODEL", "local")
    with RAGEngine(load_config()) as engine:
        assert engine.installation.settings.embedder().model == LOCAL


GEMINI_MODELS = {
    "models": [
        {"name": "models/gemini-3.8-pro", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/gemini-embedding-2", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/veo-4", "supportedGenerationMethods": ["predictLongRunning"]},
    ]
}


def test_a_vendor_lists_what_a_key_may_use(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with vendor_servers.openai_server() as openai, vendor_servers.gemini_server() as gemini:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.url)
        monkeypatch.setenv("GEMINI_BASE_URL", gemini.url)
        openai.pages["/v1/models"] = listed("gpt-6-sol", "text-embedding-3-large", "whisper-1", "gpt-4o-audio-preview")
        gemini.pages["/v1beta/models"] = GEMINI_MODELS
        with RAGEngine(load_config()) as engine:
            settings = engine.installation.settings
            assert settings.vendor_models() == ()
            settings.keep_key("openai", _secret())
            (vendor,) = settings.vendor_models()
            assert (vendor.provider, vendor.problem) == ("openai", None)
            assert [(model.name, model.embeds) for model in vendor.models] == [
                ("gpt-6-sol", False),
                ("text-embedding-3-large", True),
            ]
            assert gemini.looked == []
            settings.keep_key("gemini", _secret())
            names = [(model.name, model.embeds) for model in settings.vendor_models()[1].models]
            assert names == [("gemini-3.8-pro", False), ("gemini-embedding-2", True)]
            assert openai.requests == gemini.requests == []


@pytest.mark.parametrize("page", [None, "no list", {"object": "list", "data": "none"}])
def test_without_a_list_the_known_models_are_offered_with_the_reason(
    quiet: Path, monkeypatch: pytest.MonkeyPatch, page: object
) -> None:
    with vendor_servers.openai_server() as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.url)
        openai.pages["/v1/models"] = page
        with RAGEngine(load_config()) as engine:
            engine.installation.settings.keep_key("openai", _secret())
            (vendor,) = engine.installation.settings.vendor_models()
    assert [model.name for model in vendor.models if not model.embeds] == ["gpt-6-luna"]
    assert "text-embedding-3-small" in [model.name for model in vendor.models if model.embeds]
    assert "OpenAI" in (vendor.problem or "")
    assert KEY not in (vendor.problem or "")


def test_a_server_with_openai_s_protocol_is_reached_by_its_address(engine: RAGEngine, server: VendorServer) -> None:
    settings = engine.installation.settings
    settings.choose_address(server.url)
    settings.keep_key("openai_compatible", _secret())
    (vendor,) = settings.vendor_models()
    assert [model.name for model in vendor.models] == ["llama3.2:3b", "nomic-embed-text"]
    assert settings.choose_writer("openai_compatible:llama3.2:3b").problem is None
    assert "Apples are red" in settings.try_writer().result
    assert server.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    settings.choose_address("https://elsewhere.example/v1")
    assert [key.place for key in settings.vendor_keys() if key.provider == "openai_compatible"] == [None]
    settings.choose_address(None)
    assert settings.address() == (Origin.DEFAULT, None)


@pytest.mark.parametrize("typed", ["", "models.example", "file:///etc/passwd", "http://user:word@models.example/v1"])
def test_an_invalid_address_is_refused(engine: RAGEngine, typed: str) -> None:
    with pytest.raises(errors.ValidationError, match="no address of a server"):
        engine.installation.settings.choose_address(typed)


def test_a_key_of_the_environment_is_sent_to_no_other_address(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", KEY)
    with RAGEngine(load_config()) as engine, pytest.raises(errors.ConfigError, match="OPENAI_COMPATIBLE_API_KEY"):
        engine.installation.settings.choose_address("https://elsewhere.example/v1")


@pytest.mark.parametrize("typed", ["", "brief", "two words of a key", "line\nbreak-in-a-key", "schlüssel-schlüssel"])
def test_an_invalid_key_is_refused_and_not_repeated(engine: RAGEngine, typed: str) -> None:
    with pytest.raises(errors.ValidationError) as raised:
        engine.installation.settings.keep_key("openai", _secret(typed))
    assert not typed or typed not in raised.value.message
    with pytest.raises(errors.ValidationError, match="takes no key"):
        engine.installation.settings.keep_key("ollama", _secret())


def test_a_key_of_a_request_stays_with_the_request(engine: RAGEngine, server: VendorServer) -> None:
    with RAGEngine(Config(openai_base_url=server.url)) as running:
        running.installation.settings.keep_key("openai", _secret())
        request = AnswerRequest(
            question="What colour are apples?",
            generation=GenerationOptions.model_validate(
                {"provider": "openai", "model": "gpt-4o", "auth": {"apiKey": "sk-of-the-request"}}
            ),
        )
        running.documents.process(running.documents.add(pdfs.plain(["Apples are red."]), "a.pdf", enqueue=False).id)
        server.requests.clear()
        running.answer(request)
        asked = [sent for sent in server.requests if sent.path.endswith("/chat/completions")]
        assert [sent.headers["Authorization"] for sent in asked] == ["Bearer sk-of-the-request"] * 2  # and the judge
        assert running.installation.settings.vendor_keys()[0].place is KeyPlace.FILE


def test_models_are_tried_with_a_tiny_request(server: VendorServer) -> None:
    with RAGEngine(load_config()) as engine:
        settings = engine.installation.settings
        with pytest.raises(errors.ConfigError, match="No model writes"):
            settings.try_writer()
        settings.choose_writer(MODEL)
        tried = settings.try_writer()
        assert (tried.model, tried.result, tried.context_window) == (MODEL, "Apples are red [S1].", 4096)
        assert settings.try_embedder().result == "384 dimensions"
        server.faults.append(Refusal(404, "model 'llama3.2:3b' not found"))
        with pytest.raises(errors.ProviderError, match=r"Ollama refused the request \(404\).*not found"):
            settings.try_writer()
        server.replies.append(" ")
        with pytest.raises(errors.ProviderError, match="says nothing"):
            settings.try_writer()


def test_the_sources_fit_into_a_small_window(server: VendorServer) -> None:
    others = [f"Apple number {n} weighs {n * 7919:,} grams, or {n * 279.3:,.1f} ounces." for n in range(40)]
    document = pdfs.pages(6, line=lambda page: f"What the apples of tree {page} weigh", others=others)
    with RAGEngine(load_config()) as engine:
        engine.documents.process(engine.documents.add(document, "a.pdf", enqueue=False).id)
        engine.installation.settings.choose_writer(MODEL)
        lengths = {}
        for size in (4096, 2048):
            server.pages["/api/ps"] = {"models": [{"name": "llama3.2:3b", "context_length": size}]}
            engine.store.caches.clear()
            engine.answer("How much do the apples of tree 3 weigh?")
            prompt = "".join(message["content"] for message in server.bodies[-1]["messages"])
            digits_and_words = sum(character.isdigit() for character in prompt) + len(prompt.split())
            assert digits_and_words + 1024 < size
            assert "[S1]" in prompt
            lengths[size] = len(prompt)
        assert lengths[4096] > lengths[2048] + 1000
        server.pages["/api/ps"] = {"models": [{"name": "llama3.2:3b", "context_length": 1200}]}
        asked = len(server.requests)
        with pytest.raises(errors.ConfigError, match=r"llama3\.2:3b takes too little at once"):
            engine.answer("How much does apple number 6 weigh?")
        assert len(server.requests) == asked


@pytest.mark.parametrize(
    ("admins", "user", "may"),
    [
        (None, "local", True),
        (None, "https://login.example|7", False),
        ("https://login.example|7, ann", "https://login.example|7", True),
        ("https://login.example|7,ann", "ann", True),
        ("ann", "an", False),
        ("ann", "local", False),
        (" , ", "local", True),
    ],
)
def test_administrators_are_recognised(admins: str | None, user: str, may: bool) -> None:
    assert (user in Config(rag_admins=admins).admins) is may


def _secret(text: str = KEY) -> Any:
    from pydantic import SecretStr

    return SecretStr(text)


# --- the page ---


def test_a_server_on_this_machine_is_offered_chosen_and_left(server: VendorServer, page: AppTest, quiet: Path) -> None:
    opened(page)
    assert "llama3.2:3b" in texts(page)
    assert kept(quiet) == {}
    assert server.requests == []
    assert select(page, "Answer model").value == "Automatic"
    select(page, "Answer model").select(MODEL).run()
    assert not page.exception
    assert kept(quiet) == {"rag_gen_model": MODEL}
    assert select(page, "Answer model").value == MODEL
    assert "is sent to Ollama with text" in texts(page)

    page.button(key="test-writer").click().run()
    assert "Apples are red" in page.success[0].value
    server.faults.append(Refusal(500, "out of memory"))
    page.button(key="test-writer").click().run()
    assert "out of memory" in page.error[0].value

    select(page, "Answer model").select("Quotes only").run()
    assert kept(quiet) == {"rag_gen_model": "extractive"}
    select(page, "Answer model").select("Automatic").run()
    assert kept(quiet) == {}


def test_any_model_can_be_typed_and_a_wrong_one_is_refused(page: AppTest, quiet: Path) -> None:
    page.run()
    page.session_state["Answer model Automatic extractive"] = "nobody:x"  # AppTest itself cannot type into it
    page.switch_page("pages/settings.py").run()
    assert not page.exception
    assert "No model server found" in texts(page)
    assert "No provider is known" in page.error[0].value
    assert kept(quiet) == {}


def test_a_key_is_taken_up_and_never_shown(page: AppTest, quiet: Path) -> None:
    opened(page)
    field = next(field for field in page.text_input if field.label == "Key for Google Gemini")
    field.set_value(KEY)
    next(button for button in page.button if button.form_id == "form-gemini").click().run()
    assert not page.exception
    assert not page.error
    assert "In a file readable only by Pagelight's user" in texts(page)
    assert Preferences(quiet).get().secrets["gemini_api_key"].get_secret_value() == KEY
    assert KEY not in str(page)
    assert KEY not in str([field.value for field in page.text_input])
    assert "gemini:gemini-3.8-flash" in str(select(page, "Answer model").options)
    page.button(key="remove-gemini").click().run()
    assert Preferences(quiet).get().keys == {}


def test_a_new_key_lists_its_models_and_embeds_nothing(
    page: AppTest, quiet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_key() -> None:
        field = next(field for field in page.text_input if field.label == "Key for OpenAI")
        field.set_value(KEY)
        next(button for button in page.button if button.form_id == "form-openai").click().run()

    with vendor_servers.openai_server() as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.url)
        openai.pages["/v1/models"] = listed("gpt-6-sol", "text-embedding-3-large")
        opened(page)
        assert "Any other model can be typed" in texts(page)
        assert openai.looked == []
        give_key()
        assert not page.exception
        assert "openai:gpt-6-sol" in select(page, "Answer model").options
        embedding = select(page, "Embedding model for new indexes")
        assert "openai:text-embedding-3-large" in embedding.options
        assert embedding.value == "Automatic"
        assert "Included in Pagelight" in texts(page)
        assert kept(quiet) == {}
        page.button(key="remove-openai").click().run()
        assert "openai:gpt-6-sol" not in select(page, "Answer model").options


def test_a_vendor_that_lists_nothing_is_named_with_the_reason_and_may_embed(
    page: AppTest, quiet: Path, engine: RAGEngine
) -> None:
    engine.installation.settings.keep_key("openai", _secret())
    opened(page)
    assert "The models of OpenAI could not be listed" in texts(page)
    select(page, "Embedding model for new indexes").select("openai:text-embedding-3-small").run()
    assert not page.exception
    assert kept(quiet) == {"rag_embed_model": "openai:text-embedding-3-small"}
    assert "are sent to OpenAI" in texts(page)


def test_the_most_text_per_question_is_chosen_with_its_price(
    page: AppTest, quiet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAG_GEN_MODEL", "openai:gpt-4.1")
    monkeypatch.setenv("RAG_EMBED_MODEL", "local")
    opened(page)
    assert select(page, "Most text per question").options[0] == "Automatic: 30,000 tokens"
    assert "About 25 pages of a report. So many cost $0.06 by the list price." in texts(page)
    select(page, "Most text per question").select_index(2).run()
    assert not page.exception
    assert kept(quiet) == {"rag_max_context_tokens": "10000"}
    assert select(page, "Most text per question").value == 10_000
    assert "About 8 pages of a report. So many cost $0.02 by the list price." in texts(page)
    select(page, "Most text per question").select_index(0).run()
    assert kept(quiet) == {}


def test_another_embedding_model_leads_to_re_embedding(server: VendorServer, page: AppTest) -> None:
    with RAGEngine(load_config()) as engine:
        engine.documents.process(engine.documents.add(pdfs.plain(["Apples."]), "a.pdf", enqueue=False).id)
    opened(page)
    select(page, "Embedding model for new indexes").select("ollama:nomic-embed-text").run()
    assert not page.exception
    assert "pagelight reembed --model ollama:nomic-embed-text" in texts(page)
    assert "Your index still uses" in texts(page)
    page.button(key="test-embedder").click().run()
    assert "768 dimensions" in page.success[0].value


def test_members_see_no_settings(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ADMINS", "ann")
    opened(page)
    assert "Only administrators can change settings" in texts(page)
    assert [box.label for box in page.selectbox] == ["Language"]  # which is everybody's own
    assert not page.text_input
    assert page.code[0].value == "local"


def test_no_request_is_sent_before_the_settings_page_is_opened(
    page: AppTest, server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = keyrings.MemoryKeyring()
    connected: list[object] = []
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[1] == int(server.url.split(":")[2].removesuffix("/v1")):
            connected.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    with keyrings.using(ring):
        page.run()
        for name in ("upload", "library", "index", "chat"):
            page.switch_page(f"pages/{name}.py").run()
        assert (connected, server.looked, ring.asked) == ([], [], 0)
        page.switch_page("pages/settings.py").run()
    assert connected
    assert set(server.looked) == {"/v1/models"}


# --- the note in the chat ---


def chat(page: AppTest) -> AppTest:
    with RAGEngine(load_config()) as engine:
        document = engine.documents.add(pdfs.plain(["Apples are red."]), "a.pdf", enqueue=False)
        engine.documents.process(document.id)
        conversation = engine.chats.start("Apples")
        engine.chats.ask(conversation.id, "What colour are apples?")
    page.query_params["chat"] = str(conversation.id)
    page.run()
    assert not page.exception
    return page


def test_a_dismissed_note_does_not_return(page: AppTest, quiet: Path) -> None:
    chat(page)
    assert "A language model" in texts(page)
    page.button(key="dismiss-offer").click().run()
    assert "A language model" not in texts(page)
    again = AppTest.from_file(APP, default_timeout=60)
    again.query_params["chat"] = page.query_params["chat"][0]
    again.run()
    assert "A language model" not in texts(again)


@pytest.mark.parametrize(
    "environment", [{"RAG_GEN_MODEL": "extractive"}, {"RAG_GEN_MODEL": MODEL}, {"RAG_ADMINS": "ann"}]
)
def test_who_has_chosen_or_may_not_choose_is_not_told(
    page: AppTest, server: VendorServer, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    chat(page)
    assert "A language model" not in texts(page)


# --- the command line ---

pagelight = functools.partial(command_line.pagelight, "models")
parsed = functools.partial(command_line.parsed, "models")


def test_models_are_listed_chosen_tried_and_left(server: VendorServer) -> None:
    assert "ollama:llama3.2:3b" in pagelight().stdout
    assert parsed()["writer"] == {"model": "extractive", "label": "extractive", "origin": "default", "problem": None}
    assert parsed()["servers"][0]["models"][0] == {"name": "llama3.2:3b", "embeds": False, "isElsewhere": False}
    assert "writes now" in pagelight("write", MODEL).stdout
    assert "Apples are red" in pagelight("test").stdout
    assert [one["model"] for one in parsed("test")] == [MODEL, LOCAL]
    assert parsed("write", "--unset")["origin"] == "default"
    assert [one["model"] for one in parsed("test")] == [LOCAL]
    assert "Name a model, or give --unset" in pagelight("write", code=2).stderr
    assert "nobody" in parsed("write", "nobody:x", code=2)["error"]["message"]
    assert "Put the options behind" in pagelight("--json", "test", code=2).stderr


@pytest.mark.usefixtures("quiet")
def test_an_address_is_set_and_unset() -> None:
    assert "https://models.example/v1" in pagelight("address", "https://models.example/v1").stdout
    assert parsed("address", "--unset") == {"address": None}
    assert "Give the address, or --unset" in pagelight("address", code=2).stderr


def test_an_embedding_model_is_chosen_and_the_way_to_it_told(server: VendorServer) -> None:
    with RAGEngine(load_config()) as engine:
        engine.documents.process(engine.documents.add(pdfs.plain(["Apples."]), "a.pdf", enqueue=False).id)
    told = pagelight("embed", "ollama:nomic-embed-text")
    assert "pagelight reembed --model ollama:nomic-embed-text" in told.stderr
    assert parsed("embed", "--unset")["model"] == LOCAL


@pytest.mark.usefixtures("quiet")
def test_a_key_is_read_from_stdin_and_never_printed(quiet: Path) -> None:
    told = pagelight("key", "openai", answer=f"{KEY}\n")
    assert told.stdout == "OpenAI: given (file)\n"
    assert KEY not in pagelight().stdout + pagelight("--json").stdout
    assert Preferences(quiet).get().secrets["openai_api_key"].get_secret_value() == KEY
    assert parsed("key", "openai", "--remove")["place"] is None
    assert "no key" in pagelight("key", "openai", answer="no\n", code=2).stderr


def test_the_doctor_names_settings_that_are_damaged(quiet: Path) -> None:
    quiet.mkdir(exist_ok=True)
    (quiet / "settings.json").write_text("{")
    found = command_line.pagelight("doctor", "--json", code=1).stdout
    broken = {check["name"]: check["message"] for check in json.loads(found)["checks"] if check["state"] == "broken"}
    assert "settings.json is damaged" in broken["Settings"]


def test_the_doctor_finds_servers_and_keys_that_are_kept(server: VendorServer) -> None:
    pagelight("key", "openai", answer=f"{KEY}\n")
    found = command_line.pagelight("doctor", "--json").stdout
    checks = {check["name"]: check["message"] for check in json.loads(found)["checks"]}
    assert checks["Key of openai"] == "given"
    assert "Ollama with 2 models" in checks["Servers of models"]
    assert KEY not in found
