"""How the parsing process and its parent talk: one JSON object per line."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

from rag import errors
from rag.parsing.metadata import Metadata
from rag.parsing.pdf.pages import PageContent
from rag.parsing.pdf.text_lines import RawBlock, RawLine
from rag.types import BlockKind, PageInfo, Rect, UnpackedPart

SIZE_BYTES = 4
"""A request comes after its length, so that who reads it takes nothing of what comes behind."""

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
    """One message as a line."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def dump_page(content: PageContent) -> bytes:
    """A parsed page as a line."""
    return dump({"page": [content.info.model_dump(), content.blocks, content.has_grid]})


def load_page(value: Any) -> PageContent:
    """The page that `dump_page` wrote."""
    info, blocks, has_grid = value
    return PageContent(PageInfo(**info), [_load_block(block) for block in blocks], has_grid=has_grid)


def _load_block(value: Any) -> RawBlock:
    kind, lines, size, bold = value
    return RawBlock(BlockKind(kind), [RawLine(Rect(*box), text) for box, text in lines], size, bold)


def dump_metadata(said: Metadata) -> bytes:
    """What a file says of itself as a line, the last of all."""
    return dump({"metadata": [said.title, said.author, said.dated and said.dated.isoformat()]})


def load_metadata(value: Any) -> Metadata:
    """What `dump_metadata` wrote."""
    title, author, dated = value
    return Metadata(title, author, dated and dt.date.fromisoformat(dated))


def dump_parts(parts: Sequence[UnpackedPart]) -> bytes:
    """What became of the files in a file, as a line."""
    return dump({"parts": [part.model_dump(mode="json") for part in parts]})


def load_parts(value: Any) -> tuple[UnpackedPart, ...]:
    """The parts that `dump_parts` wrote."""
    return tuple(UnpackedPart(**part) for part in value)


def dump_error(error: errors.Error) -> bytes:
    """An error as a line."""
    return dump({"error": [error.code, error.message, dict(error.details)]})


def load_error(value: Any) -> errors.Error:
    """The error that `dump_error` wrote."""
    code, message, details = value
    return _ERRORS.get(code, errors.UnreadableFileError)(message, details=details)
