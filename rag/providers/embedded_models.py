"""The embedding model and the cross-encoder that come with the package and need no key."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import llama_index.core
import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag.config import Config
from rag.providers import onnx_models

LOCAL_EMBEDDING_MODEL = "bge-small-en-v1.5"
LOCAL_DIMENSIONS = 384
LOCAL_BATCH_SIZE = 64
"""Texts handed over at once, not a batch of the model: enough that no core waits for the last text of a slice."""

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The model's card: https://huggingface.co/BAAI/bge-small-en-v1.5 (queries only; passages have none)."""

_DIGIT = re.compile(r"\d")

MAX_QUERY_TOKENS = 256
"""Of the cross-encoder's 512: a longer question is cut, so that the passage keeps at least as much."""


def count_tokens(text: str, model_dir: Path | None = None) -> int:
    """Tokens of `text` as the embedded model counts them, without special tokens; vendors differ by some percent."""
    tokenizer = onnx_models.open_tokenizer(onnx_models.BGE_SMALL_EN, model_dir)
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def most_tokens(text: str, model_dir: Path | None = None) -> int:
    """About as many tokens as a language model makes of `text` at most: each digit and each line's end is one.

    Llama 2, Gemma and Qwen cut figures so. Of 213 pages of filings, reports and papers half have 1.2 times as many as
    `count_tokens` says, and one in twenty 1.6 times.
    """
    return count_tokens(_DIGIT.sub(r" \g<0> ", text), model_dir) + text.count("\n")


class LocalEmbedding(BaseEmbedding):
    """bge-small-en-v1.5 (int8): 384 dimensions, L2 norm 1; a text counts to its 512th token.

    Opened at the first use, which raises `errors.ConfigError` if its files are missing or not the right ones.
    """

    _model_dir: Path | None = PrivateAttr()

    def __init__(self, model_dir: Path | None = None) -> None:
        """`model_dir` holds `bge_small_en/`; None: the installed wheel."""
        super().__init__(model_name=LOCAL_EMBEDDING_MODEL, embed_batch_size=LOCAL_BATCH_SIZE)
        self._model_dir = model_dir

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex records it."""
        return "LocalEmbedding"

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, without special tokens and before truncation."""
        return count_tokens(text, self._model_dir)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(QUERY_PREFIX + query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        model = onnx_models.open_model(onnx_models.BGE_SMALL_EN, self._model_dir)
        return model.map(lambda text: _embed(model, text), texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


def _embed(model: onnx_models.OnnxModel, text: str) -> list[float]:
    """The state of [CLS], scaled to length 1. Truncation keeps the closing [SEP]."""
    ids = model.tokenizer.encode(text).ids
    if len(ids) > onnx_models.MAX_TOKENS:
        ids = [*ids[: onnx_models.MAX_TOKENS - 1], ids[-1]]
    states = model.run(ids, [0] * len(ids))
    vector: list[float] = (states[0] / np.linalg.norm(states[0])).tolist()
    return vector


class CrossEncoder:
    """ms-marco-MiniLM-L-12-v2 (int8): how well a text answers a query, read together.

    Opened at the first use, which raises `errors.ConfigError` if its files are missing or not the right ones.
    """

    def __init__(self, config: Config) -> None:
        """Only `rag_local_model_dir` is read: a folder that holds `reranker_en/`."""
        self._model_dir = config.rag_local_model_dir

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score in 0..1 (sigmoid of the logit) per text; texts are cut where query and text exceed 512 tokens."""
        model = onnx_models.open_model(onnx_models.MS_MARCO_MINILM, self._model_dir)
        query_ids = model.tokenizer.encode(query).ids
        if len(query_ids) > MAX_QUERY_TOKENS:
            query_ids = [*query_ids[: MAX_QUERY_TOKENS - 1], query_ids[-1]]
        return model.map(lambda text: _score(model, query_ids, text), texts)


def _score(model: onnx_models.OnnxModel, query_ids: list[int], text: str) -> float:
    """[CLS] query [SEP] text [SEP], the text cut to fit; segments 0 and 1."""
    text_ids = model.tokenizer.encode(text).ids[1:]
    room = onnx_models.MAX_TOKENS - len(query_ids)
    if len(text_ids) > room:
        text_ids = [*text_ids[: room - 1], text_ids[-1]]
    logit = float(model.run(query_ids + text_ids, [0] * len(query_ids) + [1] * len(text_ids))[0])
    return float(1.0 / (1.0 + np.exp(-logit)))
