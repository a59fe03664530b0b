"""What every page has: its looks, the login, and a door that turns errors into messages."""

import contextlib
import functools
import itertools
import logging
from collections.abc import Callable, Iterator
from typing import Literal, ParamSpec

import streamlit as st

from rag import errors
from rag.types import Account
from rag.ui import session
from rag.ui.components import ASSETS, component
from rag.ui.formatting import plain
from rag.ui.language import ENGLISH, N_, _, current, speak
from rag.ui.library import sharing
from rag.ui.translated_messages import said

SIDEBAR_PX = 264
PAGES = {
    N_("Chat"): ("pages/chat.py", ":material/forum:"),
    N_("Upload"): ("pages/upload.py", ":material/upload_file:"),
    N_("Library"): ("pages/library.py", ":material/folder_open:"),
    N_("Matrix"): ("pages/matrix.py", ":material/table:"),
    N_("Glossary"): ("pages/glossary.py", ":material/dictionary:"),
    N_("Index"): ("pages/index.py", ":material/manage_search:"),
    N_("Audit"): ("pages/audit.py", ":material/history:"),
    N_("Settings"): ("pages/settings.py", ":material/tune:"),
    N_("Admin"): ("pages/admin.py", ":material/admin_panel_settings:"),
    N_("Status"): ("pages/status.py", ":material/monitor_heart:"),
}
ADMINS_PAGES = {"Admin", "Status"}

LOOK_AGAIN_SECONDS = 3.0
HEALTH_SECONDS = 3.0
"""Longest wait for a database that has not answered, each time it is looked at again."""

P = ParamSpec("P")

log = logging.getLogger(__name__)


def page(title: str) -> None:
    """Begin a page; `title` is the message of its name. Stops at a login where nobody is logged in who has to be."""
    st.set_page_config(
        page_title=_page_title(title),
        page_icon=str(ASSETS / "icon.png"),
        layout="wide",
        initial_sidebar_state=SIDEBAR_PX,
    )
    st.html(ASSETS / "app.css")
    with door():
        if session.user_id() is None:
            _login()
        account = session.account()
        if speak(account.language):
            st.set_page_config(page_title=_page_title(title))
        _native_words()
        _sidebar(account)
        return
    st.stop()  # who it is cannot be told, which the page has said


def _page_title(title: str) -> str:
    return f"{_(title)} · Pagelight"


def _native_words() -> None:
    """Streamlit's own words, which are English, in the language of the page."""
    if current() != ENGLISH:
        with st.container(key="native"):
            component("native")(key="native-words")


def _sidebar(account: Account) -> None:
    st.logo(str(ASSETS / "logo.svg"), size="large", icon_image=str(ASSETS / "icon.png"))
    with st.sidebar.container(key="pages", gap=None):
        for label, (path, icon) in PAGES.items():
            if account.role.may_administer or label not in ADMINS_PAGES:
                st.page_link(path, label=_(label), icon=icon)
    with st.sidebar, door():
        sharing.switch()
        if session.is_for_users() and session.own_engine().answers.with_me():
            st.page_link("pages/shared.py", label=_("Shared with you"), icon=":material/group:")
    if session.is_for_users():
        _who(account)


def _who(account: Account) -> None:
    """Who is logged in, and the way out."""
    with st.sidebar.container(key="who", gap=None):
        st.markdown(f"**{plain(account.name or account.email or _('Logged in'))}**")
        if account.name and account.email:
            st.caption(plain(account.email))
        st.button(_("Log out"), icon=":material/logout:", type="tertiary", on_click=session.log_out)


def _login() -> None:
    with empty("lock", _("Welcome to Pagelight"), _("Log in to see your documents.")):
        for name in session.providers() or [""]:
            st.button(
                _("Log in with {name}").format(name=plain(name)) if name else _("Log in"),
                key=f"login-{name or 'default'}",
                type="primary",
                on_click=st.login,
                args=(name,) if name else (),
            )
    st.stop()


@contextlib.contextmanager
def door() -> Iterator[None]:
    """Show an error on the page instead of a traceback; what is not ours is logged too."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, errors.Error):
            log.exception("A page failed")
        tell(error)


def tell(error: Exception) -> bool:
    """Show an error where the page is just now. True: Streamlit, who has logged it, need not show it."""
    if not isinstance(error, errors.Error):
        st.error(_("Something went wrong. Reload the page; if it persists, check the log."), icon=":material/error:")
        return True
    st.error(plain(said(error.message)), icon=":material/error:")
    if isinstance(error, errors.StoreUnavailableError):
        st.caption(_("This page reloads automatically."))
        _come_back()
    return True


def _come_back() -> None:
    """Run the page anew as soon as the database answers."""
    looks = itertools.count()

    def look() -> None:
        if next(looks) and _answers():
            st.rerun()

    st.fragment(look, run_every=LOOK_AGAIN_SECONDS)()


def _answers() -> bool:
    try:
        session.shared().health(HEALTH_SECONDS)
    except errors.Error:
        return False
    return True


def dialog(
    title: str, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """`st.dialog` with the message `title` in the language of whoever opens it."""

    def decorated(show: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(show)
        def opened(*args: P.args, **kwargs: P.kwargs) -> None:
            st.dialog(_(title), width=width)(show)(*args, **kwargs)

        return opened

    return decorated


@contextlib.contextmanager
def empty(icon: str, title: str, text: str) -> Iterator[None]:
    """A guide in the place of content that is not there yet; put the way forward into it."""
    with st.container(key="empty", horizontal_alignment="center", gap="xsmall"):
        st.markdown(f":material/{icon}:", width="content")
        st.subheader(title, anchor=False, width="content")
        st.text(text, width="content")
        yield
