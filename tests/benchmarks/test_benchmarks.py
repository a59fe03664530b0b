"""`python -m benchmarks` at small sizes: every part runs and reports its figures; their values are not checked."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apps import find_chromium
from rag.engine import RAGEngine
from tests import forked, pdfs
from tests.folders import open_folder

CHROMIUM = find_chromium() is not None
NAMES = {
    "parsing": {"read_file / bare time"},
    "embedding": {"speedup of ours", "peak memory, ours"},
    "ingestion": {"render and parse", "chunk", "embed", "store"},
    "search": {
        "50 chunks, owner of 100 %: hybrid p95",
        "50 chunks, owner of 1 %: lexical p50",
        "50 chunks, owner of 0.1 %: dense recall@10",
        "50 chunks: our hybrid is faster, p95",
    },
    "contract": {"query p50", "query p95"},
    "clusters": {
        "ingestion into the store: plain",
        "search, median user, p50: plain",
        "status of all users, p95: plain",
        "searches of 2 clients: plain",
    },
    "fairness": {"upload alone", "while a matrix is filled / alone"},
    "tables": {"pdf: cells right", "xlsx: cells right", "all: cells right"},
    "library": {"page ready", "page filtered", "next page"},
    "viewers": {"2 pages, our viewer: click to highlight", "2 pages, streamlit-pdf-viewer: peak browser memory"},
    "answers": {
        "idle: bare process",
        "idle: app / bare process",
        "1 busy processes: in the app",
    },
    "memory": {f"peak memory, {process}" for process in ("app", "parser", "worker")},
}
"""Some figures of each part."""

PROC = Path("/proc").is_dir()
NEEDED = {"memory": PROC, "viewers": PROC and CHROMIUM, "answers": CHROMIUM, "library": CHROMIUM, "tables": CHROMIUM}
PARTS = [part for part in NAMES if NEEDED.get(part, True)]
"""Parts that this machine can measure."""


BENCHMARKS = "import runpy; runpy.run_module('benchmarks', run_name='__main__', alter_sys=True)"
"""`python -m benchmarks` as `make bench` runs it, in a process that has imported the engine."""


Printed = Callable[..., str]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """What the command of another module prints. In this process, which has loaded the engine already."""
    monkeypatch.setenv("COLUMNS", "200")

    def run_here(module: str, *arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", [module, *map(str, arguments)])
        importlib.import_module(module).main()
        return capsys.readouterr().out

    return run_here


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("settings")
def test_every_part_runs_in_a_small_size_and_writes_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    told = tmp_path / "told"
    code = forked.run(BENCHMARKS, *PARTS, "--quick", "--json", tmp_path / "figures.json", output=told)
    assert code == 0, told.read_text()
    report: dict[str, Any] = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert report["quick"] is True
    assert report["machine"]["cores"] >= 1
    assert [section["part"] for section in report["parts"]] == PARTS
    for section in report["parts"]:
        figures = {figure["name"]: figure for figure in section["figures"]}
        assert figures.keys() >= NAMES[section["part"]]
        assert all(figure["value"] > 0 for figure in figures.values())
        assert all((figure["met"] is None) == (figure["goal"] is None) for figure in figures.values())
        assert f"{section['part']} · " in told.read_text()


@pytest.mark.needs_chromium
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("settings")
def test_all_tasks_of_an_analyst_are_done(tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = forked.run(BENCHMARKS, "tasks", "--quick", "--json", tmp_path / "figures.json", output=told)
    assert code == 0, told.read_text()
    (section,) = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["parts"]
    assert len([figure for figure in section["figures"] if figure["unit"] == "clicks"]) == 10


@pytest.mark.skipif(not PROC, reason="finds processes in /proc")
@pytest.mark.timeout(600)
def test_nothing_that_was_confirmed_is_lost_when_processes_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    few = [word for name in ("disk-full", "freezes", "power-cuts") for word in (f"--{name}", "0")]
    with open_folder() as folder:
        monkeypatch.setenv("RAG_DATA_DIR", str(folder))
        asked = ("chaos", "--quick", "--rounds", "3", *few, "--patience", "4", "--json", tmp_path / "figures.json")
        code = forked.run(BENCHMARKS, *asked, output=told)
        assert not list(folder.glob("benchmarks/*"))
    assert code == 0, told.read_text()
    (section,) = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["parts"]
    figures = {figure["name"]: figure["value"] for figure in section["figures"]}
    for wrong in ("lost", "doubled", "orphaned", "half-searchable", "hung"):
        assert figures[wrong] == 0
    for kind in ("worker", "parser", "backend"):
        assert f": killed {kind} " in told.read_text()
    assert "uploads" in section["about"]  # somebody worked


def test_an_unknown_part_is_refused_by_name(printed: Printed, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        printed("benchmarks.__main__", "parsing", "speling")
    assert ended.value.code == 2
    assert "speling" in capsys.readouterr().err


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
def test_constants_of_answers_are_fitted_to_questions_of_ones_own(printed: Printed, tmp_path: Path) -> None:
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
    text = printed("benchmarks.extractive", write_lines(tmp_path / "qa.jsonl", asked))
    assert "10 of 11 questions about 8 documents" in text
    for shown in ("page_relevance", "lead", "own: says the answer", "Brier", "all: refused_right"):
        assert shown in text
    right = next(line for line in text.splitlines() if "all: on a gold page" in line)
    assert "1.00 [1.00 1.00]" in right


@pytest.mark.usefixtures("settings")
def test_reading_is_measured_on_passages_of_ones_own(printed: Printed, tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", [{"_id": name, "text": text} for name, (_, text, _) in FACTS.items()])
    write_lines(tmp_path / "queries.jsonl", [{"_id": name, "text": asked} for name, (asked, _, _) in FACTS.items()])
    answers = [{"qid": name, "answers": [{"text": answer}]} for name, (_, _, answer) in FACTS.items()]
    write_lines(tmp_path / "answers.jsonl", answers)
    judged = [("query-id", "corpus-id", "score"), *((name, name, "1") for name in FACTS)]
    (tmp_path / "qrels.tsv").write_text("".join("\t".join(line) + "\n" for line in judged), encoding="utf-8")
    for options in ((), ("--every", "4")):  # the passages are taken in once
        text = printed("benchmarks.reading", tmp_path, *options)
    assert "2 questions" in text
    means = {name.strip(): mean for name, mean in rows(text)}
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
