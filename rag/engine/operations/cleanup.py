"""Clean up orphaned files and finish deletions."""

import datetime as dt
import logging
import time

from rag import types
from rag.engine.resources import Resources
from rag.store import SAFE_AGE, OrphanCleanup, PartialFiles, RowSecurity

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 6 * 3600.0
"""Interval between sweeps of the storage."""


class Cleanup:
    """Cleans up an installation, for all users."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._swept_at: float | None = None

    def run_due(self) -> None:
        """Finish deletions, and sweep the storage from time to time. Raises StoreError."""
        self.finish_deletions()
        self._resources.store.rate_limits.forget()
        if self._swept_at is None or time.monotonic() - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            report = self.sweep(mend=True)
            if report.found or report.doubtful:
                logger.info("swept: %s", report.model_dump(exclude_defaults=True))

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete the files of purged documents and abandoned uploads. Returns the number of documents.

        `older_than` is the longest that an upload may take. Raises StoreError if the database fails.
        """
        return self._sweep().finish_deletions(older_than)

    def sweep(
        self, *, mend: bool = False, doubtful: bool = False, older_than: dt.timedelta = SAFE_AGE
    ) -> types.SweepReport:
        """Find orphaned files; `mend` deletes them. The app can stay in use.

        If the database does not know most of the storage, one of them probably belongs to another installation: such
        files are `doubtful`, and are deleted only if requested. Raises StoreError if the database or the storage fails.
        """
        return self._sweep().run(mend=mend, doubtful=doubtful, older_than=older_than)

    def walls(self) -> RowSecurity:
        """Return how the database isolates users from each other. Raises StoreError if it is unreachable."""
        return self._resources.store.row_security()

    def _sweep(self) -> OrphanCleanup:
        config = self._resources.config
        own = [config.cache_dir, config.drafts_dir]
        if config.rag_storage_url is None:
            own.append(config.rag_data_dir / "files")
        return OrphanCleanup(self._resources.store, self._resources.files, PartialFiles(config.drafts_dir), own)
