"""People log in by OpenID Connect: each sees their own documents, and a login that has ended opens nothing."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from benchmarks.processes import free_port
from tests import openid
from tests.e2e import steps
from tests.e2e.conftest import running, visit

ADDRESS = re.compile(r"ann@\u2060?example\.org")
"""As it is shown: a joiner that nobody sees keeps it from becoming a link."""
NOTES = FilePayload(name="notes of ann.txt", mimeType="text/plain", buffer=b"A pear.")


@pytest.fixture(scope="module")
def provider() -> Iterator[openid.Provider]:
    with openid.serving() as provider:
        provider.people["ann"] = {"name": "Ann Archer", "email": "ann@example.org", "email_verified": True}
        provider.people["bob"] = {"name": "Bob <b>Baker</b>", "email": "ann@example.org", "groups": ["legal"]}
        provider.people["cat"] = {"preferred_username": "cat"}
        yield provider


@pytest.fixture(scope="module")
def base_url(external_database_url: str | None, provider: openid.Provider) -> Iterator[str]:
    port = free_port()
    secrets = f"""
        [auth]
        redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
        cookie_secret = "a secret of this app, of some length"
        client_id = "{openid.CLIENT}"
        client_secret = "{openid.CLIENT_SECRET}"
        server_metadata_url = "{provider.url}/.well-known/openid-configuration"
    """
    settings = {"RAG_ADMINS": f"{provider.url}|cat", "RAG_OIDC_GROUPS_CLAIM": "groups"}
    with running(port, external_database_url, settings, secrets=secrets) as url:
        yield url


@pytest.fixture
def page(browser: Browser, base_url: str, provider: openid.Provider) -> Iterator[Page]:
    with visit(browser, base_url, provider.url) as visitor:
        yield visitor


def log_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Name").press("Enter")
    page.get_by_role("button", name="Log out").wait_for()


def log_out(page: Page) -> None:
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("button", name="Log in").wait_for()


def test_each_sees_their_own_and_an_ended_login_opens_nothing(page: Page, provider: openid.Provider) -> None:
    log_in(page, "ann")
    expect(page.locator(".st-key-who")).to_contain_text("Ann Archer")
    expect(page.locator(".st-key-who")).to_contain_text(ADDRESS)
    page.goto("/upload")
    steps.drop(page, NOTES)
    page.locator('[class*="st-key-file-ready"]').filter(has_text="notes of ann.txt").wait_for()
    cookies = page.context.cookies()
    log_out(page)
    assert "/logout" in provider.asked

    log_in(page, "bob")
    expect(page.locator(".st-key-who")).to_contain_text("Bob <b>Baker</b>")
    expect(page.locator(".st-key-who")).not_to_contain_text("example.org")  # which nobody has verified as Bob's
    expect(page.get_by_text("No documents yet")).to_be_visible()
    page.goto("/admin")
    expect(page.get_by_text("This page is for administrators")).to_be_visible()
    expect(page.locator(".st-key-pages")).not_to_contain_text("Admin")
    log_out(page)

    page.context.add_cookies([{**cookie} for cookie in cookies])  # type: ignore[typeddict-item]  # what Ann's browser had, before she logged out
    page.goto("/")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()

    log_in(page, "ann")
    expect(page.get_by_placeholder("Ask about your documents")).to_be_visible()


@pytest.mark.expected_errors("MissingClaimError")
def test_tokens_for_somebody_else_log_nobody_in(page: Page, provider: openid.Provider) -> None:
    provider.people["eve"] = {"aud": "another client", "name": "Eve"}
    page.goto("/")
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Name").fill("eve")
    page.get_by_label("Name").press("Enter")
    page.wait_for_url("**/")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    expect(page.locator(".st-key-who")).to_have_count(0)


def test_any_host_shows_the_login_which_is_bound_to_its_own(base_url: str) -> None:
    assert httpx.get(base_url, headers={"host": "reports.example"}).status_code == 200
