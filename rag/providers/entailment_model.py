"""The entailment model: the probability that a text entails a claim, computed on this machine.

It is the packaged one unless RAG_ENTAILMENT_MODEL names the folder of another sequence classifier in ONNX: `model.onnx`
(or `onnx/model_quantized.onnx`, `onnx/model.onnx`), `tokenizer.json`, and a `config.json` whose `id2label` names one
label "entailment".
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag import errors, packaged_models
from rag.config import Config
from rag.messages import N_
from rag.providers import onnx_models

DEFAULT_THRESHOLD = 0.9
"""Probability from which a claim counts as entailed, for a model whose config.json names none."""

MAX_CLAIM_TOKENS = 128
"""Longer claims are cut, so that evidence has room."""


@dataclass(frozen=True)
class _Settings:
    """What config.json says: the index of the label, and how logits become a calibrated probability."""

    entailment: int
    threshold: float
    temperature: float


class EntailmentModel:
    """A classifier of pairs of evidence and claim."""

    def __init__(self, folder: Path) -> None:
        """Read the model of `folder`.

        Raises:
            errors.ConfigError: a file is missing or cannot be read, or no label is called "entailment".
        """
        self._settings = _read_settings(folder)
        self._model = onnx_models.read_folder(folder, "RAG_ENTAILMENT_MODEL")

    @property
    def threshold(self) -> float:
        """The probability from which a claim counts as entailed."""
        return self._settings.threshold

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the calibrated probability of entailment, in 0..1, of each pair of evidence and claim.

        Evidence is cut to what fits with its claim into 512 tokens.
        """
        return self._model.map(self._probability, pairs)

    def _probability(self, pair: tuple[str, str]) -> float:
        evidence, claim = pair
        tokenizer = self._model.tokenizer
        claim_ids = tokenizer.encode(claim, add_special_tokens=False).ids[:MAX_CLAIM_TOKENS]
        claim = tokenizer.decode(claim_ids) if len(claim_ids) == MAX_CLAIM_TOKENS else claim
        room = onnx_models.MAX_TOKENS - len(claim_ids) - tokenizer.num_special_tokens_to_add(is_pair=True)
        evidence_encoding = tokenizer.encode(evidence, add_special_tokens=False)
        if len(evidence_encoding.ids) > room:
            evidence = evidence[: evidence_encoding.offsets[room - 1][1]]
        encoding = tokenizer.encode(evidence, claim)
        logits = self._model.run(encoding.ids, encoding.type_ids) / self._settings.temperature
        if len(logits) == 1:  # a classifier with one label
            return float(1.0 / (1.0 + np.exp(-logits[0])))
        shares = np.exp(logits - logits.max())
        return float(shares[self._settings.entailment] / shares.sum())


def _read_settings(folder: Path) -> _Settings:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        labels = {int(index): str(label).casefold() for index, label in config["id2label"].items()}
        entailment = next(index for index, label in labels.items() if label == "entailment")
        return _Settings(
            entailment, float(config.get("threshold", DEFAULT_THRESHOLD)), float(config.get("temperature", 1.0))
        )
    except (OSError, ValueError, KeyError, AttributeError, StopIteration) as error:
        raise errors.ConfigError(
            N_(
                '{path} does not describe an entailment model: its "id2label" must name a label "entailment". Set '
                "RAG_ENTAILMENT_MODEL to another folder, or leave it out."
            ),
            path=folder / "config.json",
            details={"path": str(folder)},
        ) from error


def open_entailment_model(config: Config) -> EntailmentModel:
    """Open the model of RAG_ENTAILMENT_MODEL, else the packaged one, once per process; raises as `EntailmentModel`."""
    folder = config.rag_entailment_model
    if folder is None:
        return _open(packaged_models.find_model(packaged_models.ENTAILMENT, config.rag_local_model_dir))
    return _open(folder.expanduser())


_open = functools.cache(EntailmentModel)
