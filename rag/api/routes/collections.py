"""Retrieval and its validation in the words of collections."""

from fastapi import APIRouter, Request

from rag.api.authentication import Reader
from rag.types import RetrieveRequest, RetrieveResponse, ValidationRequest, ValidationResponse

router = APIRouter(tags=["collections"])


@router.post("/retrieve")
def retrieve(request: Request, sender: Reader, body: RetrieveRequest) -> RetrieveResponse:
    """The chunks of a collection that fit a query best."""
    with request.app.state.searches.take():
        return sender.engine.collections.retrieve(body)


@router.post("/validate")
def validate(request: Request, sender: Reader, body: ValidationRequest) -> ValidationResponse:
    """Run test queries and judge relevance, sources and consistency of what they find."""
    with request.app.state.questions.take():
        return sender.engine.collections.validate(body)
