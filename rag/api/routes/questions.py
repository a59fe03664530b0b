"""Routes for searches, questions and retrieval; answers are sent whole, or streamed as server-sent events."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pydantic_core
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from rag import errors, types
from rag.access.gate import Caller
from rag.answering.generation.model_answer import Stop
from rag.api.ask import AskRequest, AskResponse
from rag.api.authentication import Reader
from rag.api.limits import ClientIsGone
from rag.contract import AnswerBody, SearchBody

logger = logging.getLogger(__name__)

EVENT_STREAM = "text/event-stream"

EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer, or the events `stage`, `token`, `answer`",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    }
}
"""OpenAPI description of the responses of routes that can stream."""

router = APIRouter()


@router.post("/search", tags=["questions"])
def search(request: Request, sender: Reader, body: types.SearchRequest) -> SearchBody:
    """Find the passages that match a query, best first."""
    with request.app.state.searches.acquire():
        found = sender.engine.search(body)
    request.state.usage = found.usage
    return SearchBody.of(found)


@router.post("/answer", tags=["questions"], response_model=AnswerBody, responses=EVENTS)
def answer(request: Request, sender: Reader, body: types.AnswerRequest, stop: ClientIsGone) -> Any:
    """Answer a question from the documents, every sentence with its quotes and their boxes."""
    return _respond(request, _events(request, sender, body, stop), AnswerBody.of)


@router.post("/ask", tags=["questions"], response_model=AskResponse, responses=EVENTS)
def ask(request: Request, sender: Reader, body: AskRequest, stop: ClientIsGone) -> Any:
    """Answer a question from the documents; sources are `name#chunk`."""
    asked = body.to_answer_request(has_language_model=sender.engine.questions.has_language_model)
    debug = sender.engine.config.rag_debug
    events = _events(request, sender, asked, stop)
    return _respond(request, events, lambda response: AskResponse.of(response, debug=debug))


@router.post("/retrieve", tags=["collections"])
def retrieve(request: Request, sender: Reader, body: types.RetrieveRequest) -> types.RetrieveResponse:
    """Find the chunks of a collection that match a query best."""
    with request.app.state.searches.acquire():
        return sender.engine.retrieval_api.retrieve(body)


@router.post("/validate", tags=["collections"])
def validate(
    request: Request, sender: Reader, body: types.ValidationRequest, stop: ClientIsGone
) -> types.ValidationResponse:
    """Run test queries, and check relevance, sources and consistency of what they find."""
    with request.app.state.questions.acquire():
        return sender.engine.retrieval_api.validate(body, stop)


def _respond(
    request: Request, events: Iterator[types.AnswerEvent], to_body: Callable[[types.AnswerResponse], object]
) -> object:
    """Answer as the client asks: whole, or as events."""
    if _wants_events(request):
        return _stream(events, to_body)
    *_, response = events
    if not isinstance(response, types.AnswerResponse):
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    return to_body(response)


def _events(request: Request, sender: Caller, asked: types.AnswerRequest, stop: Stop) -> Iterator[types.AnswerEvent]:
    """Yield the answer's events while holding a slot; writing ends once the client has gone."""
    with request.app.state.questions.acquire():
        for event in sender.engine.for_index(asked.index_name).questions.stream(asked, stop):
            if isinstance(event, types.AnswerResponse):
                request.state.usage = event.usage
            yield event


def _wants_events(request: Request) -> bool:
    """Return whether the client asks for events."""
    return EVENT_STREAM in request.headers.get("accept", "")


def _stream(
    events: Iterator[types.AnswerEvent], to_body: Callable[[types.AnswerResponse], object]
) -> StreamingResponse:
    """Stream events as they come; `to_body` makes the last one from the checked answer.

    An error before the first event is raised here; a later one becomes the event `error`.
    """
    first = next(events)

    def body() -> Iterator[str]:
        try:
            yield from _to_text(first, to_body)
            for event in events:
                yield from _to_text(event, to_body)
        except errors.Error as error:
            yield _event("error", {"type": error.code, "message": error.message})
        except Exception:
            logger.exception("an answer broke off")
            yield _event("error", {"type": "internal", "message": "Something unexpected happened. Ask again."})

    return StreamingResponse(body(), media_type=EVENT_STREAM, headers={"cache-control": "no-store"})


def _to_text(event: types.AnswerEvent, to_body: Callable[[types.AnswerResponse], object]) -> Iterator[str]:
    if isinstance(event, types.AnswerToken):
        yield _event("token", {"text": event.text})
    elif isinstance(event, types.AnswerStage):
        so_far = {"soFar": to_body(event.so_far)} if event.so_far else {}
        parts = {"parts": event.parts, "partsRead": event.parts_read} if event.parts else {}
        yield _event("stage", {"name": event.name, "seconds": event.seconds, **parts, **so_far})
    else:
        yield _event("answer", to_body(event))


def _event(name: str, data: object) -> str:
    """Format an event; JSON without line breaks needs only one data line."""
    return f"event: {name}\ndata: {json.dumps(pydantic_core.to_jsonable_python(data, by_alias=True))}\n\n"
