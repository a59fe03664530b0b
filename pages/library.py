"""The documents: look, delete, restore."""

import streamlit as st

from rag.ui import frame, library, sharing, trash
from rag.ui.language import N_, _

frame.page(N_("Library"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Library"), anchor=False, width="content")
    views = {N_("Documents"): library.documents, N_("Trash"): trash.trash}
    view = st.segmented_control(
        _("View"), list(views), default="Documents", label_visibility="collapsed", required=True, format_func=_
    )
    with frame.door():
        sharing.offer_sharing()
with frame.door():
    views[view or "Documents"]()
