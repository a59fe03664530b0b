"""Chats, matrices and cached completions."""
