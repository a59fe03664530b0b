"""The views of the index page: statistics, chunks, search and evaluation."""
