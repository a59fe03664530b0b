"""The chat page: questions, answers and their documents."""

import streamlit as st

from rag.ui import components, page_frame
from rag.ui.chat import conversation, conversation_list, document_scope
from rag.ui.language import N_
from rag.ui.viewer import citation_viewer, place_links

page_frame.page(N_("Chat"))
with page_frame.error_boundary():
    place_links.open_linked_collection()
    conversation_list.restore_last_chat()
    documents = document_scope.ready_documents()
    with st.sidebar:
        conversation_list.conversations()
    if not documents:
        document_scope.no_documents()
        st.stop()
    citation_viewer.show_first_citation(conversation_list.conversation_id())
    left, right = st.columns([5, 6], gap="medium")
    with left:
        components.resizable_columns()
        asked = document_scope.choose_scope(documents)
        askable = [document.id for document in documents if not asked or document.id in asked]
        if not askable:
            document_scope.no_documents(asked)
            st.stop()
        first = askable[0] if not asked else next(one for one in asked if one in askable)
        document_scope.still_reading(asked)
        conversation.transcript(asked, first, is_alone=len(asked) == 1 or len(documents) == 1)
    with right:
        citation_viewer.viewer(first)
