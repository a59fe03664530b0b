"""Base models of all types, the patterns of their fields, and messages for invalid values."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import pydantic
from pydantic import alias_generators

from rag import errors
from rag.messages import N_

STORABLE = r"^[^\x00]*$"
"""Text that PostgreSQL can keep."""

TEXT = r"^[^\x00]*[^\x00-\x20\x7f-\xa0\s][^\x00]*$"
"""Storable text with a visible character."""

LINE = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f-\xa0\s][^\x00-\x1f\x7f]*$"
"""One line of text with a visible character."""

SEGMENT = r"^[^/\\\x00-\x1f\x7f]*[^/\\.\x00-\x20\x7f-\xa0\s][^/\\\x00-\x1f\x7f]*$"
"""One line of text that can be a URL path segment: without slashes, and not only dots."""

NAME = r"^[^<>:\"/\\|?*\x00-\x1f]+$"
"""A collection's name."""

PRINTABLE = r"^[\x21-\x7e]+$"
"""Printable ASCII without spaces, which needs no escaping in an HTTP header."""

BOX = r"^\d{1,5}(\.\d{1,6})?(,\d{1,5}(\.\d{1,6})?){3}$"
"""Left, top, right and bottom of a box, in a URL."""

_DIRECTION_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_direction_controls(name: str) -> str:
    """Return a name or title without the invisible characters that change the order in which its letters are shown.

    These are Unicode's embeddings, overrides and isolates: with them "fdp.exe" is shown as "exe.pdf".
    """
    return _DIRECTION_CONTROLS.sub("", name)


IN_READING_ORDER = pydantic.BeforeValidator(
    lambda value: without_direction_controls(value) if isinstance(value, str) else value
)
"""Annotates a name or title that is shown; comes last, so that the cleaned text is validated."""


def visible_text(max_length: int, pattern: str = LINE) -> pydantic.StringConstraints:
    """Return the constraints of a text of at most `max_length` characters that matches `pattern`, stripped."""
    return pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=max_length, pattern=pattern)


PATTERN_MESSAGES = {
    STORABLE: N_("Text should have no zero byte"),
    TEXT: N_("Text should have something visible, and no zero byte"),
    LINE: N_("Text should be one line, with something visible on it"),
    SEGMENT: N_("Text should be one line without slashes, with something visible on it that is no dot"),
    NAME: N_('Text should have no control character and none of < > : " / \\ | ? *'),
    PRINTABLE: N_("Text should have no white space, and of characters only those of ASCII"),
    BOX: N_("Text should be four numbers parted by commas"),
}
"""The message for a value that does not match a pattern."""

DEFAULT_PATTERN_MESSAGE = N_("Text is not of the form that is needed")

PYDANTIC_MESSAGES = (
    N_("Field required"),
    N_("String should have at least {limit} character"),
    N_("String should have at least {limit} characters"),
)
"""Pydantic's own messages that the pages translate."""


def field_errors(found: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the field and message of each pydantic error."""
    return [{"field": ".".join(map(str, item["loc"])), "message": _message(item)} for item in found]


def error_summary(found: Iterable[Mapping[str, Any]], whole: str = "request") -> str:
    """Format pydantic errors as part of a sentence; `whole` names the object if an error has no field."""
    return "; ".join(f"{problem['field'] or whole}: {problem['message']}" for problem in field_errors(found))


def to_validation_error(error: pydantic.ValidationError) -> errors.ValidationError:
    """Convert a pydantic error into ours, which names fields, never values."""
    found = error.errors(include_url=False)
    return errors.ValidationError(
        N_("The request is malformed. {_problem}."),
        _problem=error_summary(found),
        details={"problems": field_errors(found)},
    )


def _message(item: Mapping[str, Any]) -> str:
    if item["type"] == "string_pattern_mismatch":
        return PATTERN_MESSAGES.get(item["ctx"]["pattern"], DEFAULT_PATTERN_MESSAGE)
    if item["type"] == "string_too_long" and isinstance(item.get("input"), str):
        count, limit = len(item["input"].strip()), item["ctx"]["max_length"]
        template = N_("Text has {count} characters, but at most {limit} are possible")
        return template.format(count=f"{count:,}", limit=f"{limit:,}")
    return str(item["msg"]).removeprefix("Value error, ")


class Model(pydantic.BaseModel):
    """Base of all models: frozen, closed, camelCase aliases."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        alias_generator=alias_generators.to_camel,
        hide_input_in_errors=True,  # it may be a key, or a document
    )


class ValidatedModel(pydantic.BaseModel):
    """A request, whose constructor raises `errors.ValidationError`; nested models still raise pydantic's error.

    No value is coerced: a boolean, number or time is none of the other two.
    """

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
            return
        except pydantic.ValidationError as error:
            refused = to_validation_error(error)
        raise refused

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # else pydantic calls it in validation, too

    @pydantic.model_validator(mode="before")
    @classmethod
    def _reject_coercion(cls, values: object) -> object:
        if isinstance(values, Mapping):
            for name, field in cls.model_fields.items():
                kinds = {field.annotation, *get_args(field.annotation)}
                for key in {name, alias_generators.to_camel(name)} & values.keys():
                    if not _is_of_kind(values[key], kinds):
                        message = f"{key} is of another kind: a number, a truth value and a time are no substitutes"
                        raise ValueError(message)
        return values


class Input(ValidatedModel, Model):
    """Base of request models."""


def _is_of_kind(value: object, kinds: set[Any]) -> bool:
    if isinstance(value, bool):
        return not kinds & NUMBERS or bool in kinds
    if isinstance(value, int | float):
        return not kinds & {bool, pydantic.AwareDatetime} or bool(kinds & NUMBERS)
    return True


NUMBERS = {int, float}
