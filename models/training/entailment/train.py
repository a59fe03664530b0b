"""Train the entailment model on labelled pairs of evidence and claim.

    python training/entailment/train.py BASE_FOLDER OUTPUT_FOLDER --pairs FILE... --questions FILE --synonyms FILE

Each line of a file of pairs is {"source", "group", "evidence", "claim", "label"} with a label of entailment, neutral,
contradiction or not_entailment (the last where a source does not tell neutral from contradiction). Questions are in the
format of training/reader/questions.py. Pairs of one group (document, topic or premise) are either all trained on or all
kept for development. The learning rate falls to zero over the given time, so a run always ends with a finished model.
Written for one GPU: worker processes make the batches. The embeddings stay as they are.
"""

import argparse
import json
import random
import shutil
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import alterations
import statements
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from transformers import BertConfig, BertForSequenceClassification

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILED = "not_entailment"
ALL_LABELS = (*LABELS, NOT_ENTAILED)
MAX_TOKENS = 448
MAX_CLAIM_WORDS = 120
BATCH = 192
POOLED = 24
"""Batches that are sorted by length together."""

WARM_UP = 0.04
"""Share of the time in which the learning rate rises."""

DROPOUT = 0.1
SIZE_POWER = 0.6
"""A source is drawn in proportion to its size to this power."""

QUESTIONS = "questions"
UNSUITABLE = ("policy_qa", "squad2")
"""Sources of questions that make no claims: with answers that are parts of sentences, or without any."""

ASKED = 0.15
"""Share of pairs that are made from questions."""

ALTERED = 0.3
"""Share of claims that are made by script from the evidence."""

REWORDED = 0.15
"""Share of claims in which words are replaced by synonyms."""

JOINED = 0.05
"""Share of pairs that are joined with another: the evidence of both for the claims of both."""

DISTRACTED = 0.25
"""Share of pairs whose evidence stands among unrelated sentences, as it does on a page."""

SWAPPED = 0.1
"""Share of entailed pairs in whose claim a name is replaced by another of the evidence, or two change places."""

SPOILED = 0.2
"""Share of entailed pairs whose claim is changed so that it is not entailed any more."""

QUOTED = 0.35
"""Share of the claims about passages of questions that are made from a sentence instead."""

MAX_DISTRACTORS = 3
WEIGHTS = {
    "fever fever_nli contract_nli summ_edits expert_qa bump rag_truth cogensumm sci_fact wanli": 1.5,
    "entailment_protocols": 1.3,
    "mnli mnli_train_a mnli_train_b mnli_train_c": 1.2,
    "snli": 0.8,
    "conj_nli": 0.7,
    "counterfactual breaking_nli monotonicity": 0.6,
    "tab_fact info_tabs scone conjunctions adversarial_glue": 0.5,
    "evidence_inference": 0.4,
}
"""How often pairs of some sources are drawn, compared with the others: claims about documents more, templates less."""

DEV_SHARE = 0.03
MAX_DEV = 300
"""Most pairs of a source to evaluate."""

Encoded = tuple[list[int], list[int], int]
"""Token ids, their types, and the index of the label in `ALL_LABELS`."""


class Pair(NamedTuple):
    source: str
    group: str
    evidence: str
    claim: str
    label: str


def is_kept_back(source: str, group: str) -> bool:
    return zlib.crc32(f"{source} {group}".encode()) % 1000 < DEV_SHARE * 1000


def read_lines(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Questions:
    """Draws claims that are made from questions about passages."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._about: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            self._about[row["context"]].append(row)
        self._rows = rows
        self._statements = statements.Statements(self._about)

    def draw(self, chance: random.Random) -> Pair:
        while True:
            row = chance.choice(self._rows)
            if chance.random() < QUOTED:
                evidence = statements.window(row, chance)
                if altered := alterations.alter(evidence, row["other"] or "", chance):
                    return Pair(QUESTIONS, row["group"], evidence, *altered)
                continue
            others = [other for other in self._about[row["context"]] if other is not row]
            if made := statements.claim_of(row, others, self._statements, chance):
                return Pair(QUESTIONS, row["group"], made.evidence, made.text, made.label)


class Sampler:
    """Draws pairs forever, and varies them."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        questions: Questions,
        synonyms: dict[str, list[str]],
        seed: int,
    ) -> None:
        self._random = random.Random(seed)
        self._questions, self._synonyms = questions, synonyms
        self._by_source: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            self._by_source[pair.source].append(pair)
        self._entailed = {
            name: [pair for pair in own if pair.label == LABELS[0]] for name, own in self._by_source.items()
        }
        self._names = sorted(self._by_source)
        weights = {name: weight for names, weight in WEIGHTS.items() for name in names.split()}
        self._shares = [weights.get(name, 1.0) * len(self._by_source[name]) ** SIZE_POWER for name in self._names]

    def __iter__(self) -> Iterator[Pair]:
        endless = {name: self._shuffled_forever(self._by_source[name]) for name in self._names}
        while True:
            if self._random.random() < ASKED:
                pair = self._questions.draw(self._random)
            else:
                pair = self._vary(next(endless[self._random.choices(self._names, self._shares)[0]]))
            if self._random.random() < REWORDED:
                pair = pair._replace(claim=alterations.replace_synonyms(pair.claim, self._synonyms, self._random))
            yield pair

    def _shuffled_forever(self, pairs: list[Pair]) -> Iterator[Pair]:
        pairs = list(pairs)
        while True:
            self._random.shuffle(pairs)
            yield from pairs

    def _vary(self, pair: Pair) -> Pair:
        if self._random.random() < ALTERED:
            other = self._random.choice(self._by_source[pair.source])
            made = alterations.alter(pair.evidence, other.evidence, self._random)
            if made:
                pair = pair._replace(claim=made[0], label=made[1])
        if self._random.random() < JOINED and self._entailed[pair.source]:
            pair = self._join(pair)
        if pair.label == LABELS[0] and self._random.random() < SWAPPED:
            claim = alterations.swap_names(pair.claim, pair.evidence, self._random)
            pair = pair._replace(claim=claim, label=NOT_ENTAILED) if claim else pair
        if pair.label == LABELS[0] and self._random.random() < SPOILED:
            own = [one for one in alterations.sentences(pair.evidence) if one != pair.claim]
            far = alterations.sentences(self._random.choice(self._by_source[pair.source]).evidence)
            claim = alterations.spoil(pair.claim, own, far, self._random)
            pair = pair._replace(claim=claim, label=NOT_ENTAILED) if claim else pair
        return self._distract(pair) if self._random.random() < DISTRACTED else pair

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
    """Turns pairs into tokens; evidence is cut where a pair is too long."""

    def __init__(self, folder: Path, most: int = MAX_TOKENS) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(most, strategy="only_first")

    def __call__(self, pairs: Sequence[Pair]) -> list[Encoded]:
        # a claim longer than the limit itself cannot be encoded with "only_first"
        texts = [(pair.evidence, " ".join(pair.claim.split()[:MAX_CLAIM_WORDS])) for pair in pairs]
        encoded = self._tokenizer.encode_batch(texts)
        return [(one.ids, one.type_ids, ALL_LABELS.index(pair.label)) for one, pair in zip(encoded, pairs, strict=True)]


def pad(encoded: Sequence[Encoded]) -> dict[str, torch.Tensor]:
    longest = max(len(ids) for ids, _, _ in encoded)
    ids, types, mask = (torch.zeros(len(encoded), longest, dtype=torch.long) for _ in range(3))
    for row, (tokens, kinds, _) in enumerate(encoded):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        types[row, : len(kinds)] = torch.tensor(kinds)
        mask[row, : len(tokens)] = 1
    labels = torch.tensor([label for _, _, label in encoded])
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask, "labels": labels}


class Batches(IterableDataset):
    """Endless batches of pairs of similar length; each worker process draws its own."""

    def __init__(self, arguments: tuple[Any, ...], base: Path, seed: int) -> None:
        self._arguments, self._base, self._seed = arguments, base, seed

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = get_worker_info()
        seed = self._seed + (1000 * worker.id if worker else 0)
        pairs, encoder, chance = iter(Sampler(*self._arguments, seed)), Encoder(self._base), random.Random(seed)
        while True:
            pool = encoder([next(pairs) for _ in range(BATCH * POOLED)])
            pool.sort(key=lambda one: len(one[0]))
            chunks = [pool[start : start + BATCH] for start in range(0, len(pool), BATCH)]
            chance.shuffle(chunks)
            yield from map(pad, chunks)


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy; for not_entailment, of everything but entailment together."""
    logs = logits.float().log_softmax(-1)
    every = torch.cat([logs, logs[:, 1:].logsumexp(-1, keepdim=True)], 1)
    return -every.gather(1, labels[:, None]).mean()


@torch.no_grad()
def probabilities(model: torch.nn.Module, pairs: Sequence[Pair], encoder: Encoder, device: str) -> list[float]:
    """Return the probability of entailment of each pair."""
    model.eval()
    encoded = encoder(pairs)
    order = sorted(range(len(pairs)), key=lambda index: len(encoded[index][0]))
    found = [0.0] * len(pairs)
    for start in range(0, len(order), 64):
        chunk = order[start : start + 64]
        inputs = {name: value.to(device) for name, value in pad([encoded[index] for index in chunk]).items()}
        inputs.pop("labels")
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(**inputs).logits
        for index, row in zip(chunk, logits.float().softmax(-1).tolist(), strict=True):
            found[index] = row[0]
    model.train()
    return found


def evaluate(model: torch.nn.Module, pairs: Sequence[Pair], encoder: Encoder, device: str) -> str:
    """Return the area under the ROC curve for each source, and their mean."""
    by_source = defaultdict(list)
    for pair in pairs:
        if len(by_source[pair.source]) < MAX_DEV:
            by_source[pair.source].append(pair)
    areas = {}
    for name, some in sorted(by_source.items()):
        truth = [pair.label == LABELS[0] for pair in some]
        if len(set(truth)) == 2:
            areas[name] = roc_auc_score(truth, probabilities(model, some, encoder, device))
    mean = sum(areas.values()) / max(len(areas), 1)
    return f"AUC {mean:.4f}: " + ", ".join(f"{name} {area:.3f}" for name, area in areas.items())


def make_model(base: Path) -> BertForSequenceClassification:
    config = BertConfig.from_pretrained(base)
    config.update({"num_labels": 3, "hidden_dropout_prob": DROPOUT, "attention_probs_dropout_prob": DROPOUT})
    config.id2label, config.label2id = dict(enumerate(LABELS)), {name: index for index, name in enumerate(LABELS)}
    model = BertForSequenceClassification(config)
    weights = load_file(base / "model.safetensors")
    whole = {name if name.startswith(("bert.", "classifier.")) else f"bert.{name}": w for name, w in weights.items()}
    model.load_state_dict(whole, strict=False)
    model.bert.embeddings.requires_grad_(requires_grad=False)
    return model


def optimizer_of(model: torch.nn.Module, rate: float, device: str) -> torch.optim.Optimizer:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [one for one in parameters if one.dim() > 1], "weight_decay": 0.01},
        {"params": [one for one in parameters if one.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=device == "cuda")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--synonyms", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=7.6)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=9)
    options = parser.parse_args()

    random.seed(options.seed)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = [
        Pair(**{name: str(row[name]) for name in Pair._fields}) for file in options.pairs for row in read_lines(file)
    ]
    asked = [row for row in read_lines(options.questions) if row["source"] not in UNSUITABLE]
    train = [pair for pair in pairs if not is_kept_back(pair.source, pair.group)]
    questions = Questions([row for row in asked if not is_kept_back(QUESTIONS, row["group"])])
    kept = Questions([row for row in asked if is_kept_back(QUESTIONS, row["group"])])
    chance = random.Random(options.seed)
    dev = [pair for pair in pairs if is_kept_back(pair.source, pair.group)]
    chance.shuffle(dev)
    dev += [kept.draw(chance) for _ in range(MAX_DEV)]
    print(f"{len(train)} pairs to train on, {len(dev)} for development", flush=True)

    model, encoder = make_model(options.base).to(device), Encoder(options.base)
    model.train()
    optimizer = optimizer_of(model, options.rate, device)
    synonyms = json.loads(options.synonyms.read_text("utf-8"))
    batches = DataLoader(
        Batches((train, questions, synonyms), options.base, options.seed),
        batch_size=None,
        num_workers=options.workers,
        prefetch_factor=8 if options.workers else None,
        pin_memory=device == "cuda",
    )
    start, average, last = time.monotonic(), 0.0, 0.0
    for step, batch in enumerate(batches):
        if step == 0:
            start = time.monotonic()
        done = (time.monotonic() - start) / (60 * options.minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(done / WARM_UP, (1 - done) / (1 - WARM_UP))
        inputs = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
        labels = inputs.pop("labels")
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(**inputs).logits
        loss = loss_of(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0:
            average = float(loss.detach()) if step == 0 else 0.9 * average + 0.1 * float(loss.detach())
        if step % 500 == 0:
            print(f"{60 * options.minutes * done:.0f} s, {step * BATCH} pairs, loss {average:.3f}", flush=True)
        if done - last > 0.24:
            last = done
            print(evaluate(model, dev, encoder, device), flush=True)
    print(evaluate(model, dev, encoder, device), flush=True)
    model.cpu().save_pretrained(options.output)
    shutil.copy(options.base / "tokenizer.json", options.output / "tokenizer.json")


if __name__ == "__main__":
    main()
