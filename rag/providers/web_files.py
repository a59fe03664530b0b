"""Download files from URLs that users enter, guarded against server-side request forgery.

Every host, also of redirects, is resolved here, addresses outside the public Internet are refused, and the connection
goes to the checked address. No proxy, cookies or credentials are used.
"""

import ipaddress
import mimetypes
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

import httpx

from rag import errors
from rag.messages import N_
from rag.providers.http_connections import tls_context

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_REDIRECTS = 5
READ_TIMEOUT_SECONDS = 15.0
TOTAL_TIMEOUT_SECONDS = 300.0
"""Limit for the whole download, redirects included."""
MEGABYTE = 1024 * 1024
ACCEPT = "application/pdf, text/html;q=0.9, */*;q=0.8"
USER_AGENT = "Mozilla/5.0 (compatible; Pagelight)"
FILE_NAME = re.compile(r"""filename\*?=(?:UTF-8'')?"?([^";]+)""", re.IGNORECASE)
GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""The IPv6 addresses assigned to the Internet (IANA); `is_global` also accepts others, such as site-local fec0::/10."""


class WebFile(NamedTuple):
    """A downloaded temporary file and its name."""

    path: Path
    name: str


def is_public(address: Address) -> bool:
    """Whether an address, and any IPv4 address embedded in it, is on the public Internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.sixtofour
        return address in GLOBAL_UNICAST and address.is_global and (inner is None or is_public(inner))
    return address.is_global and not address.is_multicast and not address.is_reserved


class WebDownloader:
    """Downloads files of at most `max_file_mb` from hosts whose addresses `allows` accepts."""

    def __init__(self, max_file_mb: int, allows: Callable[[Address], bool] = is_public) -> None:
        self._max_bytes = max_file_mb * MEGABYTE
        self._allows = allows

    @contextmanager
    def fetch(self, address: str) -> Iterator[WebFile]:
        """Download the file at an http(s) URL, kept while the block runs.

        Raises:
            errors.ValidationError: the URL is invalid, or has a user and password.
            errors.ForbiddenError: the host is not on the public Internet.
            errors.LimitError: the file is too large, or takes too long.
            errors.SourceError: the download fails.
        """
        address = address.strip()
        url = _parse_url(address if "://" in address else f"https://{address}")
        deadline = time.monotonic() + TOTAL_TIMEOUT_SECONDS
        client = httpx.Client(
            follow_redirects=False, trust_env=False, verify=tls_context(), timeout=READ_TIMEOUT_SECONDS
        )
        with TemporaryDirectory(prefix="pagelight-") as folder, client:
            try:
                yield self._download(client, url, Path(folder, "fetched"), deadline)
            except httpx.HTTPError as error:
                raise errors.SourceError(
                    N_("{host} could not be reached ({error}). Check the address and try again."),
                    host=url.host,
                    error=type(error).__name__,
                ) from error

    def _download(self, client: httpx.Client, url: httpx.URL, path: Path, deadline: float) -> WebFile:
        for _ in range(MAX_REDIRECTS + 1):
            headers = {
                "host": url.netloc.decode("ascii"),
                "accept": ACCEPT,
                "accept-encoding": "identity",  # a small compressed file may be endless
                "user-agent": USER_AGENT,
            }
            # The request goes to a checked address, the certificate is checked for the name.
            pinned, extensions = self._pin_address(url), {"sni_hostname": url.host}
            with client.stream("GET", pinned, headers=headers, extensions=extensions) as response:
                if not response.has_redirect_location:
                    self._save(response, url, path, deadline)
                    return WebFile(path, _file_name(response, url))
                url = _parse_url(str(url.join(response.headers["location"])))
        raise errors.SourceError(N_("The address leads from one place to the next without end. Give that of the file."))

    def _pin_address(self, url: httpx.URL) -> httpx.URL:
        """Return `url` with the host's address, which is checked, in place of its name."""
        try:
            entries = socket.getaddrinfo(url.host, url.port or 0, type=socket.SOCK_STREAM)
        except OSError as error:
            raise errors.SourceError(N_("There is no host {host}. Check the address."), host=url.host) from error
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
        if not all(map(self._allows, addresses)):
            raise errors.ForbiddenError(
                N_("{host} is not on the public Internet. Save the file in your browser and upload it."), host=url.host
            )
        return url.copy_with(host=str(addresses[0]))

    def _save(self, response: httpx.Response, url: httpx.URL, path: Path, deadline: float) -> None:
        if response.is_error:
            raise errors.SourceError(
                N_("{host} refuses it (status {status}). Check the address."),
                host=url.host,
                status=response.status_code,
            )
        left = self._max_bytes
        with path.open("wb") as file:
            for part in response.iter_bytes():
                left -= len(part)
                if left < 0:
                    raise errors.LimitError(
                        N_("The file has more than {limit} MB, the limit here."), limit=self._max_bytes // MEGABYTE
                    )
                if time.monotonic() > deadline:
                    raise errors.LimitError(
                        N_("{host} takes too long. Save the file in your browser and upload it."), host=url.host
                    )
                file.write(part)


def _parse_url(address: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise errors.ValidationError(N_("This is no address. Give one that begins with https://.")) from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise errors.ValidationError(
            N_("Give an address that begins with http:// or https://, without user and password.")
        )
    return url


def _file_name(response: httpx.Response, url: httpx.URL) -> str:
    """Return the name from the header or the URL, with a suffix for its type if it has none."""
    header = FILE_NAME.search(response.headers.get("content-disposition", ""))
    name = unquote(header[1]).strip() if header else PurePosixPath(unquote(url.path)).name or url.host
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    return name if mimetypes.guess_type(name)[0] else name + (mimetypes.guess_extension(kind) or "")
