"""Run Streamlit, which Ctrl-C ends without a traceback: `python streamlit_server.py run server.py`."""

import signal
import sys


def _stop(*_: object) -> None:
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

    cli.main(prog_name="streamlit")


if __name__ == "__main__":
    main()
