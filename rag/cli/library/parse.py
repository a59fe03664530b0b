"""`pagelight parse`: show how a file is parsed, without a database."""

import collections
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from rag import config, errors, types
from rag.cli import output
from rag.cli.options import AsJson, Password

MAX_HEADINGS = 60


def parse(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")],
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object per line of text.")] = False,
    password: Password = None,
    as_json: AsJson = False,
) -> None:
    """Show how a file is parsed: its pages, blocks and headings, and the text recognised in pictures.

    Boxes are points of the page as displayed, origin top left; lines count through the document from 1; the cells of
    a table's row are separated by tabs.

        pagelight parse report.pdf
        pagelight parse report.pdf --jsonl > lines.jsonl
    """
    if jsonl and as_json:
        raise errors.ValidationError("Choose --json or --jsonl.")
    from rag import parsing

    settings = config.load_config().rag_parsing
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        parsed = parsing.read_file(
            file,
            name=file.name,
            rendition=Path(folder) / "rendition.pdf",
            config=settings,
            password=password,
            pictures=settings.pictures,
        )
    if as_json:
        output.print_json(parsed)
    elif jsonl:
        for line in (line for block in parsed.blocks for line in block.to_lines()):
            place = {"pdf": str(file), "page": line.page_number, "bbox": list(line.bbox)}
            output.print_json({**place, "text": line.text, "line": line.number}, indent=None)
    else:
        _print_summary(parsed)


def _print_summary(parsed: types.ParsedDocument) -> None:
    kinds = collections.Counter(block.kind for block in parsed.blocks)
    failed = [page.number for page in parsed.pages if page.error]
    recognised = [page.number for page in parsed.pages if page.ocr]
    rows = [
        ("title", parsed.title),
        ("pages", f"{len(parsed.pages):,}"),
        ("lines", f"{parsed.line_count:,}"),
        *((f"{kind} blocks", f"{kinds[kind]:,}") for kind in types.BlockKind),
    ]
    if recognised:
        rows.append(("recognised pages", ", ".join(map(str, recognised))))
    if failed:
        rows.append(("unreadable pages", ", ".join(map(str, failed))))
    if parsed.note:
        rows.append(("note", parsed.note))
    output.print_table(["", ""], rows)
    output.print_reading(parsed.completeness)
    headings = [block for block in parsed.blocks if block.kind is types.BlockKind.HEADING]
    if headings:
        output.print_text("\nHeadings")
    for heading in headings[:MAX_HEADINGS]:
        indent = "  " * (heading.level or 1)
        output.print_text(f"{indent}{output.excerpt(heading.text, 90)}  · {heading.page_number}")
    if len(headings) > MAX_HEADINGS:
        output.print_text(f"  … and {len(headings) - MAX_HEADINGS} more")
