"""Files that are dropped anywhere on a page, or pasted, go to its field for files."""

import streamlit as st

from rag.ui.components import component


def catch() -> None:
    """Let the first field for files on the page take what is dropped beside it, and what is pasted."""
    with st.container(key="drops"):
        component("drops")(key="drops-anywhere")
