"""`pagelight backup`, `restore` and `export`: all users' data in one archive and back, and own data in open formats."""

from pathlib import Path
from typing import Annotated

import typer
from rich import filesize

from rag import config, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

STAGES = {"tables": "Tables", "files": "Documents' files", "indexes": "Search indexes", "check": "Checking the archive"}


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="The archive to write.")], as_json: AsJson = False
) -> None:
    """Write everything of all users into one archive: documents, chunks, vectors, chats, keys' digests, and all files.

    It is a plain tar with a manifest, which is read back and checked. The app and workers may keep running. Settings,
    the keys in them, and cached embeddings of texts are not included.

        pagelight backup /mnt/safe/pagelight-2026-05-01.tar
    """
    with open_engine() as engine, output.show_progress(**STAGES) as on_progress:
        manifest = engine.installation.backup(file, on_progress, actor=engine.user_id, origin=engine.origin)
    _print("Written and checked", file, manifest, as_json=as_json)
    if manifest.missing:
        output.print_note(
            f"{output.plural(len(manifest.missing), 'file')} of documents are missing in the storage, and so in the "
            "archive; manifest.json names them.",
            style="yellow",
        )


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="The archive to read.")],
    check: Annotated[bool, typer.Option("--check", help="Only check the archive; change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into an empty installation.

    The whole archive is checked before anything is changed. A backup of an earlier version is migrated. After an
    interruption, run the same command again.

        pagelight restore /mnt/safe/pagelight-2026-05-01.tar --check
        RAG_DATA_DIR=/srv/pagelight pagelight restore /mnt/safe/pagelight-2026-05-01.tar
    """
    from rag.engine import Installation, check_backup

    with output.show_progress(**STAGES) as on_progress:
        if check:
            manifest = check_backup(file, on_progress)
        else:
            with Installation(config.load_config()) as installation:
                manifest = installation.restore(file, on_progress)
    _print("Checked" if check else "Restored", file, manifest, as_json=as_json)


def _print(done: str, file: Path, manifest: types.BackupManifest, *, as_json: bool) -> None:
    size = file.stat().st_size
    if as_json:
        output.print_json(
            {
                "file": str(file),
                "bytes": size,
                "createdAt": manifest.created_at,
                "pagelight": manifest.pagelight,
                "schema": manifest.migrations[-1],
                "documents": manifest.rows["documents"],
                "files": len(manifest.files),
                "rows": {**manifest.rows},
                "missing": len(manifest.missing),
                "leftOut": manifest.left_out,
            }
        )
        return
    chunks = sum(rows for table, rows in manifest.rows.items() if table.startswith("data_document_chunks_"))
    parts = [
        output.plural(manifest.rows["documents"], "document"),
        output.plural(chunks, "chunk"),
        output.plural(manifest.rows["conversations"], "chat"),
        output.plural(len(manifest.files), "file"),
    ]
    output.print_text(f"{done}: {file}, {filesize.decimal(size)}: {', '.join(parts)}.")
    output.print_text(f"Made {output.minute(manifest.created_at)} by Pagelight {manifest.pagelight}.")


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; new or empty.")],
    index_name: Annotated[str | None, typer.Option("--index", metavar="NAME", help="Only this index.")] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Include the chunks' vectors, which are large.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write your documents and chats into a folder, in open formats.

    The original files go to documents/; documents.jsonl, chunks.jsonl (text, pages, lines and their boxes) and
    conversations.jsonl (with quotes and their boxes) have one JSON object per line. The trash is not exported. To move
    a whole installation, use pagelight backup.

        pagelight export my-documents
        pagelight export filings --index filings --vectors
    """
    with open_engine() as engine, output.show_progress(documents="Documents") as on_progress:
        report = engine.exports.write(folder, index_name, vectors=vectors, on_progress=on_progress)
    if as_json:
        output.print_json({"folder": str(folder), **report._asdict()})
        return
    parts = [
        output.plural(report.documents, "document"),
        output.plural(report.chunks, "chunk"),
        output.plural(report.conversations, "chat"),
    ]
    output.print_text(f"Written to {folder}: {', '.join(parts)}.")
    for name in report.missing:
        output.print_note(f"The file of {name} is not in the storage.", style="yellow")
