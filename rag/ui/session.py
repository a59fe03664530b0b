"""Who is asking, and the engine that answers them."""

import subprocess

import streamlit as st

from rag import worker
from rag.engine import RAGEngine

LOCAL_USER = "local"
"""The single user of an app without a login."""
WORKER_CHECK_SECONDS = 10


@st.cache_resource(show_spinner="Starting the database and the models …")
def shared_engine() -> RAGEngine:
    """The process's engine; only `engine` hands it out, bound to a user."""
    return RAGEngine()


@st.cache_resource
def _workers() -> list[subprocess.Popen[bytes]]:
    return []


@st.cache_resource(ttl=WORKER_CHECK_SECONDS, show_spinner=False)
def _keep_a_worker() -> None:
    """See that this process has a worker that reads documents; it ends with this process."""
    workers = _workers()
    if not workers or workers[-1].poll() is not None:
        workers.append(worker.spawn())


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
    shared = shared_engine()
    if shared.config.rag_worker:
        _keep_a_worker()
    return shared.for_user(user)
