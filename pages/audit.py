"""Who did what, when and from where."""

import streamlit as st

from rag.ui import audit, frame
from rag.ui.language import N_, _

frame.page(N_("Audit"))
st.header(_("Audit"), anchor=False)
with frame.door():
    audit.entries()
