"""The pages of the Streamlit app, used by `app.py` and `pages/`."""
