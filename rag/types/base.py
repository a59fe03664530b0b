"""Base models of all types, the patterns of their fields, and messages for invalid values."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import pydantic
from pydantic import alias_generators

from rag import errors

STORABLE = r"^[^\x00]*$"
"""Text that PostgreSQL can keep."""

TEXT = r"^[^\x00]*[^\x00-\x20\x7f-\xa0\s][^\x00]*$"
"""The same, and not only white space and control characters."""

LINE = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f-\xa0\s][^\x00-\x1f\x7f]*$"
"""One line of text, with something visible on it."""

SEGMENT = r"^[^/\\\x00-\x1f\x7f]*[^/\\.\x00-\x20\x7f-\xa0\s][^/\\\x00-\x1f\x7f]*$"
"""The same, where it can be one part of an address: without slashes, and not only dots."""

NAME = r"^[^<>:\"/\\|?*\x00-\x1f]+$"
"""What a collection may be called."""

PRINTABLE = r"^[\x21-\x7e]+$"
"""What stands in a header without more ado."""

BOX = r"^\d{1,5}(\.\d{1,6})?(,\d{1,5}(\.\d{1,6})?){3}$"
"""Left, top, right and bottom of a box, in an address."""

FORMS = {
    STORABLE: "Text should have no zero byte",
    TEXT: "Text should have something visible, and no zero byte",
    LINE: "Text should be one line, with something visible on it",
    SEGMENT: "Text should be one line without slashes, with something visible on it that is no dot",
    NAME: 'Text should have no control character and none of < > : " / \\ | ? *',
    PRINTABLE: "Text should have no white space, and of characters only those of ASCII",
    BOX: "Text should be four numbers parted by commas",
}
"""What the patterns of our fields mean."""

OTHER_FORM = "Text is not of the form that is needed"


def problems_of(found: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Field and message of each of pydantic's errors."""
    return [{"field": ".".join(map(str, item["loc"])), "message": _message(item)} for item in found]


def in_words(found: Iterable[Mapping[str, Any]], whole: str = "request") -> str:
    """The same as a part of a sentence; `whole` is what has the fields."""
    return "; ".join(f"{problem['field'] or whole}: {problem['message']}" for problem in problems_of(found))


def refusal(error: pydantic.ValidationError) -> errors.ValidationError:
    """The same as an error; it names fields, never values."""
    found = error.errors(include_input=False, include_url=False)
    return errors.ValidationError(
        f"The request is malformed. {in_words(found)}.", details={"problems": problems_of(found)}
    )


def _message(item: Mapping[str, Any]) -> str:
    if item["type"] == "string_pattern_mismatch":
        return FORMS.get(item["ctx"]["pattern"], OTHER_FORM)
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


class Asked(pydantic.BaseModel):
    """Raises our error where a caller makes it from wrong values; where pydantic makes it, the door has the words."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
            return
        except pydantic.ValidationError as error:
            refused = refusal(error)
        raise refused

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # else pydantic calls it in validation, too


class Input(Asked, Model):
    """Base of what callers send."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _keep_kinds_apart(cls, values: object) -> object:
        return keep_kinds_apart(cls, values)


def keep_kinds_apart(model: type[pydantic.BaseModel], values: object) -> object:
    """`values` for `model`, unless a truth value, a number or a time stands for another, which pydantic would convert.

    Raises:
        ValueError: they do.
    """
    if isinstance(values, Mapping):
        for name, field in model.model_fields.items():
            for key in (name, alias_generators.to_camel(name)):
                if key in values and not _is_of_kind(values[key], {field.annotation, *get_args(field.annotation)}):
                    raise ValueError(f"{key} is of another kind: a number, a truth value and a time are no substitutes")
    return values


def _is_of_kind(value: object, kinds: set[Any]) -> bool:
    if isinstance(value, bool):
        return not kinds & NUMBERS or bool in kinds
    if isinstance(value, int | float):
        return not kinds & {bool, pydantic.AwareDatetime} or bool(kinds & NUMBERS)
    return True


NUMBERS = {int, float}
