"""The app's pages: what `app.py` and `pages/` are made of."""
