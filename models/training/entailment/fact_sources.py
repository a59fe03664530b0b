"""Read claims with sentences of Wikipedia, papers or dialogues that support or refute them."""

import ast
import random
import re
from collections.abc import Iterator
from itertools import chain

from repositories import (
    BINARY_LABELS,
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILED,
    VERDICTS,
    Package,
    Pair,
    Repository,
    json_rows,
    tidy,
)
from statements import Statements

TITLED = 0.3
"""Share of BoolQ's passages that keep the title of their page."""

STATED = 0.8
"""Share of BoolQ's questions that become statements, where they can; the others stay questions with an answer."""

MAX_PASSAGE_CHARS = 3_000
_YES_OR_NO = re.compile(
    r"(is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may) (.+)", re.IGNORECASE
)


def begin(repository: Repository) -> Iterator[Pair]:
    for path in ("topicalchat/begin_dev_tc", "cmu-dog/begin_dev_cmu", "wow/begin_dev_wow", "wow/begin_test_wow"):
        for row in repository.table(f"{path}.tsv"):
            label = (row.get("begin_label") or "").casefold()
            if label and row.get("knowledge") and row.get("response") and "generic" not in label:
                is_stated = label in ("fully attributable", "attributable")
                shown = ENTAILMENT if is_stated else NOT_ENTAILED
                yield row["knowledge"], tidy(row["knowledge"]), tidy(row["response"]), shown


def begin_earlier(repository: Repository) -> Iterator[Pair]:
    """Read the first version of BEGIN from two blobs in the repository's history."""
    labels = {"entailment": ENTAILMENT, "contradiction": CONTRADICTION, "off-topic": NEUTRAL}
    labels["hallucination"] = NOT_ENTAILED
    for blob in ("0c56bd818f474ea232faae1fe261ec23cbe9a0f6", "676c6554794272e74eea36fab84362f7f3b8c446"):
        for row in repository.blob_table(blob):
            label = labels.get((row.get("gold label") or "").strip())
            if label:
                yield row["evidence"], tidy(row["evidence"]), tidy(row["response"]), label


def citation_integrity(repository: Repository) -> Iterator[Pair]:
    """Read sentences that cite a paper, with the sentences of its abstract that bear on them."""
    abstracts = {row["doc_id"]: row["abstract"] for row in repository.json_lines("data/citint/corpus.jsonl")}
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
    """Read claims of FEVER with sentences of Wikipedia, as DocNLI prepared them."""
    for part in ("dev", "test"):
        for line in repository.lines(f"Data/binary-FEVER-NLI/{part}.txt"):
            cells = line.split("\t")
            if len(cells) == 3 and cells[0] in BINARY_LABELS:
                yield cells[1], tidy(cells[1]), tidy(cells[2]), BINARY_LABELS[cells[0]]


def fever_symmetric(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        for row in repository.json_lines(f"symmetric_v0.2/fever_symmetric_{part}.jsonl"):
            yield str(row["id"]), tidy(row["sentence1"]), tidy(row["sentence2"]), VERDICTS[row["gold_label"]]


def fool_me_twice(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        for row in repository.json_lines(f"dataset/{part}.jsonl"):
            gold = " ".join(one["text"] for one in row["gold_evidence"])
            yield row.get("wikipedia_page", row["id"]), gold, row["text"], VERDICTS[row["label"]]
            far = " ".join(one["text"] for one in row["retrieved_evidence"][-4:])
            if not any(one["text"] in far for one in row["gold_evidence"]):
                yield row.get("wikipedia_page", row["id"]), far, row["text"], NOT_ENTAILED


def sci_fact(repository: Repository) -> Iterator[Pair]:
    """Read claims with the sentences of an abstract that decide them, or with a whole abstract that does not."""
    files = repository.tar_archive("data (1).tar.gz")
    names = ("corpus", "claims_train", "claims_dev")
    corpus, *parts = (json_rows(files[f"data/{name}.jsonl"].decode()) for name in names)
    abstracts = {row["doc_id"]: row["abstract"] for row in corpus}
    for row in chain(*parts):
        claim = tidy(row["claim"])
        for name in {*map(str, row.get("doc_ids") or row.get("cited_doc_ids") or ()), *row["evidence"]}:
            lines = [line.strip() for line in abstracts[int(name)]]
            for one in row["evidence"].get(name, ()):
                evidence = " ".join(lines[number] for number in one["sentences"])
                yield row["claim"], evidence, claim, VERDICTS[one["label"]]
            if name not in row["evidence"]:
                yield row["claim"], " ".join(lines), claim, NEUTRAL


def fever(repository: Repository) -> Iterator[Pair]:
    labels = {"1": ENTAILMENT, "2": CONTRADICTION}
    for part in ("eval", "test"):
        for row in repository.table(f"data/vanilla_wiki_data/{part}_data_vanilla.csv", ","):
            evidence = ast.literal_eval(row["evidence"]) if row["evidence"].startswith("[") else []
            evidence = list(dict.fromkeys(one for one in evidence if isinstance(one, str) and one.strip()))
            if row["label"] in labels and evidence:
                yield evidence[0], tidy(" ".join(evidence)), row["claim"], labels[row["label"]]


def vitamin_c(repository: Repository) -> Iterator[Pair]:
    """Read the few examples of VitaminC of a study of many tasks, at the commit that holds its data."""
    labels = {"supports": ENTAILMENT, "refutes": CONTRADICTION, "not enough info": NEUTRAL}
    data = repository.at("8b0d36b5258816f649d1e44fb14e7140d1015fbc")
    for name in ("train_0", "train_1", "train_2", "train_3", "train_4", "test"):
        for row in data.json_lines(f"data/vitaminc/{name}.jsonl"):
            if row["label"] in labels:
                yield row["id"].partition("_")[0], tidy(row["evidence"]), tidy(row["claim"]), labels[row["label"]]


def boolq(package: Package) -> Iterator[Pair]:
    """Make claims of the yes-or-no questions of BoolQ, as statements where their verb can be found."""
    rows = [row for row in package.json_lines("data/BoolQ/combined.jsonl") if "label" in row]
    known, chance = Statements(row["passage"] for row in rows), random.Random(3)
    for row in rows:
        title, _, text = row["passage"].partition(" -- ")
        evidence = f"{title}. {text}" if text and chance.random() < TITLED else text or title
        question = " ".join(row["question"].split()).rstrip("?")
        is_true, says_yes = str(row["label"]).lower() in ("true", "1"), True
        claim = statement(question, known) if chance.random() < STATED else None
        if claim is None:
            says_yes = chance.random() < 0.5
            claim = f"{question[0].upper()}{question[1:]}? {'Yes' if says_yes else 'No'}."
        yield title, evidence[:MAX_PASSAGE_CHARS], claim, ENTAILMENT if says_yes == is_true else CONTRADICTION


def statement(question: str, known: Statements) -> str | None:
    """Return a yes-or-no question as the statement that "yes" means; None where its verb is not found."""
    if not (match := _YES_OR_NO.fullmatch(question)):
        return None
    verb = match[1].lower()
    return known.straighten("" if verb == "do" else verb, match[2], "")  # "dogs bark", not "dogs do bark"


def q_squared(repository: Repository) -> Iterator[Pair]:
    """Read replies in dialogues with the knowledge they are to rest on (Wizard of Wikipedia)."""
    for row in repository.table("third_party/data/cross_annotation.csv", ","):
        for system in ("dodeca", "memnet"):
            label = {"1": ENTAILMENT, "0": NOT_ENTAILED}.get(row[f"{system}_label"])
            claim = tidy(re.sub(r"\s*'\s*", "'", row[f"{system}_response"]))
            if label and len(claim) > 15 and "?" not in claim:
                yield row["topic"], tidy(row["knowledge"]), claim, label


def dial_fact(repository: Repository) -> Iterator[Pair]:
    for row in repository.json_lines("scripts/testsmall.jsonl"):
        evidence = " ".join(one[2] for one in row["evidence_list"])
        label = VERDICTS.get(row["response_label"])
        if label and evidence and row["type_label"] == "factual":
            yield row["context_id"], tidy(evidence), tidy(row["response"]), label
