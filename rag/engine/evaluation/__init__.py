"""Evaluation of retrieval and answers, and validation of retrieval."""
