"""Stream answers as server-sent events: tokens and stages, then the whole answer."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pydantic_core
from fastapi import Request
from fastapi.responses import StreamingResponse

from rag import errors, types

logger = logging.getLogger(__name__)

EVENT_STREAM = "text/event-stream"

EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer, or the events `stage`, `token`, `answer`",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    }
}
"""OpenAPI description of the responses of routes that can stream."""


def wants_events(request: Request) -> bool:
    """Return whether the client asks for events."""
    return EVENT_STREAM in request.headers.get("accept", "")


def stream(events: Iterator[types.AnswerEvent], to_body: Callable[[types.AnswerResponse], object]) -> StreamingResponse:
    """Stream events as they come; `to_body` makes the last one from the checked answer.

    An error before the first event is raised here; a later one becomes the event `error`.
    """
    first = next(events)

    def body() -> Iterator[str]:
        try:
            yield from _events(first, to_body)
            for event in events:
                yield from _events(event, to_body)
        except errors.Error as error:
            yield _event("error", {"type": error.code, "message": error.message})
        except Exception:
            logger.exception("an answer broke off")
            yield _event("error", {"type": "internal", "message": "Something unexpected happened. Ask again."})

    return StreamingResponse(body(), media_type=EVENT_STREAM, headers={"cache-control": "no-store"})


def _events(event: types.AnswerEvent, to_body: Callable[[types.AnswerResponse], object]) -> Iterator[str]:
    if isinstance(event, types.AnswerToken):
        yield _event("token", {"text": event.text})
    elif isinstance(event, types.AnswerStage):
        so_far = {"soFar": to_body(event.so_far)} if event.so_far else {}
        yield _event("stage", {"name": event.name, "seconds": event.seconds, **so_far})
    else:
        yield _event("answer", to_body(event))


def _event(name: str, data: object) -> str:
    """Format an event; JSON without line breaks needs only one data line."""
    return f"event: {name}\ndata: {json.dumps(pydantic_core.to_jsonable_python(data, by_alias=True))}\n\n"
