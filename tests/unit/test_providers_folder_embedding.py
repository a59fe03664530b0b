"""Embedding models from the user's folders, tried with the packaged one."""

import json
from pathlib import Path

import numpy as np
import pytest

from rag import errors, packaged_models, providers
from rag.config import Config
from rag.providers.embedded_models import QUERY_PREFIX, LocalEmbedding
from rag.types import EmbeddingSpace

TEXT = "The harbour of Lindmark handled 4,812 ships."


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A data folder with the packaged model as one of the user's."""
    folder = tmp_path / "models" / "mine"
    (folder / "onnx").mkdir(parents=True)
    packaged = packaged_models.find_model(packaged_models.BGE_SMALL_EN)
    (folder / "onnx" / "model.onnx").symlink_to(packaged / "model.onnx")
    (folder / "tokenizer.json").symlink_to(packaged / "tokenizer.json")
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    write(folder / "config_sentence_transformers.json", {"prompts": {"query": QUERY_PREFIX}})
    return Config(rag_data_dir=tmp_path, rag_embed_model="folder:mine")


def write(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def test_a_folder_model_follows_its_configuration_files(config: Config) -> None:
    space, embedder = providers.Registry().embedding_model(config)
    assert space == EmbeddingSpace(provider="folder", model="mine", dimensions=384)
    known = LocalEmbedding()
    assert np.allclose(providers.embed_texts(embedder, [TEXT, "two"]), providers.embed_texts(known, [TEXT, "two"]))
    assert np.allclose(providers.embed_query(embedder, TEXT), providers.embed_query(known, TEXT))
    assert providers.Registry().languages(space) == frozenset()


def test_without_settings_it_takes_the_mean_and_no_prompts(config: Config) -> None:
    folder = config.rag_data_dir / "models" / "mine"
    (folder / "1_Pooling" / "config.json").unlink()
    (folder / "config_sentence_transformers.json").unlink()
    write(folder / "sentence_bert_config.json", {"max_seq_length": 16})
    _, embedder = providers.Registry().embedding_model(config)
    vector, query, longer = (
        np.array(providers.embed_texts(embedder, [TEXT])[0]),
        np.array(providers.embed_query(embedder, TEXT)),
        np.array(providers.embed_texts(embedder, [f"{TEXT} {'It rained. ' * 200}"])[0]),
    )
    assert np.allclose(vector, query)
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert not np.allclose(vector, providers.embed_texts(LocalEmbedding(), [TEXT])[0], atol=0.05)
    assert np.linalg.norm(longer) == pytest.approx(1)


@pytest.mark.parametrize("name", ["other", "..", "../models/mine", "mine/onnx"])
def test_only_a_folder_of_that_name_is_opened(config: Config, name: str) -> None:
    with pytest.raises(errors.ConfigError, match="There is no folder") as caught:
        providers.Registry().embedding_model(config.model_copy(update={"rag_embed_model": f"folder:{name}"}))
    assert str(config.rag_data_dir) not in str(caught.value)


def test_a_folder_without_a_model_says_what_is_missing(config: Config) -> None:
    (config.rag_data_dir / "models" / "mine" / "tokenizer.json").unlink()
    with pytest.raises(errors.ConfigError, match=r"has no model\.onnx .* RAG_EMBED_MODEL"):
        providers.Registry().embedding_model(config)


def test_settings_that_are_no_json_say_so(config: Config) -> None:
    (config.rag_data_dir / "models" / "mine" / "1_Pooling" / "config.json").write_text("[", "utf-8")
    with pytest.raises(errors.ConfigError, match="cannot be read"):
        providers.Registry().embedding_model(config)
