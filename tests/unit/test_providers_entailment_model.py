"""The packaged entailment model, and that of RAG_ENTAILMENT_MODEL, tried with a packaged classifier of pairs."""

import json
from pathlib import Path

import pytest

from rag import errors, packaged_models
from rag.config import Config
from rag.providers.entailment_model import EntailmentModel, open_entailment_model

EVIDENCE = "The lighthouse was rebuilt in granite after the storm of 1887."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The packaged cross-encoder, whose one label is called entailment here."""
    packaged = packaged_models.find_model(packaged_models.MS_MARCO_MINILM)
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(packaged / name)
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "Entailment"}, "threshold": 0.4}), "utf-8")
    return tmp_path


def test_pairs_get_a_probability_each(folder: Path) -> None:
    config = Config(rag_entailment_model=folder)
    model = open_entailment_model(config)
    near, far = model.probabilities([(EVIDENCE, "The lighthouse was rebuilt in granite."), (EVIDENCE, "Bees sleep.")])
    assert 0 <= far < near <= 1
    assert model.threshold == 0.4
    assert open_entailment_model(config) is model


@pytest.mark.parametrize(
    ("claim", "is_entailed"),
    [
        ("Granite was used to rebuild the lighthouse.", True),
        ("The lighthouse was rebuilt in timber.", False),
        ("The lighthouse was rebuilt before the storm.", False),
        ("The lighthouse guides two hundred ships a year.", False),
    ],
)
def test_the_packaged_model_knows_other_words_from_another_meaning(claim: str, is_entailed: bool) -> None:
    model = open_entailment_model(Config())
    (value,) = model.probabilities([(EVIDENCE, claim)])
    assert (value >= model.threshold) is is_entailed


def test_long_texts_are_cut_and_the_claim_is_kept(folder: Path) -> None:
    model = EntailmentModel(folder)
    claim = "The lighthouse was rebuilt in granite."
    long, alone, cut = model.probabilities(
        [
            (f"{EVIDENCE} " + "Nothing else happened. " * 400, claim),
            (EVIDENCE, "word " * 900),
            (EVIDENCE, "word " * 128),
        ]
    )
    assert long > 0.5
    assert alone == pytest.approx(cut, abs=0.05)


def test_the_temperature_flattens(folder: Path) -> None:
    pair = (EVIDENCE, "Bees sleep.")
    (sharp,) = EntailmentModel(folder).probabilities([pair])
    config = {"id2label": {"0": "entailment"}, "temperature": 5}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (flat,) = EntailmentModel(folder).probabilities([pair])
    assert sharp < flat < 0.5


@pytest.mark.parametrize(
    ("missing", "config", "message"),
    [
        ("model.onnx", '{"id2label": {"0": "entailment"}}', "has no model.onnx"),
        ("tokenizer.json", '{"id2label": {"0": "entailment"}}', "has no model.onnx"),
        (None, '{"id2label": {"0": "relevant"}}', "does not describe an entailment model"),
        (None, "{}", "does not describe an entailment model"),
        (None, "no JSON", "does not describe an entailment model"),
    ],
)
def test_a_wrong_folder_says_what_to_do(folder: Path, missing: str | None, config: str, message: str) -> None:
    if missing:
        (folder / missing).unlink()
    (folder / "config.json").write_text(config, "utf-8")
    with pytest.raises(errors.ConfigError, match=message) as caught:
        EntailmentModel(folder)
    assert "RAG_ENTAILMENT_MODEL" in str(caught.value)


def test_a_damaged_model_says_so(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(errors.ConfigError, match="cannot be read"):
        EntailmentModel(folder)
