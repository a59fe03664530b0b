"""The glossary: words of a user's house, as the TOML file that they are."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from rag import errors
from rag.api.authentication import Reader, Writer
from rag.engine.indexes.glossary import MAX_BYTES
from rag.types import GlossarySummary

TOML = {"text/plain": {"schema": {"type": "string", "minLength": 1, "maxLength": MAX_BYTES}}}

router = APIRouter(tags=["glossary"])


async def _sent(request: Request) -> str:
    """The body as text, whatever it is declared as: curl and browsers name TOML in many ways, or in none."""
    try:
        return (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise errors.ValidationError("The glossary is no text in UTF-8. Save it as UTF-8 and send it again.") from None


@router.get("/glossary", response_class=Response, responses={200: {"content": TOML}})
def get_glossary(sender: Reader) -> Response:
    """The glossary as it was sent."""
    toml = sender.engine.glossary.get()
    if not toml:
        raise errors.NotFoundError("There is no glossary. Send one with PUT.")
    return Response(toml, media_type="text/plain; charset=utf-8")


@router.put("/glossary", openapi_extra={"requestBody": {"content": TOML, "required": True}})
def set_glossary(sender: Writer, toml: Annotated[str, Depends(_sent)]) -> GlossarySummary:
    """Have another glossary, a TOML file; its words hold from the next question on, its places when a file is read."""
    return sender.engine.glossary.set(toml)


@router.delete("/glossary", status_code=204)
def clear_glossary(sender: Writer) -> None:
    """Have no glossary."""
    sender.engine.glossary.clear()
