"""Wait for asynchronous results."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 240.0


def eventually(condition: Callable[[], object]) -> bool:
    """Return whether the condition becomes true within the tests' timeout."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
