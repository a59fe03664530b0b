"""Who is asking, and the engine that answers them."""

import streamlit as st

from rag import worker
from rag.access import administrators
from rag.engine import Installation, RAGEngine
from rag.types import LOCAL_USER

_given: list[Installation] = []


def use(installation: Installation) -> None:
    """Let the pages work with an installation that this process has opened already."""
    _given.append(installation)


@st.cache_resource(show_spinner="Starting the database and the models …")
def shared() -> Installation:
    """What the sessions of this process share; only `engine` hands it out, bound to a user."""
    return _given[-1] if _given else Installation()


def has_login() -> bool:
    """Whether people log in (OpenID Connect): `.streamlit/secrets.toml` has an `[auth]` section."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def user_id() -> str | None:
    """The present user; None when a login is configured and nobody is logged in.

    A login is on when `.streamlit/secrets.toml` has an `[auth]` section (OpenID Connect). Subjects are unique
    per issuer only, so both make the id.
    """
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        return LOCAL_USER
    return f"{user['iss']}|{user['sub']}" if user["is_logged_in"] else None


def may_administer() -> bool:
    """Whether the present user may change what is set for all."""
    user = user_id()
    return user is not None and administrators.role_of(shared(), user).may_administer


def engine() -> RAGEngine:
    """The engine of the present user, over connections and models that all sessions share."""
    user = user_id()
    if user is None:
        st.stop()
    installation = shared()
    if installation.config.rag_worker:
        worker.keep()
    return installation.for_user(user)
