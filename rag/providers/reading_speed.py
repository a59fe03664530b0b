"""How fast the language models of this machine read their prompts, measured on the answers they gave.

A model on a processor reads some tens of tokens a second: ten pages are minutes before its first word. So the speed
decides how much of the sources it gets.
"""

import threading
from collections import deque

READING_SECONDS = 30.0
"""Longest time that a model may read before its first word."""

UNKNOWN_TOKENS = 2000
"""Tokens of the first prompts, whose speed is not known."""

LEAST_TOKENS = 600
"""Tokens that even the slowest model gets: the instructions and the best passage."""

MEASURED = 5
"""Last prompts that count. A server that kept the beginning of a prompt reads it at once, so the slowest decides."""

LEAST_MEASURED_TOKENS = 200
"""Shorter prompts say more about the server's delay than about its speed."""


class ReadingSpeeds:
    """Tokens per second by model, for this process."""

    def __init__(self) -> None:
        self._speeds: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def record(self, model: str, tokens: int, seconds: float) -> None:
        """Record that `model` read a prompt of so many tokens in so many seconds."""
        if tokens < LEAST_MEASURED_TOKENS or seconds <= 0:
            return
        with self._lock:
            self._speeds.setdefault(model, deque(maxlen=MEASURED)).append(tokens / seconds)

    def slowest(self, model: str) -> float | None:
        """Return the lowest of the last speeds, None before the first."""
        with self._lock:
            return min(self._speeds.get(model, ()), default=None)

    def budget(self, model: str) -> int:
        """Return the tokens of a prompt that `model` reads in time."""
        speed = self.slowest(model)
        return UNKNOWN_TOKENS if speed is None else max(int(speed * READING_SECONDS), LEAST_TOKENS)


READING_SPEEDS = ReadingSpeeds()
"""The speeds of this process."""
