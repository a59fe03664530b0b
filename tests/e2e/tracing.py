"""Which addresses a program, and all that it starts, connect to: by strace, where that is there and may be used."""

import ipaddress
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

STRACE = ("strace", "-D", "-f", "--seccomp-bpf", "-qq", "-e", "trace=connect", "-e", "signal=none")
"""Beside the program, whose process id stays its own; everything but connections goes on at full speed."""
ADDRESS = re.compile(r'sin6?_port=htons\((?P<port>\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"(?P<host>[^"]+)"')
NAMES_PORT = 53
"""Where names are looked up. A server for them on this machine asks others."""


def is_possible() -> bool:
    """Whether programs may be followed here."""
    if shutil.which(STRACE[0]) is None:
        return False
    return subprocess.run(traced(["true"], Path(os.devnull)), check=False, capture_output=True).returncode == 0


def traced(command: Sequence[str], log: Path) -> list[str]:
    """`command`, whose connections are written to `log`."""
    return [*STRACE, "-o", str(log), *command]


def elsewhere(lines: Iterable[str]) -> list[str]:
    """Those lines of a log by which this machine was left, or would have been."""
    return [line for line in lines if (found := ADDRESS.search(line)) and not _is_here(**found.groupdict())]


def _is_here(host: str, port: str) -> bool:
    return ipaddress.ip_address(host).is_loopback and int(port) != NAMES_PORT
