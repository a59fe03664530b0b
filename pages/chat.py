"""Ask, read, and see where it stands."""

import streamlit as st

from rag.ui import chat, conversations, frame, links, scope, split, viewing
from rag.ui.language import N_

frame.page(N_("Chat"))
with frame.door():
    links.follow()
    conversations.come_back()
    documents = scope.ready_documents()
    with st.sidebar:
        conversations.conversations()
    if not documents:
        scope.nothing_to_ask()
        st.stop()
    viewing.begin(conversations.conversation_id())
    left, right = st.columns([5, 6], gap="medium")
    with left:
        split.resizable()
        asked = scope.scope(documents)
        first = asked[0] if asked else documents[0].id
        scope.still_reading(asked)
        chat.transcript(asked, first)
    with right:
        viewing.viewer(first)
