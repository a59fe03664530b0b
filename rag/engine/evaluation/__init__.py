"""Evaluation of retrieval and answers."""
