"""A query on its way through LlamaIndex's stages, and what they tell of it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from llama_index.core import schema

from rag.retrieval.ranking import Ranking, Scores
from rag.types import Chunk, Rewriting, Variant


@dataclass
class Findings:
    """What the retriever found for one query, and the scores that decided: for traces and explanations.

    `considered` were looked at, of which `chunks` were still there.
    """

    variants: tuple[Variant, ...] = ()
    rewritings: tuple[Rewriting, ...] = ()
    ranking: Ranking = field(default_factory=Ranking)
    considered: tuple[uuid.UUID, ...] = ()
    chunks: Mapping[uuid.UUID, Chunk] = field(default_factory=dict)
    final: Scores = field(default_factory=dict)
    reranked: Scores = field(default_factory=dict)


@dataclass
class Query(schema.QueryBundle):
    """A query that takes notes of what becomes of it. Each is asked once."""

    findings: Findings = field(default_factory=Findings)
