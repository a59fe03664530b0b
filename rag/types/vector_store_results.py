"""What `RAGEngine.query` gives: chunks by cosine similarity, in the words of vector stores."""

from typing import Any

from rag.types.search import Hit
from rag.types.text import Model


class RetrievedChunk(Model):
    """A chunk's text and where it comes from.

    `metadata` has `source_file` (the path or URL the document was taken in from, else its name), `document_id`,
    `chunk_id`, `file_name`, `mime_type`, `page_number`, `line_start`, `line_end` and `section`.
    """

    content: str
    metadata: dict[str, Any]


class RetrievalResult(Model):
    """A found chunk, its cosine similarity in 0..1, and its rank from 1."""

    chunk: RetrievedChunk
    similarity_score: float
    rank: int

    @classmethod
    def of(cls, hit: Hit, rank: int) -> "RetrievalResult":
        """A hit in these words."""
        chunk = hit.chunk
        metadata = {
            "source_file": hit.source or hit.document_name,
            "document_id": str(chunk.document_id),
            "chunk_id": str(chunk.id),
            "file_name": hit.document_name,
            "mime_type": hit.mime_type,
            "page_number": chunk.page_number,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
            "section": chunk.section,
        }
        content = RetrievedChunk(content=chunk.text, metadata=metadata)
        return cls(chunk=content, similarity_score=hit.vector_score or 0.0, rank=rank)
