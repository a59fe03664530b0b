"""Replies of language models in JSON: the schemas that vendors take, and reading what comes."""

import contextlib
import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

import pydantic_core

TEXT: Mapping[str, Any] = {"type": "string"}
INTEGER: Mapping[str, Any] = {"type": "integer"}


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these properties, all of them and no other, as strict schemas need it."""
    return {
        "type": "object",
        "properties": {**properties},
        "required": [*properties],
        "additionalProperties": False,
    }


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


_BEGIN = re.compile(r"\{|\[\s*+\{")
_DECODER = json.JSONDecoder()
MAX_BEGINNINGS = 20
"""Brackets of a reply that may begin its object; others stand in words before it."""


def _read(reply: str) -> tuple[Any, bool]:
    """Return the first object, or list of objects, in a reply, as far as it goes, and whether it is whole."""
    for begin in itertools.islice(_BEGIN.finditer(reply), MAX_BEGINNINGS):
        try:
            return _DECODER.raw_decode(reply, begin.start())[0], True
        except (ValueError, RecursionError):
            pass
        with contextlib.suppress(ValueError):
            return pydantic_core.from_json(reply[begin.start() :], allow_partial=True), False
    return None, False


def read_object(reply: str) -> dict[str, Any]:
    """Return the object in a reply, also between other words or alone in a list; an empty one if there is none."""
    read, is_whole = _read(reply)
    if isinstance(read, list) and len(read) == 1:
        (read,) = read
    return read if is_whole and isinstance(read, dict) else {}


def read_list(reply: str, name: str) -> list[Any]:
    """Return the list of that name in a reply, or the list that it is, of one that was cut off its complete items."""
    read, is_whole = _read(reply)
    items = read.get(name) if isinstance(read, dict) else read
    if not isinstance(items, list):
        return []
    return items if is_whole else items[:-1]


def is_cut_off(reply: str) -> bool:
    """Return whether a reply ends within its object or list."""
    read, is_whole = _read(reply)
    return bool(read) and not is_whole
