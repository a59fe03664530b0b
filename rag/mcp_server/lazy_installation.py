"""Open an installation in the background: loading models and database drivers takes seconds."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from rag import errors, types

if TYPE_CHECKING:
    from rag.engine import Installation

logger = logging.getLogger(__name__)

WARM_UP = types.SearchRequest(query="warm up", retrieval=types.RetrievalOptions(mode="lexical"))
"""A search by words opens the database and the embedding model, without a request to a vendor."""


class LazyInstallation:
    """A callable that returns the installation; the first call opens it."""

    def __init__(self, opening: "Callable[[], Installation]") -> None:
        self._open = opening
        self._opened: Installation | None = None
        self._lock = threading.Lock()

    def __call__(self) -> "Installation":
        """Return the installation. If opening it fails, the next call tries again."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def warm_up(self) -> None:
        """Open everything in a thread, so that the first request waits less."""
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        try:
            self().for_user(types.LOCAL_USER).search(WARM_UP)
        except errors.Error as error:
            logger.warning("%s", error)  # the next request gets the error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()
