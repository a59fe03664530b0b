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
    with st.spinner(_("Asking which models the keys may use …")):
        vendors = settings.vendor_models()
    left, right = st.columns(2, gap="medium")
    with left:
        settings.answer_model(servers, vendors)
        settings.embedding_model(servers, vendors)
    with right:
        settings.model_servers(servers)
        settings.keys()
