"""The documents of a user: files, versions, pages and chunks."""
