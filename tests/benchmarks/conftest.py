"""What measures the app is tested beside it: as its users call it, over a database of its own."""

from tests.acceptance.conftest import settings
from tests.integration.conftest import database_url, databases, engine, run_folder, server_url

__all__ = ["database_url", "databases", "engine", "run_folder", "server_url", "settings"]
