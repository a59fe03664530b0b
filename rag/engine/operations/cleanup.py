"""Clearing away what was left behind: files that were to be deleted, and what belongs to nobody."""

import datetime as dt
import logging
import time

from rag.engine.resources import Resources
from rag.store import SAFE_AGE, OrphanCleanup, PartialFiles, RowSecurity
from rag.types import SweepReport

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 6 * 3600.0
"""Between two looks through the whole storage of a worker."""


class Cleanup:
    """What keeps an installation clean, for all users."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._swept_at: float | None = None

    def go_on(self) -> None:
        """Delete what waits for it; from time to time look for what belongs to nobody. Raises StoreError."""
        self.finish_deletions()
        self._resources.store.rate_limits.forget()
        if self._swept_at is None or time.monotonic() - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = time.monotonic()
            report = self.sweep(mend=True)
            if report.found or report.doubtful:
                logger.info("swept: %s", report.model_dump(exclude_defaults=True))

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete files of documents that were purged, or whose upload ended before they came; of how many documents.

        `older_than` is for uploads: so long one may take. Raises StoreError if the database fails.
        """
        return self._sweep().finish_deletions(older_than)

    def sweep(self, *, mend: bool = False, doubtful: bool = False, older_than: dt.timedelta = SAFE_AGE) -> SweepReport:
        """Look for what belongs to nobody; with `mend` it is gone afterwards. Work may go on meanwhile.

        When the database does not know most of the storage, one of them is probably another installation's: such
        files are told as `doubtful`, and deleted only if they are asked for, too.

        Raises:
            errors.StoreError: the database or the storage fails.
        """
        return self._sweep().run(mend=mend, doubtful=doubtful, older_than=older_than)

    def walls(self) -> RowSecurity:
        """How the database itself keeps users apart. Raises StoreError if it is unreachable."""
        return self._resources.store.row_security()

    def _sweep(self) -> OrphanCleanup:
        config = self._resources.config
        own = [config.cache_dir, config.drafts_dir]
        if config.rag_storage_url is None:
            own.append(config.rag_data_dir / "files")
        return OrphanCleanup(self._resources.store, self._resources.files, PartialFiles(config.drafts_dir), own)
