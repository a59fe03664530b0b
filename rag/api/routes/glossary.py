"""Routes for the user's glossary, a TOML file."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from rag import errors, types
from rag.api.authentication import Reader, Writer
from rag.engine.indexes.glossary import MAX_BYTES

TOML = {"text/plain": {"schema": {"type": "string", "minLength": 1, "maxLength": MAX_BYTES}}}

router = APIRouter(tags=["glossary"])


async def _body_text(request: Request) -> str:
    """Decode the body as text, whatever its content type: clients send TOML with many, or none."""
    try:
        return (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise errors.ValidationError("The glossary is not UTF-8 text. Save it as UTF-8 and send it again.") from None


@router.get("/glossary", response_class=Response, responses={200: {"content": TOML}})
def get_glossary(sender: Reader) -> Response:
    """Get the glossary as it was sent."""
    toml = sender.engine.glossary.get()
    if not toml:
        raise errors.NotFoundError("There is no glossary. Send one with PUT.")
    return Response(toml, media_type="text/plain; charset=utf-8")


@router.put("/glossary", openapi_extra={"requestBody": {"content": TOML, "required": True}})
def set_glossary(sender: Writer, toml: Annotated[str, Depends(_body_text)]) -> types.GlossarySummary:
    """Replace the glossary, a TOML file; its terms apply from the next question on, its places when a file is read."""
    return sender.engine.glossary.set(toml)


@router.delete("/glossary", status_code=204)
def clear_glossary(sender: Writer) -> None:
    """Remove the glossary."""
    sender.engine.glossary.clear()
