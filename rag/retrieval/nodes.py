"""Convert hits to LlamaIndex nodes and back."""

import uuid
from collections.abc import Iterable

from llama_index.core import schema

from rag import types

UNKNOWN_ORIGIN = types.Rect(0.0, 0.0, 0.0, 0.0)
"""The box of a line with unknown position."""


class HitNode(schema.TextNode):
    """A LlamaIndex node of a hit; its text is that of the passage."""

    hit: types.Hit

    @classmethod
    def of(cls, hit: types.Hit) -> schema.NodeWithScore:
        """Return the node of a hit; language models see only file name and page of its metadata."""
        metadata = {
            "document_id": str(hit.chunk.document_id),
            "file_name": hit.document_name,
            "mime_type": hit.mime_type,
            "page_number": hit.passage.page_number,
            "line_start": hit.passage.line_start,
            "line_end": hit.passage.line_end,
            "section": hit.chunk.section,
        }
        fields = {
            "id_": str(hit.chunk.id),
            "hit": hit,
            "text": hit.passage.text,
            "metadata": metadata,
            # New lists for each node, since callers may change them.
            "excluded_embed_metadata_keys": [*_PLACE],
            "excluded_llm_metadata_keys": [*_UNSAID],
            "relationships": {},
        }
        # A copy is not checked again and costs a third of a new node; a search makes forty.
        return schema.NodeWithScore(node=_BLANK.model_copy(update=fields), score=hit.final_score)

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the component."""
        return "HitNode"


_PLACE = ("document_id", "file_name", "mime_type", "page_number", "line_start", "line_end", "section")
_UNSAID = tuple(key for key in _PLACE if key not in ("file_name", "page_number"))
_BLANK = HitNode.model_construct()  # type: ignore[call-arg]  # each of its copies has a hit


def to_hits(nodes: Iterable[schema.NodeWithScore]) -> tuple[types.Hit, ...]:
    """Return the hits of nodes in order, each with its node's score."""
    hits = []
    for found in nodes:
        score = found.score or 0.0
        if not isinstance(found.node, HitNode):
            hits.append(_foreign(found.node, score))
        elif found.node.hit.final_score == score:
            hits.append(found.node.hit)
        else:
            hits.append(found.node.hit.model_copy(update={"final_score": score}))
    return tuple(hits)


def _foreign(node: schema.BaseNode, score: float) -> types.Hit:
    """Return a hit for a node of another retriever, whose text has no known boxes."""
    name = str(node.metadata.get("file_name") or node.node_id)
    page = str(node.metadata.get("page_number") or node.metadata.get("page_label"))
    number = max(int(page), 1) if page.isdecimal() else 1
    texts = node.get_content(metadata_mode=schema.MetadataMode.NONE).split("\n")
    lines = tuple(
        types.Line(number=place, page_number=number, bbox=UNKNOWN_ORIGIN, text=text, starts_block=place == 1)
        for place, text in enumerate(texts, start=1)
    )
    document_id, chunk_id = (uuid.uuid5(uuid.NAMESPACE_OID, key) for key in (node.ref_doc_id or name, node.node_id))
    return types.Hit(
        chunk=types.Chunk(id=chunk_id, document_id=document_id, ordinal=0, lines=lines),
        passage=types.Passage(document_id=document_id, lines=lines),
        document_name=name,
        mime_type=str(node.metadata.get("mime_type") or "text/plain"),
        final_score=score,
    )
