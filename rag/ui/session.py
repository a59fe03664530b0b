"""The user of the current session and their engine."""

import threading
import time
import uuid

import streamlit as st

from rag import answering, errors, lazy_imports, retrieval, types, worker
from rag.access import oidc
from rag.engine import Installation, RAGEngine
from rag.ui.language import _
from rag.ui.viewer import page_server

COLLECTION = "collection-id"
CHECK_SECONDS = 2.0
"""How long the result of a login check is cached."""
CHECKED = "login-checked"
"""Session key of the login that was checked, and when."""

TICKET = "reading-ticket"

_provided: list[Installation] = []
_run = threading.local()
"""The engines of a run of the page: Streamlit gives each run a thread of its own."""


def use_installation(installation: Installation) -> None:
    """Make the pages use an installation that is already open in this process."""
    _provided.append(installation)


@st.cache_resource(show_spinner="Starting the database and the models …")
def installation() -> Installation:
    """Return the installation that all sessions of this process share.

    Heavy modules load in the background: the first page appears before they are ready.
    """
    threading.Thread(target=lazy_imports.load, args=(retrieval, answering), name="loading", daemon=True).start()
    return _provided[-1] if _provided else Installation()


def has_login() -> bool:
    """Return whether a login is configured: `.streamlit/secrets.toml` has an `[auth]` section (OpenID Connect)."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def requires_login() -> bool:
    """Return whether this page requires a login, also if only the login state tells."""
    return has_login() or "is_logged_in" in st.user.to_dict()


def has_team() -> bool:
    """Return whether others use this installation too: by logins, or by API keys of their own."""
    return requires_login() or bool(own_engine().sharing.colleagues())


def providers() -> list[str]:
    """Return the names of the login providers to choose from; empty for a single unnamed provider."""
    auth = st.secrets["auth"] if has_login() else {}
    return [] if "client_id" in auth else [name for name, value in auth.items() if hasattr(value, "keys")]


def login() -> types.Identity | None:
    """Return the identity in this browser's login cookie, whether still valid or not; None without a login.

    Raises:
        errors.AuthError: the provider does not identify the user.
    """
    user = st.user.to_dict()
    return oidc.identity(user, installation().config) if user.get("is_logged_in") else None


def user_id() -> str | None:
    """Return the current user's id; None if a login is required and missing or ended.

    Raises:
        errors.AuthError: the provider does not identify the user.
        errors.StoreError: the database cannot be reached.
    """
    if not requires_login():
        return types.LOCAL_USER
    user = login()
    return user.user_id if user and _login_is_open(user) else None


def _login_is_open(user: types.Identity) -> bool:
    """Return whether a login is still open: its cookie lives longer and cannot be revoked."""
    checked = st.session_state.get(CHECKED)
    if checked and checked[0] == user.login_id and time.monotonic() - checked[1] < CHECK_SECONDS:
        return True
    is_open = installation().logins.by(user.user_id, request_origin()).open(user)
    st.session_state[CHECKED] = (user.login_id, time.monotonic()) if is_open else None
    return is_open


def account() -> types.Account:
    """Return the current user's account with their effective role."""
    return installation().accounts.get(user_id() or types.LOCAL_USER)


def ticket() -> str:
    """Return the ticket with which this session's browser calls the page server."""
    who = user_id() or types.LOCAL_USER
    issued = page_server.ticket_store.issue(
        who, login() if requires_login() else None, request_origin(), st.session_state.get(TICKET)
    )
    st.session_state[TICKET] = issued
    return issued


def log_out() -> None:
    """End this login in all tabs and copies of the cookie, then at the provider if possible."""
    user = login()
    if user:
        installation().logins.by(user.user_id, request_origin()).end(user.user_id, user.login_id)
    st.session_state.clear()
    st.logout()


def may_administer() -> bool:
    """Return whether the current user is an administrator."""
    user = user_id()
    return user is not None and installation().accounts.get(user).role.may_administer


def require_admin() -> str:
    """Return the current user's id, checking for each action that they are an administrator.

    Raises:
        errors.ForbiddenError: the current user is not an administrator.
    """
    user = user_id()
    if user is None:
        raise errors.ForbiddenError(_("The login has ended. Log in again."))
    installation().accounts.require_admin(user)
    return user


def engine() -> RAGEngine:
    """Return the current user's engine for the open collection."""
    try:
        return _engine_of(collection())
    except errors.NotFoundError:  # no longer shared
        st.session_state.pop(COLLECTION, None)
        return own_engine()


def own_engine() -> RAGEngine:
    """Return the engine of the current user's own documents, whichever collection is open."""
    return _engine_of(types.DEFAULT_INDEX)


def _engine_of(name: str) -> RAGEngine:
    """Return the current user's engine for a collection.

    The login is checked at each call. The engine is made once in a run of the page, so that the end of a share is
    noticed by the next click, and again after `CHECK_SECONDS`, because a thread may serve several runs.
    """
    user = user_id()
    if user is None:
        st.stop()
    key, now = (installation(), user, request_origin(), name), time.monotonic()
    engines: dict[object, tuple[float, RAGEngine]] = getattr(_run, "engines", {})
    engines = {other: made for other, made in engines.items() if now - made[0] < CHECK_SECONDS}
    if key not in engines:
        if installation().config.rag_worker:
            worker.keep_running()
        engines[key] = (now, installation().for_user(user, request_origin()).for_collection(name))
    _run.engines = engines
    return engines[key][1]


def read_only_reason() -> str | None:
    """Return why the open collection cannot be changed; None if it can."""
    return None if engine().may_write else _("This collection is shared with you for reading only.")


def collection() -> str:
    """Return the open collection: the default one, or the id of another own or shared one."""
    return str(st.session_state.get(COLLECTION, types.DEFAULT_INDEX))


def collection_of(index_id: uuid.UUID) -> str:
    """Return how `open_collection` names an own or shared index."""
    default = next((index.id for index in own_engine().indexes.list() if index.name == types.DEFAULT_INDEX), None)
    return types.DEFAULT_INDEX if index_id == default else str(index_id)


def open_collection(index_id: str) -> None:
    """Open a collection and close what was open in the previous one."""
    st.session_state[COLLECTION] = index_id
    for name in ("viewing", "scope", "source-search", "last-chat"):
        st.session_state.pop(name, None)
    st.query_params.clear()


def request_origin() -> types.RequestOrigin:
    """Return where the current user comes from, for the audit log."""
    return types.RequestOrigin("app", str(st.context.ip_address or ""))
