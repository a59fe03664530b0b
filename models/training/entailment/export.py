"""Export a trained model as ONNX with int8 weights, and choose its temperature and threshold.

    python training/entailment/export.py TRAINED_FOLDER pagelight_models/entailment_en --claims FILE...

Each weight matrix is quantised by channel (onnxruntime's dynamic quantisation). The claims are those that the
comparison of words leaves open, in the format of `python -m benchmarks claims --claims`. The temperature minimises
their log loss. The threshold is the least probability at which at most `--false` of the claims that are not supported
are accepted, averaged over the files.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from scipy.optimize import minimize_scalar
from tokenizers import Tokenizer
from train import LABELS, make_model, read_lines

MAX_TOKENS = 512
THRESHOLD_STEP = 0.005


class Logits(torch.nn.Module):
    """The model as a function of its three inputs."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        return self._model(input_ids=ids, attention_mask=mask, token_type_ids=types).logits


def export(trained: Path, output: Path) -> None:
    model = make_model(trained).eval()
    names = ("input_ids", "attention_mask", "token_type_ids")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "model.onnx"
        torch.onnx.export(
            Logits(model),
            tuple(torch.ones(1, 8, dtype=torch.long) for _ in names),
            str(whole),
            input_names=list(names),
            output_names=["logits"],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(whole, output / "model.onnx", weight_type=QuantType.QInt8, per_channel=True)
    shutil.copy(trained / "tokenizer.json", output / "tokenizer.json")


def logits_of(folder: Path, pairs: list[tuple[str, str]]) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_first")
    found = []
    for evidence, claim in pairs:
        encoding = tokenizer.encode(evidence, claim)
        ids, mask, types = (np.array([row]) for row in (encoding.ids, encoding.attention_mask, encoding.type_ids))
        found.append(session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})[0][0])
    return np.array(found)


def entailment(logits: np.ndarray, temperature: float) -> np.ndarray:
    scaled = np.exp((logits - logits.max(1, keepdims=True)) / temperature)
    return scaled[:, 0] / scaled.sum(1)


def log_loss(logits: np.ndarray, truth: np.ndarray, temperature: float) -> float:
    values = entailment(logits, temperature).clip(1e-6, 1 - 1e-6)
    return float(-np.log(np.where(truth, values, 1 - values)).mean())


def read_claims(file: Path) -> list[tuple[str, str, bool]]:
    return [(" ".join(row["evidence"]), row["claim"], row["label"] == "supported") for row in read_lines(file)]


def fit(logits: list[np.ndarray], truths: list[np.ndarray], most_false: float) -> tuple[float, float]:
    """Return temperature and threshold for the logits and labels of each file of claims."""
    joined = np.concatenate(logits), np.concatenate(truths)
    found = minimize_scalar(lambda value: log_loss(*joined, value), bounds=(0.3, 5), method="bounded")
    temperature = round(float(found.x), 2)
    false = [entailment(some, temperature)[~truth] for some, truth in zip(logits, truths, strict=True)]
    steps = np.arange(0, 1, THRESHOLD_STEP).round(3)
    accepted = (np.mean([(values >= step).mean() for values in false]) for step in steps)
    threshold = next((step for step, share in zip(steps, accepted, strict=True) if share <= most_false), 1.0)
    return temperature, float(threshold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--claims", type=Path, nargs="+", required=True)
    parser.add_argument("--false", type=float, default=0.05)
    parser.add_argument("--name", default="pagelight-entailment-1")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    export(options.trained, options.output)

    files = [read_claims(file) for file in options.claims]
    logits = [logits_of(options.output, [one[:2] for one in claims]) for claims in files]
    truths = [np.array([one[2] for one in claims]) for claims in files]
    temperature, threshold = fit(logits, truths, options.false)
    config = {
        "name": options.name,
        "id2label": dict(enumerate(LABELS)),
        "temperature": temperature,
        "threshold": threshold,
    }
    (options.output / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    for name in ("config.json", "model.onnx", "tokenizer.json"):
        print(name, hashlib.sha256((options.output / name).read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
