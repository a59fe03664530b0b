"""What is worked out of an index once, and kept until the index holds something else."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from rag.ui import session

Result = TypeVar("Result")


def until_changed(name: str, make: Callable[[], Result]) -> Result:
    """What `make` gives, which is called anew only when the index has changed, or another one is looked at.

    It is kept in the session, so nobody else ever sees it; whether the index may be looked at is asked each time.
    """
    stamp = (session.user_id(), session.engine().statistics.stamp())
    kept = st.session_state.get(f"kept-{name}")
    if kept is None or kept[0] != stamp:
        kept = st.session_state[f"kept-{name}"] = (stamp, make())
    result: Result = kept[1]
    return result
