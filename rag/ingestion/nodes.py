"""Convert parsed files and chunks to LlamaIndex documents and nodes, and back."""

import bisect
import uuid
from collections.abc import Sequence
from typing import Any

from llama_index.core import schema
from llama_index.core.node_parser import NodeParser

from rag import errors, types
from rag.ingestion.chunking import search_text, split_blocks


class FileDocument(schema.Document):
    """A parsed file as a LlamaIndex document; its text joins all lines of `parsed`."""

    name: str
    parsed: types.ParsedDocument

    @classmethod
    def of(cls, document_id: uuid.UUID, name: str, parsed: types.ParsedDocument) -> "FileDocument":
        """Create the document of a parsed file."""
        metadata = {"file_name": name, "title": parsed.title}
        return cls(
            id_=str(document_id),
            name=name,
            parsed=parsed,
            text=types.lines_text(lines_of(parsed)),
            metadata={key: value for key, value in metadata.items() if value},
        )


def lines_of(parsed: types.ParsedDocument) -> list[types.Line]:
    """Return all lines in reading order."""
    return [line for block in parsed.blocks for line in block.to_lines()]


class ChunkNode(schema.TextNode):
    """A chunk as a LlamaIndex node; its embedded text includes the context header."""

    chunk: types.Chunk

    @classmethod
    def of(cls, chunk: types.Chunk) -> "ChunkNode":
        """Create the node of a chunk; its metadata has the position, and is not embedded."""
        metadata = {
            "page_number": chunk.page_number,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
            "bbox": [*chunk.bbox],
            "section": chunk.section,
        }
        return cls(
            id_=str(chunk.id),
            chunk=chunk,
            text=chunk.text,
            metadata=metadata,
            excluded_embed_metadata_keys=[*metadata],
            excluded_llm_metadata_keys=[*metadata],
        )

    def get_content(self, metadata_mode: schema.MetadataMode = schema.MetadataMode.NONE) -> str:
        """Return the chunk's text, in mode EMBED its search text."""
        if metadata_mode is schema.MetadataMode.EMBED:
            return search_text(self.chunk)
        return self.text


class BlockNodeParser(NodeParser):
    """A node parser that splits a `FileDocument` into chunks; see `rag.ingestion.chunking`."""

    options: types.ChunkingOptions = types.ChunkingOptions()

    def _parse_nodes(
        self, nodes: Sequence[schema.BaseNode], show_progress: bool = False, **_: Any
    ) -> list[schema.BaseNode]:
        return [node for document in nodes for node in self._cut(document)]

    def _cut(self, document: schema.BaseNode) -> list[ChunkNode]:
        if not isinstance(document, FileDocument):
            raise errors.ValidationError(
                f"BlockNodeParser cuts files that Pagelight has parsed, not a {type(document).__name__}. Use one of "
                "LlamaIndex's own node parsers."
            )
        chunks = split_blocks(
            document.parsed.blocks,
            document_id=uuid.UUID(document.id_),
            name=document.name,
            title=document.parsed.title,
            options=self.options,
        )
        nodes = [ChunkNode.of(chunk) for chunk in chunks]
        source = document.as_related_node_info()
        for node in nodes:
            node.relationships[schema.NodeRelationship.SOURCE] = source
        return nodes

    def _postprocess_parsed_nodes(
        self, nodes: list[schema.BaseNode], parent_doc_map: dict[str, schema.Document]
    ) -> list[schema.BaseNode]:
        related = [node.as_related_node_info() for node in nodes]
        for place, node in enumerate(nodes):
            if place:
                node.relationships[schema.NodeRelationship.PREVIOUS] = related[place - 1]
            if place + 1 < len(nodes):
                node.relationships[schema.NodeRelationship.NEXT] = related[place + 1]
        return nodes


def chunks_of(document: FileDocument, nodes: Sequence[schema.BaseNode]) -> list[types.Chunk]:
    """Return the chunks of a document's nodes, in order, numbered from 0.

    A node of another parser becomes a chunk of the lines that contain its text.

    Raises:
        errors.ValidationError: a node's text is not in the document.
    """
    lines = _LineOffsets(document)
    chunks = [node.chunk if isinstance(node, ChunkNode) else lines.chunk(node) for node in nodes]
    return [chunk.model_copy(update={"ordinal": ordinal}) for ordinal, chunk in enumerate(chunks)]


class _LineOffsets:
    """A document's lines by their offset in its text."""

    def __init__(self, document: FileDocument) -> None:
        self._document = document
        self._lines = lines_of(document.parsed)
        self._starts: list[int] = []
        position = 0
        for index, line in enumerate(self._lines):
            position += (2 if line.starts_block else 1) if index else 0
            self._starts.append(position)
            position += len(line.text)

    def chunk(self, node: schema.BaseNode) -> types.Chunk:
        """Return the chunk of the lines that contain a node's text."""
        text = node.get_content(metadata_mode=schema.MetadataMode.NONE)
        known = node.start_char_idx if isinstance(node, schema.TextNode) else None
        start = self._document.text.find(text) if known is None else known
        if start < 0 or not text.strip():
            raise errors.ValidationError(
                f"The node parser made a node whose text does not stand in {self._document.name}, so its place cannot "
                "be shown. Use a parser that cuts the text and does not change it."
            )
        first = bisect.bisect_right(self._starts, start) - 1
        end = bisect.bisect_left(self._starts, start + len(text))
        touched = [line for line in self._lines[first:end] if line.text.strip()]
        document_id = uuid.UUID(self._document.id_)
        return types.Chunk(id=uuid.uuid4(), document_id=document_id, ordinal=0, lines=tuple(touched))
