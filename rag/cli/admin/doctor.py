"""`pagelight doctor`: check that everything Pagelight needs is there."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib import parse

import typer
from rich import filesize
from rich.text import Text

from rag import errors, tracing, types
from rag.cli import output
from rag.cli.admin import server
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.config import Config, load_config

if TYPE_CHECKING:
    from rag.engine import RAGEngine

UNCONFIRMED = (
    "Most files belong to documents that this database does not know: check that RAG_STORAGE_URL and the database "
    "belong together. If they do, and the files may be deleted: pagelight doctor --fix --unconfirmed"
)
ORPHANS = {
    "deletions": "of documents that are gone, still to be deleted",
    "unowned": "of documents that no row knows",
    "unconfirmed": "of documents that this database does not know",
    "partial_files": "partial or temporary",
    "copies": "copies of files of documents that are gone",
}
"""Descriptions of orphans, by the fields of their report."""


class State(StrEnum):
    """The result of a check: fine, could be better, or Pagelight cannot work."""

    GOOD = "good"
    WARNING = "warning"
    BROKEN = "broken"


MARKS = {State.GOOD: ("✓", "green"), State.WARNING: ("!", "yellow"), State.BROKEN: ("✗", "red")}


class Check(NamedTuple):
    """A thing that was checked, and the result."""

    name: str
    state: State
    message: str


Result = tuple[State, str]

Fix = Annotated[
    bool,
    typer.Option("--fix", help="Delete what killed processes left behind."),
]
Unconfirmed = Annotated[
    bool, typer.Option("--unconfirmed", help="With --fix, delete unknown files even if they are most of the storage.")
]

Distribute = Annotated[
    bool, typer.Option("--distribute", help="Distribute the tables over the nodes of a Citus cluster, by user.")
]


def doctor(
    fix: Fix = False, unconfirmed: Unconfirmed = False, distribute: Distribute = False, as_json: AsJson = False
) -> None:
    """Check that everything Pagelight needs is there, and say how to fix what is not.

    Keys are never printed. The exit code is 1 if something needed is broken. Nothing is changed without --fix, which
    deletes files that belong to no document and are older than a day, or --distribute.

        pagelight doctor
        pagelight doctor --fix
        pagelight doctor --distribute
        pagelight doctor --json
    """
    checks = []
    for check in _checks(load_config(), fix=fix, unconfirmed=fix and unconfirmed, distribute=distribute):
        checks.append(check)
        if not as_json:
            mark, style = MARKS[check.state]
            line = Text.assemble((f"{mark} ", style), f"{check.name}: ", (check.message, "dim"))
            output.console().print(line, soft_wrap=True)
    broken = [check for check in checks if check.state is State.BROKEN]
    if as_json:
        output.print_json({"ok": not broken, "checks": [check._asdict() for check in checks]})
    if broken:
        raise typer.Exit(1)


def _checks(config: Config, *, fix: bool, unconfirmed: bool, distribute: bool) -> Iterator[Check]:
    yield Check("Python", State.GOOD, ".".join(map(str, sys.version_info[:3])))
    yield _check("App", lambda: (State.GOOD, str(server.find_app())))
    yield _check("Data folder", lambda: _data_folder(config.rag_data_dir))
    yield from _disks(config)
    yield from _models(config.rag_local_model_dir)
    yield _check("Text recognition", lambda: _text_recognition(config))
    yield from _keys(config)
    yield _check("Servers of models", lambda: _servers(config))
    yield _check("Traces", lambda: _traces(config))
    yield from _engine_checks(config, fix=fix, unconfirmed=unconfirmed, distribute=distribute)


def _check(name: str, check: Callable[[], Result]) -> Check:
    try:
        state, message = check()
    except errors.Error as error:
        return Check(name, State.BROKEN, error.message)
    return Check(name, state, message)


def _data_folder(folder: Path) -> Result:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return State.GOOD, str(folder)
    except OSError as error:
        reason = error.strerror or "not writable"
        return State.BROKEN, f"{folder} cannot be written ({reason}). Set RAG_DATA_DIR to a folder that can."


def _disks(config: Config) -> Iterator[Check]:
    from rag.engine.operations import status

    results = {
        types.DiskState.GOOD: (State.GOOD, ""),
        types.DiskState.LOW: (State.WARNING, ". Make room, or move RAG_DATA_DIR."),
        types.DiskState.FULL: (State.BROKEN, ". Uploads are refused until there is room."),
    }
    for space in status.disk_spaces(config):
        state, advice = results[space.state]
        message = f"{filesize.decimal(space.free_bytes)} free in {space.path}{advice}"
        yield Check(f"Disk ({space.place})", state, message)


def _traces(config: Config) -> Result:
    endpoint = config.otel_exporter_otlp_endpoint
    if not endpoint:
        return State.GOOD, "not sent anywhere (optional)"
    if not tracing.is_installed():
        return State.WARNING, f"OTEL_EXPORTER_OTLP_ENDPOINT is set, and nothing is traced: {tracing.HOW_TO_INSTALL}"
    return State.GOOD, f"sent to {parse.urlsplit(endpoint).hostname}"


def _models(folder: Path | None) -> Iterator[Check]:
    from rag.packaged_models import BGE_SMALL_EN, ENTAILMENT, MS_MARCO_MINILM, READER, ModelFiles, find_model

    def verify(files: ModelFiles) -> Result:
        return State.GOOD, f"{find_model(files, folder)}, its hash is right"

    yield _check("Embedding model", lambda: verify(BGE_SMALL_EN))
    yield _check("Cross-encoder", lambda: verify(MS_MARCO_MINILM))
    yield _check("Reader", lambda: verify(READER))
    yield _check("Entailment model", lambda: verify(ENTAILMENT))


def _text_recognition(config: Config) -> Result:
    if not config.rag_parsing.ocr:
        return State.WARNING, "switched off by RAG_PARSING__OCR; scanned pages have no text"
    from rag.parsing.ocr import packaged, text_layer
    from rag.parsing.ocr.languages import PACKAGED
    from rag.parsing.ocr.text_layer import find_installed

    tessdata = text_layer.find_tessdata()
    installed = find_installed(config.rag_parsing, tessdata)
    if not installed:
        return State.WARNING, (
            f"no Tesseract data for “{config.rag_parsing.ocr_language}”; scanned pages have no text. Install Tesseract "
            "(Debian: tesseract-ocr), or set TESSDATA_PREFIX to the folder with its data."
        )
    models = [f"{packaged.folder()}, their hashes are right"] if PACKAGED in installed else []
    data = ", ".join(sorted(installed - {PACKAGED}))
    return State.GOOD, "; ".join([*models, *([f"{tessdata} has {data}"] if data else [])])


def _keys(config: Config) -> Iterator[Check]:
    """Check which vendors have a key, in the settings or stored by the user."""
    from rag.engine.models import apply_preferences
    from rag.providers import Registry
    from rag.store.preferences import Preferences

    try:
        settings = apply_preferences(config, Preferences(config.rag_data_dir).get())
    except errors.Error as error:
        yield Check("Settings", State.BROKEN, error.message)
        return
    registry = Registry()
    for provider in registry.providers():
        if provider.required_setting:
            is_given = registry.is_usable(provider, settings)
            yield Check(f"Key of {provider.name}", State.GOOD, "given" if is_given else "not given (optional)")


def _servers(config: Config) -> Result:
    """Look for Ollama on this machine; it is not used unless it is chosen."""
    from rag.providers import Registry

    ollama = Registry().find_ollama(config)
    if ollama is None:
        return State.GOOD, "none found (optional)"
    count = output.plural(len(ollama.models), "model")
    return State.GOOD, f"Ollama with {count}; choose one with pagelight models write"


def _engine_checks(config: Config, *, fix: bool, unconfirmed: bool, distribute: bool) -> Iterator[Check]:
    where = "RAG_DATABASE_URL" if config.rag_database_url else f"embedded, {config.database_dir}"
    try:
        with open_engine() as engine:
            health = engine.installation.store.health()
            message = f"PostgreSQL {health.server_version}, pgvector {health.vector_version}, schema {health.migration}"
            yield Check("Database", State.GOOD, f"{message} ({where})")
            yield from _distribution(engine, distribute=distribute)
            yield _check("Isolation of users", lambda: _isolation(engine, config))
            yield _check("Queue", lambda: _queue(engine, health.workers))
            yield _check("Left behind", lambda: _orphans(engine, fix=fix, unconfirmed=unconfirmed))
    except errors.Error as error:
        yield Check("Database", State.BROKEN, f"{error.message} ({where})")


def _distribution(engine: "RAGEngine", *, distribute: bool) -> Iterator[Check]:
    """Say what is on which node of a Citus cluster; nothing for a database on one server."""
    store = engine.installation.store
    try:
        distribution = store.distribute() if distribute else store.distribution()
    except errors.Error as error:
        yield Check("Distribution", State.BROKEN, error.message)
        return
    if distribution is None:
        return
    distributed, whole = (", ".join(tables) for tables in (distribution.distributed, distribution.on_coordinator))
    yield Check("Distribution", State.GOOD, f"by user: {distributed}; on the coordinator: {whole}")
    for node in distribution.nodes:
        role = "coordinator" if node.is_coordinator else "node"
        figures = f"{output.plural(node.shards, 'shard')}, {filesize.decimal(node.bytes)}"
        yield Check(f"Distribution ({role} {node.address})", State.GOOD, figures)


def _isolation(engine: "RAGEngine", config: Config) -> Result:
    """Check that row-level security separates users, and say how the owner opens the database by hand."""
    from rag.store.server import embedded

    walls = engine.installation.store.row_security()
    if walls.unprotected:
        return State.BROKEN, f"no row-level security on {', '.join(walls.unprotected)}. Restart Pagelight to set it up"
    if not walls.has_roles:
        return State.WARNING, (
            "row-level security, but the account of RAG_DATABASE_URL owns the tables and may not make or take on the "
            "roles pagelight_app, pagelight_worker and pagelight_backup; a superuser is held by no policy. Set "
            "RAG_DATABASE_ADMIN_URL to an account that may, or let one run: CREATE ROLE pagelight_app; CREATE ROLE "
            "pagelight_worker; CREATE ROLE pagelight_backup; GRANT pagelight_app, pagelight_worker, pagelight_backup "
            "TO the account"
        )
    by_hand = "" if config.rag_database_url else f"; its owner by hand: psql '{embedded.address(config.database_dir)}'"
    return State.GOOD, f"row-level security, and the app's role owns and bypasses nothing{by_hand}"


def _queue(engine: "RAGEngine", workers: int) -> Result:
    documents = [document for index in engine.indexes.list() for document in engine.documents.list(index.name)]
    waiting = sum(document.status in types.UNFINISHED for document in documents)
    message = f"{output.plural(waiting, 'document')} waiting, {output.plural(workers, 'worker')} running"
    if waiting and not workers:
        return State.WARNING, f"{message}. Start one: pagelight run, or pagelight worker"
    return State.GOOD, message


def _orphans(engine: "RAGEngine", *, fix: bool, unconfirmed: bool) -> Result:
    report = engine.installation.cleanup.find_orphans(delete=fix, include_unconfirmed=unconfirmed)
    counts = report.model_dump(exclude={"deleted", "bytes"}, exclude_defaults=True)
    listed = ", ".join(f"{count:,} {ORPHANS[kind]}" for kind, count in counts.items())
    if not counts:
        return State.GOOD, "nothing"
    if report.unconfirmed:
        return State.WARNING, f"{listed}. {UNCONFIRMED}"
    if fix:
        return State.GOOD, f"deleted: {listed}; {filesize.decimal(report.bytes)}"
    return State.WARNING, f"{listed}; {filesize.decimal(report.bytes)}. Delete it: pagelight doctor --fix"
