"""Cache results for an index until the index changes."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from rag.ui import session

Result = TypeVar("Result")


def cached_for_index(name: str, make: Callable[[], Result]) -> Result:
    """Return the result of `make`, called again only after the index changed or another was opened.

    The cache is in the session, so nobody else sees it; access to the index is checked each time.
    """
    stamp = (session.user_id(), session.engine().statistics.stamp())
    kept = st.session_state.get(f"kept-{name}")
    if kept is None or kept[0] != stamp:
        kept = st.session_state[f"kept-{name}"] = (stamp, make())
    result: Result = kept[1]
    return result
