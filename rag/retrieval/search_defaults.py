"""Apply the installation's search defaults."""

from rag import types
from rag.config import Config


class ConfiguredOptions(types.RetrievalOptions):
    """Search options with all defaults resolved."""

    mode: types.SearchMode
    fusion: types.Fusion
    rrf_k: int

    @property
    def by_meaning(self) -> bool:
        """Whether vectors are searched; not in hybrid search with weight 0."""
        return self.mode == "vector" or (self.mode == "hybrid" and self.vector_weight > 0)

    @property
    def by_words(self) -> bool:
        """Whether words are searched; not in hybrid search with weight 0."""
        return self.mode == "lexical" or (self.mode == "hybrid" and self.lexical_weight > 0)

    @property
    def by_ranks(self) -> bool:
        """Whether scores are sums over ranks, which do not measure relevance."""
        return self.mode == "hybrid" and self.fusion == "rrf"


def as_configured(options: types.RetrievalOptions, config: Config) -> ConfiguredOptions:
    """Fill unset options from the settings; with rank fusion `min_score` is 0."""
    settings = {
        "mode": "hybrid" if config.rag_hybrid else "vector",
        "fusion": config.rag_fusion,
        "rrf_k": config.rag_rrf_k,
    }
    given = {name: value for name, value in options if value is not None}
    configured = ConfiguredOptions.model_construct(**{**settings, **given})  # both have been checked
    return configured.model_copy(update={"min_score": 0.0}) if configured.by_ranks else configured
