"""The chat page: questions, answers and their documents."""

import streamlit as st

from rag.ui import components, page_frame
from rag.ui.chat import conversation, conversation_list, document_scope
from rag.ui.language import N_
from rag.ui.viewer import citation_viewer

page_frame.page(N_("Chat"))
with page_frame.error_boundary():
    citation_viewer.open_linked_collection()
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
        scope = document_scope.choose_scope(documents)
        ready = [document.id for document in documents]
        first = next((document_id for document_id in scope or ready if document_id in ready), None)
        if first is None:
            document_scope.no_documents(scope)
            st.stop()
        document_scope.still_reading(scope)
        conversation.transcript(scope, first, is_alone=len(scope) == 1 or len(ready) == 1)
    with right:
        citation_viewer.viewer(first)
