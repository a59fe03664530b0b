"""`pagelight status`: show the state of the installation."""

from rag import types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson


def status(as_json: AsJson = False) -> None:
    """Show the state of the installation: queue, workers, sizes, disks, database, last backup.

    Administrators see the same on the page Status and over GET /status.

        pagelight status
        pagelight status --json | jq .warnings
    """
    with open_engine() as engine:
        state = engine.installation.status()
    if as_json:
        output.print_json(state)
        return
    for warning in state.warnings:
        output.print_text(f"! {warning}", style="yellow")
    output.print_table(["", ""], _facts(state).items())
    output.print_text()
    lanes = [
        (
            lane.lane,
            lane.waiting,
            lane.running,
            f"{lane.oldest_seconds:,.0f} s" if lane.waiting and lane.oldest_seconds is not None else "–",
        )
        for lane in state.lanes
    ]
    output.print_table(["Queue", "waiting", "running", "oldest waits"], lanes, right=("waiting", "running"))
    output.print_text()
    output.print_table(
        ["Disk", "left", "of", "state", "path"],
        [
            (space.place, output.size(space.free_bytes), output.size(space.total_bytes), space.state, space.path)
            for space in state.disk
        ],
        right=("left", "of"),
    )


def _facts(state: types.Status) -> dict[str, str]:
    database, library, done = state.database, state.library, state.counts
    failures = sum(done.failures.values())
    if backup := state.backup:
        checked = "checked" if backup.verified_at else "not checked"
        gone = "" if backup.is_present else ", missing now"
        last = f"{output.minute(backup.created_at)}, {backup.path}, {output.size(backup.bytes)}, {checked}{gone}"
    else:
        last = "none; make one: pagelight backup FILE.tar"
    return {
        "Pagelight": f"{state.version}, schema {database.migration}",
        "Database": f"PostgreSQL {database.server_version}, pgvector {database.vector_version}, "
        f"{output.size(database.bytes)}, {database.connections} of {database.max_connections} connections",
        "Replicas": ", ".join(f"{replica.name} {replica.state}" for replica in database.replicas) or "none",
        "Workers": f"{len(state.workers):,} alive",
        "Users": f"{library.users:,}",
        "Documents": f"{library.documents:,}, {library.failed:,} failed, {library.in_trash:,} in the trash; originals "
        f"{output.size(library.original_bytes)}",
        "Indexes": f"{state.indexes.indexes:,} with {output.plural(state.indexes.chunks, 'chunk')}",
        "Done so far": f"{output.plural(done.documents_read, 'document')} read, "
        f"{output.plural(done.chunks_embedded, 'chunk')} embedded, {output.plural(failures, 'failure')}",
        "Last backup": last,
    }
