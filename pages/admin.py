"""Who works here, what they may do and what they use."""

import streamlit as st

from rag.ui import admin, frame
from rag.ui.language import N_, _

frame.page(N_("Admin"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Admin"), anchor=False, width="content")
    views = {N_("Users"): admin.users, N_("Keys"): admin.keys, N_("Jobs"): admin.jobs}
    view = st.segmented_control(
        _("View"), list(views), default="Users", label_visibility="collapsed", required=True, format_func=_
    )
with frame.door():
    admin.require()
    views[view or "Users"]()
