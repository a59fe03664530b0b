"""Options that several commands take, and what they mean to the engine."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag.cli import completion
from rag.cli.door import validated
from rag.config import Config
from rag.types import Filters, Fusion, RerankOptions, RetrievalOptions, SearchMode

DEFAULT_INDEX = completion.DEFAULT_INDEX

IndexName = Annotated[
    str,
    typer.Option("--index", metavar="NAME", help="The index to work in.", autocompletion=completion.index_names),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout; errors too.")]
Password = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Opens encrypted files. It is not kept.", show_default=False)
]
DocumentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        metavar="NAME",
        help="Only in this document (name or id); may be repeated.",
        show_default=False,
        autocompletion=completion.document_names,
    ),
]
TopK = Annotated[int, typer.Option("--k", min=1, max=200, help="How many places to find.")]
MinScore = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out what scores below.")]
Mode = Annotated[
    SearchMode | None,
    typer.Option(help="By meaning, by words (BM25) or both; hybrid unless RAG_HYBRID says otherwise."),
]
FusionKind = Annotated[
    Fusion | None, typer.Option("--fusion", help="How a hybrid search joins both; RAG_FUSION unless given.")
]
Rerank = Annotated[bool, typer.Option("--rerank", help="Let the cross-encoder order the best places anew.")]
RerankBy = Annotated[
    Literal["cross_encoder", "llm"], typer.Option("--rerank-by", help="Who orders them: the embedded model or an LLM.")
]
Rewrites = Annotated[
    int, typer.Option("--rewrites", min=0, max=5, help="Search for so many rewrites of the question, too (LLM).")
]
Hyde = Annotated[bool, typer.Option("--hyde", help="Search for a hypothetical answer, too (LLM).")]
MustInclude = Annotated[
    list[str] | None,
    typer.Option(metavar="WORDS", help="Only chunks that have these words; may be repeated.", show_default=False),
]
MustIncludeAny = Annotated[bool, typer.Option("--any", help="Any of the --must-include words will do.")]
Diversity = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Weight of novelty against relevance among the places.")
]
PassageKind = Annotated[
    Literal["pages", "chunk"], typer.Option("--passage", help="What is read of a place: its pages or the chunk alone.")
]
ExistingFile = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]


def retrieval_options(
    config: Config,
    *,
    k: int,
    min_score: float,
    mode: SearchMode | None = None,
    fusion: Fusion | None = None,
    rerank: bool = False,
    rerank_by: Literal["cross_encoder", "llm"] = "cross_encoder",
    rewrites: int = 0,
    hyde: bool = False,
    must_include: Sequence[str] | None = None,
    must_include_any: bool = False,
    diversity: float = 0.0,
    passage: Literal["pages", "chunk"] = "pages",
    document_ids: Sequence[uuid.UUID] = (),
) -> RetrievalOptions:
    """How to search: what was typed in, else what the settings say."""
    return validated(
        RetrievalOptions,
        top_k=k,
        min_score=min_score,
        mode=mode or ("hybrid" if config.rag_hybrid else "vector"),
        fusion=fusion or config.rag_fusion,
        rrf_k=config.rag_rrf_k,
        multi_query=rewrites,
        hyde=hyde,
        must_include=tuple(must_include or ()),
        must_include_mode="any" if must_include_any else "all",
        rerank=RerankOptions(enabled=rerank, by=rerank_by),
        diversity=diversity,
        passage=passage,
        filters=Filters(document_ids=tuple(document_ids)),
    )
