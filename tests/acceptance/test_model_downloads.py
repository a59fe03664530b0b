"""Embedding models downloaded on request by fastembed's client, from a hub on this machine."""

import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag import errors, packaged_models, providers
from rag.config import Config, load_config
from rag.providers import onnx_models
from rag.providers.downloads.catalogue import partial_folder
from rag.providers.downloads.model_downloads import ModelDownloads
from rag.ui import session
from tests import hub_server
from tests.acceptance import command_line
from tests.hub_server import HubServer

NAME = "multilingual-e5-large"
REPOSITORY = "Qdrant/multilingual-e5-large-onnx"
PATIENCE_SECONDS = 120.0
TEXT = "Der Hafen von Lindmark zählte 4.812 Schiffe."


@pytest.fixture
def hub(tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub that serves the packaged model under the name of the recommended one; the user has a token for it."""
    packaged = packaged_models.find_model(packaged_models.BGE_SMALL_EN)
    (tmp_path / "small.json").write_text("{}")
    small = dict.fromkeys(["model.onnx_data", "config.json", "README.md"], tmp_path / "small.json")
    files = {"model.onnx": packaged / "model.onnx", "tokenizer.json": packaged / "tokenizer.json", **small}
    monkeypatch.setenv("HF_TOKEN", "hf_private")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=":")
    with hub_server.serve(REPOSITORY, files) as opened:
        monkeypatch.setenv("HF_ENDPOINT", opened.url)
        yield opened


@pytest.fixture
def config(settings: Path) -> Config:
    return load_config()


@pytest.fixture
def downloads(config: Config) -> Iterator[ModelDownloads]:
    opened = ModelDownloads(config)
    yield opened
    opened.stop()


def fetched(downloads: ModelDownloads, name: str = NAME) -> None:
    downloads.start(name)
    assert downloads.wait(name, PATIENCE_SECONDS)


def models(config: Config) -> set[str]:
    return {path.name for path in config.models_dir.iterdir()}


def test_a_model_is_downloaded_and_runs_without_the_hub(
    hub: HubServer, downloads: ModelDownloads, config: Config
) -> None:
    fetched(downloads)
    assert downloads.is_here(NAME)
    assert models(config) == {NAME}
    hub.status = 500
    asked = len(hub.requests)
    space, embedder = providers.Registry().embedding_model(
        config.model_copy(update={"rag_embed_model": f"folder:{NAME}"})
    )
    (text,), query = providers.embed_texts(embedder, [TEXT]), providers.embed_query(embedder, TEXT)
    assert np.allclose(text, mean_vector(f"passage: {TEXT}"), atol=1e-5)
    assert np.allclose(query, mean_vector(f"query: {TEXT}"), atol=1e-5)
    assert space.dimensions == 384
    downloads.start(NAME)
    assert len(hub.requests) == asked
    assert not any("README" in path for path, _ in hub.requests)
    for path, headers in hub.requests:  # neither a token nor what runs here is sent
        assert path.split()[0] in {"GET", "HEAD"}
        assert "authorization" not in map(str.lower, headers)
        agent = next(value for name, value in headers.items() if name.lower() == "user-agent")
        assert not any(library in agent for library in ("torch", "fastai", "tensorflow", "pagelight"))


def mean_vector(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """What the model card of E5 computes: the mean of the tokens, scaled to length 1."""
    model = onnx_models.open_model(packaged_models.BGE_SMALL_EN)
    ids = model.tokenizer.encode(text).ids
    mean = model.run(ids, [0] * len(ids)).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def damage(hub: HubServer) -> None:
    hub.damaged.add("model.onnx")


def cut(hub: HubServer) -> None:
    hub.cut.add("model.onnx")


def fail(hub: HubServer) -> None:
    hub.status = 500


@pytest.mark.long
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damage, "arrived damaged or incomplete"),
        (cut, "could not be downloaded|arrived damaged or incomplete"),
        (fail, "answers with 500"),
    ],
)
def test_a_damaged_download_is_discarded_and_can_be_repeated(
    hub: HubServer, downloads: ModelDownloads, config: Config, harm: Callable[[HubServer], None], message: str
) -> None:
    harm(hub)
    with pytest.raises(errors.ProviderError, match=message):
        fetched(downloads)
    if harm is cut:  # the client goes on by itself where the connection broke off
        assert any("range" in map(str.lower, headers) for _, headers in hub.requests)
    assert not downloads.is_here(NAME)
    assert downloads.failure(NAME) is not None
    with pytest.raises(errors.ConfigError, match="There is no folder"):
        providers.Registry().embedding_model(config.model_copy(update={"rag_embed_model": f"folder:{NAME}"}))
    hub.damaged.clear()
    hub.cut.clear()
    hub.status = 200
    hub.requests.clear()
    fetched(downloads)
    assert downloads.failure(NAME) is None
    assert models(config) == {NAME}


@pytest.mark.long
def test_without_a_connection_it_says_so(
    hub: HubServer, downloads: ModelDownloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(errors.ProviderError, match="cannot be reached"):
        fetched(downloads)


@pytest.mark.long
def test_a_killed_download_leaves_nothing_that_is_used(
    hub: HubServer, downloads: ModelDownloads, config: Config
) -> None:
    downloads.start(NAME)
    downloads.stop()
    assert not downloads.is_here(NAME)
    with pytest.raises(errors.ProviderError, match="was interrupted"):
        downloads.wait(NAME, 0)
    fetched(downloads)
    assert models(config) == {NAME}


@pytest.mark.long
def test_a_file_that_cannot_be_written_stops_it(hub: HubServer, downloads: ModelDownloads, config: Config) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        downloads.start(NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    with pytest.raises(errors.StoreError, match="cannot be saved: File too large"):
        downloads.wait(NAME, PATIENCE_SECONDS)
    assert not downloads.is_here(NAME)


def test_too_little_room_is_refused_before_anything_is_asked(hub: HubServer, config: Config) -> None:
    downloads = ModelDownloads(config.model_copy(update={"rag_disk_reserve_mb": 10**9}))
    with pytest.raises(errors.DiskFullError, match="MB are free"):
        downloads.start(NAME)
    assert hub.requests == []


@pytest.mark.long
def test_two_processes_do_not_download_the_same_model(
    hub: HubServer, downloads: ModelDownloads, config: Config
) -> None:
    import filelock

    partial = partial_folder(config.models_dir, NAME)
    partial.mkdir(parents=True)
    with filelock.FileLock(partial / "lock"), pytest.raises(errors.ConflictError, match="by another process"):
        fetched(downloads)
    assert hub.requests == []


def test_without_the_extra_it_says_what_to_install(downloads: ModelDownloads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(errors.ConfigError, match=r"pip install \"pagelight\[fastembed\]\""):
        downloads.start(NAME)


def test_other_models_are_not_downloaded(downloads: ModelDownloads) -> None:
    with pytest.raises(errors.ValidationError, match=f"no model 'other' to download. Choose one of: {NAME}, "):
        downloads.start("other")


def test_the_command_lists_downloads_and_says_how_to_go_on(
    hub: HubServer, config: Config, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command_line.parsed("models", "download")[0]["name"] == NAME
    done = command_line.pagelight("models", "download", NAME)
    assert f"pagelight models embed folder:{NAME}" in done.stdout
    assert "is here" in command_line.pagelight("models", "download").stdout
    assert f"folder:{NAME} embeds now" in command_line.pagelight("models", "embed", f"folder:{NAME}").stdout
    written = capfd.readouterr()
    assert written.out + written.err == ""
    shutil.rmtree(config.models_dir)
    hub.status = 503
    failed = command_line.pagelight("models", "download", NAME, code=errors.ProviderError.exit_code)
    assert "answers with 503" in failed.stderr


@pytest.fixture
def page(config: Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The settings page, on a machine where no server of models runs."""
    monkeypatch.setenv("RAG_WORKER", "false")
    opened = AppTest.from_file(str(Path(__file__).parents[2] / "app.py"), default_timeout=60)
    opened.run().switch_page("pages/settings.py").run()
    assert not opened.exception
    yield opened
    session.installation().settings.downloads.stop()
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


def test_the_settings_page_downloads_a_model_and_uses_it(hub: HubServer, page: AppTest, config: Config) -> None:
    assert hub.requests == []
    page.button(key=f"fetch-{NAME}").click().run()
    assert session.installation().settings.downloads.wait(NAME, PATIENCE_SECONDS)
    page.run().button(key=f"use-folder:{NAME}").click().run()
    assert not page.exception
    assert session.installation().settings.embedder().model == f"folder:{NAME}"
    assert any("nothing leaves it" in str(caption.value) for caption in page.caption)


@pytest.mark.long
def test_the_settings_page_says_why_a_download_failed_and_offers_it_again(hub: HubServer, page: AppTest) -> None:
    hub.status = 503
    page.button(key=f"fetch-{NAME}").click().run()
    with pytest.raises(errors.ProviderError):
        session.installation().settings.downloads.wait(NAME, PATIENCE_SECONDS)
    page.run()
    assert ["answers with 503" in str(error.value) for error in page.error] == [True]
    assert page.button(key=f"fetch-{NAME}").label == "Download"
