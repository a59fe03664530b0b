"""The admin page: users, API keys and jobs."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import users
from rag.ui.language import N_, _

page_frame.page(N_("Admin"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Admin"), anchor=False, width="content")
    views = {N_("Users"): users.users, N_("Keys"): users.keys, N_("Jobs"): users.jobs}
    view = page_frame.choose_view(views)
with page_frame.error_boundary():
    users.require_administrator()
    view()
