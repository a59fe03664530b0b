"""The status page for administrators."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import status
from rag.ui.language import N_, _

page_frame.page(N_("Status"))
st.header(_("Status"), anchor=False)
with page_frame.error_boundary():
    status.overview()
