"""Embedding models of the user's own, each in a subfolder of the data folder's `models`.

A folder is laid out as sentence-transformers exports it: `model.onnx` (or `onnx/model_quantized.onnx`,
`onnx/model.onnx`) and `tokenizer.json`; optional are `1_Pooling/config.json` (the mean of the tokens by default),
`config_sentence_transformers.json` with the `prompts` before a `query` and a `document` or `passage`, and
`sentence_bert_config.json` with `max_seq_length`. Downloaded models
are laid out in the same way (`rag.providers.downloads`). Nothing is downloaded here.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llama_index.core
from pydantic import PrivateAttr

from rag import errors
from rag.config import Config
from rag.messages import N_
from rag.providers import onnx_models
from rag.providers.batch_embedding import BatchEmbedding

BATCH_SIZE = 64


@dataclass(frozen=True)
class _Settings:
    """How a folder's model reads texts and makes one vector of its tokens'."""

    uses_first_token: bool = False
    max_tokens: int = onnx_models.MAX_TOKENS
    query_prompt: str = ""
    text_prompt: str = ""


class FolderEmbedding(BatchEmbedding):
    """A sentence-transformers model in ONNX; vectors have length 1, longer texts are cut."""

    _model: onnx_models.OnnxModel = PrivateAttr()
    _settings: _Settings = PrivateAttr()

    def __init__(self, name: str, folder: Path) -> None:
        """Read the model `name` from `folder`.

        Raises:
            errors.ConfigError: a file is missing or cannot be read.
        """
        super().__init__(model_name=name, embed_batch_size=BATCH_SIZE)
        self._settings = _read_settings(folder)
        self._model = onnx_models.read_folder(folder, "RAG_EMBED_MODEL")

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed(self._settings.query_prompt + query)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.map(lambda text: self._embed(self._settings.text_prompt + text), texts)

    def _embed(self, text: str) -> list[float]:
        ids = onnx_models.truncate(self._model.tokenizer.encode(text).ids, self._settings.max_tokens)
        output = self._model.run(ids, [0] * len(ids))
        if output.ndim > 1:  # else the model has made one vector itself
            output = output[0] if self._settings.uses_first_token else output.mean(axis=0)
        return onnx_models.unit_vector(output)


def open_folder_embedding(config: Config, name: str) -> FolderEmbedding:
    """Open the model `name`, once per process.

    Raises:
        errors.ConfigError: there is no such folder, or not with a model that can be read.
    """
    folder = config.models_dir / name
    if not name or name.startswith(".") or Path(name).name != name or not folder.is_dir():
        raise errors.ConfigError(
            N_("There is no folder {name} in {path}. Put the model there, or choose another one."),
            name=repr(name),
            path="RAG_DATA_DIR/models",
        )
    return _open(name, folder)


_open = functools.cache(FolderEmbedding)


def _read_settings(folder: Path) -> _Settings:
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    limit = _read_json(folder / "sentence_bert_config.json").get("max_seq_length") or onnx_models.MAX_TOKENS
    return _Settings(
        bool(pooling.get("pooling_mode_cls_token")),
        int(limit),
        str(prompts.get("query") or ""),
        str(prompts.get("document") or prompts.get("passage") or ""),
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise errors.ConfigError(
            N_("The model in {path} cannot be read: {reason}. Replace its files, or change {setting}."),
            path=path.parent,
            reason=error,
            setting="RAG_EMBED_MODEL",
            details={"path": str(path)},
        ) from error
