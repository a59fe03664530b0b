"""Answers as server-sent events: pieces of text, citations, verdicts of quotes and sentences, then the whole answer."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pydantic_core
from fastapi import Request
from fastapi.responses import StreamingResponse

from rag import errors
from rag.contract import AnswerBody
from rag.types import AnswerEvent, AnswerResponse, AnswerToken

logger = logging.getLogger(__name__)

EVENT_STREAM = "text/event-stream"

EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; as events `token`, `citations`, `verdicts`, `support`, `answer` if `Accept` asks",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    }
}
"""What OpenAPI says of routes that can stream."""


def wants_events(request: Request) -> bool:
    """Whether the client asked for events."""
    return EVENT_STREAM in request.headers.get("accept", "")


def stream(events: Iterator[AnswerEvent], whole: Callable[[AnswerResponse], object]) -> StreamingResponse:
    """`events` as they come; `whole` makes what is sent last of the checked answer.

    What goes wrong before the first event is raised here, as of any request; later it becomes the event `error`.
    """
    first = next(events)

    def body() -> Iterator[str]:
        try:
            yield from _events_of(first, whole)
            for event in events:
                yield from _events_of(event, whole)
        except errors.Error as error:
            yield _event("error", {"type": error.code, "message": error.message})
        except Exception:
            logger.exception("an answer broke off")
            yield _event("error", {"type": "internal", "message": "Something unexpected happened. Ask again."})

    return StreamingResponse(body(), media_type=EVENT_STREAM, headers={"cache-control": "no-store"})


def _events_of(event: AnswerEvent, whole: Callable[[AnswerResponse], object]) -> Iterator[str]:
    if isinstance(event, AnswerToken):
        yield _event("token", {"text": event.text})
        return
    yield _event("citations", AnswerBody.of(event).citations)
    verdicts = [
        {
            "sentence": citation.sentence,
            "citationId": citation.citation_id,
            "verdict": citation.verdict,
            "unsupportedNumbers": citation.unsupported_numbers,
        }
        for citation in event.citations
    ]
    yield _event("verdicts", verdicts)
    yield _event("support", [_support(number, event) for number in range(len(event.sentences))])
    yield _event("answer", whole(event))


def _support(number: int, response: AnswerResponse) -> dict[str, object]:
    sentence = response.sentences[number]
    return {
        "sentence": number,
        "support": sentence.support,
        "missing": sentence.missing,
        "struck": number in response.struck,
    }


def _event(name: str, data: object) -> str:
    """One event; JSON has no line breaks, so its data is one line."""
    return f"event: {name}\ndata: {json.dumps(pydantic_core.to_jsonable_python(data, by_alias=True))}\n\n"
