"""The engine: what one user can do, and what all users of an installation share."""

from rag.engine.engine import Installation, RAGEngine, check_backup
from rag.engine.users.audit_log import to_csv

__all__ = ["Installation", "RAGEngine", "check_backup", "to_csv"]
