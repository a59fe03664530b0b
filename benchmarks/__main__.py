"""`python -m benchmarks [PART …]`: run benchmarks, print tables, write JSON."""

import argparse
import dataclasses
import importlib
import json
import sys
import time
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.report import Section
from benchmarks.settings import Chaos, Clusters, Options, local_config

PARTS = ("parsing", "embedding", "ingestion", "search", "contract", "memory")
ON_DEMAND = (
    *(
        "answers",
        "chaos",
        "claims",
        "clusters",
        "completeness",
        "fairness",
        "library",
        "load",
        "machines",
        "ocr",
        "pictures",
        "questions",
    ),
    *("stacks", "tables", "tasks", "verdicts", "viewers", "words", "writers"),
)
"""Parts that run only on request: they need extra tools (locust, Chromium, other libraries, a folder of files), or take
long and kill processes (chaos, machines)."""


def main() -> None:
    """Run the selected parts one after another."""
    arguments = parse_arguments()
    options = Options(
        local_config(),
        quick=arguments.quick,
        pdf=arguments.pdf,
        pdfs=arguments.pdfs,
        claims=arguments.claims,
        documents=arguments.documents,
        files=arguments.files,
        screenshots=arguments.screenshots,
        questions=arguments.questions,
        split=arguments.split,
        weights=arguments.weights,
        server=arguments.server,
        chunks=tuple(arguments.chunks),
        chaos=Chaos(**{field.name: getattr(arguments, field.name) for field in dataclasses.fields(Chaos)}),
        clusters=Clusters(
            tuple(arguments.coordinators),
            arguments.users,
            tuple(arguments.user_chunks),
            tuple(arguments.restart) if arguments.restart else None,
        ),
    )
    console = Console()
    sections = []
    for part in arguments.parts or PARTS:
        sections.append(measure(part, options, console))
        console.print(sections[-1].table())
        console.print(*sections[-1].notes, "", sep="\n", highlight=False, markup=False, soft_wrap=True)
    if arguments.json:
        only = sections[0].result if len(sections) == 1 else None
        content = json.dumps(only or report.to_json(sections, quick=options.quick), indent=2, ensure_ascii=False)
        arguments.json.write_text(content + "\n", encoding="utf-8")
    sys.exit(any(section.failed for section in sections))


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed and memory.")
    made.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"one of {', '.join(PARTS)} (default: all of these) or {', '.join(ON_DEMAND)}",
    )
    made.add_argument("--quick", action="store_true", help="small sizes, to check that everything runs")
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    made.add_argument(
        "--pdf", type=Path, metavar="FILE", help="a PDF for parsing, ingestion and memory, instead of a generated one"
    )
    made.add_argument("--pdfs", type=Path, metavar="FOLDER", help="PDFs for claims, pictures, questions, stacks, words")
    made.add_argument(
        "--claims", type=Path, metavar="FILE", help="labelled claims for claims, or answers for verdicts (JSON lines)"
    )
    made.add_argument("--documents", type=Path, metavar="FOLDER", help="folder of the PDFs of the answers of verdicts")
    made.add_argument("--files", type=Path, metavar="FOLDER", help="files for completeness")
    made.add_argument("--screenshots", type=Path, metavar="FOLDER", help="folder for screenshots of tasks")
    made.add_argument("--questions", type=Path, metavar="FILE", help="questions (JSON lines) for writers")
    made.add_argument("--split", choices=("open", "final"), default="open", help="documents of questions to ask about")
    made.add_argument("--weights", type=Path, metavar="FILE", help="a GGUF file for writers, instead of packages")
    made.add_argument(
        "--server", metavar="URL", help="a running OpenAI-compatible server for writers, claims and verdicts"
    )
    made.add_argument(
        "--chunks", type=int, nargs="+", default=Options.chunks, metavar="N", help="table sizes for search"
    )
    faults = made.add_argument_group("chaos", "number of faults of each kind; one each with --quick")
    for field in dataclasses.fields(Chaos):
        name = f"--{field.name.replace('_', '-')}"
        faults.add_argument(name, type=int, default=field.default, metavar="N", help=f"default: {field.default}")
    spread = made.add_argument_group("clusters", "compared with the server of RAG_DATABASE_URL")
    spread.add_argument(
        "--coordinators", nargs="+", default=(), metavar="URL", help="databases with Citus and its nodes"
    )
    spread.add_argument("--users", type=int, default=Clusters.users, metavar="N", help="default: %(default)s")
    spread.add_argument(
        "--user-chunks", type=int, nargs=2, default=Clusters.user_chunks, metavar="N", help="fewest and most of a user"
    )
    spread.add_argument(
        "--restart",
        nargs=3,
        metavar=("HOST:PORT", "KILL", "START"),
        help="a node of the last cluster, and commands that kill it and start it again",
    )
    arguments = made.parse_args()
    if unknown := set(arguments.parts) - {*PARTS, *ON_DEMAND}:
        made.error(f"unknown part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS + ON_DEMAND)}")
    return arguments


def measure(part: str, options: Options, console: Console) -> Section:
    """Run one part and return its section."""
    section = Section(part)
    started = time.perf_counter()
    with console.status(f"Measuring {part} …"):
        importlib.import_module(f"benchmarks.{part}").measure(options, section)
    section.seconds = time.perf_counter() - started
    return section


if __name__ == "__main__":
    main()
