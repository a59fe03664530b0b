"""Search and question answering."""
