"""Who is asking, and the engine that answers them."""

import threading
import time

import streamlit as st

from rag import answering, errors, lazy_imports, retrieval, worker
from rag.access import oidc_claims, permissions
from rag.engine import Installation, RAGEngine
from rag.types import DEFAULT_INDEX, LOCAL_USER, Account, Identity, Whence
from rag.ui.language import _
from rag.ui.viewer import page_server

COLLECTION = "collection-id"
CHECK_SECONDS = 2.0
"""How long an ended login goes on at most: it is asked about once for all that a page does at the same time."""
CHECKED = "login-checked"
"""Where a session keeps which login was open, and when it was asked."""

TICKET = "reading-ticket"

_given: list[Installation] = []


def use(installation: Installation) -> None:
    """Let the pages work with an installation that this process has opened already."""
    _given.append(installation)


@st.cache_resource(show_spinner="Starting the database and the models …")
def shared() -> Installation:
    """What the sessions of this process share; only `engine` hands it out, bound to a user.

    What asking takes is loaded meanwhile: the first page is shown before that, and the first question finds it there.
    """
    threading.Thread(target=lazy_imports.load, args=(retrieval, answering), name="loading", daemon=True).start()
    return _given[-1] if _given else Installation()


def has_login() -> bool:
    """Whether people log in (OpenID Connect): `.streamlit/secrets.toml` has an `[auth]` section."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def is_for_users() -> bool:
    """Whether the present page is for whoever logs in: also where only the login itself tells."""
    return has_login() or "is_logged_in" in st.user.to_dict()


def providers() -> list[str]:
    """The names of the providers that people choose among; none where there is only one, which has no name."""
    given = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    return [] if "client_id" in given else [name for name, value in given.items() if hasattr(value, "keys")]


def login() -> Identity | None:
    """The login of this browser as its cookie has it, open or not; None where nobody is logged in.

    Raises:
        errors.AuthError: the provider does not say who it is.
    """
    user = st.user.to_dict()
    return oidc_claims.identity(user, shared().config) if user.get("is_logged_in") else None


def user_id() -> str | None:
    """The present user; None when a login is configured and nobody is logged in, or the login has ended.

    Raises:
        errors.AuthError: the provider does not say who it is.
        errors.StoreError: the database cannot be reached.
    """
    if not is_for_users():
        return LOCAL_USER
    user = login()
    return user.user_id if user and _is_open(user) else None


def _is_open(user: Identity) -> bool:
    """Whether a login goes on: the cookie lives longer, and cannot be taken back."""
    checked = st.session_state.get(CHECKED)
    if checked and checked[0] == user.login_id and time.monotonic() - checked[1] < CHECK_SECONDS:
        return True
    is_open = shared().logins.by(user.user_id, whence()).open(user)
    st.session_state[CHECKED] = (user.login_id, time.monotonic()) if is_open else None
    return is_open


def account() -> Account:
    """The account of the present user, with the role in force."""
    return shared().accounts.get(user_id() or LOCAL_USER)


def ticket() -> str:
    """What the browser of this session shows at the door of the viewer."""
    who = user_id() or LOCAL_USER
    issued = page_server.given.issue(who, login() if is_for_users() else None, whence(), st.session_state.get(TICKET))
    st.session_state[TICKET] = issued
    return issued


def log_out() -> None:
    """End this login, for every tab and every copy of its cookie; then the provider's own, where it can be."""
    user = login()
    if user:
        shared().logins.by(user.user_id, whence()).end(user.user_id, user.login_id)
    st.session_state.clear()
    st.logout()


def may_administer() -> bool:
    """Whether the present user may change what is set for all."""
    user = user_id()
    return user is not None and permissions.role_of(shared(), user).may_administer


def require_admin() -> str:
    """The present user's id, asked anew for each action of an admin's.

    Raises:
        errors.ForbiddenError: the present user is no admin.
    """
    user = user_id()
    if user is None:
        raise errors.ForbiddenError(_("The login has ended. Log in again."))
    permissions.require_admin(shared(), user)
    return user


def engine() -> RAGEngine:
    """The engine of the present user, over connections and models that all sessions share."""
    user = user_id()
    if user is None:
        st.stop()
    installation = shared()
    if installation.config.rag_worker:
        worker.keep_running()
    own = installation.for_user(user, whence())
    try:
        return own.access.collection(collection())
    except errors.NotFoundError:  # it is not shared any more
        leave()
        return own


def own_engine() -> RAGEngine:
    """The engine of the present user's own documents, whichever collection is looked at."""
    user = user_id()
    if user is None:
        st.stop()
    return shared().for_user(user, whence())


def refusal() -> str | None:
    """Why the collection that is looked at cannot be changed; None if it can."""
    return None if engine().access.may_write else _("This collection is shared with you for reading only.")


def collection() -> str:
    """The collection that is looked at: the default one, or the id of another, own or shared."""
    return str(st.session_state.get(COLLECTION, DEFAULT_INDEX))


def enter(index_id: str) -> None:
    """Look at another collection from now on; what was open of the one before is closed."""
    st.session_state[COLLECTION] = index_id
    for name in ("viewing", "scope", "kept-scope", "last-chat"):
        st.session_state.pop(name, None)
    st.query_params.clear()


def leave() -> None:
    """Look at one's own documents again."""
    st.session_state.pop(COLLECTION, None)


def whence() -> Whence:
    """What the audit tells of where the present user is."""
    return Whence("app", str(st.context.ip_address or ""))
