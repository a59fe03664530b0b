"""Parsing in separate processes, so that a file that crashes or hangs costs one error."""
