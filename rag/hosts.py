"""Recognise addresses of this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
