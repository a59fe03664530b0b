"""The Streamlit app: `streamlit run app.py`."""

import streamlit as st

# No icons here: the browser would fetch a page's icon from a font service to show it in its tab.
st.navigation(
    [
        st.Page("pages/chat.py", title="Chat", default=True),
        st.Page("pages/upload.py", title="Upload"),
        st.Page("pages/library.py", title="Library"),
        st.Page("pages/shared.py", title="Shared with you"),
        st.Page("pages/matrix.py", title="Matrix"),
        st.Page("pages/index.py", title="Index"),
        st.Page("pages/audit.py", title="Audit"),
        st.Page("pages/settings.py", title="Settings"),
        st.Page("pages/admin.py", title="Admin"),
        st.Page("pages/status.py", title="Status"),
    ],
    position="hidden",
).run()
