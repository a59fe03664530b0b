"""Requests as callers write them: models, or plain mappings in either spelling."""

from collections.abc import Mapping
from typing import Any, TypeVar

import pydantic

from rag import errors

Request = TypeVar("Request", bound=pydantic.BaseModel)


def parse(model: type[Request], request: Request | Mapping[str, Any]) -> Request:
    """`request` as a `model`.

    Raises:
        errors.ValidationError: it is malformed; the message and `details["problems"]` name the fields, never values.
    """
    try:
        return model.model_validate(request)
    except pydantic.ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
    problems = [{"field": ".".join(map(str, item["loc"])), "message": item["msg"]} for item in found]
    words = "; ".join(f"{problem['field'] or 'request'}: {problem['message']}" for problem in problems)
    raise errors.ValidationError(f"The request is malformed. {words}.", details={"problems": problems})
