"""Our search as a LlamaIndex retriever, for those who build on LlamaIndex."""

from collections.abc import Callable

from llama_index.core import schema
from llama_index.core.base.base_retriever import BaseRetriever

from rag.types import Hit


class HybridRetriever(BaseRetriever):
    """Hands on passages as nodes; `search` takes a query and gives hits, best first (for one user, in one scope)."""

    def __init__(self, search: Callable[[str], tuple[Hit, ...]]) -> None:
        self._search = search
        super().__init__()

    def _retrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
        return [to_node(hit) for hit in self._search(query_bundle.query_str)]


def to_node(hit: Hit) -> schema.NodeWithScore:
    """A hit's passage as a node; where it stands is in the metadata, which embedders and models do not see."""
    metadata = {
        "document_id": str(hit.chunk.document_id),
        "file_name": hit.document_name,
        "mime_type": hit.mime_type,
        "page_number": hit.passage.page_number,
        "line_start": hit.passage.line_start,
        "line_end": hit.passage.line_end,
        "section": hit.chunk.section,
    }
    node = schema.TextNode(
        id_=str(hit.chunk.id),
        text=hit.passage.text,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[key for key in metadata if key not in ("file_name", "page_number")],
    )
    return schema.NodeWithScore(node=node, score=hit.final_score)
