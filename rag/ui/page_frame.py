"""The frame of every page: layout, login, sidebar and error messages."""

import contextlib
import functools
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, ParamSpec

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
    icon = str(ASSETS / "icon.png")
    st.set_page_config(f"{_(title)} · Pagelight", icon, layout="wide", initial_sidebar_state=SIDEBAR_PX)
    st.html(ASSETS / "app.css")
    with error_boundary():
        if session.user_id() is None:
            _login()
        account = session.account()
        if set_language(account.language):
            st.set_page_config(f"{_(title)} · Pagelight")
        if current_language() != ENGLISH:  # translates Streamlit's own words
            with st.container(key="native"):
                component("native")(key="native-words")
        _sidebar(account, title)
        return
    st.stop()  # the user is unknown; the error is shown above


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
        if session.requires_login() and session.own_engine().store.answer_links.shared_with_me():
            st.page_link("pages/shared.py", label=_("Shared with you"), icon=":material/group:")
    if session.requires_login():
        with st.sidebar.container(key="who", gap=None):
            name = account.name or account.email or _("Logged in")
            st.markdown(f"**{escape(name)}**")
            if account.name and account.email:
                st.caption(escape(account.email))
            st.button(_("Log out"), icon=":material/logout:", type="tertiary", on_click=session.log_out)


def _login() -> None:
    with empty_state("lock", _("Welcome to Pagelight"), _("Log in to see your documents.")):
        for name in session.providers() or [""]:
            label = _("Log in with {name}", name=escape(name)) if name else _("Log in")
            key, args = f"login-{name or 'default'}", (name,) if name else ()
            st.button(label, key=key, type="primary", on_click=st.login, args=args)
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
        looks = itertools.count()

        def rerun_when_available() -> None:
            if next(looks):  # not at once, or the page would never come to rest
                with contextlib.suppress(errors.Error):
                    session.installation().store.health(HEALTH_TIMEOUT_SECONDS)
                    st.rerun()

        st.fragment(rerun_when_available, run_every=RETRY_SECONDS)()
    return True


def dialog(
    title: str, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorate a function as an `st.dialog` that shows errors and whose title is translated when it opens."""

    def decorated(show: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(show)
        def opened(*args: P.args, **kwargs: P.kwargs) -> None:
            st.dialog(_(title), width=width)(error_boundary()(show))(*args, **kwargs)

        return opened

    return decorated


def is_confirmed(label: str, icon: str | None = None) -> bool:
    """Show in a dialog the button that confirms it and the one that closes it."""
    with st.container(horizontal=True):
        confirmed = st.button(label, icon=icon, type="primary")
        if st.button(_("Cancel")):
            st.rerun()
    return confirmed


def require_administrator(title: str, text: str, advice: str) -> None:
    """Stop with an explanation unless the user is an administrator."""
    if not session.may_administer():
        with empty_state("lock", title, text):
            st.caption(advice)
            st.code(session.user_id() or "", language=None)
        st.stop()


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


def empty_state(icon: str, title: str, text: str, key: str = "empty") -> DeltaGenerator:
    """Show a placeholder for missing content and return its container, for the next step.

    `key` begins with "empty".
    """
    container = st.container(key=key, horizontal_alignment="center", gap="xsmall")
    container.markdown(f":material/{icon}:", width="content")
    container.subheader(title, anchor=False, width="content")
    container.text(text, width="content")
    return container


def show_title(title: str) -> DeltaGenerator:
    """Show a page's title by its message id, and return the bar for what stands beside it."""
    bar = st.container(horizontal=True, vertical_alignment="center", key="title")
    bar.header(_(title), anchor=False, width="content")
    return bar
