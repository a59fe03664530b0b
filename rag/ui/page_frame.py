"""The frame of every page: layout, login, sidebar and error messages."""

import contextlib
import functools
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, ParamSpec

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.components import ASSETS, component
from rag.ui.formatting import escape
from rag.ui.language import ENGLISH, N_, _, current_language, set_language
from rag.ui.library import sharing
from rag.ui.translated_messages import translate_error

SIDEBAR_PX = 264
PAGES = {
    N_("Chat"): ("pages/chat.py", ":material/forum:"),
    N_("Library"): ("pages/library.py", ":material/folder_open:"),
    N_("Matrix"): ("pages/matrix.py", ":material/table:"),
    N_("Settings"): ("pages/settings.py", ":material/tune:"),
}
MORE_PAGES = {
    N_("Index"): ("pages/index.py", ":material/manage_search:"),
    N_("Status"): ("pages/status.py", ":material/monitor_heart:"),
    N_("Audit"): ("pages/audit.py", ":material/history:"),
    N_("Admin"): ("pages/admin.py", ":material/admin_panel_settings:"),
}
"""Pages under one entry of the menu: they are needed seldom."""
ADMIN_PAGES = {"Admin", "Status"}
TEAM_PAGES = {"Audit", "Admin"}

RETRY_SECONDS = 3.0
HEALTH_TIMEOUT_SECONDS = 3.0
"""Timeout of each check whether the database answers again."""

P = ParamSpec("P")

log = logging.getLogger(__name__)


def page(title: str) -> None:
    """Start a page; `title` is its message id. Stop at the login form if a login is required."""
    st.set_page_config(
        page_title=_page_title(title),
        page_icon=str(ASSETS / "icon.png"),
        layout="wide",
        initial_sidebar_state=SIDEBAR_PX,
    )
    st.html(ASSETS / "app.css")
    with error_boundary():
        if session.user_id() is None:
            _login()
        account = session.account()
        if set_language(account.language):
            st.set_page_config(page_title=_page_title(title))
        _native_words()
        _sidebar(account, title)
        return
    st.stop()  # the user is unknown; the error is shown above


def _page_title(title: str) -> str:
    return f"{_(title)} · Pagelight"


def _native_words() -> None:
    """Translate Streamlit's own English words."""
    if current_language() != ENGLISH:
        with st.container(key="native"):
            component("native")(key="native-words")


def _sidebar(account: types.Account, title: str) -> None:
    st.logo(str(ASSETS / "logo.svg"), size="large", icon_image=str(ASSETS / "icon.png"))
    with st.sidebar.container(key="pages", gap=None):
        for label, (path, icon) in PAGES.items():
            st.page_link(path, label=_(label), icon=icon)
        hidden = (set() if account.role.may_administer else ADMIN_PAGES) | (set() if session.has_team() else TEAM_PAGES)
        with st.expander(_("More"), expanded=title in MORE_PAGES):
            for label, (path, icon) in MORE_PAGES.items():
                if label not in hidden:
                    st.page_link(path, label=_(label), icon=icon)
    with st.sidebar, error_boundary():
        sharing.choose_collection()
        if session.requires_login() and session.own_engine().answers.shared_with_me():
            st.page_link("pages/shared.py", label=_("Shared with you"), icon=":material/group:")
    if session.requires_login():
        _account_bar(account)


def _account_bar(account: types.Account) -> None:
    """Show the user who is logged in, and a logout button."""
    with st.sidebar.container(key="who", gap=None):
        name = account.name or account.email or _("Logged in")
        st.markdown(f"**{escape(name)}**")
        if account.name and account.email:
            st.caption(escape(account.email))
        st.button(_("Log out"), icon=":material/logout:", type="tertiary", on_click=session.log_out)


def _login() -> None:
    with empty_state("lock", _("Welcome to Pagelight"), _("Log in to see your documents.")):
        for name in session.providers() or [""]:
            st.button(
                _("Log in with {name}").format(name=escape(name)) if name else _("Log in"),
                key=f"login-{name or 'default'}",
                type="primary",
                on_click=st.login,
                args=(name,) if name else (),
            )
    st.stop()


@contextlib.contextmanager
def error_boundary() -> Iterator[None]:
    """Show errors on the page instead of a traceback, and log unexpected ones."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, errors.Error):
            log.exception("A page failed")
        show_error(error)


def show_error(error: Exception) -> bool:
    """Show an error on the page. Return True so that Streamlit, which has logged it, does not show it too."""
    if not isinstance(error, errors.Error):
        st.error(_("Something went wrong. Reload the page; if it persists, check the log."), icon=":material/error:")
        return True
    st.error(escape(translate_error(error)), icon=":material/error:")
    if isinstance(error, errors.StoreUnavailableError):
        st.caption(_("This page reloads automatically."))
        _rerun_when_available()
    return True


def _rerun_when_available() -> None:
    """Rerun the page as soon as the database answers."""
    looks = itertools.count()

    def look() -> None:
        if next(looks) and _database_answers():
            st.rerun()

    st.fragment(look, run_every=RETRY_SECONDS)()


def _database_answers() -> bool:
    try:
        session.installation().store.health(HEALTH_TIMEOUT_SECONDS)
    except errors.Error:
        return False
    return True


def dialog(
    title: str, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorate a function as an `st.dialog` whose title is translated when it opens."""

    def decorated(show: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(show)
        def opened(*args: P.args, **kwargs: P.kwargs) -> None:
            st.dialog(_(title), width=width)(show)(*args, **kwargs)

        return opened

    return decorated


def choose_view(views: Mapping[str, Callable[[], None]], *, key: str | None = None) -> Callable[[], None]:
    """Show a switch between the views of a page, by their message ids, and return the chosen one."""
    first = next(iter(views))
    if key:
        st.session_state.setdefault(key, first)
    chosen = st.segmented_control(
        _("View"),
        list(views),
        default=None if key else first,
        key=key,
        label_visibility="collapsed",
        required=True,
        format_func=_,
    )
    return views[chosen or first]


@contextlib.contextmanager
def empty_state(icon: str, title: str, text: str, key: str = "empty") -> Iterator[None]:
    """Show a placeholder for missing content; put the next step into the block. `key` begins with "empty"."""
    with st.container(key=key, horizontal_alignment="center", gap="xsmall"):
        st.markdown(f":material/{icon}:", width="content")
        st.subheader(title, anchor=False, width="content")
        st.text(text, width="content")
        yield
