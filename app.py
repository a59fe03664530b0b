"""The Streamlit app: `streamlit run app.py`."""

import streamlit as st

from rag.ui.page_frame import MORE_PAGES, PAGES

# No icons here: the browser would fetch a page's icon from a font service to show it in its tab.
titles = {path: title for title, (path, _icon) in [*PAGES.items(), *MORE_PAGES.items()]}
titles |= {"pages/upload.py": "Upload", "pages/shared.py": "Shared with you"}
st.navigation([st.Page(path, title=title) for path, title in titles.items()], position="hidden").run()
