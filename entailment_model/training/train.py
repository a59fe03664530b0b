"""Train the entailment model on labelled pairs of evidence and claim.

    python training/train.py BASE_FOLDER LABELLED.jsonl OUTPUT_FOLDER --minutes 60

Each line of the data is {"source", "group", "evidence", "claim", "label"} with a label of entailment, neutral,
contradiction or not_entailment (the last where a source does not tell neutral from contradiction). Pairs of one group
(document, topic or premise) are either all trained on or all kept for development. The learning rate falls to zero
over the given time, so a run always ends with a finished model. Written for two CPU cores: the word embeddings stay as
they are. Run it again on its own output to go on with another mixture.
"""

import argparse
import itertools
import json
import random
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import alterations
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILED = "not_entailment"
MAX_TOKENS = 224
BATCH = 16
FROZEN_LAYERS = 0
WARM_UP = 0.04
"""Share of the time in which the learning rate rises."""

JOINED = 0.05
"""Share of pairs that are joined with another: the evidence of both for the claims of both."""

DISTRACTED = 0.15
"""Share of pairs whose evidence stands among unrelated sentences, as it does on a page."""

SWAPPED = 0.15
"""Share of entailed pairs in whose claim a name is replaced by another of the evidence, or two change places."""

MAX_DISTRACTORS = 2
DEV_SHARE = 0.04
MAX_DEV = 200
"""Most pairs of a source to evaluate."""


class Pair(NamedTuple):
    source: str
    group: str
    evidence: str
    claim: str
    label: str

    @property
    def is_dev(self) -> bool:
        return zlib.crc32(f"{self.source} {self.group}".encode()) % 1000 < DEV_SHARE * 1000


def read_pairs(file: Path) -> list[Pair]:
    with file.open(encoding="utf-8") as lines:
        return [Pair(**{name: str(row[name]) for name in Pair._fields}) for row in map(json.loads, lines)]


class Sampler:
    """Draws pairs forever; a source is drawn by its weight times the square root of its size.

    A share `altered` of the claims is made by script from the evidence.
    """

    def __init__(self, pairs: Sequence[Pair], weights: dict[str, float], altered: float, seed: int) -> None:
        self._altered = altered
        self._random = random.Random(seed)
        self._by_source: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            self._by_source[pair.source].append(pair)
        self._entailed = {
            name: [pair for pair in own if pair.label == LABELS[0]] for name, own in self._by_source.items()
        }
        self._names = sorted(self._by_source)
        self._shares = [weights.get(name, 1.0) * len(self._by_source[name]) ** 0.5 for name in self._names]

    def __iter__(self) -> Iterator[Pair]:
        endless = {name: self._shuffled_forever(self._by_source[name]) for name in self._names}
        while True:
            pair = next(endless[self._random.choices(self._names, self._shares)[0]])
            if self._random.random() < self._altered:
                other = self._random.choice(self._by_source[pair.source])
                made = alterations.alter(pair.evidence, other.evidence, self._random)
                if made:
                    pair = pair._replace(claim=made[0], label=made[1])
            if self._random.random() < JOINED and self._entailed[pair.source]:
                pair = self._join(pair)
            if pair.label == LABELS[0] and self._random.random() < SWAPPED:
                claim = alterations.swap_names(pair.claim, pair.evidence, self._random)
                pair = pair._replace(claim=claim, label=NOT_ENTAILED) if claim else pair
            if self._random.random() < DISTRACTED:
                pair = self._distract(pair)
            yield pair

    def _shuffled_forever(self, pairs: list[Pair]) -> Iterator[Pair]:
        while True:
            self._random.shuffle(pairs)
            yield from pairs

    def _join(self, pair: Pair) -> Pair:
        """Join with another pair of the source: the claims of both, which holds only if each of them holds."""
        other = self._random.choice(self._entailed[pair.source])
        first, second = self._random.sample([pair, other], 2)
        evidence = " ".join(one.evidence for one in self._random.sample([pair, other], 2))
        if self._random.random() < 0.5:
            claim = f"{first.claim.rstrip('.')} and {second.claim[:1].lower()}{second.claim[1:]}"
        else:
            claim = f"{first.claim.rstrip('.')}. {second.claim}"
        return pair._replace(evidence=evidence, claim=claim)

    def _distract(self, pair: Pair) -> Pair:
        pool = self._by_source[pair.source]
        count = self._random.randint(1, MAX_DISTRACTORS)
        others = [self._random.choice(pool).evidence for _ in range(count)]
        place = self._random.randint(0, count)
        return pair._replace(evidence=" ".join([*others[:place], pair.evidence, *others[place:]]))


class Encoder:
    """Turns pairs into padded tensors; evidence is cut where a pair is too long."""

    def __init__(self, folder: Path, most: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(most, strategy="only_first")

    def __call__(self, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
        # a claim longer than the limit itself cannot be encoded with "only_first"
        texts = [(pair.evidence, " ".join(pair.claim.split()[:120])) for pair in pairs]
        return [(one.ids, one.type_ids) for one in self._tokenizer.encode_batch(texts)]

    @staticmethod
    def pad(encoded: Sequence[tuple[list[int], list[int]]]) -> dict[str, torch.Tensor]:
        longest = max(len(ids) for ids, _ in encoded)
        ids, types, mask = (torch.zeros(len(encoded), longest, dtype=torch.long) for _ in range(3))
        for row, (tokens, kinds) in enumerate(encoded):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            types[row, : len(kinds)] = torch.tensor(kinds)
            mask[row, : len(tokens)] = 1
        return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}


def batches(pairs: Iterator[Pair], encoder: Encoder) -> Iterator[tuple[dict[str, torch.Tensor], list[str]]]:
    """Yield batches of pairs of similar length."""
    while True:
        pool = list(itertools.islice(pairs, BATCH * 16))
        encoded = encoder(pool)
        order = sorted(range(len(pool)), key=lambda index: len(encoded[index][0]))
        chunks = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        random.shuffle(chunks)
        for chunk in chunks:
            yield encoder.pad([encoded[index] for index in chunk]), [pool[index].label for index in chunk]


def loss_of(logits: torch.Tensor, labels: Sequence[str]) -> torch.Tensor:
    """Cross-entropy; for not_entailment, of everything but entailment together."""
    logs = logits.log_softmax(-1)
    losses = []
    for row, label in zip(logs, labels, strict=True):
        losses.append(-row[LABELS.index(label)] if label in LABELS else -row[1:].logsumexp(-1))
    return torch.stack(losses).mean()


@torch.no_grad()
def probabilities(model: torch.nn.Module, pairs: Sequence[Pair], encoder: Encoder) -> list[float]:
    """Return the probability of entailment of each pair."""
    model.eval()
    encoded = encoder(pairs)
    order = sorted(range(len(pairs)), key=lambda index: len(encoded[index][0]))
    found = [0.0] * len(pairs)
    for start in range(0, len(order), 32):
        chunk = order[start : start + 32]
        logits = model(**encoder.pad([encoded[index] for index in chunk])).logits
        for index, row in zip(chunk, logits.softmax(-1), strict=True):
            found[index] = float(row[0])
    model.train()
    return found


def evaluate(model: torch.nn.Module, pairs: Sequence[Pair], encoder: Encoder) -> str:
    """Return the area under the ROC curve for each source."""
    by_source = defaultdict(list)
    for pair in pairs:
        if len(by_source[pair.source]) < MAX_DEV:
            by_source[pair.source].append(pair)
    figures = []
    for name, some in sorted(by_source.items()):
        truth = [pair.label == LABELS[0] for pair in some]
        if len(set(truth)) == 2:
            figures.append(f"{name} {roc_auc_score(truth, probabilities(model, some, encoder)):.3f}")
    return ", ".join(figures)


def make_model(base: Path) -> BertForSequenceClassification:
    config = BertConfig.from_pretrained(base)
    # a small model at a short training underfits: dropout only slows it
    config.update({"num_labels": 3, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    config.id2label, config.label2id = dict(enumerate(LABELS)), {name: index for index, name in enumerate(LABELS)}
    model = BertForSequenceClassification(config)
    weights = load_file(base / "model.safetensors")
    whole = {name if name.startswith(("bert.", "classifier.")) else f"bert.{name}": w for name, w in weights.items()}
    model.load_state_dict(whole, strict=False)
    model.bert.embeddings.requires_grad_(requires_grad=False)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--altered", type=float, default=0.4, help="share of claims that are made by script")
    parser.add_argument("--weights", type=json.loads, default={}, help="weights of sources, e.g. '{\"snli\": 0.5}'")
    options = parser.parse_args()

    random.seed(options.seed)
    torch.manual_seed(options.seed)
    pairs = read_pairs(options.data)
    train, dev = [pair for pair in pairs if not pair.is_dev], [pair for pair in pairs if pair.is_dev]
    print(f"{len(train)} pairs to train on, {len(dev)} for development", flush=True)

    model, encoder = make_model(options.base), Encoder(options.base, MAX_TOKENS)
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=options.rate, weight_decay=0.01, betas=(0.9, 0.98)
    )
    start, seen, average, last = time.monotonic(), 0, 0.0, 0.0
    for step, (inputs, labels) in enumerate(
        batches(iter(Sampler(train, options.weights, options.altered, options.seed)), encoder)
    ):
        done = (time.monotonic() - start) / (60 * options.minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(done / WARM_UP, (1 - done) / (1 - WARM_UP))
        loss = loss_of(model(**inputs).logits, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += len(labels)
        average = loss.item() if step == 0 else 0.99 * average + 0.01 * loss.item()
        if step % 100 == 0:
            print(f"{60 * options.minutes * done:.0f} s, {seen} pairs, loss {average:.3f}", flush=True)
        if done - last > 0.12:
            last = done
            print(evaluate(model, dev, encoder), flush=True)
            model.save_pretrained(options.output)
    print(evaluate(model, dev, encoder), flush=True)
    model.save_pretrained(options.output)
    Encoder(options.base, MAX_TOKENS)._tokenizer.save(str(options.output / "tokenizer.json"))


if __name__ == "__main__":
    main()
