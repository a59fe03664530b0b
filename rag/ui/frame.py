"""What every page has: its looks, the login, and a door that turns errors into messages."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from rag import errors
from rag.types import LOCAL_USER
from rag.ui import session
from rag.ui.text import plain

ASSETS = Path(__file__).with_name("assets")
SIDEBAR_PX = 264
PAGES = {
    "Chat": ("pages/chat.py", ":material/forum:"),
    "Upload": ("pages/upload.py", ":material/upload_file:"),
    "Library": ("pages/library.py", ":material/folder_open:"),
    "Glossary": ("pages/glossary.py", ":material/dictionary:"),
    "Index": ("pages/index.py", ":material/manage_search:"),
    "Settings": ("pages/settings.py", ":material/tune:"),
}
ADMIN_PAGES = {"Status": ("pages/status.py", ":material/monitor_heart:")}

log = logging.getLogger(__name__)


def page(title: str) -> None:
    """Begin a page. Stops at a login when one is configured and nobody is logged in."""
    st.set_page_config(
        page_title=f"{title} · Pagelight",
        page_icon=str(ASSETS / "icon.png"),
        layout="wide",
        initial_sidebar_state=SIDEBAR_PX,
    )
    st.logo(str(ASSETS / "logo.svg"), size="large", icon_image=str(ASSETS / "icon.png"))
    st.html(ASSETS / "app.css")
    user = session.user_id()
    if user is None:
        _login()
    with st.sidebar.container(key="pages", gap=None):
        for label, (path, icon) in _pages().items():
            st.page_link(path, label=label, icon=icon)
    if user != LOCAL_USER:
        st.sidebar.button("Log out", icon=":material/logout:", type="tertiary", on_click=st.logout)


def _pages() -> dict[str, tuple[str, str]]:
    with contextlib.suppress(errors.Error):  # of wrong settings the page itself tells
        if session.may_administer():
            return PAGES | ADMIN_PAGES
    return PAGES


def _login() -> None:
    with st.container(key="empty"):
        st.subheader("Welcome to Pagelight")
        st.text("Log in to see your documents.")
        st.button("Log in", type="primary", on_click=st.login)
    st.stop()


@contextlib.contextmanager
def door() -> Iterator[None]:
    """Show an error on the page instead of a traceback; what is not ours is logged too."""
    try:
        yield
    except errors.Error as error:
        st.error(plain(error.message), icon=":material/error:")
    except Exception:
        log.exception("A page failed")
        st.error("Something went wrong. Reload the page; if it persists, look into the log.", icon=":material/error:")


@contextlib.contextmanager
def empty(icon: str, title: str, text: str) -> Iterator[None]:
    """A guide in the place of content that is not there yet; put the way forward into it."""
    with st.container(key="empty", horizontal_alignment="center", gap="xsmall"):
        st.markdown(f":material/{icon}:", width="content")
        st.subheader(title, anchor=False, width="content")
        st.text(text, width="content")
        yield
