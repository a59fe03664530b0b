"""Run Streamlit with limits for slow clients: `python streamlit_server.py run server.py`."""

import functools
import signal
import sys
from typing import Any

SERVES = "auto"
"""uvicorn's name of the protocol that Streamlit uses, which is not configurable."""


@functools.cache
def _protocol() -> Any:
    from rag.config import load_config
    from rag.slow_clients import ConnectionGuard

    return ConnectionGuard.from_config(load_config()).protocol


def protocol(**options: Any) -> Any:
    """Create the protocol of a connection."""
    return _protocol()(**options)


def _stop(*_: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the process at once; uvx sends two
    sys.exit()


def main() -> None:
    """Run Streamlit's command line until Ctrl-C, which is how the app is stopped and no failure."""
    signal.signal(signal.SIGINT, _stop)
    from rag import config as settings
    from rag import lazy_imports

    lazy_imports.collect_rarely()
    settings.trust_proxies(settings.load_config())
    from streamlit.web import cli
    from uvicorn import config

    config.HTTP_PROTOCOLS[SERVES] = "rag.ui.streamlit_server:protocol"
    cli.main(prog_name="streamlit")


if __name__ == "__main__":
    main()
