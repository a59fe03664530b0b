"""From what was found to an answer whose every claim is tied to the exact words of its source."""

from rag.answering.answer import EXTRACTIVE_MODEL, answer, condense, stream
from rag.answering.context import Context, Source, build_context
from rag.answering.grounding import Locate

__all__ = ["EXTRACTIVE_MODEL", "Context", "Locate", "Source", "answer", "build_context", "condense", "stream"]
