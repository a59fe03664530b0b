"""The facade: one engine per user over what an installation shares."""

from rag.engine.engine import Installation, RAGEngine, check_backup
from rag.engine.users.audit_log import to_csv

__all__ = ["Installation", "RAGEngine", "check_backup", "to_csv"]
