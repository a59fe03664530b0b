"""Two columns whose widths are the reader's to choose; on a phone the second, with a document, comes as a sheet."""

import streamlit as st

from rag.ui.components import component


def resizable(name: str = "", *, up: str | None = None) -> None:
    """Make the columns that this is called in the first of resizable; the browser remembers how they were left.

    It does so for each `name` by itself. On a phone a click on a citation brings the second column up, and so does
    another `up` than before.
    """
    with st.container(key="splitter"):
        component("split")(key="split", data={"name": name, "up": up})
