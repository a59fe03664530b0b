"""Read pairs of natural language inference and of fact verification."""

import ast
import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from repositories import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI_LABELS, NOT_ENTAILED, VERDICTS, Pair, Repository, tidy


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


def mnli_train_a(repository: Repository) -> Iterator[Pair]:
    """A part of MultiNLI's training data, as translated for an extension of XNLI; the English side."""
    labels = NLI_LABELS | {"contradictory": CONTRADICTION}
    for row in repository.table("data/multinli.train.en.tsv"):
        if row["label"] in labels and row["hypo"]:
            yield row["premise"], tidy(row["premise"]), tidy(row["hypo"]), labels[row["label"]]


def mnli_train_b(repository: Repository) -> Iterator[Pair]:
    """The parts of MultiNLI and SNLI that a course handed out."""
    for path in ("mnli_train.tsv", "mnli_val.tsv", "snli_val.tsv"):
        for row in repository.table(path):
            if row["label"] in NLI_LABELS:
                yield row["sentence1"], tidy(row["sentence1"]), tidy(row["sentence2"]), NLI_LABELS[row["label"]]


def mnli_train_c(repository: Repository) -> Iterator[Pair]:
    question = re.compile(r'For the statement, "(.*)", does the hypothesis "(.*)" represent entailment', re.DOTALL)
    for path in ("data/mnli_train.csv", "data/mnli_validation.csv"):
        for row in repository.table(path, ","):
            found = question.match(row["Question"])
            if found and row["Answer"] in NLI_LABELS:
                premise, hypothesis = (" ".join(part.split()) for part in found.groups())
                yield premise, premise, hypothesis, NLI_LABELS[row["Answer"]]


def mnli_dev(repository: Repository) -> Iterator[Pair]:
    return comma_table(repository, "nli_datasets/mnli/dev.csv")


def comma_table(repository: Repository, *paths: str) -> Iterator[Pair]:
    labels = NLI_LABELS | {NOT_ENTAILED: NOT_ENTAILED, "non_entailment": NOT_ENTAILED}
    for path in paths:
        for row in repository.table(path, ","):
            if row["label"] in labels:
                premise, claim = (
                    tidy(re.sub(r"</?[bu]>", "", row[name] or "")).strip() for name in ("premise", "hypothesis")
                )
                yield premise, premise, claim, labels[row["label"]]


def entailment_protocols(repository: Repository) -> Iterator[Pair]:
    paths = [
        f"data/{kind}/{part}.tsv"
        for kind in ("base", "contrast", "edit_other", "edit_premise")
        for part in ("train", "val")
    ]
    for path in (*paths, "data/paragraph/val.tsv"):
        for row in repository.table(path):
            if row["gold_label"] in NLI_LABELS:
                # The promptID names the Wikipedia page and sentence, so that a page stays together.
                page = re.sub(r"^[a-z_]+_", "", row["promptID"]).split(".")[0]
                yield page, row["sentence1"].strip(), row["sentence2"].strip(), NLI_LABELS[row["gold_label"]]


def rationales(corpus: Any, claims: Any) -> Iterator[Pair]:
    """Claims with the sentences of an abstract that decide them, or with a whole abstract that does not."""
    abstracts = {row["doc_id"]: row for row in corpus}
    for row in claims:
        claim, group = tidy(row["claim"]), f"claim {row['claim']}"
        for name in {*map(str, row.get("doc_ids") or row.get("cited_doc_ids") or ()), *row["evidence"]}:
            sentences = [sentence.strip() for sentence in abstracts[int(name)]["abstract"]]
            for one in row["evidence"].get(name, ()):
                yield group, " ".join(sentences[number] for number in one["sentences"]), claim, VERDICTS[one["label"]]
            if name not in row["evidence"]:
                yield group, " ".join(sentences), claim, NEUTRAL


def json_rows(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.decode().split("\n") if line.strip()]


def sci_fact(repository: Repository) -> Iterator[Pair]:
    files = repository.tar_archive("data (1).tar.gz")
    claims = [row for part in ("train", "dev") for row in json_rows(files[f"data/claims_{part}.jsonl"])]
    return rationales(json_rows(files["data/corpus.jsonl"]), claims)


def fever(repository: Repository) -> Iterator[Pair]:
    labels = {"1": ENTAILMENT, "2": CONTRADICTION}
    for part in ("eval", "test"):
        for row in repository.table(f"data/vanilla_wiki_data/{part}_data_vanilla.csv", ","):
            evidence = ast.literal_eval(row["evidence"]) if row["evidence"].startswith("[") else []
            evidence = list(dict.fromkeys(one for one in evidence if isinstance(one, str) and one.strip()))
            if row["label"] in labels and evidence:
                yield evidence[0], tidy(" ".join(evidence)), row["claim"], labels[row["label"]]


def adversarial_glue(repository: Repository) -> Iterator[Pair]:
    rows = repository.json("dev.json")
    for row in rows["mnli"] + rows["mnli-mm"]:
        yield (
            row["premise"],
            tidy(row["premise"]),
            tidy(row["hypothesis"]),
            (ENTAILMENT, NEUTRAL, CONTRADICTION)[row["label"]],
        )
    for row in rows["rte"]:
        yield row["sentence1"], tidy(row["sentence1"]), tidy(row["sentence2"]), (ENTAILMENT, NOT_ENTAILED)[row["label"]]


def negation_nli(repository: Repository) -> Iterator[Pair]:
    labels = NLI_LABELS | {NOT_ENTAILED: NOT_ENTAILED, "non_entailment": NOT_ENTAILED}
    for name in ("RTE", "MNLI", "SNLI"):
        for number, row in enumerate(repository.table(f"data/new_benchmarks/clean_data/{name}.txt")):
            if row["gold_label"] in labels:
                # Three pairs follow each other that negate the same pair.
                yield f"{name} {number // 3}", tidy(row["Text"]), tidy(row["Hypothesis"]), labels[row["gold_label"]]


def event_times(repository: Repository) -> Iterator[Pair]:
    for row in repository.json_lines("tracie/data/train_uniform.jsonl"):
        claim = row["query"].removeprefix("event:").strip()
        yield row["story"], row["story"], claim, NLI_LABELS[row["label"]]


def first_order_logic(repository: Repository) -> Iterator[Pair]:
    labels = {"True": ENTAILMENT, "False": CONTRADICTION, "Unknown": NEUTRAL, "Uncertain": NEUTRAL}
    for part in ("train", "validation"):
        for row in repository.json_lines(f"data/v0.0/folio-{part}.jsonl"):
            evidence = " ".join(row["premises"])
            yield evidence, evidence, row["conclusion"], labels[row["label"]]


def wanli(repository: Repository) -> Iterator[Pair]:
    """A balanced part of WANLI's training data, from the inputs of a study of counterfactuals."""
    for name in (CONTRADICTION, ENTAILMENT, NEUTRAL):
        for row in repository.json_lines(f"data/input/wanli/{name}_spans.jsonl"):
            yield row["premise"], row["premise"], row["hypothesis"], NLI_LABELS[row["label"]]


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


def vitamin_c(repository: Repository) -> Iterator[Pair]:
    """The few examples of VitaminC of a study of many tasks, at the commit that holds its data."""
    labels = {"supports": ENTAILMENT, "refutes": CONTRADICTION, "not enough info": NEUTRAL}
    for name in ("train_0", "train_1", "train_2", "train_3", "train_4", "test"):
        for row in repository.json_lines(f"data/vitaminc/{name}.jsonl", "8b0d36b5258816f649d1e44fb14e7140d1015fbc"):
            if row["label"] in labels:
                yield row["id"].partition("_")[0], tidy(row["evidence"]), tidy(row["claim"]), labels[row["label"]]


def disambiguations(repository: Repository) -> Iterator[Pair]:
    """Ambiguous pairs that linguists rewrote so that one label holds."""
    for row in repository.json_lines("AmbiEnt/linguist_annotations.jsonl"):
        for label, pairs in row["disambiguations"].items():
            for pair in pairs:
                if label in NLI_LABELS:
                    yield str(row["id"]), pair["premise"], pair["hypothesis"], NLI_LABELS[label]
