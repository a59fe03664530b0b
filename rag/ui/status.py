"""The status page: how the installation is, for those who run it."""

import datetime as dt
from collections.abc import Mapping, Sequence

import streamlit as st

from rag.types import BackupRecord, DatabaseStatus, DiskState, Status
from rag.ui import session
from rag.ui.frame import door
from rag.ui.text import plain, plural, size

REFRESH_SECONDS = 10
STATES = {DiskState.GOOD: "good", DiskState.LOW: "nearly full", DiskState.FULL: "full: uploads are refused"}


def overview() -> None:
    """Everything, looked at again every few seconds; only for those who may administer."""
    if not session.may_administer():
        st.info("Only administrators see this page. RAG_ADMINS names them.", icon=":material/lock:")
        return
    st.fragment(_overview, run_every=REFRESH_SECONDS)()


def _overview() -> None:
    with door():
        status = session.shared().status()
        for warning in status.warnings:
            st.warning(plain(warning), icon=":material/warning:")
        if not status.warnings:
            st.success("All is well.", icon=":material/check_circle:")
        _figures(status)
        left, right = st.columns(2, gap="small")
        with left:
            _work(status)
            _done(status)
        with right:
            _disks(status)
            _database(status.database, status.version)
            _backup(status.backup)


def _figures(status: Status) -> None:
    library, lanes = status.library, status.lanes
    figures = {
        "Users": f"{library.users:,}",
        "Documents": f"{library.documents:,}",
        "Originals": size(library.original_bytes),
        "Database": size(status.database.bytes),
        "Workers": f"{len(status.workers):,}",
        "Waiting": f"{sum(lane.waiting for lane in lanes):,}",
        "Failed": f"{library.failed:,}",
        "Last backup": ago(status.at, status.backup.created_at) if status.backup else "never",
    }
    for row in (list(figures.items())[:4], list(figures.items())[4:]):
        for column, (label, value) in zip(st.columns(4, gap="small"), row, strict=True):
            column.metric(label, value, border=True)


def _work(status: Status) -> None:
    rows = [
        {
            "lane": lane.lane,
            "waiting": lane.waiting,
            "running": lane.running,
            "oldest waits": span(lane.oldest_seconds) if lane.waiting else "–",
        }
        for lane in status.lanes
    ]
    with st.container(border=True):
        st.subheader("Queue", anchor=False)
        st.dataframe(rows, hide_index=True, height="content")
        if status.running:
            st.caption("Running now")
            running = [
                {
                    "work": work.kind,
                    "user": work.user_id,
                    "id": str(work.id),
                    "done": f"{work.done:,} of {work.total:,}" if work.total else "–",
                    "since": ago(status.at, work.since) if work.since else "–",
                }
                for work in status.running
            ]
            st.dataframe(running, hide_index=True, height="content")
        seen = ", ".join(f"no. {worker.id} ({ago(status.at, worker.last_seen)})" for worker in status.workers)
        _facts({"Workers alive": seen or "none"})


def _done(status: Status) -> None:
    done, health = status.counts, status.indexes
    failures = [f"{code} {count:,}" for code, count in sorted(done.failures.items(), key=lambda found: -found[1])]
    with st.container(border=True):
        st.subheader("Done by workers so far", anchor=False)
        _facts(
            {
                "Read": f"{plural(done.documents_read, 'document')}, {plural(done.pages_read, 'page')}",
                "Embedded": plural(done.chunks_embedded, "chunk"),
                "Jobs": f"{done.jobs_done:,}",
                "Failures": ", ".join(failures) or "none",
            }
        )
        st.subheader("Indexes", anchor=False)
        _facts(
            {
                "Collections": f"{health.indexes:,} with {plural(health.chunks, 'chunk')}",
                "Health": "good" if health.is_good else "see above",
            }
        )


def _disks(status: Status) -> None:
    rows = [
        {
            "folder": space.place,
            "left": size(space.free_bytes),
            "of": size(space.total_bytes),
            "used": 1 - space.free_bytes / max(space.total_bytes, 1),
            "state": STATES[space.state],
        }
        for space in status.disk
    ]
    used = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width="small")
    with st.container(border=True):
        st.subheader("Disks", anchor=False)
        st.dataframe(rows, hide_index=True, height="content", column_config={"used": used})


def _database(database: DatabaseStatus, version: str) -> None:
    replicas = [f"{replica.name} {replica.state}, {_behind(replica.behind_seconds)}" for replica in database.replicas]
    facts = {
        "Pagelight": version,
        "Schema": database.migration,
        "Server": f"PostgreSQL {database.server_version}, pgvector {database.vector_version}"
        + (", embedded" if database.is_embedded else ""),
        "Connections": f"{database.connections:,} of {database.max_connections:,}",
        "Oldest transaction": span(database.oldest_transaction_seconds),
        "Replicas": "; ".join(replicas) or "none",
    }
    if database.behind_primary_seconds is not None:
        facts["This is a replica"] = _behind(database.behind_primary_seconds)
    with st.container(border=True):
        st.subheader("Database", anchor=False)
        _facts(facts)


def _behind(seconds: float | None) -> str:
    return "up to date" if seconds is None else f"{span(seconds)} behind"


def _backup(backup: BackupRecord | None) -> None:
    with st.container(border=True):
        st.subheader("Last backup", anchor=False)
        if backup is None:
            st.text("There is none. Make one with: pagelight backup FILE.tar")
            return
        _facts(
            {
                "Made": f"{backup.created_at.astimezone():%-d %b %Y, %H:%M}",
                "Where": backup.path + ("" if backup.is_present else " (not there now)"),
                "Size": f"{size(backup.bytes)}, {plural(backup.documents, 'document')}, {plural(backup.files, 'file')}",
                "Checked": f"{backup.verified_at.astimezone():%-d %b %Y, %H:%M}" if backup.verified_at else "no",
                "Missing": plural(backup.missing, "file") if backup.missing else "nothing",
            }
        )


def _facts(facts: Mapping[str, str]) -> None:
    for name, value in facts.items():
        with st.container(horizontal=True, gap="small"):
            st.caption(name, width=130)
            st.text(value, width="stretch")


UNITS: Sequence[tuple[str, int]] = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def span(seconds: float | None) -> str:
    """So much time in its largest whole unit: `3 h`."""
    if seconds is None:
        return "–"
    whole = max(0, round(seconds))
    unit, length = next((unit, length) for unit, length in UNITS if whole >= length or length == 1)
    return f"{whole // length:,} {unit}"


def ago(now: dt.datetime, then: dt.datetime) -> str:
    """How long ago a moment was."""
    return f"{span((now - then).total_seconds())} ago"
