"""Who is asking, and the engine that answers them."""

import streamlit as st

from rag.engine import RAGEngine

LOCAL_USER = "local"
"""The single user of an app without a login."""


@st.cache_resource(show_spinner="Starting the database and the models …")
def _shared_engine() -> RAGEngine:
    return RAGEngine()


def user_id() -> str | None:
    """The present user; None when a login is configured and nobody is logged in.

    A login is on when `.streamlit/secrets.toml` has an `[auth]` section (OpenID Connect). Subjects are unique
    per issuer only, so both make the id.
    """
    user = st.user.to_dict()
    if "is_logged_in" not in user:
        return LOCAL_USER
    return f"{user['iss']}|{user['sub']}" if user["is_logged_in"] else None


def engine() -> RAGEngine:
    """The engine of the present user, over connections and models that all sessions share."""
    user = user_id()
    if user is None:
        st.stop()
    return _shared_engine().for_user(user)
