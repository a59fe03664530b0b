"""Read claims with evidence from documents: answers, summaries, contracts and papers."""

import io
import json
import pickle
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from repositories import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILED,
    Package,
    Pair,
    Repository,
    narrow,
    sentences,
    tidy,
    words,
)

MAX_DOCUMENT_CHARS = 3_000
NARROWED_CHARS = 2_800


def factual_summary_pairs(package: Package) -> Iterator[Pair]:
    for row in package.json_lines("data/Factual-Summary-Pairs/test.jsonl"):
        evidence = row["article_sent"]
        yield evidence, evidence, row["correct_sent"], ENTAILMENT
        if row["incorrect_sent"].strip() != row["correct_sent"].strip():
            yield evidence, evidence, row["incorrect_sent"], NOT_ENTAILED


def without_marks(text: str) -> str:
    """Drop citation marks such as [1] and [2, 3]."""
    return re.sub(r"\s*\[\d+(?:\s*[,–-]\s*\d+)*\](?=[\s.,;:!?]|$)", "", text).strip()


def expert_qa(repository: Repository) -> Iterator[Pair]:
    """Read claims of answers to experts' questions, with the evidence each cites and the experts' judgement."""
    labels = {"Complete": ENTAILMENT, "Partial": NOT_ENTAILED, "Incomplete": NOT_ENTAILED}
    for name in ("domain_test", "rand_test", "rand_val", "domain_val"):
        for row in repository.json_lines(f"data/lfqa/{name}.jsonl"):
            for answer in row["answers"].values():
                for one in answer["claims"]:
                    texts = [re.sub(r"^\[\d+\]\s*(?:https?://\S+)?\s*", "", item).strip() for item in one["evidence"]]
                    evidence, claim = "\n".join(text for text in texts if text), without_marks(one["claim_string"])
                    label = labels.get(one["support"])
                    if label and len(evidence) > 60 and len(claim) > 20 and " " in claim:
                        yield row["question"], evidence, claim, label


def summ_edits(repository: Repository) -> Iterator[Pair]:
    """Read summaries edited so that they do or do not stay consistent with the document."""
    # The parts samsum and podcast rest on texts for research only.
    for name in ("news", "sales_email", "sales_call", "qmsumm", "ectsum", "scitldr"):
        for row in repository.json(f"data/summedits/summedits_{name}.json"):
            evidence = narrowed(row["doc"], f"{row['summary']} {row['original_summary']}")
            group, is_consistent = row["id"].rsplit("_", 1)[0], row["label"] == 1
            label = ENTAILMENT if is_consistent else NOT_ENTAILED
            yield group, evidence, row["summary"], label
            for before, after in changed_sentences(row["original_summary"], row["summary"]):
                if is_consistent or row["edit_types"]:
                    yield group, evidence, after, label
                if not is_consistent and row["edit_types"]:
                    yield group, evidence, before, ENTAILMENT


def changed_sentences(before: str, after: str) -> list[tuple[str, str]]:
    """Return the one sentence that an edit changed, as it was and as it is (nothing where more changed)."""
    old, new = sentences(before), sentences(after)
    if len(old) != len(new) or len(old) < 2:
        return []
    different = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    return different if len(different) == 1 else []


def narrowed(document: str, claim: str) -> str:
    """Return the document; where it is long, its sentences nearest in words to the claim and those beside them."""
    document = " ".join(document.split())
    return document if len(document) <= MAX_DOCUMENT_CHARS else narrow(document, claim, NARROWED_CHARS, 1)


def bump(repository: Repository) -> Iterator[Pair]:
    """Read news summaries with and without one error that people put in each."""
    for name in ("task1_dataset", "task2_dataset"):
        for row in repository.json(f"data/{name}.json"):
            evidence = narrowed(row["article"], row["reference_summary"])
            group = f"cnndm-{row['article_id']}"
            clean, edited = tidy(row["reference_summary"]), tidy(row["edited_summary"])
            yield group, evidence, edited, NOT_ENTAILED
            yield group, evidence, clean, ENTAILMENT
            for before, after in changed_sentences(clean, edited):
                yield group, evidence, before, ENTAILMENT
                yield group, evidence, after, NOT_ENTAILED


def fact_edits(repository: Repository) -> Iterator[Pair]:
    """Read inconsistent summary sentences of FactCC (those whose explanations people judged)."""
    for row in repository.json("data/factcc/factcc_explanation_annotation.json"):
        yield row["id"], narrowed(row["doc"], row["summary"]), tidy(row["summary"]), NOT_ENTAILED


def cogensumm(repository: Repository) -> Iterator[Pair]:
    for row in repository.json_lines("data/raw/cogensumm_test.jsonl"):
        evidence = narrowed(row["document"], row["claim"])
        yield row["document"][:80], evidence, tidy(row["claim"]), ENTAILMENT if row["label"] == 1 else NOT_ENTAILED


def contract_nli(repository: Repository) -> Iterator[Pair]:
    """Read statements about confidentiality agreements with the clauses that bear on them."""
    labels = {"Entailment": ENTAILMENT, "Contradiction": CONTRADICTION, "NotMentioned": NEUTRAL}
    chance = random.Random(5)
    for part in ("dev", "test", "train_truncated"):
        data = repository.json(f"data/contract-nli/{part}.json")
        for document in data["documents"]:
            clauses = [" ".join(document["text"][start:end].split()) for start, end in document["spans"]]
            for key, one in document["annotation_sets"][0]["annotations"].items():
                claim, label = data["labels"][key]["hypothesis"], labels[one["choice"]]
                for places in clauses_about(claim, one["spans"], clauses, chance):
                    yield document["file_name"], " ".join(clauses[at] for at in places), claim, label


def clauses_about(
    claim: str, deciding: Sequence[int], clauses: Sequence[str], chance: random.Random
) -> list[list[int]]:
    """Return the clauses that decide a claim, alone and with those around, or a few of the same words if none does."""
    if deciding:
        around = {at for place in deciding for at in range(place - 3, place + 4) if 0 <= at < len(clauses)}
        return [list(deciding), sorted(around)]
    wanted, said = words(claim), [words(clause) for clause in clauses]
    ranked = sorted(range(len(clauses)), key=lambda at: -len(said[at] & wanted) / (8 + len(said[at])))
    return [sorted(ranked[: chance.choice((2, 4, 7))])]


def evidence_inference(repository: Repository) -> Iterator[Pair]:
    """Write what a trial found for an outcome, with the quoted finding; wrong directions contradict it."""
    phrases = {
        "significantly increased": "significantly increased {outcome} compared with",
        "significantly decreased": "significantly decreased {outcome} compared with",
        "no significant difference": "made no significant difference to {outcome} compared with",
    }
    prompts = {row["PromptID"]: row for row in repository.table("annotations/prompts_merged.csv", ",")}
    chance = random.Random(3)
    for row in repository.table("annotations/v2_annotations.csv", ","):
        prompt, quote, right = prompts.get(row["PromptID"]), " ".join(row["Annotations"].split()), row["Label"]
        if not prompt or row["Valid Label"] != "True" or right not in phrases or len(quote) < 60:
            continue
        names = [" ".join(prompt[key].split()).rstrip(". ") for key in ("Outcome", "Intervention", "Comparator")]
        if max(map(len, names)) > 120:
            continue
        outcome, drug, other = names
        wrong = chance.choice([one for one in phrases if one != right])
        for said, label in ((right, ENTAILMENT), (wrong, CONTRADICTION)):
            claim = f"{drug} {phrases[said].format(outcome=outcome)} {other}."
            yield f"PMC{row['PMCID']}", quote, claim[:1].upper() + claim[1:], label


def pub_med_qa(repository: Repository) -> Iterator[Pair]:
    """Read conclusions of abstracts that annotators answered a question by, with the rest of the abstract."""
    for key, row in repository.json("data/ori_pqal.json").items():
        if row["final_decision"] in ("yes", "no") and len(row["LONG_ANSWER"]) < 500:
            yield key, " ".join(row["CONTEXTS"]), row["LONG_ANSWER"], ENTAILMENT


RAG_TRUTH_PAGE = re.compile(r"Premise:\n(.*?)\n\nHypothesis:\n(.*?)\n\nAnnotation:\n```json\n(.*?)\n```", re.S)


def rag_truth(repository: Repository) -> Iterator[Pair]:
    """Read sentences of generated summaries; people marked what conflicts with the text or lacks a base in it."""
    for name, page in repository.folder("data/annot/RAGTruth").items():
        match = RAG_TRUTH_PAGE.search(page.decode("utf-8", "replace"))
        if not name.endswith(".md") or not match:
            continue
        premise, hypothesis, marks = match.groups()
        hypothesis = " ".join(hypothesis.replace("**", "").split())
        evidence, spans = " ".join(premise.split()), json.loads(marks)
        for sentence in sentences(hypothesis):
            kinds = {
                one["label_type"]
                for one in spans
                if (part := " ".join(one["text"].split())) in sentence or sentence in part
            }
            if not kinds:
                label = ENTAILMENT
            elif all("Conflict" in kind for kind in kinds):
                label = CONTRADICTION
            else:
                label = NEUTRAL if all("Baseless" in kind for kind in kinds) else NOT_ENTAILED
            yield evidence[:80], narrowed(evidence, sentence), sentence, label


class PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, lists, texts and numbers, and refuses anything that would call code."""

    def find_class(self, module: str, name: str) -> Any:
        raise ValueError(f"{module}.{name}")


def summ_eval(repository: Repository) -> Iterator[Pair]:
    """Read summaries of news that experts rated as consistent or as clearly not so."""
    data = PlainUnpickler(io.BytesIO(repository.read("SUM/SummEval/data.pkl"))).load()
    for row in data.values():
        article = tidy(row["src"])
        for one in row["sys_summs"].values():
            rating, claim = one["scores"]["consistency"], tidy(one["sys_summ"])
            if rating == 5 or rating < 4:
                yield article[:80], narrowed(article, claim), claim, ENTAILMENT if rating == 5 else NOT_ENTAILED
