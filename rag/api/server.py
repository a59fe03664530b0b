"""The REST API as a process of its own."""

import logging
import sys

import uvicorn
from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from rag.access.addresses import require_key
from rag.api.app import create_app
from rag.connections import Guard
from rag.engine import Installation

KEEP_ALIVE_SECONDS = 30
SHUTDOWN_SECONDS = 10
LOG_FIELDS = "{asctime}{levelname}{name}{message}"


def serve(installation: Installation, host: str, port: int) -> None:
    """Answer requests until stopped by SIGINT or SIGTERM; the log is JSON, a line per request, on stderr.

    Raises:
        errors.ConfigError: other machines could reach it, and no key is configured.
    """
    require_key(installation, host)
    log_as_json()
    uvicorn.run(
        create_app(installation),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        http=Guard.of(installation.config).protocol,
    )


def log_as_json() -> None:
    """Have every logger of this process write lines of JSON to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    renamed = {"asctime": "time", "levelname": "level", "name": "logger"}
    unwanted = [*RESERVED_ATTRS, "color_message"]  # uvicorn says things twice, once for terminals
    handler.setFormatter(JsonFormatter(LOG_FIELDS, style="{", rename_fields=renamed, reserved_attrs=unwanted))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("rag", "uvicorn"):
        logging.getLogger(name).setLevel(logging.INFO)
