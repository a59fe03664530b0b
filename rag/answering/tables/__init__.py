"""Figures of tables: rows, captions and calculations."""
