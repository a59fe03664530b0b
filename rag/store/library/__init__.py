"""Rows of documents, collections and what users keep with them."""
