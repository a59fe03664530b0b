"""Preload slow objects into the process that `tests.forked` forks, which saves a second per process."""

from rag import parsing, vocabulary

parsing.language_identifier()
vocabulary.landmarks()
