"""Passages split into sentences, headings and table rows that can be quoted."""
