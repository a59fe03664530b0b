"""Run ONNX models and their tokenizers with onnxruntime."""

import functools
import os
import threading
from collections.abc import Callable, Iterable
from concurrent import futures
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import tokenizers

from rag import errors
from rag.messages import N_
from rag.packaged_models import ModelFiles, find_model, load_onnxruntime

MODEL_FILES = ("model.onnx", "onnx/model_quantized.onnx", "onnx/model.onnx")
"""Names of the model in a user's folder, in order of preference."""
MAX_TOKENS = 512
"""Positions of both models, special tokens included."""

In = TypeVar("In")
Out = TypeVar("Out")
FloatArray = npt.NDArray[np.float32]


def read_folder(folder: Path, setting: str) -> "OnnxModel":
    """Read the model of a user's folder: one of `MODEL_FILES`, and `tokenizer.json`.

    Raises:
        errors.ConfigError: a file is missing or cannot be read; `setting` is what to change.
    """
    file = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if file is None or not (folder / "tokenizer.json").is_file():
        raise errors.ConfigError(
            N_("{path} has no {files} with a tokenizer.json. Add them, or change {setting}."),
            path=folder,
            files=" or ".join(MODEL_FILES),
            setting=setting,
            details={"path": str(folder)},
        )
    try:
        return OnnxModel(folder, file)
    except Exception as error:  # onnxruntime and tokenizers have no common base class
        raise errors.ConfigError(
            N_("The model in {path} cannot be read: {reason}. Replace its files, or change {setting}."),
            path=folder,
            reason=error,
            setting=setting,
            details={"path": str(folder)},
        ) from error


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class OnnxModel:
    """A BERT-like model and its tokenizer, run on all cores, one text per core at a time.

    One unpadded text per run beats batches on a CPU: nothing is spent on padding, activations stay in the cache, and
    with dynamically quantized weights a text's result does not depend on its neighbours. Threads share the session.
    """

    def __init__(self, folder: Path, model: Path | None = None) -> None:
        """Load `model`, by default `model.onnx`, and `tokenizer.json` of a folder."""
        onnxruntime = load_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # an arena would never free the largest text's memory
        self._session = onnxruntime.InferenceSession(
            str(model or folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self.tokenizer = _read_tokenizer(folder)
        self._threads = futures.ThreadPoolExecutor(usable_cores(), thread_name_prefix=folder.name)

    def run(self, ids: list[int], type_ids: list[int]) -> FloatArray:
        """Return the model's first output for one text, without the batch axis."""
        tokens = np.array([ids], dtype=np.int64)
        values = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.array([type_ids], dtype=np.int64),
        }
        # some architectures, such as RoBERTa, have no segments
        outputs: list[Any] = self._session.run(None, {name: values[name] for name in self._inputs & values.keys()})
        result: FloatArray = outputs[0][0]
        return result

    def map(self, function: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Apply `function` to each item on all cores, in order.

        A single item runs in the caller's thread, so that a question does not wait for a document.
        """
        items = list(items)
        if len(items) == 1:
            return [function(items[0])]
        return list(self._threads.map(function, items))


def truncate(ids: list[int], limit: int) -> list[int]:
    """Shorten token ids to `limit`, keeping the closing [SEP]."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def unit_vector(values: FloatArray) -> list[float]:
    """Scale a vector to length 1."""
    vector: list[float] = (values / np.linalg.norm(values)).tolist()
    return vector


def _read_tokenizer(folder: Path) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@functools.cache
def open_tokenizer(files: ModelFiles, model_dir: Path | None = None) -> tokenizers.Tokenizer:
    """Open only the tokenizer of `files`, which is enough to count tokens."""
    return _read_tokenizer(find_model(files, model_dir))


_lock = threading.Lock()
_open_models: dict[tuple[str, Path | None], OnnxModel] = {}


def open_model(files: ModelFiles, model_dir: Path | None = None) -> OnnxModel:
    """Open the model of `files`, once per process."""
    with _lock:
        model = _open_models.get((files.folder, model_dir))
        if model is None:
            model = _open_models[files.folder, model_dir] = OnnxModel(find_model(files, model_dir))
        return model
