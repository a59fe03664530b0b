"""Common parts of requests: provider keys and limits, and alternative spellings of fields."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic import alias_generators

from rag.types.base import STORABLE, TEXT, Input, Model
from rag.types.documents import DEFAULT_INDEX

StorableText = Annotated[str, pydantic.Field(pattern=STORABLE)]

MAX_QUESTION_CHARS = 4000

Value = TypeVar("Value")


def collapse_white_space(text: Value) -> Value | str:
    """Return `text` with single blanks between words, keeping line breaks but no empty lines; other values as they are.

    Runs of white space mean nothing in a question, and patterns are slow on long ones.
    """
    if not isinstance(text, str):
        return text
    return "\n".join(line for part in text.splitlines() if (line := " ".join(part.split())))


CollapseWhiteSpace = pydantic.BeforeValidator(collapse_white_space)

NOT_EMPTY: dict[str, pydantic.JsonValue] = {"minLength": 1}
"""In the schema of fields with the pattern `TEXT`, whose message says more than that of `min_length`."""

QuestionText = Annotated[
    str, pydantic.Field(max_length=MAX_QUESTION_CHARS, pattern=TEXT, json_schema_extra=NOT_EMPTY), CollapseWhiteSpace
]
"""A question or search query, as all interfaces take it."""


class _BareQuestion(Input):
    question: Annotated[str, pydantic.Field(max_length=MAX_QUESTION_CHARS, strict=True), CollapseWhiteSpace]


def bounded_question(text: Any) -> str:
    """Return a question or search query that came without a request, as from LlamaIndex, with white space collapsed.

    Raises:
        errors.ValidationError: it is no text, or too long.
    """
    return _BareQuestion(question=text).question


IndexName = Annotated[
    str,
    pydantic.Field(
        min_length=1,
        max_length=200,
        pattern=STORABLE,
        validation_alias=pydantic.AliasChoices("indexName", "index_name", "index_file_id", "indexFileId"),
    ),
]
"""An index's name, or its id."""


class IndexReference(Input):
    """An index by name or id."""

    index_name: IndexName = DEFAULT_INDEX


class Auth(Model):
    """A provider's API key for one request; it is never stored, logged or returned."""

    api_key: pydantic.SecretStr | None = None


AuthField = Annotated[Auth, pydantic.Field(exclude=True, repr=False)]


class ProviderOptions(Input):
    """Timeout and retries of provider calls in one request; None applies the settings."""

    timeout_seconds: float | None = pydantic.Field(default=None, gt=0, le=3600)
    max_retries: int | None = pydantic.Field(default=None, ge=0, le=10)


class QueryEmbedding(Input):
    """Options of query embedding; the model is that of the index."""

    provider_options: ProviderOptions = ProviderOptions()


def gather(values: object, names: Collection[str], group: str) -> object:
    """Move the fields `names` into the mapping `group`, whose own values win."""
    if not isinstance(values, Mapping):
        return values
    beside = {key: name for name in names for key in _spellings(name) if key in values}
    inner = values.get(group, {})
    if isinstance(inner, pydantic.BaseModel):
        inner = inner.model_dump(exclude_unset=True)
    if not beside or not isinstance(inner, Mapping):
        return values
    moved = {name: values[key] for key, name in beside.items() if not _spellings(name) & inner.keys()}
    return {**{key: value for key, value in values.items() if key not in beside}, group: {**moved, **inner}}


def spread(values: object, group: str) -> object:
    """Move the fields of the mapping `group` one level up, where existing values win."""
    if not isinstance(values, Mapping) or not isinstance(values.get(group), Mapping):
        return values
    rest = {key: value for key, value in values.items() if key != group}
    missing = {
        key: value
        for key, value in values[group].items()
        if not {key, alias_generators.to_snake(str(key)), alias_generators.to_camel(str(key))} & rest.keys()
    }
    return {**missing, **rest}


def _spellings(name: str) -> set[str]:
    return {name, alias_generators.to_camel(name)}
