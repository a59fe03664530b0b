"""The models that write and embed, and the keys of their vendors."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import settings
from rag.ui.language import N_, _

page_frame.page(N_("Settings"))
st.header(_("Settings"), anchor=False)
with page_frame.door():
    settings.languages()
    settings.require_administrator()
    servers = settings.look_for_servers()
    left, right = st.columns(2, gap="medium")
    with left:
        settings.writer(servers)
        settings.embedder(servers)
    with right:
        settings.found(servers)
        settings.keys()
