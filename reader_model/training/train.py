"""Train the reader on questions and passages.

    python training/train.py BASE_FOLDER questions.jsonl OUTPUT_FOLDER --minutes 62

The model gives each token a logit to be the first and one to be the last of the answer; the two of [CLS] stand for "no
answer" (Devlin et al., "BERT: Pre-training of deep bidirectional transformers", 2019, 4.2 and 4.3). A part of the
passages does not answer: another passage of the same article, or the sentences beside the one that does. The learning
rate falls to zero over the given time. Written for two CPU cores: passages are cut to a few sentences, and the
embeddings and the lowest layers stay as they are. Run it again on its own output to go on.
"""

import argparse
import json
import random
import re
import shutil
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BertModel

MAX_TOKENS = 112
MAX_QUESTION_TOKENS = 48
MAX_ANSWER_TOKENS = 30
BATCH = 32
FROZEN_LAYERS = 4
LEARNING_RATE = 8e-5
WARM_UP = 0.03
"""Share of the time in which the learning rate rises."""

UNANSWERED = 0.36
"""Share of the passages that do not answer."""

BESIDE = 0.4
"""Share of those that are cut from the answering passage."""

MIN_BESIDE_CHARS = 60
DEV_SHARE = 0.03
CLS, SEP = 101, 102
IMPOSSIBLE = -1e4

Row = dict[str, Any]


class Example(NamedTuple):
    """Token ids, where the passage begins, and the tokens of the answer; 0 and 0 if there is none."""

    ids: list[int]
    passage: int
    start: int
    end: int


class Reader(torch.nn.Module):
    """A BERT with two logits per token."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="sdpa")
        self.span = torch.nn.Linear(self.bert.config.hidden_size, 2)
        if (folder / "span.pt").exists():
            self.span.load_state_dict(torch.load(folder / "span.pt"))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Return logits: batch, tokens, start and end."""
        return self.span(self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.bert.save_pretrained(folder)
        torch.save(self.span.state_dict(), folder / "span.pt")


class Encoder:
    """Makes examples of rows; `choose` decides which part of a passage is read."""

    def __init__(self, folder: Path, choose: random.Random) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._choose = choose

    def answered(self, row: Row) -> Example:
        question, room = self._question(row)
        passage = self._tokenizer.encode(row["context"], add_special_tokens=False)
        spans = passage.offsets
        start = next((place for place, span in enumerate(spans) if span[1] > row["start"]), 0)
        end = max([place for place, span in enumerate(spans) if span[0] < row["end"]] or [0])
        end = min(max(start, end), start + room - 1)
        first, last = max(0, end - room + 1), min(start, max(0, len(spans) - room))
        begin = self._choose.randint(min(first, last), max(first, last))
        offset = len(question) + 2 - begin
        return self._joined(question, passage.ids[begin : begin + room], start + offset, end + offset)

    def unanswered(self, row: Row) -> Example:
        question, room = self._question(row)
        beside = self._beside(row) if self._choose.random() < BESIDE else None
        ids = self._tokenizer.encode(beside or row["other"], add_special_tokens=False).ids
        begin = self._choose.randint(0, max(0, len(ids) - room))
        return self._joined(question, ids[begin : begin + room], 0, 0)

    def _question(self, row: Row) -> tuple[list[int], int]:
        ids = self._tokenizer.encode(row["question"], add_special_tokens=False).ids[:MAX_QUESTION_TOKENS]
        return ids, MAX_TOKENS - len(ids) - 3

    def _beside(self, row: Row) -> str | None:
        """Return the sentences before or after the one that answers, if they do not hold the answer, too."""
        text, start, end = row["context"], row["start"], row["end"]
        before = [match.end() for match in re.finditer(r"[.!?] +(?=[A-Z])", text[:start])]
        after = re.search(r"[.!?] +(?=[A-Z])", text[end:])
        parts = [text[: before[-1]] if before else "", text[end + after.end() :] if after else ""]
        answer = text[start:end].lower()
        able = [part for part in parts if len(part) > MIN_BESIDE_CHARS and answer not in part.lower()]
        return self._choose.choice(able) if able else None

    @staticmethod
    def _joined(question: list[int], passage: list[int], start: int, end: int) -> Example:
        return Example([CLS, *question, SEP, *passage, SEP], len(question) + 2, start, end)


class Batch(NamedTuple):
    """Padded examples; `able` marks the tokens that an answer may begin or end at."""

    ids: torch.Tensor
    mask: torch.Tensor
    types: torch.Tensor
    able: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Batch":
        longest = max(len(example.ids) for example in examples)
        ids, mask, types, able = (torch.zeros(len(examples), longest, dtype=torch.long) for _ in range(4))
        for row, example in enumerate(examples):
            size = len(example.ids)
            ids[row, :size] = torch.tensor(example.ids)
            mask[row, :size] = 1
            types[row, example.passage : size] = 1
            able[row, example.passage : size - 1] = 1
            able[row, 0] = 1
        starts, ends = (torch.tensor([example[place] for example in examples]) for place in (2, 3))
        return cls(ids, mask, types, able.bool(), starts, ends)


def logits_of(model: Reader, batch: Batch) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(batch.ids, batch.mask, batch.types)
    return logits.float().masked_fill(~batch.able[:, :, None], IMPOSSIBLE)


def batches(rows: list[Row], encoder: Encoder, choose: random.Random) -> Iterator[Batch]:
    """Yield batches of examples of similar length, forever."""
    while True:
        choose.shuffle(rows)
        for begin in range(0, len(rows), BATCH * 24):
            examples = [
                encoder.unanswered(row) if row["other"] and choose.random() < UNANSWERED else encoder.answered(row)
                for row in rows[begin : begin + BATCH * 24]
            ]
            examples.sort(key=lambda example: len(example.ids))
            chunks = [examples[place : place + BATCH] for place in range(0, len(examples), BATCH)]
            choose.shuffle(chunks)
            yield from map(Batch.of, chunks)


@torch.no_grad()
def evaluate(model: Reader, rows: Sequence[Row], encoder: Encoder) -> str:
    """Return how often the answer is found exactly, and how well answering passages are told from others."""
    model.eval()
    examples = [encoder.answered(row) for row in rows] + [encoder.unanswered(row) for row in rows if row["other"]]
    exact, scores = [], []
    for begin in range(0, len(examples), BATCH):
        batch = Batch.of(examples[begin : begin + BATCH])
        logits = logits_of(model, batch)
        none = logits[:, 0].sum(-1)
        logits[:, 0] = IMPOSSIBLE
        size = logits.shape[1]
        within = torch.ones(size, size).triu().tril(MAX_ANSWER_TOKENS).bool()
        sums = (logits[:, :, 0, None] + logits[:, None, :, 1]).masked_fill(~within, 10 * IMPOSSIBLE)
        best, place = sums.flatten(1).max(1)
        scores += (best - none).tolist()
        exact += ((place // size == batch.starts) & (place % size == batch.ends)).tolist()
    model.train()
    truth = [example.start > 0 for example in examples]
    found = sum(exact) / sum(truth)
    return f"exact {found:.3f}, answered or not: AUC {roc_auc_score(truth, scores):.3f}"


def trainable(model: Reader) -> list[torch.nn.Parameter]:
    frozen = [model.bert.embeddings, *model.bert.encoder.layer[:FROZEN_LAYERS]]
    for part in frozen:
        part.requires_grad_(False)
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.05
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    choose = random.Random(options.seed)
    rows = [json.loads(line) for line in options.data.read_text("utf-8").splitlines()]
    kept = [row for row in rows if zlib.crc32((row["source"] + row["group"]).encode()) % 1000 < DEV_SHARE * 1000]
    held = {id(row) for row in kept}
    encoder, model = Encoder(options.base, choose), Reader(options.base)
    parameters = trainable(model)
    decayed = [parameter for parameter in parameters if parameter.dim() > 1]
    others = [parameter for parameter in parameters if parameter.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    began = time.monotonic()
    for step, batch in enumerate(batches([row for row in rows if id(row) not in held], encoder, choose), 1):
        share = (time.monotonic() - began) / 60 / options.minutes
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, share / WARM_UP) * (1 - share)
        logits = logits_of(model, batch)
        loss = functional.cross_entropy(logits[:, :, 0], batch.starts) + functional.cross_entropy(
            logits[:, :, 1], batch.ends
        )
        (loss / 2).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 50 == 0:
            print(f"{share * options.minutes:.1f} min, {step * BATCH} rows, loss {float(loss.detach()) / 2:.3f}")
    print(evaluate(model, choose.sample(kept, min(1000, len(kept))), encoder))
    model.save(options.output)
    shutil.copy(options.base / "tokenizer.json", options.output / "tokenizer.json")


if __name__ == "__main__":
    main()
