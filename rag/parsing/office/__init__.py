"""Office documents (DOCX, ODT, RTF, EPUB): reading, and conversion to PDF."""
