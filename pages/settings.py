"""The settings page: language, models and API keys."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import settings
from rag.ui.language import N_, _

page_frame.page(N_("Settings"))
st.header(_("Settings"), anchor=False)
with page_frame.error_boundary():
    settings.languages()
    settings.require_administrator()
    servers = settings.find_servers()
    left, right = st.columns(2, gap="medium")
    with left:
        settings.answer_model(servers)
        settings.embedding_model(servers)
    with right:
        settings.model_servers(servers)
        settings.keys()
