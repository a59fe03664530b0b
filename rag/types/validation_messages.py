"""What is wrong with a request, in words: pydantic's findings without a value and without a regular expression."""

from collections.abc import Iterable, Mapping
from typing import Any

import pydantic

from rag import errors
from rag.types.patterns import BOX, LINE, NAME, PRINTABLE, SEGMENT, STORABLE, TEXT

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
