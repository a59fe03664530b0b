"""Ask a language model for the fields of a document, and read its reply."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import pydantic

from rag import prompts, types
from rag.answering.generation.context import neutralise_marks
from rag.answering.text.json_replies import INTEGER, TEXT, closed_object, list_of, read_list

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import ChatMessage

MAX_FIELDS = 20
"""Fields of one request; more are asked in further ones."""

UNTOLD = 50.0
"""The confidence, in percent, where a model tells none."""

OUTPUT_TOKENS = 8000
"""Room for the reply: twenty fields with quotes, or lists of records."""

_QUOTE = closed_object({"source": TEXT, "text": TEXT})
_CELL = closed_object({"column": TEXT, "value": TEXT})
_VALUE = {"value": TEXT, "unit": TEXT, "words": TEXT, "records": list_of(list_of(_CELL)), "quotes": list_of(_QUOTE)}
_FIELD = closed_object(
    {
        "field": INTEGER,
        **_VALUE,
        "others": list_of(closed_object(_VALUE)),
        "state": {**TEXT, "enum": ["found", "not_stated", "conflict"]},
        "confidence": INTEGER,
    }
)
REPLY_SCHEMA = closed_object({"fields": list_of(_FIELD)})
"""The reply to `prompts.FIELDS_SYSTEM`, where a server takes a schema."""


def _text(value: object) -> object:
    """Return what a model without a schema writes for a text as such: numbers, truth values, null.

    Characters that no database keeps are left out.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")
    return "" if value is None else value


def _percent(value: object) -> float:
    """Return a confidence from 0 to 100; what is none tells nothing."""
    try:
        told = float(str(value).rstrip("% "))
    except ValueError:
        return UNTOLD
    return min(max(told, 0.0), 100.0) if math.isfinite(told) else UNTOLD


def _listed(value: object) -> object:
    return () if value is None else value


def _cells(value: object) -> object:
    """Return a record that was written as an object as cells."""
    return [{"column": key, "value": cell} for key, cell in value.items()] if isinstance(value, Mapping) else value


_Text = Annotated[str, pydantic.BeforeValidator(_text)]
_Record = Annotated[tuple["ReplyCell", ...], pydantic.BeforeValidator(_cells)]
_NoneIsEmpty = pydantic.BeforeValidator(_listed)


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="ignore", frozen=True)


class ReplyQuote(_Part):
    """Words of a source."""

    source: _Text
    text: _Text


class ReplyCell(_Part):
    """A value of a record."""

    column: _Text
    value: _Text


class ReplyValue(_Part):
    """A value as the model gives it: `words` are those of the document."""

    value: _Text = ""
    unit: _Text = ""
    words: _Text = ""
    records: Annotated[tuple[_Record, ...], _NoneIsEmpty] = ()
    quotes: Annotated[tuple[ReplyQuote, ...], _NoneIsEmpty] = ()


class ReplyField(ReplyValue):
    """What the model says of a field, which it names by its number from 1; `confidence` is in percent."""

    field: int
    state: Literal["found", "not_stated", "conflict"]
    others: Annotated[tuple[ReplyValue, ...], _NoneIsEmpty] = ()
    confidence: Annotated[float, pydantic.BeforeValidator(_percent)] = UNTOLD


def field_messages(fields: Sequence[types.FieldDefinition], sources: str) -> "list[ChatMessage]":
    """Return the instructions, and the `fields` to find in the `sources`, which are from one document."""
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    described = "\n".join(f"{number}. {_described(field)}" for number, field in enumerate(fields, start=1))
    user = prompts.FIELDS_USER.format(context=sources, fields=described)
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=prompts.FIELDS_SYSTEM),
        ChatMessage(role=MessageRole.USER, content=user),
    ]


def _described(field: types.FieldDefinition) -> str:
    parts = [f"{field.name} ({_kind(field)})"]
    if field.instruction and field.instruction != field.name:
        parts.append(field.instruction)
    if field.columns:
        parts.append(f"Columns: {'; '.join(f'{column.name} ({_kind(column)})' for column in field.columns)}")
    if field.example:
        parts.append(f"Example of such a value: {field.example}")
    return neutralise_marks(". ".join(" ".join(part.split()).rstrip(".") for part in parts))


def _kind(field: types.FieldDefinition | types.FieldColumn) -> str:
    told = prompts.FIELD_TYPES[field.type]
    if field.choices:
        return f"{told} {', '.join(f'“{choice}”' for choice in field.choices)}"
    return f"{told}, in {field.unit}" if field.unit else told


def read_reply(reply: str, count: int) -> dict[int, ReplyField]:
    """Return what a reply says of each of `count` fields, by number from 1; {} if it is no such reply.

    What it says wrongly of one field leaves the others.
    """
    read: dict[int, ReplyField] = {}
    for row in read_list(reply, "fields"):
        try:
            field = ReplyField.model_validate(row)
        except (pydantic.ValidationError, RecursionError):
            continue
        if 1 <= field.field <= count:
            read.setdefault(field.field, field)
    return read
