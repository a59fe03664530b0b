"""Presentations (PPTX, ODP): reading, and conversion to PDF with one page per slide."""
