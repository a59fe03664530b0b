"""The facade: one engine per user over resources that a process shares."""

from rag.engine.engine import RAGEngine
from rag.engine.resources import Resources

__all__ = ["RAGEngine", "Resources"]
