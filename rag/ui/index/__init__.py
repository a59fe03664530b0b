"""The index page: statistics, chunks, search playground and evaluation."""
