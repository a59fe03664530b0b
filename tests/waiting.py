"""Waiting for what comes in its own time."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 240.0


def eventually(condition: Callable[[], object]) -> bool:
    """Whether the condition comes true within the patience of a test; how long it takes is no matter."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
