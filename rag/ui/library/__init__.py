"""Library pages: documents, uploads, trash and sharing."""
