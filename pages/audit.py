"""The audit page: who did what, when and from where."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import audit_log
from rag.ui.language import N_, _

page_frame.page(N_("Audit"))
st.header(_("Audit"), anchor=False)
with page_frame.error_boundary():
    audit_log.entries()
