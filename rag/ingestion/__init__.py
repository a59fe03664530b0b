"""From files to chunks."""

from rag.ingestion.chunking import document_heading, flowing_text, search_text, split_blocks
from rag.ingestion.nodes import BlockNodeParser, ChunkNode, FileDocument
from rag.ingestion.pipeline import Ingestion, OnParts, from_blocks

__all__ = [
    "BlockNodeParser",
    "ChunkNode",
    "FileDocument",
    "Ingestion",
    "OnParts",
    "document_heading",
    "flowing_text",
    "from_blocks",
    "search_text",
    "split_blocks",
]
