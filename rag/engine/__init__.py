"""The facade: one engine per user over what an installation shares."""

from rag.engine.auditing import to_csv
from rag.engine.engine import Installation, RAGEngine, check_backup

__all__ = ["Installation", "RAGEngine", "check_backup", "to_csv"]
