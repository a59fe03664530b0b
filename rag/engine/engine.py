"""RAGEngine: everything one user can do, as the doors (app, REST, command line, worker) see it."""

from rag.engine.conversation_methods import ConversationMethods
from rag.engine.index_methods import IndexMethods
from rag.engine.key_methods import KeyMethods


class RAGEngine(IndexMethods, ConversationMethods, KeyMethods):
    """Documents in, grounded answers out, for one user.

    Everything is opened when first used. `store`, `files`, `embedders`, `llm`, `reranker` and `registry` (the known
    model providers) replace what the settings would give.
    """
