"""Two columns with a draggable divider; on a phone the second opens as a sheet."""

import streamlit as st

from rag.ui.components import component


def resizable(name: str = "", *, up: str | None = None) -> None:
    """Make the surrounding columns resizable; call it in the first one.

    The browser remembers the widths for each `name`. On a phone, clicking a citation or a change of `up` opens the
    second column.
    """
    with st.container(key="splitter"):
        component("split")(key="split", data={"name": name, "up": up})
