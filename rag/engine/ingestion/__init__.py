"""Ingestion of documents and folders."""
