"""`pagelight search`: find passages by meaning and by words."""

from typing import Annotated

import typer

from rag import types
from rag.cli import name_lookup, output
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson, DocumentNames, IndexName, takes_retrieval
from rag.contract import SearchBody

COLUMNS = ["#", "score", "vector", "lexical", "rerank", "document", "page", "text"]


@takes_retrieval()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    *,
    index_name: IndexName = types.DEFAULT_INDEX,
    documents: DocumentNames = None,
    retrieval: types.RetrievalOptions,
    as_json: AsJson = False,
) -> None:
    """Find the passages that match a query, with all scores.

    pagelight search "goodwill impairment"
    pagelight search "termination for convenience" --document contract.pdf --mode lexical --k 20
    """
    with open_engine(index_name) as engine:
        options = name_lookup.restrict(engine, index_name, documents, retrieval).model_copy(
            update={"trace": not as_json}
        )
        response = engine.search(validated(types.SearchRequest, index_name=index_name, query=query, retrieval=options))
    if as_json:
        output.print_json(SearchBody.of(response))
        return
    if response.trace:
        output.print_rewritings(response.trace.rewritings)
    if response.results:
        print_hits(response.results)
    else:
        output.print_text(f"Nothing scores {retrieval.min_score} or more. Try other words, or lower --min-score.")


def _page(hit: types.Hit) -> str:
    """Return the number printed on the hit's page, followed by the page number in brackets if they differ."""
    number = hit.chunk.main_page
    label = hit.page_labels.get(number)
    return f"{label} ({number})" if label else str(number)


def print_hits(hits: tuple[types.Hit, ...]) -> None:
    """Print hits as a table, best first."""
    rows = [
        (
            rank,
            output.score(hit.final_score),
            output.score(hit.vector_score),
            output.score(hit.lexical_score),
            output.score(hit.rerank_score),
            hit.document_name,
            _page(hit),
            output.excerpt(hit.chunk.labelled_text()),
        )
        for rank, hit in enumerate(hits, start=1)
    ]
    output.print_table(COLUMNS, rows, right=["#", "score", "vector", "lexical", "rerank", "page"])
