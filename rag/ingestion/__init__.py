"""From files to chunks."""

from rag.ingestion.chunking import document_heading, flowing_text, search_text, split_blocks
from rag.ingestion.embedding import embed_cached
from rag.ingestion.pipeline import Ingestion, from_blocks

__all__ = [
    "Ingestion",
    "document_heading",
    "embed_cached",
    "flowing_text",
    "from_blocks",
    "search_text",
    "split_blocks",
]
