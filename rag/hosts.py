"""Addresses of machines."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
