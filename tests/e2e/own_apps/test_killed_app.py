"""What was written of an answer outlives a killed app."""

import os
import sys

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.processes import free_port
from tests import vendor_servers
from tests.e2e import steps
from tests.e2e.conftest import ROOT, started, visit
from tests.e2e.papers import Paper, plain
from tests.folders import open_folder
from tests.vendor_servers import Endless

SENTENCE = "The ferryman sold apples on the quay in the autumn of 1911."
PAPER = Paper("Ferryman at the quay.pdf", SENTENCE, "What did the ferryman sell on the quay?", plain(SENTENCE))


@pytest.mark.long
def test_what_was_written_outlives_a_killed_app(browser: Browser, external_database_url: str | None) -> None:
    if external_database_url:
        pytest.skip("one start on the embedded server is enough")
    with vendor_servers.openai_server() as model, open_folder() as folder:
        settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.url, "RAG_EMBED_MODEL": "local"}
        environment = {**os.environ, "RAG_DATA_DIR": f"{folder}/data", **settings}
        port = free_port()
        command = [sys.executable, "-m", "rag", "run", "--port", str(port), "--no-browser"]
        with visit(browser, f"http://127.0.0.1:{port}") as page:
            with started(command, folder / "killed.log", ROOT, environment, port) as app:
                steps.upload(page, PAPER)
                model.faults.append(Endless())
                page.goto("/")
                field = page.get_by_placeholder("Ask about your documents")
                field.fill(PAPER.question)
                field.press("Enter")
                expect(page.locator(".pending")).to_contain_text("Apples Apples")
                app.kill()
            with started(command, folder / "app.log", ROOT, environment, port):
                page.reload()
                expect(page.get_by_text("Stopped before the end")).to_be_visible()
                expect(page.locator('[class*="st-key-unfinished-"]')).to_contain_text("Apples")
                expect(page.get_by_placeholder("Ask about your documents")).to_be_enabled()
                page.locator('[class*="st-key-again-"] button').first.click()
                page.get_by_text("Same question").click()
                expect(page.locator(".answer .text")).to_contain_text("Apples are red")
                expect(page.get_by_text("Stopped before the end")).to_have_count(0)
