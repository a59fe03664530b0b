"""The page of `viewers_page.py`, and beside it the door that our viewer asks: `streamlit run viewers_app.py`."""

import streamlit as st
from starlette.routing import Mount

from rag.engine import Installation
from rag.ui import reading, session

installation = Installation()
session.use(installation)
app = st.App("viewers_page.py", routes=[Mount(reading.PATH, reading.create_door(installation))])
