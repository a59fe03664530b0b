"""Train the reader on questions and passages.

    python training/reader/train.py BASE_FOLDER questions.jsonl OUTPUT_FOLDER --minutes 7

The model gives each token a logit to be the first and one to be the last of the answer; the two of [CLS] stand for "no
answer" (Devlin et al., "BERT: Pre-training of deep bidirectional transformers", 2019, 4.2 and 4.3). A part of the
passages does not answer: another passage of the same article, the sentences beside the one that does, or the passage
of a question that has another name or figure now. The learning rate falls to zero over the given time. Written for one
GPU: worker processes make the batches. The embeddings stay as they are.
"""

import argparse
import json
import random
import re
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from transformers import BertModel

MAX_TOKENS = 192
MAX_QUESTION_TOKENS = 48
MAX_ANSWER_TOKENS = 30
BATCH = 128
POOLED = 24
"""Batches that are sorted by length together."""

LEARNING_RATE = 2e-4
DROPOUT = 0.1
WARM_UP = 0.03
"""Share of the time in which the learning rate rises."""

UNANSWERED = 0.4
"""Share of the passages that do not answer."""

BESIDE = 0.2
"""Share of those that are cut from the answering passage."""

REMOVED = 0.35
"""Share of those that are the answering sentence without its answer."""

CHANGED = 0.2
"""Share of those whose question asks about another name or figure than its passage."""

SHORT = 0.6
"""Share of passages that are cut to a few sentences."""

MAX_BESIDE = 2
"""Most sentences left before and after the one that answers, then."""

MIN_BESIDE_CHARS = 60
MIN_LEFT_WORDS = 4
DEV_SHARE = 0.03
CLS, SEP = 101, 102
IMPOSSIBLE = -1e4
_PREPOSITION = "in|on|at|by|from|to|of|for|with|during|since|until|about|around|as|near|under|over|between|into|through"
_LEADING = re.compile(rf"(?:,? (?:{_PREPOSITION}))?(?: (?:the|a|an|its|his|her|their))?\s*$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"”)]* +(?=[A-Z\"“(])")
_NAME = re.compile(r"\b(?:[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*|\d[\d.,]*\d|\d)")
_ASKING = re.compile(
    r"what|which|who|whom|whose|when|where|why|how|in|on|at|of|to|for|from|is|was|are|were|did|does|do", re.IGNORECASE
)

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
        for part in self.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = DROPOUT
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

    def example(self, row: Row) -> Example:
        """Return the row with a passage that answers or does not."""
        if row["start"] >= 0 and self._choose.random() >= UNANSWERED:
            return self.answered(row)
        return self.unanswered(row) or self.answered(row)

    def answered(self, row: Row) -> Example:
        row = self._shortened(row)
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

    def unanswered(self, row: Row) -> Example | None:
        if row["start"] < 0:
            return self._none(row, row["context"])
        roll = self._choose.random()
        if roll < CHANGED and (asked := self._other_question(row)):
            return self._none({**row, "question": asked}, self._shortened(row)["context"])
        if roll < CHANGED + REMOVED and (left := _without_answer(row)):
            return self._none(row, left)
        if roll < CHANGED + REMOVED + BESIDE and (beside := self._beside(row)):
            return self._none(row, beside)
        return self._none(row, row["other"]) if row["other"] else None

    def _none(self, row: Row, text: str) -> Example:
        question, room = self._question(row)
        spans = _sentences(text)
        if len(spans) > 1 and self._choose.random() < SHORT:
            first = self._choose.randrange(len(spans))
            last = min(first + self._choose.randint(0, 2 * MAX_BESIDE), len(spans) - 1)
            text = text[spans[first][0] : spans[last][1]]
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        begin = self._choose.randint(0, max(0, len(ids) - room))
        return self._joined(question, ids[begin : begin + room], 0, 0)

    def _shortened(self, row: Row) -> Row:
        """Return the row with a few sentences around the answer, mostly."""
        if self._choose.random() >= SHORT:
            return row
        spans = _sentences(row["context"])
        first = next(place for place, span in enumerate(spans) if span[1] > row["start"])
        last = next(place for place, span in enumerate(spans) if span[1] >= row["end"])
        first = max(0, first - self._choose.randint(0, MAX_BESIDE))
        last = min(len(spans) - 1, last + self._choose.randint(0, MAX_BESIDE))
        begin = spans[first][0]
        text = row["context"][begin : spans[last][1]]
        return {**row, "context": text, "start": row["start"] - begin, "end": row["end"] - begin}

    def _other_question(self, row: Row) -> str | None:
        """Return the question with one of its names or figures replaced by one from elsewhere."""
        asked = row["question"]
        names = [m for m in _NAME.finditer(asked) if m.start() > 0 and not _ASKING.fullmatch(m.group())]
        source = row["other"] or row["context"]
        if not names:
            return None
        name = self._choose.choice(names)
        figure = name.group()[0].isdigit()
        others = {
            m.group()
            for m in _NAME.finditer(source)
            if m.group()[0].isdigit() == figure
            and m.group() not in asked
            and m.group() not in row["context"]
            and (not figure or len(m.group()) == len(name.group()))
            and (m.start() > 0 and source[m.start() - 2 : m.start()] != ". ")
        }
        if figure and len(name.group()) == 4 and name.group().isdigit():
            others.add(str(int(name.group()) + self._choose.choice([-3, -2, -1, 1, 2, 3])))
        others = {other for other in others if other not in row["context"]}
        return f"{asked[: name.start()]}{self._choose.choice(sorted(others))}{asked[name.end() :]}" if others else None

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

    def to(self, device: str) -> "Batch":
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self))


def logits_of(model: Reader, batch: Batch) -> torch.Tensor:
    with torch.autocast(batch.ids.device.type, dtype=torch.bfloat16):
        logits = model(batch.ids, batch.mask, batch.types)
    return logits.float().masked_fill(~batch.able[:, :, None], IMPOSSIBLE)


class Batches(IterableDataset):
    """Endless batches of examples of similar length; each worker process reads the rows in its own order."""

    def __init__(self, rows: list[Row], base: Path, seed: int) -> None:
        self._rows, self._base, self._seed = rows, base, seed

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        choose = random.Random(self._seed + (1000 * worker.id if worker else 0))
        encoder, rows = Encoder(self._base, choose), list(self._rows)
        while True:
            choose.shuffle(rows)
            for begin in range(0, len(rows), BATCH * POOLED):
                examples = [encoder.example(row) for row in rows[begin : begin + BATCH * POOLED]]
                examples.sort(key=lambda example: len(example.ids))
                chunks = [examples[place : place + BATCH] for place in range(0, len(examples), BATCH)]
                choose.shuffle(chunks)
                yield from map(Batch.of, chunks)


@torch.no_grad()
def evaluate(model: Reader, rows: Sequence[Row], encoder: Encoder, device: str) -> str:
    """Return how often the answer is found exactly, and how well answering passages are told from others."""
    model.eval()
    examples = [encoder.answered(row) for row in rows if row["start"] >= 0]
    examples += [example for row in rows if (example := encoder.unanswered(row))]
    exact, scores = [], []
    for begin in range(0, len(examples), BATCH):
        batch = Batch.of(examples[begin : begin + BATCH]).to(device)
        logits = logits_of(model, batch)
        none = logits[:, 0].sum(-1)
        logits[:, 0] = IMPOSSIBLE
        size = logits.shape[1]
        within = torch.ones(size, size, device=device).triu().tril(MAX_ANSWER_TOKENS).bool()
        sums = (logits[:, :, 0, None] + logits[:, None, :, 1]).masked_fill(~within, 10 * IMPOSSIBLE)
        best, place = sums.flatten(1).max(1)
        scores += (best - none).tolist()
        exact += ((place // size == batch.starts) & (place % size == batch.ends)).tolist()
    model.train()
    truth = [example.start > 0 for example in examples]
    found = sum(exact) / sum(truth)
    return f"exact {found:.3f}, answered or not: AUC {roc_auc_score(truth, scores):.3f}"


def _without_answer(row: Row) -> str | None:
    """Return the sentence that answers without the answer and the preposition or article before it."""
    text, start, end = row["context"], row["start"], row["end"]
    first, last = next(span for span in _sentences(text) if span[1] > start)
    if end > last or text[start:end].lower() in (text[first:start] + text[end:last]).lower():
        return None
    before = _LEADING.sub("", text[first:start])
    left = " ".join(f"{before} {text[end:last]}".split())
    return re.sub(r" ([,.;:)])", r"\1", left) if len(left.split()) >= MIN_LEFT_WORDS else None


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return where sentences start and end, roughly."""
    ends = [m.end() for m in _SENTENCE_END.finditer(text)] + [len(text)]
    return list(zip([0, *ends], ends, strict=False))


def train(model: Reader, batches: Iterable[Batch], minutes: float, device: str) -> None:
    """Train for some minutes from the first batch on."""
    model.train()
    model.bert.embeddings.requires_grad_(requires_grad=False)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [one for one in parameters if one.dim() > 1], "weight_decay": 0.01},
        {"params": [one for one in parameters if one.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=device == "cuda")
    began = 0.0
    for step, made in enumerate(batches):
        began = began or time.monotonic()
        share = (time.monotonic() - began) / 60 / minutes
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, share / WARM_UP) * (1 - share)
        batch = made.to(device)
        starts, ends = logits_of(model, batch).unbind(-1)
        loss = (functional.cross_entropy(starts, batch.starts) + functional.cross_entropy(ends, batch.ends)) / 2
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 500 == 0:
            print(f"{share * minutes:.1f} min, {step * BATCH} rows, loss {float(loss.detach()):.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    choose = random.Random(options.seed)
    rows = [json.loads(line) for line in options.data.read_text("utf-8").splitlines()]
    parts: tuple[list[Row], list[Row]] = [], []
    for row in rows:
        is_kept_back = zlib.crc32((row["source"] + row["group"]).encode()) % 1000 < DEV_SHARE * 1000
        parts[is_kept_back].append(row)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Reader(options.base).to(device)
    batches = DataLoader(
        Batches(parts[0], options.base, options.seed),
        batch_size=None,
        num_workers=options.workers,
        prefetch_factor=8 if options.workers else None,
        pin_memory=device == "cuda",
    )
    train(model, batches, options.minutes, device)
    encoder = Encoder(options.base, choose)
    for source in sorted({row["source"] for row in rows}):
        some = [row for row in parts[1] if row["source"] == source]
        chosen = choose.sample(some, min(1000, len(some)))
        if any(row["start"] >= 0 for row in chosen):
            print(source, len(some), evaluate(model, chosen, encoder, device), flush=True)
    model.cpu().save(options.output)
    shutil.copy(options.base / "tokenizer.json", options.output / "tokenizer.json")


if __name__ == "__main__":
    main()
