"""Storage: rows in PostgreSQL with pgvector, and files in any file system."""
