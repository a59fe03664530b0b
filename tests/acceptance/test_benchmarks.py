"""`python -m benchmarks` in small sizes: every part runs and reports its figures; none of them is judged here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag.engine import RAGEngine
from tests import pdfs

ROOT = Path(__file__).parents[2]
NAMES = {
    "parsing": {"read_file takes, of the bare time"},
    "embedding": {"ours is faster by", "peak memory, ours"},
    "ingestion": {"render and parse", "cut", "embed", "store"},
    "search": {
        "1,000 chunks, owner of 100 %: hybrid p95",
        "1,000 chunks, owner of 10 %: lexical p50",
        "1,000 chunks, owner of 1 %: dense recall@10",
        "1,000 chunks: our hybrid is faster, p95",
    },
    "contract": {"query p50", "query p95"},
    "viewers": {"4 pages, our viewer: click to highlight", "4 pages, streamlit-pdf-viewer: peak memory of the browser"},
    "answers": {
        "left alone: bare process",
        "left alone: the app takes, of the bare time",
        "2 busy loops beside: in the app",
    },
    "memory": {f"peak memory, {process}" for process in ("app", "parser", "worker")},
}
"""Some of the figures of each part."""

NEEDS_CHROMIUM = pytest.mark.skipif(not shutil.which("chromium"), reason="shows pages in Chromium")
NEEDS_PROC = pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")


def run(*arguments: str | Path, module: str = "benchmarks") -> subprocess.CompletedProcess[str]:
    """The command as `make bench` runs it, or that of another module."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    "parts",
    [
        ("parsing", "embedding", "ingestion", "search", "contract"),
        pytest.param(("memory",), marks=NEEDS_PROC),
        pytest.param(("viewers",), marks=[NEEDS_PROC, NEEDS_CHROMIUM]),
        pytest.param(("answers",), marks=NEEDS_CHROMIUM),
    ],
)
def test_parts_run_in_small_sizes_and_write_their_figures(parts: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*parts, "--quick", "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert report["quick"] is True
    assert report["machine"]["cores"] >= 1
    assert [section["part"] for section in report["parts"]] == [*parts]
    for section in report["parts"]:
        figures = {figure["name"]: figure for figure in section["figures"]}
        assert figures.keys() >= NAMES[section["part"]]
        assert all(figure["value"] > 0 for figure in figures.values())
        assert all((figure["met"] is None) == (figure["goal"] is None) for figure in figures.values())
        assert section["part"] in done.stdout


def test_an_unknown_part_is_refused_by_name() -> None:
    done = run("parsing", "speling")
    assert done.returncode == 2
    assert "speling" in done.stderr


FACTS = {
    "harbour": ("How many ships did the harbour handle?", "The harbour handled 4,812 ships in 2019.", "4,812"),
    "orchard": ("What grows in the orchard?", "In the orchard grow russet apples.", "russet apples"),
    "mill": ("What did the mill grind?", "The mill has ground barley for ages.", "barley"),
    "brewery": ("Who owns the brewery?", "The brewery is owned by Ada Quill.", "Ada Quill"),
    "school": ("When was the school opened?", "The school was opened in 1911.", "1911"),
    "forge": ("What does the forge make?", "The forge makes garden gates.", "garden gates"),
    "lighthouse": ("How high is the lighthouse?", "The lighthouse is 41 metres high.", "41 metres"),
    "ferry": ("How many passengers does the ferry carry?", "The ferry carries 230 passengers.", "230"),
}
"""A question, a sentence that answers it, and the words that do."""


@pytest.mark.usefixtures("settings")
def test_constants_of_answers_are_fitted_to_questions_of_ones_own(tmp_path: Path) -> None:
    asked: list[dict[str, object]] = [
        {"id": name, "question": question, "pdf": f"{name}.pdf", "gold_pages": [1], "answer": answer}
        for name, (question, _, answer) in FACTS.items()
    ]
    unanswerable: dict[str, object] = {
        "question": "How many lions live in the zoo?",
        "gold_pages": [],
        "answerable": False,
    }
    asked += [{"id": f"no {name}", "pdf": f"{name}.pdf", **unanswerable} for name in ("mill", "forge")]
    asked.append({"id": "elsewhere", "question": "What is there?", "pdf": "missing.pdf", "gold_pages": [1]})
    with RAGEngine() as engine:
        for name, (_, sentence, _) in FACTS.items():
            content = pdfs.plain((sentence, f"Much else is told of the {name} by its keeper."))
            document = engine.documents.add(content, f"{name}.pdf", enqueue=False)
            engine.documents.process(document.id)
    done = run(write_lines(tmp_path / "qa.jsonl", asked), module="benchmarks.extractive")
    assert done.returncode == 0, done.stderr
    assert "10 of 11 questions about 8 documents" in done.stdout
    for shown in ("page_relevance", "lead", "own: says the answer", "Brier", "all: refused_right"):
        assert shown in done.stdout
    right = next(line for line in done.stdout.splitlines() if "all: on a gold page" in line)
    assert "1.00 [1.00 1.00]" in right


@pytest.mark.usefixtures("settings")
def test_reading_is_measured_on_passages_of_ones_own(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", [{"_id": name, "text": text} for name, (_, text, _) in FACTS.items()])
    write_lines(tmp_path / "queries.jsonl", [{"_id": name, "text": asked} for name, (asked, _, _) in FACTS.items()])
    answers = [{"qid": name, "answers": [{"text": answer}]} for name, (_, _, answer) in FACTS.items()]
    write_lines(tmp_path / "answers.jsonl", answers)
    judged = [("query-id", "corpus-id", "score"), *((name, name, "1") for name in FACTS)]
    (tmp_path / "qrels.tsv").write_text("".join("\t".join(line) + "\n" for line in judged), encoding="utf-8")
    for options in ((), ("--every", "4")):  # the passages are taken in once
        done = run(tmp_path, *options, module="benchmarks.reading")
        assert done.returncode == 0, done.stderr
    assert "2 questions" in done.stdout
    means = {name.strip(): mean for name, mean in rows(done.stdout)}
    assert means["first sentence holds the answer"] == means["any sentence holds the answer"] == "1.00 [1.00 1.00]"
    assert means["refused with the passage that answers"] == "0.00 [.00 .00]"
    assert means["refused without it"] == "1.00 [1.00 1.00]"


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rows(table: str) -> list[tuple[str, str]]:
    """The cells of a printed table of two columns."""
    cells = ([cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines())
    return [(found[0], found[1]) for found in cells if len(found) == 2]
