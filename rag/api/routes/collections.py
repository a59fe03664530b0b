"""Routes for retrieval from a collection and its validation."""

from fastapi import APIRouter, Request

from rag import types
from rag.api.authentication import Reader
from rag.api.limits import ClientIsGone

router = APIRouter(tags=["collections"])


@router.post("/retrieve")
def retrieve(request: Request, sender: Reader, body: types.RetrieveRequest) -> types.RetrieveResponse:
    """Find the chunks of a collection that match a query best."""
    with request.app.state.searches.acquire():
        return sender.engine.retrieval_api.retrieve(body)


@router.post("/validate")
def validate(
    request: Request, sender: Reader, body: types.ValidationRequest, stop: ClientIsGone
) -> types.ValidationResponse:
    """Run test queries, and check relevance, sources and consistency of what they find."""
    with request.app.state.questions.acquire():
        return sender.engine.retrieval_api.validate(body, stop)
