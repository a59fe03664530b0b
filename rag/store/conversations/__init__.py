"""Chats, evaluations, matrices and cached completions."""
