"""The embedding model, the cross-encoder and the reader that run on this machine without a key."""

import abc
import re
from collections.abc import Sequence
from pathlib import Path

import llama_index.core
import numpy as np
from pydantic import PrivateAttr

from rag import packaged_models, types
from rag.config import Config
from rag.providers import onnx_models
from rag.providers.batch_embedding import BatchEmbedding

LOCAL_EMBEDDING_MODEL = "bge-small-en-v1.5"
LOCAL_DIMENSIONS = 384
LOCAL_BATCH_SIZE = 64
"""Texts per call, enough that no core idles at its end; the model itself runs one text at a time."""

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""From the model card, https://huggingface.co/BAAI/bge-small-en-v1.5; passages have no prefix."""

_DIGIT = re.compile(r"\d")

MAX_QUERY_TOKENS = 256
"""Longer questions are truncated, which leaves at least half of the cross-encoder's 512 tokens to the passage."""

MAX_ANSWER_TOKENS = 40
"""Longest answer that the reader looks for."""

NO_LOGIT = -100.0
"""Of the best answer in a text without tokens."""


def count_tokens(text: str, model_dir: Path | None = None) -> int:
    """Count the tokens of `text` with the local model's tokenizer, without special tokens; vendors differ slightly."""
    tokenizer = onnx_models.open_tokenizer(packaged_models.BGE_SMALL_EN, model_dir)
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def estimate_max_tokens(text: str, model_dir: Path | None = None) -> int:
    """Estimate the most tokens that a language model makes of `text`: each digit and each newline counts as one.

    Llama 2, Gemma and Qwen split numbers into digits. On 213 pages of filings, reports and papers the median is 1.2
    times `count_tokens`, the 95th percentile 1.6 times.
    """
    return count_tokens(_DIGIT.sub(r" \g<0> ", text), model_dir) + text.count("\n")


class LocalEmbedding(BatchEmbedding):
    """bge-small-en-v1.5 (int8): 384 dimensions, L2 norm 1; texts are truncated to 512 tokens.

    Loaded at the first use, which raises `errors.ConfigError` if its files are missing or have the wrong hash.
    """

    _model_dir: Path | None = PrivateAttr()

    def __init__(self, model_dir: Path | None = None) -> None:
        """Take the model from `model_dir`/bge_small_en, by default from the installed wheel."""
        super().__init__(model_name=LOCAL_EMBEDDING_MODEL, embed_batch_size=LOCAL_BATCH_SIZE)
        self._model_dir = model_dir

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(QUERY_PREFIX + query)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        model = onnx_models.open_model(packaged_models.BGE_SMALL_EN, self._model_dir)
        return model.map(lambda text: _embed(model, text), texts)


def _embed(model: onnx_models.OnnxModel, text: str) -> list[float]:
    """Return the hidden state of [CLS], scaled to length 1."""
    ids = onnx_models.truncate(model.tokenizer.encode(text).ids, onnx_models.MAX_TOKENS)
    return onnx_models.unit_vector(model.run(ids, [0] * len(ids))[0])


class _PairModel(abc.ABC):
    """A model that reads a query and a text together; pairs are truncated to 512 tokens.

    Loaded at the first use, which raises `errors.ConfigError` if its files are missing or have the wrong hash.
    """

    files: packaged_models.ModelFiles

    def __init__(self, config: Config) -> None:
        """Take the model from `config.rag_local_model_dir`, by default from the installed package."""
        self._model_dir = config.rag_local_model_dir

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in 0..1 per text."""
        model = onnx_models.open_model(self.files, self._model_dir)
        query_ids = onnx_models.truncate(model.tokenizer.encode(query).ids, MAX_QUERY_TOKENS)
        return model.map(lambda text: _sigmoid(self._logit(_run(model, query_ids, text), len(query_ids))), texts)

    @abc.abstractmethod
    def _logit(self, logits: onnx_models.FloatArray, query_length: int) -> float:
        """Return the logit of the score from the model's output."""


def _run(model: onnx_models.OnnxModel, query_ids: list[int], text: str) -> onnx_models.FloatArray:
    """Return the model's output for [CLS] query [SEP], which is segment 0, and text [SEP], which is segment 1."""
    text_ids = onnx_models.truncate(model.tokenizer.encode(text).ids[1:], onnx_models.MAX_TOKENS - len(query_ids))
    return model.run(query_ids + text_ids, [0] * len(query_ids) + [1] * len(text_ids))


def _sigmoid(logit: float) -> float:
    return float(1.0 / (1.0 + np.exp(-logit)))


class CrossEncoder(_PairModel):
    """ms-marco-MiniLM-L-12-v2 (int8), which scores how well a text answers a query."""

    files = packaged_models.MS_MARCO_MINILM

    def _logit(self, logits: onnx_models.FloatArray, query_length: int) -> float:
        del query_length
        return float(logits[0])


class Reader(_PairModel):
    """A model of extractive question answering (int8): scores how sure some words of a text answer a question.

    It is the logit of the best span less the one of "no answer": Devlin et al., "BERT", 2019, 4.3. How it was trained:
    models/README.md.
    """

    files = packaged_models.READER

    def read(self, query: str, texts: Sequence[tuple[str, Sequence[types.Span]]]) -> list[types.SpanScores]:
        """Score each text as `scores` does, and each of its spans by its logit less the one of the best span."""
        model = onnx_models.open_model(self.files, self._model_dir)
        query_ids = onnx_models.truncate(model.tokenizer.encode(query).ids, MAX_QUERY_TOKENS)

        def read(item: tuple[str, Sequence[types.Span]]) -> types.SpanScores:
            text, spans = item
            logits = _run(model, query_ids, text)
            starts, ends = logits[len(query_ids) : -1].T
            tokens = np.array(model.tokenizer.encode(text).offsets[1:][: len(starts)]).reshape(-1, 2)
            firsts = np.searchsorted(tokens[:, 1], [span.start for span in spans], side="right")
            lasts = np.searchsorted(tokens[:, 0], [span.end for span in spans], side="left") - 1
            known = (firsts <= lasts) & (lasts < len(starts))
            best = _best(starts, ends)
            told = [
                float(starts[first] + ends[last] - best) if is_known else NO_LOGIT
                for first, last, is_known in zip(firsts, lasts, known, strict=True)
            ]
            return types.SpanScores(_sigmoid(best - float(logits[0].sum())), told)

        return model.map(read, texts)

    def _logit(self, logits: onnx_models.FloatArray, query_length: int) -> float:
        return _best(*logits[query_length:-1].T) - float(logits[0].sum())


def _best(starts: onnx_models.FloatArray, ends: onnx_models.FloatArray) -> float:
    """Return the logit of the best span, at most `MAX_ANSWER_TOKENS` long."""
    spans = [starts[: len(starts) - more] + ends[more:] for more in range(min(MAX_ANSWER_TOKENS, len(starts)))]
    return max((float(sums.max()) for sums in spans), default=NO_LOGIT)
