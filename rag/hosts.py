"""Recognise addresses of this machine, and the hosts that requests name."""

import ipaddress
import re

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]*\]|[^:\[\]]*)(:\d+)?")
"""A Host header: a name or address, and perhaps a port."""


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is reached from this machine only."""
    if host == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def is_address(host: str) -> bool:
    """Return whether a host is an IP address, not a name."""
    return _address(host) is not None


def host_name(header: str) -> str:
    """Return the name or address in a Host header, in lower case and without its port; empty if it is malformed."""
    found = HOST.fullmatch(header.lower())
    return found["name"] if found else ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
