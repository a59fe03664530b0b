"""Mails (EML, MSG): reading, and conversion to PDF."""
