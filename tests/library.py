"""Documents in an engine's library."""

import uuid

from rag.engine import RAGEngine


def add(engine: RAGEngine, content: bytes, name: str) -> uuid.UUID:
    """Add a document, read it at once, and return its id."""
    return engine.documents.process(engine.documents.add(content, name, enqueue=False).id).id
