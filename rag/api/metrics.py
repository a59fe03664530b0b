"""Prometheus metrics of the installation, read from the database, so that they cover all workers."""

import logging
from collections.abc import Iterator

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
        yield from _queue(status)
        yield from _work(status)
        yield from _sizes(status)


def _queue(status: types.Status) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        "pagelight_queue_waiting", "Documents and jobs that wait for a worker.", labels=["lane"]
    )
    running = GaugeMetricFamily("pagelight_queue_running", "Documents and jobs that somebody is at.", labels=["lane"])
    oldest = GaugeMetricFamily("pagelight_queue_oldest_seconds", "How long the oldest one waits.", labels=["lane"])
    for lane in status.lanes:
        waiting.add_metric([lane.lane], lane.waiting)
        running.add_metric([lane.lane], lane.running)
        oldest.add_metric([lane.lane], lane.oldest_seconds or 0.0)
    yield from (waiting, running, oldest)
    yield GaugeMetricFamily("pagelight_workers", "Workers that are alive.", value=len(status.workers))


def _work(status: types.Status) -> Iterator[Metric]:
    done = status.counts
    for name, words, count in (
        ("documents_read", "Documents that workers have read.", done.documents_read),
        ("pages_read", "Pages of these.", done.pages_read),
        ("chunks_embedded", "Chunks that workers have embedded.", done.chunks_embedded),
        ("jobs_done", "Jobs that workers have done.", done.jobs_done),
    ):
        yield CounterMetricFamily(f"pagelight_{name}", words, value=count)
    failures = CounterMetricFamily("pagelight_failures", "Documents and jobs that failed, by error.", labels=["code"])
    for code, count in done.failures.items():
        failures.add_metric([code], count)
    yield failures


def _sizes(status: types.Status) -> Iterator[Metric]:
    database, library = status.database, status.library
    for name, words, value in (
        ("database_bytes", "Size of the database.", database.bytes),
        ("database_connections", "Connections to the database.", database.connections),
        ("documents", "Documents of all users, without those in the trash.", library.documents),
        ("original_bytes", "Size of their originals, with those in the trash.", library.original_bytes),
        ("chunks", "Chunks of all documents.", status.indexes.chunks),
        ("warnings", "What the page Status warns of.", len(status.warnings)),
    ):
        yield GaugeMetricFamily(f"pagelight_{name}", words, value=value)
    free = GaugeMetricFamily("pagelight_disk_free_bytes", "Room in folders of this machine.", labels=["place"])
    for space in status.disk:
        free.add_metric([space.place], space.free_bytes)
    yield free
    if status.backup:
        at = status.backup.created_at.timestamp()
        yield GaugeMetricFamily("pagelight_last_backup_timestamp_seconds", "When the last backup was made.", value=at)
