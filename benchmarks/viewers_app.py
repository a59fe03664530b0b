"""The page of `viewers_page.py` with the page server of our viewer: `streamlit run viewers_app.py`."""

import streamlit as st
from starlette.routing import Mount

from rag.engine import Installation
from rag.ui import session
from rag.ui.viewer import page_server

installation = Installation()
session.use_installation(installation)
app = st.App("viewers_page.py", routes=[Mount(page_server.PATH, page_server.create_app(installation))])
