"""The status page for administrators."""

import datetime as dt
from collections.abc import Sequence

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.components import box, facts, metrics
from rag.ui.formatting import (
    decimal,
    escape,
    file_size,
    local_time,
    n_chunks,
    n_documents,
    n_files,
    n_pages,
    progress_text,
)
from rag.ui.language import N_, _
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

REFRESH_SECONDS = 10
STATES = {
    types.DiskState.GOOD: N_("good"),
    types.DiskState.LOW: N_("nearly full"),
    types.DiskState.FULL: N_("full: uploads are refused"),
}


def overview() -> None:
    """Show the status to administrators, refreshed every few seconds."""
    if session.may_administer():
        _overview()
    else:
        st.info(_("This page is for administrators, who are listed in RAG_ADMINS."), icon=":material/lock:")


@st.fragment(run_every=REFRESH_SECONDS)
@error_boundary()
def _overview() -> None:
    status = session.installation().status()
    library = status.library
    for warning in status.warnings:
        st.warning(escape(translate_message(warning)), icon=":material/warning:")
    if not status.warnings:
        st.success(_("No problems found."), icon=":material/check_circle:")
    metrics(
        {
            _("Users"): decimal(library.users),
            _("Documents"): decimal(library.documents),
            _("Originals"): file_size(library.original_bytes),
            _("Database"): file_size(status.database.bytes),
            _("Workers"): decimal(len(status.workers)),
            _("Waiting"): decimal(sum(lane.waiting for lane in status.lanes)),
            _("Failed"): decimal(library.failed),
            _("Last backup"): ago(status.at, status.backup.created_at) if status.backup else _("never"),
        }
    )
    left, right = st.columns(2, gap="small")
    with left:
        _work(status)
        _completed(status)
    with right:
        _disks(status)
        _database(status.database, status.version)
        _backup(status.backup)


def _work(status: types.Status) -> None:
    rows = [
        {
            _("queue"): _(lane.lane),
            _("waiting"): lane.waiting,
            _("running"): lane.running,
            _("longest wait"): duration(lane.oldest_seconds) if lane.waiting else "–",
        }
        for lane in status.lanes
    ]
    with box(_("Queue")):
        st.dataframe(rows, hide_index=True, height="content")
        if status.running:
            st.caption(_("Running now"))
            running = [
                {
                    _("work"): _(work.kind),
                    _("user"): work.user_id,
                    _("id"): str(work.id),
                    _("done"): progress_text(work.done, work.total) if work.total else "–",
                    _("since"): ago(status.at, work.since) if work.since else "–",
                }
                for work in status.running
            ]
            st.dataframe(running, hide_index=True, height="content")
        workers = [
            _("no. {number} ({seen})", number=worker.id, seen=ago(status.at, worker.last_seen))
            for worker in status.workers
        ]
        facts({_("Workers alive"): ", ".join(workers) or _("none")})


def _completed(status: types.Status) -> None:
    done, health = status.counts, status.indexes
    codes = sorted(done.failures, key=lambda code: -done.failures[code])
    failures = [f"{code} {decimal(done.failures[code])}" for code in codes]
    with box(_("Completed by workers")):
        facts(
            {
                _("Read"): f"{n_documents(done.documents_read)}, {n_pages(done.pages_read)}",
                _("Embedded"): n_chunks(done.chunks_embedded),
                _("Jobs"): decimal(done.jobs_done),
                _("Failures"): ", ".join(failures) or _("none"),
            }
        )
        st.subheader(_("Indexes"), anchor=False)
        facts(
            {
                _("Collections"): _(
                    "{indexes} with {chunks}", indexes=decimal(health.indexes), chunks=n_chunks(health.chunks)
                ),
                _("Health"): _("good") if health.is_good else _("see above"),
            }
        )


def _disks(status: types.Status) -> None:
    rows = [
        {
            _("folder"): _(FOLDERS[space.place]),
            _("free"): file_size(space.free_bytes),
            _("of"): file_size(space.total_bytes),
            _("used"): 1 - space.free_bytes / max(space.total_bytes, 1),
            _("state"): _(STATES[space.state]),
        }
        for space in status.disk
    ]
    used = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width="small")
    with box(_("Disks")):
        st.dataframe(rows, hide_index=True, height="content", column_config={_("used"): used})


def _database(database: types.DatabaseStatus, version: str) -> None:
    replicas = [f"{replica.name} {replica.state}, {_behind(replica.behind_seconds)}" for replica in database.replicas]
    details = {
        "Pagelight": version,
        _("Schema"): database.migration,
        _("Server"): f"PostgreSQL {database.server_version}, pgvector {database.vector_version}"
        + (", " + _("embedded") if database.is_embedded else ""),
        _("Connections"): progress_text(database.connections, database.max_connections),
        _("Oldest transaction"): duration(database.oldest_transaction_seconds),
        _("Replicas"): "; ".join(replicas) or _("none"),
    }
    if database.behind_primary_seconds is not None:
        details[_("This is a replica")] = _behind(database.behind_primary_seconds)
    with box(_("Database")):
        facts(details)


def _behind(seconds: float | None) -> str:
    return _("up to date") if seconds is None else _("{time} behind", time=duration(seconds))


def _backup(backup: types.BackupRecord | None) -> None:
    with box(_("Last backup")):
        if backup is None:
            st.text(_("No backup yet. Create one with: pagelight backup FILE.tar"))
            return
        facts(
            {
                _("Created"): local_time(backup.created_at),
                _("Where"): backup.path + ("" if backup.is_present else " (" + _("missing") + ")"),
                _("Size"): ", ".join((file_size(backup.bytes), n_documents(backup.documents), n_files(backup.files))),
                _("Verified"): local_time(backup.verified_at) if backup.verified_at else _("no"),
                _("Missing"): n_files(backup.missing) if backup.missing else _("nothing"),
            }
        )


FOLDERS = {"data": N_("data"), "files": N_("files"), "database": N_("database"), "temporary": N_("temporary")}
UNITS: Sequence[tuple[str, int]] = ((N_("d"), 86400), ("h", 3600), ("min", 60), ("s", 1))


def duration(seconds: float | None) -> str:
    """Format a duration in its largest whole unit: `3 h`."""
    if seconds is None:
        return "–"
    whole = max(0, round(seconds))
    unit, length = next((unit, length) for unit, length in UNITS if whole >= length or length == 1)
    return f"{decimal(whole // length)} {_(unit)}"


def ago(now: dt.datetime, then: dt.datetime) -> str:
    """Format how long ago a time was."""
    return _("{time} ago", time=duration((now - then).total_seconds()))
