"""Answers written by a language model or composed from extracts."""
