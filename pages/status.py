"""How the installation is, for those who run it."""

import streamlit as st

from rag.ui import frame, status
from rag.ui.language import N_, _

frame.page(N_("Status"))
st.header(_("Status"), anchor=False)
with frame.door():
    status.overview()
