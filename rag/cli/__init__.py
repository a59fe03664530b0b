"""The command line."""

import sys

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended: 128 and the number of SIGINT."""


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while its modules load, which takes a second."""
    try:
        from rag.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
