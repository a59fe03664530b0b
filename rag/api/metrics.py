"""Prometheus metrics of the installation, read from the database, so that they cover all workers."""

import logging
from collections.abc import Iterator, Mapping

from prometheus_client import Metric, registry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from rag import errors, types
from rag.engine import Installation

logger = logging.getLogger(__name__)


class InstallationMetrics(registry.Collector):
    """The numbers of `Installation.status`; without the database only that it is down."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering does not query the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        try:
            status = self._installation.status()
        except errors.StoreError as error:
            logger.warning("%s", error)
            yield GaugeMetricFamily("pagelight_database_up", "Whether the database answers.", value=0)
            return
        yield GaugeMetricFamily("pagelight_database_up", "Whether the database answers.", value=1)
        yield from _metrics(status)


def _metrics(status: types.Status) -> Iterator[Metric]:
    database, library, done = status.database, status.library, status.counts
    for name, words, value in (
        ("workers", "Workers that are alive.", len(status.workers)),
        ("database_bytes", "Size of the database.", database.bytes),
        ("database_connections", "Connections to the database.", database.connections),
        ("documents", "Documents of all users, without those in the trash.", library.documents),
        ("original_bytes", "Size of their originals, with those in the trash.", library.original_bytes),
        ("chunks", "Chunks of all documents.", status.indexes.chunks),
        ("warnings", "What the page Status warns of.", len(status.warnings)),
    ):
        yield GaugeMetricFamily(f"pagelight_{name}", words, value=value)
    for name, words, count in (
        ("documents_read", "Documents that workers have read.", done.documents_read),
        ("pages_read", "Pages of these.", done.pages_read),
        ("chunks_embedded", "Chunks that workers have embedded.", done.chunks_embedded),
        ("jobs_done", "Jobs that workers have done.", done.jobs_done),
    ):
        yield CounterMetricFamily(f"pagelight_{name}", words, value=count)
    waiting = {lane.lane: lane.waiting for lane in status.lanes}
    running = {lane.lane: lane.running for lane in status.lanes}
    oldest = {lane.lane: lane.oldest_seconds or 0.0 for lane in status.lanes}
    room = {space.place: space.free_bytes for space in status.disk}
    families: tuple[tuple[type[GaugeMetricFamily | CounterMetricFamily], str, str, str, Mapping[str, float]], ...] = (
        (GaugeMetricFamily, "queue_waiting", "Documents and jobs that wait for a worker.", "lane", waiting),
        (GaugeMetricFamily, "queue_running", "Documents and jobs that somebody is at.", "lane", running),
        (GaugeMetricFamily, "queue_oldest_seconds", "How long the oldest one waits.", "lane", oldest),
        (CounterMetricFamily, "failures", "Documents and jobs that failed, by error.", "code", done.failures),
        (GaugeMetricFamily, "disk_free_bytes", "Room in folders of this machine.", "place", room),
    )
    for kind, name, words, label, values in families:
        family = kind(f"pagelight_{name}", words, labels=[label])
        for of, number in values.items():
            family.add_metric([of], number)
        yield family
    if status.backup:
        at = status.backup.created_at.timestamp()
        yield GaugeMetricFamily("pagelight_last_backup_timestamp_seconds", "When the last backup was made.", value=at)
