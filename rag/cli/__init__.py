"""The command line."""

from rag.cli.app import main

__all__ = ["main"]
