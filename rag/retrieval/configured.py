"""How this installation searches, where a request does not say."""

from rag.config import Config
from rag.types import Fusion, RetrievalOptions, SearchMode


class ConfiguredOptions(RetrievalOptions):
    """Options that leave nothing to the settings."""

    mode: SearchMode
    fusion: Fusion
    rrf_k: int


def as_configured(options: RetrievalOptions, config: Config) -> ConfiguredOptions:
    """`options`, what they leave open being as the settings say."""
    settings = {
        "mode": "hybrid" if config.rag_hybrid else "vector",
        "fusion": config.rag_fusion,
        "rrf_k": config.rag_rrf_k,
    }
    given = {name: value for name, value in options if value is not None}
    return ConfiguredOptions.model_construct(**{**settings, **given})  # both have been checked
