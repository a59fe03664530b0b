"""The models that write and embed, and the keys of their vendors."""

import streamlit as st

from rag.ui import frame, settings

frame.page("Settings")
st.header("Settings", anchor=False)
with frame.door():
    settings.require_administrator()
    servers = settings.look_for_servers()
    left, right = st.columns(2, gap="medium")
    with left:
        settings.writer(servers)
        settings.embedder(servers)
    with right:
        settings.found(servers)
        settings.keys()
