"""The embedding models that are offered for download, a short choice of fastembed's catalogue.

Chosen in November 2026 from fastembed 0.9.1, by licence, languages, size and the length of text that they read; a chunk
has some 300 tokens. `multilingual-e5-large` is the recommended one: MIT, trained for retrieval in about 100 languages,
512 tokens. Passed over were paraphrase-multilingual-MiniLM and -mpnet (trained to compare sentences of at most 128
tokens), potion-multilingual (word vectors without context), embeddinggemma (its licence restricts the use),
jina-embeddings-v3 (no commercial use) and Qwen3-Embedding (a decoder, slow on a processor; its makers publish no
quality of the quantized weights). For German or Spanish beside English the models of Jina AI are a quarter of the size.

Pooling, prompts and lengths are those of the model cards, as fastembed 0.9 adds no prompts:
https://huggingface.co/intfloat/multilingual-e5-large, https://huggingface.co/jinaai/jina-embeddings-v2-base-de,
https://huggingface.co/jinaai/jina-embeddings-v2-base-es, https://huggingface.co/Snowflake/snowflake-arctic-embed-m.
"""

from dataclasses import dataclass
from pathlib import Path

from rag import errors, types
from rag.messages import N_


@dataclass(frozen=True)
class ModelRow:
    """An offered model, its name at fastembed, and how it is to be run; see `rag.providers.folder_embedding`."""

    offer: types.DownloadableModel
    source: str
    max_tokens: int
    uses_first_token: bool = False
    query_prompt: str = ""
    text_prompt: str = ""


def _row(name: str, maker: str, licence: str, megabytes: int, languages: tuple[str, ...], **run: object) -> ModelRow:
    offer = types.DownloadableModel(name=name, licence=licence, megabytes=megabytes, languages=languages)
    return ModelRow(offer, f"{maker}/{name}", **run)  # type: ignore[arg-type]  # the fields of the row


ROWS = (
    _row(
        "multilingual-e5-large",
        "intfloat",
        "MIT",
        2240,
        (),
        max_tokens=512,
        query_prompt="query: ",
        text_prompt="passage: ",
    ),
    _row("jina-embeddings-v2-base-de", "jinaai", "Apache-2.0", 640, ("de", "en"), max_tokens=8192),
    _row("jina-embeddings-v2-base-es", "jinaai", "Apache-2.0", 640, ("es", "en"), max_tokens=8192),
    _row(
        "snowflake-arctic-embed-m",
        "snowflake",
        "Apache-2.0",
        430,
        ("en",),
        max_tokens=512,
        uses_first_token=True,
        query_prompt="Represent this sentence for searching relevant passages: ",
    ),
)

MULTILINGUAL_DOWNLOAD = ROWS[0].offer.name
"""The model recommended for documents that are not in English."""


def partial_folder(models: Path, name: str) -> Path:
    """Return the folder of a model's unfinished download."""
    return models / f".{name}.download"


def find_row(name: str) -> ModelRow:
    """Return the row of a model, with or without `folder:`; raises `errors.ValidationError` if it is not offered."""
    row = next((row for row in ROWS if name.removeprefix("folder:") == row.offer.name), None)
    if row is None:
        known = ", ".join(row.offer.name for row in ROWS)
        raise errors.ValidationError(
            N_("There is no model {name} to download. Choose one of: {known}."), name=repr(name), known=known
        )
    return row
