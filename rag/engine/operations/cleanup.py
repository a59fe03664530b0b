"""Clean up orphaned files and finish deletions."""

import datetime as dt
import logging
import time

from rag import types
from rag.engine.resources import Resources
from rag.store import SAFE_AGE, OrphanCleanup, RowSecurity

logger = logging.getLogger(__name__)

ORPHAN_SECONDS = 6 * 3600.0
"""Interval between searches for orphans."""


class Cleanup:
    """Cleans up an installation, for all users."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._searched_at: float | None = None

    def run_due(self) -> None:
        """Finish deletions, and delete orphans from time to time. Raises StoreError."""
        self.finish_deletions()
        self._resources.store.rate_limits.forget()
        if self._searched_at is None or time.monotonic() - self._searched_at >= ORPHAN_SECONDS:
            self._searched_at = time.monotonic()
            report = self.find_orphans(delete=True)
            if report.count or report.unconfirmed:
                logger.info("orphans: %s", report.model_dump(exclude_defaults=True))

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete the files of purged documents and abandoned uploads. Returns the number of documents.

        `older_than` is the longest that an upload may take. Raises StoreError if the database fails.
        """
        return self._orphans().finish_deletions(older_than)

    def find_orphans(
        self, *, delete: bool = False, include_unconfirmed: bool = False, older_than: dt.timedelta = SAFE_AGE
    ) -> types.OrphanReport:
        """Find files without an owner, and delete them with `delete`. The app can stay in use.

        If the database does not know most of the storage, one of them probably belongs to another installation: such
        files are unconfirmed, and deleted only with `include_unconfirmed`.

        Raises:
            errors.StoreError: the database or the storage fails.
        """
        return self._orphans().find_orphans(
            delete=delete, include_unconfirmed=include_unconfirmed, older_than=older_than
        )

    def walls(self) -> RowSecurity:
        """Return how the database isolates users from each other. Raises StoreError if it is unreachable."""
        return self._resources.store.row_security()

    def _orphans(self) -> OrphanCleanup:
        config = self._resources.config
        private = [config.cache_dir]
        if config.rag_storage_url is None:
            private.append(config.rag_data_dir / "files")
        return OrphanCleanup(self._resources.store, self._resources.files, private)
