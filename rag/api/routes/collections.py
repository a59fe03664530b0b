"""Routes for retrieval from a collection and its validation."""

from fastapi import APIRouter, Request

from rag.api.authentication import Reader
from rag.api.limits import ClientIsGone
from rag.types import RetrieveRequest, RetrieveResponse, ValidationRequest, ValidationResponse

router = APIRouter(tags=["collections"])


@router.post("/retrieve")
def retrieve(request: Request, sender: Reader, body: RetrieveRequest) -> RetrieveResponse:
    """Find the chunks of a collection that match a query best."""
    with request.app.state.searches.acquire():
        return sender.engine.collections.retrieve(body)


@router.post("/validate")
def validate(request: Request, sender: Reader, body: ValidationRequest, stop: ClientIsGone) -> ValidationResponse:
    """Run test queries, and check relevance, sources and consistency of what they find."""
    with request.app.state.questions.acquire():
        return sender.engine.collections.validate(body, stop)
