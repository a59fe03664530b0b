"""Read pairs of sentences of natural language inference."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from repositories import (
    BINARY_LABELS,
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NLI_LABELS,
    NOT_ENTAILED,
    Pair,
    Repository,
    json_rows,
    tidy,
)


def labelled(
    rows: Iterable[dict[str, Any]], premise: str, hypothesis: str, label: str, group: str = ""
) -> Iterator[Pair]:
    """Return the pairs of rows with one of the three usual labels, in the named columns."""
    for row in rows:
        if row[label] in NLI_LABELS:
            yield str(row[group or premise]), row[premise], row[hypothesis], NLI_LABELS[row[label]]


def breaking_nli(repository: Repository) -> Iterator[Pair]:
    with repository.zip_archive("breaking_nli_dataset.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith("dataset.jsonl"))
        rows = json_rows(archive.read(name).decode())
    return labelled(rows, "sentence1", "sentence2", "gold_label")


def conj_nli(repository: Repository) -> Iterator[Pair]:
    for name in ("conj_dev", "adversarial_train_15k"):
        yield from labelled(repository.table(f"data/NLI/{name}.tsv"), "Premise", "Hypothesis", "Label")


def conjunctions(repository: Repository) -> Iterator[Pair]:
    rows = repository.table("output_en/leskexppmb_and.tsv")
    for group, premise, hypothesis, label in labelled(rows, "ori_sentence", "new_sentence", "gold_label", "filename"):
        yield group, tidy(premise), tidy(hypothesis), label


def counterfactual(repository: Repository) -> Iterator[Pair]:
    for part in ("train", "dev", "test"):
        rows = repository.table(f"NLI/all_combined/{part}.tsv")
        yield from labelled(rows, "sentence1", "sentence2", "gold_label", group="sentence2")


def mnli(repository: Repository) -> Iterator[Pair]:
    return labelled(repository.json_lines("data/mnli/dev.jsonl"), "premise", "hypothesis", "label")


def monotonicity(repository: Repository) -> Iterator[Pair]:
    return labelled(repository.table("MED.tsv"), "sentence1", "sentence2", "gold_label")


def scitail(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        for row in repository.json_lines(f"scitail/data/{part}/answers.jsonl"):
            label = {"E": ENTAILMENT, "N": NEUTRAL}[row["gold_label"]]
            yield row["sentence2"], tidy(row["sentence1"]), tidy(row["sentence2"]), label


def snli(repository: Repository) -> Iterator[Pair]:
    for part in ("dev", "test"):
        columns = [repository.lines(f"dataset/eSNLI/{name}.{part}") for name in ("s1", "s2", "labels")]
        for premise, hypothesis, label in zip(*columns, strict=True):
            if label in NLI_LABELS:
                yield premise, tidy(premise), tidy(hypothesis), NLI_LABELS[label]


def taxi_nli(repository: Repository) -> Iterator[Pair]:
    for name in ("taxinli10k", "taxinli10k_MNLIDev"):
        for row in repository.table(f"{name}.tsv"):
            premise, hypothesis = row.get("prem") or row.get("sentence1"), row.get("hyp") or row.get("sentence2")
            label = row.get("label") or row.get("gold_label")
            if premise and hypothesis and label in NLI_LABELS:
                yield premise, premise, hypothesis, NLI_LABELS[label]


def mnli_train_a(repository: Repository) -> Iterator[Pair]:
    """Read the English side of the part of MultiNLI's training data that an extension of XNLI translated."""
    labels = NLI_LABELS | {"contradictory": CONTRADICTION}
    for row in repository.table("data/multinli.train.en.tsv"):
        if row["label"] in labels and row["hypo"]:
            yield row["premise"], tidy(row["premise"]), tidy(row["hypo"]), labels[row["label"]]


def mnli_train_b(repository: Repository) -> Iterator[Pair]:
    """Read the parts of MultiNLI and SNLI that a course handed out."""
    for path in ("mnli_train.tsv", "mnli_val.tsv", "snli_val.tsv"):
        for group, premise, hypothesis, label in labelled(repository.table(path), "sentence1", "sentence2", "label"):
            yield group, tidy(premise), tidy(hypothesis), label


def mnli_train_c(repository: Repository) -> Iterator[Pair]:
    """Read pairs of MultiNLI from the questions that a study asked language models."""
    question = re.compile(r'For the statement, "(.*)", does the hypothesis "(.*)" represent entailment', re.DOTALL)
    for path in ("data/mnli_train.csv", "data/mnli_validation.csv"):
        for row in repository.table(path, ","):
            found = question.match(row["Question"])
            if found and row["Answer"] in NLI_LABELS:
                premise, hypothesis = (" ".join(part.split()) for part in found.groups())
                yield premise, premise, hypothesis, NLI_LABELS[row["Answer"]]


def mnli_dev(repository: Repository) -> Iterator[Pair]:
    rows = repository.table("nli_datasets/mnli/dev.csv", ",")
    for group, premise, hypothesis, label in labelled(rows, "premise", "hypothesis", "label"):
        yield group, tidy(premise), tidy(hypothesis), label


def entailment_protocols(repository: Repository) -> Iterator[Pair]:
    paths = [
        f"data/{kind}/{part}.tsv"
        for kind in ("base", "contrast", "edit_other", "edit_premise")
        for part in ("train", "val")
    ]
    for path in (*paths, "data/paragraph/val.tsv"):
        for prompt, premise, hypothesis, label in labelled(
            repository.table(path), "sentence1", "sentence2", "gold_label", "promptID"
        ):
            # The promptID names the Wikipedia page and sentence, so that a page stays together.
            yield re.sub(r"^[a-z_]+_", "", prompt).split(".")[0], premise, hypothesis, label


def wanli(repository: Repository) -> Iterator[Pair]:
    """Read a balanced part of WANLI's training data from the inputs of a study of counterfactuals."""
    for name in (CONTRADICTION, ENTAILMENT, NEUTRAL):
        rows = repository.json_lines(f"data/input/wanli/{name}_spans.jsonl")
        yield from labelled(rows, "premise", "hypothesis", "label")


def scoped_negation(repository: Repository) -> Iterator[Pair]:
    names = ("no_negation", "one_not_scoped", "one_scoped_one_not_scoped", "two_not_scoped", "two_scoped")
    for part in ("train", "test"):
        for name in names:
            for row in repository.table(f"scone_nli/{part}/{name}.csv", ","):
                first, second = row["sentence1_edited"], row["sentence2_edited"]
                words = [re.escape(row[lex]) for lex in ("sentence1_lex", "sentence2_lex")]
                # Some sentences have a word replaced inside of another ("that" with "hat").
                plain_texts = [
                    re.sub(rf"\b(an?\s+)?{word}\b", "_", text)
                    for word, text in zip(words, (first, second), strict=True)
                ]
                if plain_texts[0] == plain_texts[1] and row["gold_label_edited"] in NLI_LABELS:
                    yield first, first, second, NLI_LABELS[row["gold_label_edited"]]


def disambiguations(repository: Repository) -> Iterator[Pair]:
    """Read ambiguous pairs that linguists rewrote so that one label holds."""
    for row in repository.json_lines("AmbiEnt/linguist_annotations.jsonl"):
        for label, pairs in row["disambiguations"].items():
            for pair in pairs:
                if label in NLI_LABELS:
                    yield str(row["id"]), pair["premise"], pair["hypothesis"], NLI_LABELS[label]


def event_times(repository: Repository) -> Iterator[Pair]:
    for group, story, query, label in labelled(
        repository.json_lines("tracie/data/train_uniform.jsonl"), "story", "query", "label"
    ):
        yield group, story, query.removeprefix("event:"), label


def first_order_logic(repository: Repository) -> Iterator[Pair]:
    labels = {"True": ENTAILMENT, "False": CONTRADICTION, "Unknown": NEUTRAL, "Uncertain": NEUTRAL}
    for part in ("train", "validation"):
        for row in repository.json_lines(f"data/v0.0/folio-{part}.jsonl"):
            evidence = " ".join(row["premises"])
            yield evidence, evidence, row["conclusion"], labels[row["label"]]


def negation_nli(repository: Repository) -> Iterator[Pair]:
    labels = NLI_LABELS | BINARY_LABELS
    for name in ("RTE", "MNLI", "SNLI"):
        for number, row in enumerate(repository.table(f"data/new_benchmarks/clean_data/{name}.txt")):
            if row["gold_label"] in labels:
                # Three pairs follow each other that negate the same pair.
                yield f"{name} {number // 3}", tidy(row["Text"]), tidy(row["Hypothesis"]), labels[row["gold_label"]]


def adversarial_glue(repository: Repository) -> Iterator[Pair]:
    rows = repository.json("dev.json")
    mnli_labels, rte_labels = (ENTAILMENT, NEUTRAL, CONTRADICTION), (ENTAILMENT, NOT_ENTAILED)
    for row in rows["mnli"] + rows["mnli-mm"]:
        yield row["premise"], tidy(row["premise"]), tidy(row["hypothesis"]), mnli_labels[row["label"]]
    for row in rows["rte"]:
        yield row["sentence1"], tidy(row["sentence1"]), tidy(row["sentence2"]), rte_labels[row["label"]]
