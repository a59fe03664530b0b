"""Serve the app, its PDF viewer and, below /api, the REST API on one port: `streamlit run server.py`."""

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount

from rag import worker
from rag.api import create_app
from rag.engine import Installation
from rag.foreign_pages import ForeignPageGuard
from rag.ui import page_frame, session
from rag.ui.viewer import page_server

installation = Installation()
session.use_installation(installation)
if installation.config.rag_worker:
    worker.keep_running()  # so that uploads by the API are read before anybody opens the app
api = create_app(installation, needs_key=session.has_login())

routes = [Mount("/api", api), Mount(page_server.PATH, page_server.create_app(installation))]
# The cookie of a login is bound to its host, so another host name only shows the login page.
hosts = installation.config.allowed_hosts or (None if session.has_login() else ())
guard = Middleware(ForeignPageGuard, hosts=hosts, origins=st.get_option("server.corsAllowedOrigins"))
app = st.App("app.py", routes=routes, middleware=[guard], on_script_error=page_frame.show_error)
