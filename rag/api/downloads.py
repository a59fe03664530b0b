"""Files that are sent: to be saved, and not to be run as a page of this site."""

from urllib.parse import quote

from fastapi.responses import Response

HEADERS = {
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
}


def attachment(name: str, mime_type: str, content: bytes) -> Response:
    """A file under its name, in any letters."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=mime_type, headers={**HEADERS, "content-disposition": disposition})
