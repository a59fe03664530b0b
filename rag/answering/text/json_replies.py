"""Replies of language models in JSON: the schemas that vendors take, and reading what comes."""

import json
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


def read_object(reply: str) -> dict[str, Any]:
    """Return the object in a reply, also between other words; an empty one if there is none."""
    try:
        read = json.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def read_list(reply: str, name: str) -> list[Any]:
    """Return the list of that name in the object of a reply, of one that was cut off its complete items; else []."""
    read = read_object(reply).get(name)
    if isinstance(read, list):
        return read
    try:
        begun = pydantic_core.from_json(reply[reply.find("{") :], allow_partial=True)
    except ValueError:
        return []
    items = begun.get(name) if isinstance(begun, dict) else None
    return items[:-1] if isinstance(items, list) else []
