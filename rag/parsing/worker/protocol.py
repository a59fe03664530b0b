"""Encode and decode the messages of parsing processes: one JSON object per line."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

from rag import errors, types
from rag.parsing.metadata import Metadata
from rag.parsing.pdf.pages import PageContent
from rag.parsing.pdf.text_lines import RawBlock, RawLine

SIZE_BYTES = 4
"""Bytes of a request's length prefix."""

_ERRORS = {
    error.code: error
    for error in (
        errors.PasswordError,
        errors.ReadingInterruptedError,
        errors.StoreError,
        errors.UnreadableFileError,
        errors.UnsupportedFileError,
    )
}


def dump(message: dict[str, Any]) -> bytes:
    """Encode a message as a line."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def dump_page(content: PageContent) -> bytes:
    """Encode a parsed page."""
    return dump({"page": [content.info.model_dump(), content.blocks, content.has_grid]})


def load_page(value: Any) -> PageContent:
    """Decode a page."""
    info, blocks, has_grid = value
    return PageContent(types.PageInfo(**info), [_load_block(block) for block in blocks], has_grid=has_grid)


def _load_block(value: Any) -> RawBlock:
    kind, lines, size, bold, columns = value
    return RawBlock(
        types.BlockKind(kind), [*map(_load_line, lines)], size, bold, tuple((left, right) for left, right in columns)
    )


def _load_line(value: Any) -> RawLine:
    box, text, _, _, cells, is_head, label = value
    return RawLine(
        types.Rect(*box), text, cells=tuple(types.TableCell(*cell) for cell in cells), is_head=is_head, label=label
    )


def dump_metadata(metadata: Metadata) -> bytes:
    """Encode metadata, the last message."""
    return dump({"metadata": [metadata.title, metadata.author, metadata.dated and metadata.dated.isoformat()]})


def load_metadata(value: Any) -> Metadata:
    """Decode metadata."""
    title, author, dated = value
    return Metadata(title, author, dated and dt.date.fromisoformat(dated))


def dump_parts(parts: Sequence[types.UnpackedPart]) -> bytes:
    """Encode the files found in a file."""
    return dump({"parts": [part.model_dump(mode="json") for part in parts]})


def load_parts(value: Any) -> tuple[types.UnpackedPart, ...]:
    """Decode the files found in a file."""
    return tuple(types.UnpackedPart(**part) for part in value)


def dump_error(error: errors.Error) -> bytes:
    """Encode an error."""
    return dump({"error": [error.code, error.message, dict(error.details)]})


def load_error(value: Any) -> errors.Error:
    """Decode an error."""
    code, message, details = value
    return _ERRORS.get(code, errors.UnreadableFileError)(message, details=details)
