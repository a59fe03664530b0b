"""Read claims with evidence from documents: answers, summaries, contracts, papers and tables."""

import csv
import html
import io
import json
import pickle
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from repositories import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_ENTAILED, Pair, Repository, tidy

Reader = Callable[["Repository"], Iterator[Pair]]
MAX_EVIDENCE_CHARS = 3_000
csv.field_size_limit(10_000_000)


def sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?])[\"”)']?\s+(?=[A-Z\"“(])", text)
    return [part.strip() for part in parts if len(part.strip()) > 15]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]{3,}", text.casefold()))


def without_marks(text: str) -> str:
    """Drop citation marks such as [1] and [2, 3]."""
    return re.sub(r"\s*\[\d+(?:\s*[,–-]\s*\d+)*\](?=[\s.,;:!?]|$)", "", text).strip()


def expert_qa(repository: Repository) -> Iterator[Pair]:
    """Claims of answers to experts' questions, with the evidence each cites and the experts' judgement."""
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


def summ_edits(*names: str) -> Reader:
    """Summaries edited so that they do or do not stay consistent with the document."""
    return lambda repository: (pair for name in names for pair in summ_edits_of(repository, name))


def summ_edits_of(repository: Repository, name: str) -> Iterator[Pair]:
    for row in repository.json(f"data/summedits/summedits_{name}.json"):
        evidence = narrowed(row["doc"], row["summary"] + " " + row["original_summary"])
        label = ENTAILMENT if row["label"] == 1 else NOT_ENTAILED
        yield row["id"].rsplit("_", 1)[0], evidence, " ".join(row["summary"].split()), label
        for before, after in changed_sentences(row["original_summary"], row["summary"]):
            if row["label"] == 1:
                yield row["id"].rsplit("_", 1)[0], evidence, after, ENTAILMENT
            elif row["edit_types"]:
                yield row["id"].rsplit("_", 1)[0], evidence, after, NOT_ENTAILED
                yield row["id"].rsplit("_", 1)[0], evidence, before, ENTAILMENT


def changed_sentences(before: str, after: str) -> list[tuple[str, str]]:
    """The one sentence that an edit changed, as it was and as it is (nothing where more changed)."""
    old, new = sentences(before), sentences(after)
    if len(old) != len(new) or len(old) < 2:
        return []
    different = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    return different if len(different) == 1 else []


def narrowed(document: str, claim: str, limit: int = 2_800) -> str:
    """The document, or where it is long its sentences nearest in words to the claim, in their order."""
    document = " ".join(document.split())
    if len(document) <= MAX_EVIDENCE_CHARS:
        return document
    parts = sentences(document)
    wanted, counts = words(claim), Counter(word for part in parts for word in words(part))
    ranked = sorted(
        range(len(parts)), key=lambda at: -sum(1 / counts[word] for word in sorted(words(parts[at]) & wanted))
    )
    kept: set[int] = set()
    size = 0
    for at in ranked:
        for near in (at, at - 1, at + 1):
            if 0 <= near < len(parts) and near not in kept and size + len(parts[near]) < limit:
                kept.add(near)
                size += len(parts[near]) + 1
    return " ".join(parts[at] for at in sorted(kept))


def bump(repository: Repository) -> Iterator[Pair]:
    """News summaries with and without one error that people put in each."""
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
    """Inconsistent summary sentences of FactCC (those whose explanations people judged)."""
    for row in repository.json("data/factcc/factcc_explanation_annotation.json"):
        yield row["id"], narrowed(row["doc"], row["summary"]), tidy(row["summary"]), NOT_ENTAILED


def cogensumm(repository: Repository) -> Iterator[Pair]:
    for row in repository.json_lines("data/raw/cogensumm_test.jsonl"):
        evidence = narrowed(row["document"], row["claim"])
        yield row["document"][:80], evidence, tidy(row["claim"]), ENTAILMENT if row["label"] == 1 else NOT_ENTAILED


def q_squared(repository: Repository) -> Iterator[Pair]:
    """Replies in dialogues with the knowledge they are to rest on (Wizard of Wikipedia)."""
    for row in repository.table("third_party/data/cross_annotation.csv", ","):
        for system in ("dodeca", "memnet"):
            label = {"1": ENTAILMENT, "0": NOT_ENTAILED}.get(row[f"{system}_label"])
            claim = tidy(re.sub(r"\s*'\s*", "'", row[f"{system}_response"]))
            if label and len(claim) > 15 and "?" not in claim:
                yield row["topic"], tidy(row["knowledge"]), claim, label


def dial_fact(repository: Repository) -> Iterator[Pair]:
    labels = {"SUPPORTS": ENTAILMENT, "REFUTES": CONTRADICTION, "NOT ENOUGH INFO": NEUTRAL}
    for row in repository.json_lines("scripts/testsmall.jsonl"):
        evidence = " ".join(one[2] for one in row["evidence_list"])
        if row["response_label"] in labels and evidence and row["type_label"] == "factual":
            yield row["context_id"], tidy(evidence), tidy(row["response"]), labels[row["response_label"]]


def contract_nli(repository: Repository) -> Iterator[Pair]:
    """Statements about confidentiality agreements with the clauses that bear on them."""
    labels = {"Entailment": ENTAILMENT, "Contradiction": CONTRADICTION, "NotMentioned": NEUTRAL}
    generator = random.Random(5)
    for part in ("dev", "test", "train_truncated"):
        data = repository.json(f"data/contract-nli/{part}.json")
        for document in data["documents"]:
            text = document["text"]
            spans = [" ".join(text[start:end].split()) for start, end in document["spans"]]
            for key, one in document["annotation_sets"][0]["annotations"].items():
                claim, label = data["labels"][key]["hypothesis"], labels[one["choice"]]
                if one["spans"]:
                    gold = " ".join(spans[at] for at in one["spans"])
                    wide = sorted(
                        {near for at in one["spans"] for near in range(at - 3, at + 4) if 0 <= near < len(spans)}
                    )
                    yield document["file_name"], gold, claim, label
                    yield document["file_name"], " ".join(spans[at] for at in wide)[:4_000], claim, label
                else:
                    wanted = words(claim)
                    ranked = sorted(
                        range(len(spans)), key=lambda at: -len(words(spans[at]) & wanted) / (8 + len(words(spans[at])))
                    )
                    near = sorted(ranked[: generator.choice((2, 4, 7))])
                    yield document["file_name"], " ".join(spans[at] for at in near), claim, label


def evidence_inference(repository: Repository) -> Iterator[Pair]:
    """What a trial found for an outcome, as a sentence, with the quoted finding; wrong directions contradict it."""
    prompts = {row["PromptID"]: row for row in repository.table("annotations/prompts_merged.csv", ",")}
    phrase = {
        "significantly increased": "significantly increased {outcome} compared with",
        "significantly decreased": "significantly decreased {outcome} compared with",
        "no significant difference": "made no significant difference to {outcome} compared with",
    }
    generator = random.Random(3)
    for row in repository.table("annotations/v2_annotations.csv", ","):
        prompt, quote = prompts.get(row["PromptID"]), " ".join(row["Annotations"].split())
        if not prompt or row["Valid Label"] != "True" or row["Label"] not in phrase or len(quote) < 60:
            continue
        outcome, drug, other = (
            " ".join(prompt[key].split()).rstrip(". ") for key in ("Outcome", "Intervention", "Comparator")
        )
        if max(len(outcome), len(drug), len(other)) > 120:
            continue
        for label in {row["Label"], generator.choice([one for one in phrase if one != row["Label"]])}:
            claim = f"{drug} {phrase[label].format(outcome=outcome)} {other}."
            yield (
                f"PMC{row['PMCID']}",
                quote,
                claim[:1].upper() + claim[1:],
                ENTAILMENT if label == row["Label"] else CONTRADICTION,
            )


def pub_med_qa(repository: Repository) -> Iterator[Pair]:
    """Conclusions of abstracts with the rest of the abstract: entailed where annotators answered the question by it."""
    for key, row in repository.json("data/ori_pqal.json").items():
        if row["final_decision"] in ("yes", "no") and len(row["LONG_ANSWER"]) < 500:
            yield key, " ".join(row["CONTEXTS"]), row["LONG_ANSWER"], ENTAILMENT


def _clean(cell: object) -> str:
    return re.sub(r"\[(?:BOLD|ITALIC|EMPTY|CONTINUE)\]", "", str(cell)).strip()


def sci_tab(repository: Repository) -> Iterator[Pair]:
    """Statements of computer science papers about their tables."""
    labels = {"supports": ENTAILMENT, "refutes": CONTRADICTION, "not enough info": NEUTRAL}
    for row in repository.json("dataset/sci_tab.json"):
        rows = [
            " | ".join(_clean(cell) for cell in one)
            for one in (row["table_column_names"], *row["table_content_values"])
        ]
        yield (
            row["paper_id"],
            "\n".join([_clean(row["table_caption"]), *rows]),
            _clean(row["claim"]),
            labels[row["label"]],
        )


def info_tabs(repository: Repository) -> Iterator[Pair]:
    """Statements about an information box of Wikipedia, each given as lines of its rows."""
    labels = {"E": ENTAILMENT, "N": NEUTRAL, "C": CONTRADICTION}
    boxes = {
        name.rsplit("/", 1)[1][:-5]: info_box(page.decode("utf-8", "replace"))
        for name, page in repository.folder("data/tables/html").items()
    }
    for part in ("train", "dev", "test_alpha1", "test_alpha2", "test_alpha3"):
        for row in repository.table(f"data/maindata/infotabs_{part}.tsv"):
            if row["label"] in labels and boxes.get(row["table_id"]):
                yield (
                    f"infotabs-{row['table_id']}",
                    boxes[row["table_id"]],
                    row["hypothesis"].strip(),
                    labels[row["label"]],
                )


def info_box(page: str) -> str:
    """An information box as text, one row a line."""
    lines = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", re.sub(r"^.*?<table", "<table", page, flags=re.S), flags=re.S):
        cells = re.findall(r"<t([hd])[^>]*>(.*?)</t[hd]>", row, flags=re.S)
        shown = []
        for _, cell in cells:
            parted = re.sub(r"</li>|<br\s*/?>", "; ", cell)
            text = html.unescape(re.sub(r"<[^>]+>", "", parted))
            text = re.sub(r"\s+([;,.])", r"\1", re.sub(r"\[\w{1,3}\]", "", " ".join(text.split()))).strip("; ")
            if text:
                shown.append(text)
        if shown:
            lines.append(": ".join(shown))
    return "\n".join(lines)


def tab_fact(repository: Repository) -> Iterator[Pair]:
    """Statements about tables of Wikipedia (two parts, as people wrote them; in another repository than the tables)."""
    tables = repository.beside("wenhuchen+Table-Fact-Checking").folder("data/all_csv")
    for part in ("val", "test"):
        for name, (claims, _, labels, caption) in repository.json(f"data/{part}_examples.json").items():
            evidence = "\n".join([caption, *shown_table(tables[f"data/all_csv/{name}"])])
            for claim, label in zip(claims, labels, strict=True):
                yield f"tabfact-{name}", evidence, tidy(claim), ENTAILMENT if label else CONTRADICTION


def shown_table(table: bytes) -> list[str]:
    return [row.replace("#", " | ") for row in table.decode("utf-8", "replace").strip().splitlines()]


RAG_TRUTH_PAGE = re.compile(r"Premise:\n(.*?)\n\nHypothesis:\n(.*?)\n\nAnnotation:\n```json\n(.*?)\n```", re.S)


def rag_truth(repository: Repository) -> Iterator[Pair]:
    """Sentences of generated summaries of news, with the spans that people marked as conflicting or baseless."""
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
                if any(part in sentence or sentence in part for part in [" ".join(one["text"].split())])
            }
            if not kinds:
                label = ENTAILMENT
            elif all("Conflict" in kind for kind in kinds):
                label = CONTRADICTION
            else:
                label = NEUTRAL if all("Baseless" in kind for kind in kinds) else NOT_ENTAILED
            yield evidence[:80], narrowed(evidence, sentence), sentence, label


class PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, lists, texts and numbers; refuses anything that would call code."""

    def find_class(self, module: str, name: str) -> Any:
        raise ValueError(f"{module}.{name}")


def summ_eval(repository: Repository) -> Iterator[Pair]:
    """Summaries of news by 16 systems, as experts rated their consistency (those between clear and poor left out)."""
    data = PlainUnpickler(io.BytesIO(repository.read("SUM/SummEval/data.pkl"))).load()
    for row in data.values():
        article = tidy(row["src"])
        for one in row["sys_summs"].values():
            rating, claim = one["scores"]["consistency"], tidy(one["sys_summ"])
            if rating == 5 or rating < 4:
                yield article[:80], narrowed(article, claim), claim, ENTAILMENT if rating == 5 else NOT_ENTAILED


def rank19(repository: Repository) -> Iterator[Pair]:
    """Sentences of news articles with a correct and an incorrect summary of each."""
    for row in PlainUnpickler(io.BytesIO(repository.read("SUM/Rank19/data.pkl"))).load().values():
        for name, one in row["sys_summs"].items():
            label = ENTAILMENT if name == "correct" else NOT_ENTAILED
            yield row["src"][:80], tidy(row["src"]), tidy(one["sys_summ"]), label
