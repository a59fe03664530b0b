"""Chats and saved answers."""
