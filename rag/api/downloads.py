"""Responses with files, which browsers save and never run as pages of this site."""

from urllib.parse import quote

from fastapi.responses import Response

DOWNLOAD_HEADERS = {
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
}


def attachment(name: str, mime_type: str, content: bytes) -> Response:
    """Send a file with its name, which may have any characters."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=mime_type, headers={**DOWNLOAD_HEADERS, "content-disposition": disposition})
