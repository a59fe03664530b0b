"""What each process that tests fork would make anew, for a second: `tests.forked` has it made before."""

from rag import parsing, vocabulary

parsing.language_identifier()
vocabulary.landmarks()
