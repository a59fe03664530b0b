"""Write questions, the passages that answer them and passages that do not, as training/train.py reads them.

    python training/reader/questions.py SQUAD_FOLDER REPOSITORIES questions.jsonl

`SQUAD_FOLDER` has `train-v1.1.json`; `REPOSITORIES` holds git directories named `OWNER+NAME/repo`. Each line is
{"source", "group", "question", "context", "start", "end", "other"}: the characters of the answer in the passage, and a
passage of the same source that resembles the question without holding the answer, or null.
"""

import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SEED = 5
CLOSEST = 3
"""The other passage is one of this many that share most words with the question, weighted by rarity."""

MAX_CHARS = 3_000
"""Longer texts are cut around the answer."""

Row = dict[str, Any]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def like_squad(source: str, articles: Sequence[Row], choose: random.Random) -> Iterator[Row]:
    """Yield the rows of articles in the format of SQuAD."""
    for number, article in enumerate(articles):
        passages = [paragraph["context"] for paragraph in article["paragraphs"]]
        read = [words(passage) for passage in passages]
        known = Counter(word for one in read for word in one)
        for own, paragraph in enumerate(article["paragraphs"]):
            for asked in paragraph["qas"]:
                start = asked["answers"][0]["answer_start"] if asked.get("answers") else -1
                end = start + len(asked["answers"][0]["text"]) if start >= 0 else -1
                if start < 0 or passages[own][start:end] != asked["answers"][0]["text"]:
                    continue
                told = [answer["text"].lower() for answer in asked["answers"]]
                sought = words(asked["question"])
                others = [
                    (sum(math.log(1 + len(passages) / known[word]) for word in sought & read[place]), place)
                    for place, passage in enumerate(passages)
                    if place != own and not any(text in passage.lower() for text in told)
                ]
                closest = sorted(others, reverse=True)[:CLOSEST]
                yield {
                    "source": source,
                    "group": article.get("title") or str(number),
                    "question": asked["question"].strip(),
                    "context": passages[own],
                    "start": start,
                    "end": end,
                    "other": passages[choose.choice(closest)[1]] if closest else None,
                }


def tat_qa(reports: Sequence[Row], choose: random.Random) -> Iterator[Row]:
    """Yield the questions of TAT-QA that one span of a report's text answers."""
    texts = [" ".join(paragraph["text"] for paragraph in report["paragraphs"]) for report in reports]
    for report, text in zip(reports, texts, strict=True):
        for asked in report["questions"]:
            answer = asked["answer"][0] if isinstance(asked["answer"], list) else asked["answer"]
            if asked["answer_from"] != "text" or asked["answer_type"] != "span" or answer not in text:
                continue
            others = [one for one in choose.sample(texts, 8) if answer.lower() not in one.lower()]
            yield {
                "source": "tat_qa",
                "group": report["table"]["uid"],
                "question": asked["question"],
                "context": text,
                "start": text.find(answer),
                "end": text.find(answer) + len(answer),
                "other": choose.choice(others),
            }


def multi_span_qa(questions: Sequence[Row]) -> Iterator[Row]:
    """Yield each question with the first of its answers; no passage is known not to answer it."""
    for asked in questions:
        text, spans = "", []
        for word in asked["context"]:
            text += " " if text and word not in ",.;:!?)'%" and not text.endswith("(") else ""
            spans.append((len(text), len(text) + len(word)))
            text += word
        first = asked["label"].index("B")
        last = next((place for place in range(first + 1, len(spans)) if asked["label"][place] != "I"), len(spans)) - 1
        yield {
            "source": "multi_span_qa",
            "group": asked["id"],
            "question": " ".join(asked["question"]),
            "context": text,
            "start": spans[first][0],
            "end": spans[last][1],
            "other": None,
        }


def squad_2(articles: Sequence[Row]) -> Iterator[Row]:
    """Yield the questions of SQuAD 2.0 that their passage does not answer; they start and end at -1."""
    for article in articles:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                if asked["is_impossible"]:
                    yield _row("squad2", article["title"], asked["question"], paragraph["context"], (-1, -1), None)


def papers(articles: Sequence[Row], choose: random.Random) -> Iterator[Row]:
    """Yield questions about papers, each with the part of the paper that holds the answer."""
    asked = [
        (paragraph["context"], one["question"], one["answers"][0])
        for article in articles
        for paragraph in article["paragraphs"]
        for one in paragraph["qas"]
    ]
    for context, question, answer in asked:
        answer_start, size = answer["answer_start"], len(answer["text"])
        begin = max(0, answer_start - choose.randint(0, max(MAX_CHARS - size, 0)))
        start, end = answer_start - begin, answer_start - begin + size
        part = context[begin : begin + MAX_CHARS]
        if part[start:end] == answer["text"]:
            yield _row("covid_qa", context[:80], question, part, (start, end), _without(answer["text"], asked, choose))


def natural_questions(examples: Sequence[Row], choose: random.Random) -> Iterator[Row]:
    """Yield questions to a search engine, each with a paragraph of Wikipedia: QED's part of Natural Questions."""
    asked = [(row["paragraph_text"], row["question_text"], row) for row in examples]
    for context, question, row in asked:
        spans = [one[0] for one in row["original_nq_answers"] if len(one) == 1]
        answers = [(one["start"], one["start"] + len(one["string"])) for one in spans]
        for start, end in answers[:1]:
            other = _without(context[start:end], asked, choose)
            yield _row("qed_dev", row["title_text"], question, context, (start, end), other)


def _without(answer: str, asked: Sequence[tuple[str, str, Any]], choose: random.Random) -> str | None:
    """Return a text of another question that does not hold the answer."""
    others = [text[:MAX_CHARS] for text, _, _ in choose.sample(asked, 6)]
    return next((text for text in others if answer.lower() not in text.lower()), None)


def _row(source: str, group: str, question: str, context: str, span: tuple[int, int], other: str | None) -> Row:
    start, end = span
    return {
        "source": source,
        "group": group,
        "question": question.strip(),
        "context": context,
        "start": start,
        "end": end,
        "other": other,
    }


def main() -> None:
    squad, repositories, output = map(Path, sys.argv[1:4])

    def read_lines(repository: str, path: str) -> Any:
        folder = repositories / repository.replace("/", "+") / "repo"
        shown = subprocess.run(["git", "-C", folder, "show", f"HEAD:{path}"], capture_output=True, check=True)
        return shown.stdout.decode("utf-8").splitlines()

    def read(repository: str, path: str) -> Any:
        return json.loads("\n".join(read_lines(repository, path)))

    choose = random.Random(SEED)
    rows = [*like_squad("squad", json.loads((squad / "train-v1.1.json").read_text("utf-8"))["data"], choose)]
    for name in ("dev", "test"):
        rows += like_squad("policy_qa", read("wasiahmad/PolicyQA", f"data/{name}.json")["data"], choose)
    for name in ("dev", "test_gold"):
        rows += tat_qa(read("NExTplusplus/TAT-QA", f"dataset_raw/tatqa_dataset_{name}.json"), choose)
    rows += multi_span_qa(read("haonan-li/MultiSpanQA", "data/MultiSpanQA_data/valid.json")["data"])
    rows += squad_2(read("PhongNTDo/guide_train_MRC_transformers", "train-v2.0.json")["data"])
    rows += papers(read("deepset-ai/COVID-QA", "data/question-answering/200423_covidQA.json")["data"], choose)
    examples = map(json.loads, read_lines("google-research-datasets/QED", "qed-dev.jsonlines"))
    rows += natural_questions([*examples], choose)
    with output.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    print(Counter(row["source"] for row in rows))


if __name__ == "__main__":
    main()
