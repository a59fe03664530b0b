"""Ingestion: parse files, split them into chunks, embed and store these."""

from typing import TYPE_CHECKING

from rag import lazy_imports

if TYPE_CHECKING:
    from rag.ingestion.chunking import document_heading, flowing_text, search_text, split_blocks
    from rag.ingestion.nodes import BlockNodeParser, ChunkNode, FileDocument
    from rag.ingestion.pipeline import FRONT_PAGES, Ingestion, Reading, from_blocks, identifying_text
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "nodes": ("BlockNodeParser", "ChunkNode", "FileDocument"),
            "pipeline": ("FRONT_PAGES", "Ingestion", "Reading", "from_blocks", "identifying_text"),
        },
    )

__all__ = [
    "FRONT_PAGES",
    "BlockNodeParser",
    "ChunkNode",
    "FileDocument",
    "Ingestion",
    "Reading",
    "document_heading",
    "flowing_text",
    "from_blocks",
    "identifying_text",
    "search_text",
    "split_blocks",
]
