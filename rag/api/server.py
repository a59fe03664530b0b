"""Run the REST API by uvicorn."""

import uvicorn

from rag.access.gate import require_key
from rag.access.rate_limits import MAX_CONNECTIONS
from rag.api.app import create_app
from rag.engine import Installation
from rag.foreign_pages import ForeignPageGuard
from rag.observability import log_as_json

KEEP_ALIVE_SECONDS = 30
SHUTDOWN_SECONDS = 10


def serve(installation: Installation, host: str, port: int) -> None:
    """Answer requests until SIGINT or SIGTERM; the log is JSON on stderr, a line per request.

    Raises:
        errors.ConfigError: other machines can reach `host`, and there is no key.
    """
    require_key(installation, host)
    log_as_json()
    uvicorn.run(
        ForeignPageGuard(create_app(installation)),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=installation.config.forwarded_allow_ips,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        http="h11",  # which limits the size of heads
        limit_concurrency=MAX_CONNECTIONS,
    )
