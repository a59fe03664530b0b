"""Accept files that are dropped or pasted anywhere on a page."""

import streamlit as st

from rag.ui.components import component


def catch() -> None:
    """Send files that are dropped or pasted anywhere on the page to its first upload field."""
    with st.container(key="drops"):
        component("drops")(key="drops-anywhere")
