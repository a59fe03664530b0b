"""Chunks and their dense and lexical search."""
