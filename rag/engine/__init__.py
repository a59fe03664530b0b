"""The facade: one engine per user over resources that a process shares."""

from rag.engine.base import LOCAL_USER
from rag.engine.engine import RAGEngine
from rag.engine.resources import Resources

__all__ = ["LOCAL_USER", "RAGEngine", "Resources"]
