"""Serve the app, its PDF viewer and, below /api, the REST API on one port: `streamlit run server.py`."""

import streamlit as st
from starlette.routing import Mount

from rag import worker
from rag.api import create_app
from rag.engine import Installation
from rag.ui import page_frame, session
from rag.ui.viewer import page_server

installation = Installation()
session.use_installation(installation)
if installation.config.rag_worker:
    worker.keep_running()  # so that uploads by the API are read before anybody opens the app
api = create_app(installation, needs_key=session.has_login())

routes = [Mount("/api", api), Mount(page_server.PATH, page_server.create_app(installation))]
app = st.App("app.py", routes=routes, on_script_error=page_frame.show_error)
