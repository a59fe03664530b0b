"""A file from an address of the web, as a person asks for it.

The server fetches what somebody types, so it must not become a way to what only the server reaches: every host is
resolved here, an address that is not of the public Internet is refused, and the connection goes to the very address
that was looked at. That holds anew for each redirect. No proxy, no cookies, no credentials are used.
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
from rag.providers.http_connections import tls_context

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MOST_REDIRECTS = 5
REST_SECONDS = 15.0
"""How long a server may say nothing."""
MOST_SECONDS = 300.0
"""How long all of it may take, redirects included."""
MEGABYTE = 1024 * 1024
ACCEPT = "application/pdf, text/html;q=0.9, */*;q=0.8"
AGENT = "Mozilla/5.0 (compatible; Pagelight)"
FILE_NAME = re.compile(r"""filename\*?=(?:UTF-8'')?"?([^";]+)""", re.IGNORECASE)
NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""Addresses that stand for those of IPv4 (RFC 6052)."""


class WebFile(NamedTuple):
    """A file that was fetched: where it is as long as it is needed, and what it is called."""

    path: Path
    name: str


def is_public(address: Address) -> bool:
    """Whether an address is one of the public Internet, also by the address of IPv4 that it stands for."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None and not is_public(inner):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


class Web:
    """Fetches files of at most `max_file_mb`; `allows` says which addresses of hosts may be asked."""

    def __init__(self, max_file_mb: int, allows: Callable[[Address], bool] = is_public) -> None:
        self._most_bytes = max_file_mb * MEGABYTE
        self._allows = allows

    @contextmanager
    def fetch(self, address: str) -> Iterator[WebFile]:
        """The file at an address of http or https, on this machine while the block runs.

        Raises:
            errors.ValidationError: it is no such address, or has a user and password.
            errors.ForbiddenError: the host is not one of the public Internet.
            errors.LimitError: the file is too large, or takes too long.
            errors.SourceError: it cannot be fetched.
        """
        typed = address.strip()
        url = _parsed(typed if "://" in typed else f"https://{typed}")
        until = time.monotonic() + MOST_SECONDS
        with TemporaryDirectory(prefix="pagelight-") as folder, _client() as client:
            try:
                yield self._follow(client, url, Path(folder, "fetched"), until)
            except httpx.HTTPError as error:
                raise errors.SourceError(
                    f"{url.host} could not be reached ({type(error).__name__}). Check the address and try again."
                ) from error

    def _follow(self, client: httpx.Client, url: httpx.URL, path: Path, until: float) -> WebFile:
        for _ in range(MOST_REDIRECTS + 1):
            headers, extensions = _as_host(url)
            with client.stream("GET", self._pinned(url), headers=headers, extensions=extensions) as response:
                if not response.has_redirect_location:
                    self._save(response, url, path, until)
                    return WebFile(path, _name(response, url))
                url = _parsed(str(url.join(response.headers["location"])))
        raise errors.SourceError("The address leads from one place to the next without end. Give that of the file.")

    def _pinned(self, url: httpx.URL) -> httpx.URL:
        """The same with the host's address, which was looked at, in the place of its name."""
        try:
            found = socket.getaddrinfo(url.host, url.port or 0, type=socket.SOCK_STREAM)
        except OSError as error:
            raise errors.SourceError(f"There is no host {url.host}. Check the address.") from error
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
        if not all(self._allows(one) for one in addresses):
            raise errors.ForbiddenError(
                f"{url.host} is not on the public Internet. Save the file in your browser and upload it."
            )
        return url.copy_with(host=str(addresses[0]))

    def _save(self, response: httpx.Response, url: httpx.URL, path: Path, until: float) -> None:
        if response.is_error:
            raise errors.SourceError(f"{url.host} refuses it (status {response.status_code}). Check the address.")
        room = self._most_bytes
        with path.open("wb") as file:
            for part in response.iter_bytes():
                room -= len(part)
                if room < 0:
                    raise errors.LimitError(
                        f"The file has more than {self._most_bytes // MEGABYTE} MB, the limit here."
                    )
                if time.monotonic() > until:
                    raise errors.LimitError(f"{url.host} takes too long. Save the file in your browser and upload it.")
                file.write(part)


def _client() -> httpx.Client:
    return httpx.Client(follow_redirects=False, trust_env=False, verify=tls_context(), timeout=REST_SECONDS)


def _as_host(url: httpx.URL) -> tuple[dict[str, str], dict[str, str]]:
    """Headers and extensions by which server and certificate are asked for by name though an address is called.

    Nothing is asked to come packed: a small packed file may be without end.
    """
    headers = {
        "host": url.netloc.decode("ascii"),
        "accept": ACCEPT,
        "accept-encoding": "identity",
        "user-agent": AGENT,
    }
    return headers, {"sni_hostname": url.host}


def _parsed(address: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise errors.ValidationError("This is no address. Give one that begins with https://.") from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise errors.ValidationError("Give an address that begins with http:// or https://, without user and password.")
    return url


def _name(response: httpx.Response, url: httpx.URL) -> str:
    """What the server calls the file, or its address; with the ending of its kind where it has none."""
    given = FILE_NAME.search(response.headers.get("content-disposition", ""))
    name = unquote(given[1]).strip() if given else PurePosixPath(unquote(url.path)).name or url.host
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    ending = mimetypes.guess_extension(kind) or ""
    known = mimetypes.guess_type(name)[0]
    return name if known or not ending else f"{name}{ending}"
