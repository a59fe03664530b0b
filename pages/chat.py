"""The chat page: its sources, questions with answers, and their documents."""

import streamlit as st

from rag.ui import components, page_frame
from rag.ui.chat import conversation, conversation_list, document_scope
from rag.ui.language import N_
from rag.ui.viewer import citation_viewer

page_frame.page(N_("Chat"))
with page_frame.error_boundary():
    citation_viewer.open_linked_collection()
    conversation_list.restore_last_chat()
    sources = document_scope.read_sources()
    ready = [document.id for document in sources.documents if document.searchable]
    with st.sidebar:
        conversation_list.conversations()
    if not ready:
        document_scope.no_documents()
        st.stop()
    citation_viewer.show_first_citation(conversation_list.conversation_id())
    with st.container(horizontal=True, wrap=False, gap="small", key="chat-and-sources"):
        scope = document_scope.choose_sources(sources)
        left, right = st.container(gap=None).columns([5, 6], gap="medium")
    with left:
        components.resizable_columns()
        document_scope.sources_button()
        if scope.first is None and not conversation_list.conversation_id():
            document_scope.no_documents(scope.asked)
            st.stop()
        first = scope.first or ready[0]
        refusal = document_scope.refusal(sources, scope)
        conversation.transcript(scope.asked, first, is_alone=scope.is_alone, refusal=refusal)
    with right:
        citation_viewer.viewer(first)
