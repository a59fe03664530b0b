"""`python -m benchmarks verdicts`: the shares of verdicts on the labelled sentences of an answer about a made PDF."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import report, verdicts
from benchmarks.report import Section
from benchmarks.settings import Options, local_config
from rag.types import Sentence, Support
from tests import pdfs, vendors
from tests.vendor_servers import listed

SHIPS, CRANE, OIL, DUES = (
    "The harbour of Lindmark handled 4,812 ships in 2019.",
    "Its largest crane lifts 95 tonnes.",
    "The harbour does not handle oil.",
    "Dues fell by 3.5% in 2020, while salaries rose by 2.1%.",
)
HEADING, PARAPHRASE = "About the harbour:", "Heavy loads can be hoisted there."
ANSWER = [
    HEADING,
    f"{SHIPS[:-1]} [S1].",
    f'{CRANE[:-1]} [S1] <quote id="S1">{CRANE}</quote>.',
    f"{PARAPHRASE[:-1]} [S1].",
]
WRONG_FIGURE, NEGATED = SHIPS.replace("4,812", "4,912"), CRANE.replace("lifts", "does not lift")
LABELLED = {
    "id": "harbour-1",
    "question": "What does the harbour handle?",
    "pdf": "reports/harbour.pdf",
    "sources": [{"id": "S1", "pages": [1]}],
    "answer": " ".join(ANSWER),
    "sentences": [
        {"text": HEADING, "kind": "lead", "label": "true"},
        {"text": SHIPS, "kind": "claim", "label": "true"},
        {"text": CRANE, "kind": "computed", "label": "true"},
        {"text": PARAPHRASE, "kind": "claim", "label": "true"},
        {"text": "Nobody knows.", "kind": "claim", "label": "unclear"},
    ],
    "altered": [
        {
            "answer": " ".join(ANSWER).replace("4,812", "4,912"),
            "false_sentence": WRONG_FIGURE,
            "kind": "figure",
        },
        {
            "answer": " ".join(ANSWER).replace("crane lifts", "crane does not lift", 1),
            "false_sentence": NEGATED,
            "kind": "negation",
        },
    ],
}


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[Path, Path]:
    """A file with the labelled answer, and the folder of its document."""
    (tmp_path / "documents" / "reports").mkdir(parents=True)
    (tmp_path / "documents" / "reports" / "harbour.pdf").write_bytes(pdfs.plain([SHIPS, CRANE, OIL, DUES]))
    file = tmp_path / "labelled.jsonl"
    file.write_text(json.dumps(LABELLED) + "\n\n", encoding="utf-8")
    return file, tmp_path / "documents"


def run(monkeypatch: pytest.MonkeyPatch, file: Path, folder: Path, *more: str) -> dict[str, Any]:
    """Run the command, and return what it writes."""
    written = file.with_suffix(".figures.json")
    arguments = ["--claims", str(file), "--documents", str(folder), "--json", str(written), *more]
    monkeypatch.setattr(sys, "argv", ["benchmarks", "verdicts", *arguments])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module("benchmarks.__main__").main()
    assert not ended.value.code
    shares: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    return shares


@pytest.mark.usefixtures("settings")
def test_the_shares_of_verdicts_are_printed_and_written(
    labelled: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shares = run(monkeypatch, *labelled)
    assert shares.keys() == {"words", "packaged"}
    assert shares["words"] == {
        "true_claims": 3,
        "false_claims": 2,
        "true_supported": 0.6667,
        "true_partly": 0.0,
        "true_struck": 0.0,
        "true_not_stated": 0.0,
        "true_open": 0.3333,  # the paraphrase
        "false_supported": 0.0,
        "false_partly": 0.0,
        "false_contradicted": 1.0,
        "false_open": 0.0,
    }
    assert (shares["packaged"]["true_claims"], shares["packaged"]["false_claims"]) == (3, 2)
    printed = capsys.readouterr().out
    assert "labelled.jsonl: 1 answers" in printed
    assert "words: true_supported (n = 3) [67, 67]" in printed


@pytest.mark.usefixtures("settings")
def test_a_language_model_is_asked_once_for_each_version_of_an_answer(
    labelled: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def reply(*kinds: str) -> str:
        rows = [
            {"claim": number, "words": [], "missing": "", "verdict": kind} for number, kind in enumerate(kinds, start=1)
        ]
        return json.dumps({"verdicts": rows})

    with vendors.vendor("openai") as vendor:
        vendor.server.pages["/v1/models"] = listed("gpt-4o")
        vendor.server.replies += [
            reply("supported", "supported", "supported"),
            reply("not_stated", "supported", "supported"),
            reply("supported", "supported", "supported"),  # it overlooks the negation
        ]
        shares = run(monkeypatch, *labelled, "--server", f"{vendor.server.url.removesuffix('/v1')}/v1")
        asked = [str(body["messages"]) for body in vendor.server.bodies]
    assert len(asked) == 3
    assert all("[S1] [Source: harbour.pdf, Page 1" in prompt and CRANE in prompt for prompt in asked)
    assert all("Question: What does the harbour handle?" in prompt for prompt in asked)
    assert ["4,912" in prompt for prompt in asked] == [False, True, False]
    model = shares["model"]
    assert (model["true_supported"], model["true_struck"]) == (1.0, 0.0)
    assert (model["false_supported"], model["false_contradicted"]) == (0.5, 0.5)


def test_without_labelled_answers_it_is_skipped(labelled: tuple[Path, Path]) -> None:
    section = Section("verdicts")
    options = Options(local_config(), claims=labelled[0])
    verdicts.measure(options, section)
    assert section.about.startswith("skipped")
    assert section.figures == []


def test_claims_are_what_was_labelled_true_and_what_was_altered(labelled: tuple[Path, Path]) -> None:
    (answer,) = verdicts.read_answers(*labelled)
    assert [(claim.text, claim.is_true) for claim in answer.claims] == [
        *((text, True) for text in (SHIPS, CRANE, PARAPHRASE)),
        *((text, False) for text in (WRONG_FIGURE, NEGATED)),
    ]
    (hit,) = answer.sources.values()
    assert hit.document_name == "harbour.pdf"
    assert [line.text for line in hit.passage.lines] == [SHIPS, CRANE, OIL, DUES]


def sentence(text: str, support: Support | None = None) -> Sentence:
    return Sentence(text=text, citation_ids=(), start=0, end=len(text), support=support)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tolls rose by 5% [S1].", ["**Tolls** rose by 5%."]),
        ("Fees fell", ["Also, fees fell."]),  # a part of a sentence
        ("One rose. Two fell.", ["One rose.", "Two fell."]),  # two sentences
        ("Nothing of it.", []),
    ],
)
def test_a_labelled_sentence_is_found_whole_within_another_or_in_parts(text: str, expected: list[str]) -> None:
    said = [sentence(one) for one in ("**Tolls** rose by 5%.", "Also, fees fell.", "One rose.", "Two fell.", "…")]
    assert [one.text for one in verdicts.find(text, said)] == expected


def test_intervals_resample_documents_not_claims() -> None:
    one = [("one", True)] * 30 + [("one", False)] * 30
    assert report.interval(one) == (0.5, 0.5)
    assert report.interval([("one", True)] * 30 + [("two", False)] * 30) == (0.0, 1.0)
    assert report.interval([]) == (0.0, 0.0)
