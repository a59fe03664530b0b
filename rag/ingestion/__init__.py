"""Ingestion: parse files, split them into chunks, embed and store these."""

from typing import TYPE_CHECKING

from rag import lazy_imports

if TYPE_CHECKING:
    from rag.ingestion.chunking import document_heading, flowing_text, search_text, split_blocks
    from rag.ingestion.nodes import BlockNodeParser, ChunkNode, FileDocument
    from rag.ingestion.pipeline import FRONT_PAGES, Ingestion, Reading, from_blocks, identifying_text
else:
    __getattr__ = lazy_imports.exports(__name__)
