"""Embed the texts on standard input with `ours` or `batch`; print seconds and peak memory in MB."""

import json
import resource
import sys
from typing import Any

import numpy as np
import onnxruntime
import tokenizers

from benchmarks.embedding import BATCH
from benchmarks.timing import seconds
from rag import packaged_models, providers
from rag.providers import onnx_models
from rag.providers.embedded_models import LocalEmbedding

THREADS = 2


def embed_ours(texts: list[str]) -> float:
    """Embed as ingestion does."""
    embedder = LocalEmbedding()
    providers.embed_texts(embedder, texts[:1])
    return seconds(lambda: providers.embed_texts(embedder, texts))


def embed_batch(texts: list[str]) -> float:
    """Embed with onnxruntime's defaults in large batches padded to their longest text."""
    folder = packaged_models.find_model(packaged_models.BGE_SMALL_EN)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(onnx_models.MAX_TOKENS)
    tokenizer.enable_padding()
    _run_batch(session, tokenizer, texts[:1])
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    return seconds(lambda: [_run_batch(session, tokenizer, batch) for batch in batches])


def _run_batch(session: Any, tokenizer: tokenizers.Tokenizer, texts: list[str]) -> Any:
    encoded = tokenizer.encode_batch(texts)
    ids = np.array([text.ids for text in encoded], dtype=np.int64)
    mask = np.array([text.attention_mask for text in encoded], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, inputs)[0][:, 0]
    return states / np.linalg.norm(states, axis=1, keepdims=True)


def peak_megabytes() -> float:
    """Return this process's peak memory; Linux counts in kB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    way = {"ours": embed_ours, "batch": embed_batch}[sys.argv[1]]
    print(json.dumps([way(json.load(sys.stdin)), peak_megabytes()]))
