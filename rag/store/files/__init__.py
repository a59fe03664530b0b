"""File storage and its cleanup."""
