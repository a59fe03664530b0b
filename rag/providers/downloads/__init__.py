"""Download embedding models on the user's request."""
