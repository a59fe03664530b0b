"""Read the public labelled pairs that the entailment model is trained on, from git copies of their repositories.

    python training/labelled_sources.py FOLDER OUTPUT.jsonl

FOLDER holds one bare or normal git directory per repository, at OWNER+NAME/repo. README.md lists each source with its
licence. Test data of other benchmarks that this project measures itself with (WiCE) is not among them.
"""

import csv
import io
import json
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILED = "entailment", "neutral", "contradiction", "not_entailment"
Pair = tuple[str, str, str, str]
"""Group, evidence, claim, label."""

NLI_LABELS = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION} | {
    name: name for name in (ENTAILMENT, NEUTRAL, CONTRADICTION)
}


class Repository:
    """Files of a git directory at its newest commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "repo"

    def read(self, path: str) -> bytes:
        return subprocess.run(
            ["git", f"--git-dir={self._folder}", "show", f"HEAD:{path}"], check=True, capture_output=True
        ).stdout

    def lines(self, path: str) -> list[str]:
        return self.read(path).decode("utf-8-sig").splitlines()

    def json_lines(self, path: str) -> Iterator[dict[str, Any]]:
        return (json.loads(line) for line in self.lines(path) if line.strip())

    def blob_table(self, blob: str) -> Iterator[dict[str, str]]:
        command = ["git", f"--git-dir={self._folder}", "cat-file", "blob", blob]
        text = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
        return csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)

    def table(self, path: str, delimiter: str = "\t") -> Iterator[dict[str, str]]:
        text = io.StringIO(self.read(path).decode("utf-8-sig"), newline="")
        quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        return csv.DictReader(text, delimiter=delimiter, quoting=quoting)


def tidy(text: str) -> str:
    """Undo the spacing of tokenised text."""
    text = text.replace("``", '"').replace("''", '"').replace("-LRB-", "(").replace("-RRB-", ")")
    text = re.sub(r"\s+([.,;:!?%)\]])", r"\1", " ".join(text.split()))
    return re.sub(r"([(\[$£€])\s+", r"\1", re.sub(r"\s+('s|n't|'re|'ve|'ll|'d|'m)\b", r"\1", text))


def new_protocols(repository: Repository) -> Iterator[Pair]:
    for kind in ("base_wiki", "sim_wiki", "translate_wiki"):  # the premises of *_news belong to a licensed corpus
        for part in ("train", "test"):
            for row in repository.json_lines(f"data/{kind}/{part}.jsonl"):
                if row["label"] in NLI_LABELS:
                    yield row["premise"], row["premise"], row["hypothesis"], NLI_LABELS[row["label"]]


def snli(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        columns = [repository.lines(f"dataset/eSNLI/{name}.{part}") for name in ("s1", "s2", "labels")]
        for premise, hypothesis, label in zip(*columns, strict=True):
            if label in NLI_LABELS:
                yield premise, tidy(premise), tidy(hypothesis), NLI_LABELS[label]


def conj_nli(repository: Repository) -> Iterator[Pair]:
    for name in ("conj_dev", "adversarial_train_15k"):
        for row in repository.table(f"data/NLI/{name}.tsv"):
            if row["Label"] in NLI_LABELS:
                yield row["Premise"], row["Premise"], row["Hypothesis"], NLI_LABELS[row["Label"]]


def counterfactual(repository: Repository) -> Iterator[Pair]:
    for part in ("train", "dev", "test"):
        for row in repository.table(f"NLI/all_combined/{part}.tsv"):
            if row["gold_label"] in NLI_LABELS:
                yield row["sentence2"], row["sentence1"], row["sentence2"], NLI_LABELS[row["gold_label"]]


def taxi_nli(repository: Repository) -> Iterator[Pair]:
    for name in ("taxinli10k", "taxinli10k_MNLIDev"):
        for row in repository.table(f"{name}.tsv"):
            premise, hypothesis = row.get("prem") or row.get("sentence1"), row.get("hyp") or row.get("sentence2")
            label = row.get("label") or row.get("gold_label")
            if premise and hypothesis and label in NLI_LABELS:
                yield premise, premise, hypothesis, NLI_LABELS[label]


def breaking_nli(repository: Repository) -> Iterator[Pair]:
    with zipfile.ZipFile(io.BytesIO(repository.read("breaking_nli_dataset.zip"))) as archive:
        name = next(name for name in archive.namelist() if name.endswith("dataset.jsonl"))
        for row in map(json.loads, archive.read(name).decode().splitlines()):
            if row["gold_label"] in NLI_LABELS:
                yield row["sentence1"], row["sentence1"], row["sentence2"], NLI_LABELS[row["gold_label"]]


def monotonicity(repository: Repository) -> Iterator[Pair]:
    for row in repository.table("MED.tsv"):
        if row["gold_label"] in NLI_LABELS:
            yield row["sentence1"], row["sentence1"], row["sentence2"], NLI_LABELS[row["gold_label"]]


def conjunctions(repository: Repository) -> Iterator[Pair]:
    for row in repository.table("output_en/leskexppmb_and.tsv"):
        if row["gold_label"] in NLI_LABELS:
            yield row["filename"], tidy(row["ori_sentence"]), tidy(row["new_sentence"]), NLI_LABELS[row["gold_label"]]


def fool_me_twice(repository: Repository) -> Iterator[Pair]:
    labels = {"SUPPORTS": ENTAILMENT, "REFUTES": CONTRADICTION}
    for part in ("dev", "test"):
        for row in repository.json_lines(f"dataset/{part}.jsonl"):
            gold = " ".join(one["text"] for one in row["gold_evidence"])
            yield row.get("wikipedia_page", row["id"]), gold, row["text"], labels[row["label"]]
            far = " ".join(one["text"] for one in row["retrieved_evidence"][-4:])
            if not any(one["text"] in far for one in row["gold_evidence"]):
                yield row.get("wikipedia_page", row["id"]), far, row["text"], NOT_ENTAILED


def fever_symmetric(repository: Repository) -> Iterator[Pair]:
    labels = {"SUPPORTS": ENTAILMENT, "REFUTES": CONTRADICTION}
    for part in ("dev", "test"):
        for row in repository.json_lines(f"symmetric_v0.2/fever_symmetric_{part}.jsonl"):
            yield str(row["id"]), tidy(row["sentence1"]), tidy(row["sentence2"]), labels[row["gold_label"]]


def begin(repository: Repository) -> Iterator[Pair]:
    for path in ("topicalchat/begin_dev_tc", "cmu-dog/begin_dev_cmu", "wow/begin_dev_wow", "wow/begin_test_wow"):
        for row in repository.table(f"{path}.tsv"):
            label = (row.get("begin_label") or "").casefold()
            if label and row.get("knowledge") and row.get("response") and "generic" not in label:
                is_stated = label in ("fully attributable", "attributable")
                shown = ENTAILMENT if is_stated else NOT_ENTAILED
                yield row["knowledge"], tidy(row["knowledge"]), tidy(row["response"]), shown


def faith_dial(repository: Repository) -> Iterator[Pair]:
    labels = {"Entailment": ENTAILMENT, "Hallucination": NOT_ENTAILED, "Partial Hallucination": NOT_ENTAILED}
    names = [("gold", name) for name in ("topical", "cmu", "wow")]
    names += [("GPT2", "gpt2_processed_wow"), ("DoHA", "doha_processed_wow"), ("CTRL", "ctrl_processed_wow")]
    names += [("GPT2", "gpt2_processed_cmu"), ("DoHA", "doha_processed_cmu"), ("CTRL", "ctrl_processed_cmu")]
    for folder, name in names:
        for row in repository.table(f"data-audit/{folder}/{name}.csv", ","):
            label = labels.get((row.get("BEGIN") or "").strip())
            if label and row.get("evidence") and row.get("response"):
                yield row["evidence"], tidy(row["evidence"]), tidy(row["response"]), label


def fever_nli(repository: Repository) -> Iterator[Pair]:
    """Claims of FEVER with sentences of Wikipedia, as DocNLI prepared them."""
    for part in ("dev", "test"):
        for line in repository.lines(f"Data/binary-FEVER-NLI/{part}.txt"):
            cells = line.split("\t")
            if len(cells) == 3 and cells[0] in (ENTAILMENT, NOT_ENTAILED):
                yield cells[1], tidy(cells[1]), tidy(cells[2]), cells[0]


def begin_earlier(repository: Repository) -> Iterator[Pair]:
    """The first version of BEGIN, two blobs in the repository's history."""
    labels = {"entailment": ENTAILMENT, "contradiction": CONTRADICTION, "off-topic": NEUTRAL}
    for blob in ("0c56bd818f474ea232faae1fe261ec23cbe9a0f6", "676c6554794272e74eea36fab84362f7f3b8c446"):
        for row in repository.blob_table(blob):
            label = {**labels, "hallucination": NOT_ENTAILED}.get((row.get("gold label") or "").strip())
            if label:
                yield row["evidence"], tidy(row["evidence"]), tidy(row["response"]), label


def scitail(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        for row in repository.json_lines(f"scitail/data/{part}/answers.jsonl"):
            label = {"E": ENTAILMENT, "N": NEUTRAL}[row["gold_label"]]
            yield row["sentence2"], tidy(row["sentence1"]), tidy(row["sentence2"]), label


def mnli(repository: Repository) -> Iterator[Pair]:
    for row in repository.json_lines("data/mnli/dev.jsonl"):
        if row["label"] in NLI_LABELS:
            yield row["premise"], row["premise"], row["hypothesis"], NLI_LABELS[row["label"]]


def citation_integrity(repository: Repository) -> Iterator[Pair]:
    """Sentences that cite a paper, with the sentences of its abstract that bear on them."""
    corpus = repository.json_lines("data/citint/corpus.jsonl")
    abstracts = {row["doc_id"]: row["abstract"] for row in corpus}
    for row in repository.json_lines("data/citint/claims_train.jsonl"):
        claim = re.sub(r"\s*[\[(](?:<\|[a-z_]+\|>|[\d\s,;–-])*[\])]", "", row["claim"])
        if "<|" in claim or len(claim) < 25:
            continue
        for paper, judgements in row["evidence"].items():
            abstract = abstracts.get(int(paper), [])
            for one in judgements:
                evidence = " ".join(abstract[number] for number in one["sentences"] if number < len(abstract))
                if evidence:
                    yield paper, evidence, claim, ENTAILMENT if one["label"] == "SUPPORT" else NOT_ENTAILED


SOURCES = {
    "new_protocols": ("nyu-mll+semi-automatic-nli", new_protocols),
    "snli": ("OanaMariaCamburu+e-SNLI", snli),
    "conj_nli": ("swarnaHub+ConjNLI", conj_nli),
    "counterfactual": ("acmi-lab+counterfactually-augmented-data", counterfactual),
    "taxi_nli": ("microsoft+TaxiNLI", taxi_nli),
    "breaking_nli": ("BIU-NLP+Breaking_NLI", breaking_nli),
    "monotonicity": ("verypluming+MED", monotonicity),
    "conjunctions": ("verypluming+HELP", conjunctions),
    "fool_me_twice": ("google-research+fool-me-twice", fool_me_twice),
    "fever_symmetric": ("TalSchuster+FeverSymmetric", fever_symmetric),
    "begin": ("google+BEGIN-dataset", begin),
    "faith_dial": ("McGill-NLP+FaithDial", faith_dial),
    "fever_nli": ("salesforce+DocNLI", fever_nli),
    "begin_earlier": ("google+BEGIN-dataset", begin_earlier),
    "scitail": ("allenai+aristo-leaderboard", scitail),
    "mnli": ("anthonywchen+generative-nli", mnli),
    "citation_integrity": ("jedick+MLE-capstone-project", citation_integrity),
}
MAX_PAIRS = 40_000
MAX_EVIDENCE_CHARS = 3_000


def main() -> None:
    folder, output = map(Path, sys.argv[1:3])
    generator = random.Random(7)
    with output.open("w", encoding="utf-8") as file:
        for source, (name, read) in SOURCES.items():
            pairs = sorted({pair for pair in read(Repository(folder / name)) if len(pair[1]) <= MAX_EVIDENCE_CHARS})
            generator.shuffle(pairs)
            for group, evidence, claim, label in pairs[:MAX_PAIRS]:
                row = {"source": source, "group": group[:80], "evidence": evidence, "claim": claim, "label": label}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts = {
                label: sum(pair[3] == label for pair in pairs[:MAX_PAIRS]) for label in sorted({p[3] for p in pairs})
            }
            print(source, counts, flush=True)


if __name__ == "__main__":
    main()
