"""Routes for searches and questions."""

from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter, Request

from rag import errors, types
from rag.access.gate import Caller
from rag.answering.generation.model_answer import Stop
from rag.api import streaming
from rag.api.ask import AskRequest, AskResponse
from rag.api.authentication import Reader
from rag.api.limits import ClientIsGone
from rag.contract import AnswerBody, SearchBody

router = APIRouter(tags=["questions"])


@router.post("/search")
def search(request: Request, sender: Reader, body: types.SearchRequest) -> SearchBody:
    """Find the passages that match a query, best first."""
    with request.app.state.searches.acquire():
        found = sender.engine.search(body)
    request.state.usage = found.usage
    return SearchBody.of(found)


@router.post("/answer", response_model=AnswerBody, responses=streaming.EVENTS)
def answer(request: Request, sender: Reader, body: types.AnswerRequest, stop: ClientIsGone) -> Any:
    """Answer a question from the documents, every sentence with its quotes and their boxes."""
    return _respond(request, _events(request, sender, body, stop), AnswerBody.of)


@router.post("/ask", response_model=AskResponse, responses=streaming.EVENTS)
def ask(request: Request, sender: Reader, body: AskRequest, stop: ClientIsGone) -> Any:
    """Answer a question from the documents; sources are `name#chunk`."""
    asked = body.to_answer_request(has_language_model=sender.engine.questions.has_language_model)
    debug = sender.engine.config.rag_debug
    events = _events(request, sender, asked, stop)
    return _respond(request, events, lambda response: AskResponse.of(response, debug=debug))


def _respond(
    request: Request, events: Iterator[types.AnswerEvent], to_body: Callable[[types.AnswerResponse], object]
) -> object:
    """Answer as the client asks: whole, or as events."""
    if streaming.wants_events(request):
        return streaming.stream(events, to_body)
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
