"""RAGEngine: everything one user can do, as the doors (app, REST, command line, worker) see it."""

from rag.engine.conversation_methods import ConversationMethods
from rag.engine.export import ExportMethods
from rag.engine.job_methods import JobMethods
from rag.engine.key_methods import KeyMethods
from rag.engine.validation_methods import ValidationMethods


class RAGEngine(JobMethods, ValidationMethods, ConversationMethods, KeyMethods, ExportMethods):
    """Documents in, grounded answers out, for one user.

    Everything is opened when first used. `store`, `files`, `embedders`, `llm`, `reranker` and `registry` (the known
    model providers) replace what the settings would give.
    """
