"""Searches and questions."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from fastapi import APIRouter, Request

from rag import errors
from rag.access.gate import Caller
from rag.api import streaming
from rag.api.ask import AskRequest, AskResponse
from rag.api.authentication import Reader
from rag.contract import AnswerBody, SearchBody
from rag.types import AnswerEvent, AnswerRequest, AnswerResponse, SearchRequest

router = APIRouter(tags=["questions"])


@router.post("/search")
def search(request: Request, sender: Reader, body: SearchRequest) -> SearchBody:
    """Find the places that fit a query, best first."""
    with request.app.state.searches.take():
        found = sender.engine.search(body)
    request.state.usage = found.usage
    return SearchBody.of(found)


@router.post("/answer", response_model=AnswerBody, responses=streaming.EVENTS)
def answer(request: Request, sender: Reader, body: AnswerRequest) -> Any:
    """Answer a question from the documents, every sentence with its quotes and their boxes."""
    return _answered(request, sender, body, AnswerBody.of)


@router.post("/ask", response_model=AskResponse, responses=streaming.EVENTS)
def ask(request: Request, sender: Reader, body: AskRequest) -> Any:
    """Answer a question from the documents; sources are `name#chunk`."""
    asked = body.to_answer_request(has_language_model=sender.engine.questions.has_language_model)
    debug = sender.engine.config.rag_debug
    return _answered(request, sender, asked, lambda response: AskResponse.of(response, debug=debug))


def _answered(
    request: Request, sender: Caller, asked: AnswerRequest, whole: Callable[[AnswerResponse], object]
) -> object:
    """The answer as the client wants it: whole, or as events."""
    events = _in_turn(request, sender, asked)
    if streaming.wants_events(request):
        return streaming.stream(events, whole)
    *_, response = events
    if not isinstance(response, AnswerResponse):
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    return whole(response)


def _in_turn(request: Request, sender: Caller, asked: AnswerRequest) -> Iterator[AnswerEvent]:
    """The answer's events, made while it is this question's turn."""
    with ExitStack() as turn:
        turn.enter_context(request.app.state.questions.take())
        for event in sender.engine.access.index(asked.index_name).questions.stream(asked):
            if isinstance(event, AnswerResponse):
                request.state.usage = event.usage
            yield event
