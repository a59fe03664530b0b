"""Answers extracted word for word, without a language model."""
