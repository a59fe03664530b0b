"""`pagelight search` and `why`: find passages by meaning and by words, and explain what became of a passage."""

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


@takes_retrieval(without=["passage"])  # --passage has the words to look for
def why(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    *,
    passage: Annotated[str, typer.Option(metavar="WORDS", help="Some words, as they are in the document.")],
    index_name: IndexName = types.DEFAULT_INDEX,
    documents: DocumentNames = None,
    retrieval: types.RetrievalOptions,
    as_json: AsJson = False,
) -> None:
    """Explain why a passage is, or is not, used for the answer to a question.

    Names the stage at which it was lost: not indexed, in the trash, filters, required words, candidates, reranking,
    minimum score, number of results, context size of the model.

        pagelight why "What were net sales?" --passage "Net sales rose to 4.2 billion"
    """
    with open_engine() as engine:
        options = name_lookup.restrict(engine, index_name, documents, retrieval)
        request = validated(types.SearchRequest, index_name=index_name, query=question, retrieval=options)
        explanation = engine.questions.explain(request, passage)
    if as_json:
        output.print_json(explanation)
        return
    output.print_rewritings(explanation.rewritings)
    style = "green" if explanation.stage == "given" else "yellow"
    output.print_text(f"{explanation.stage.replace('_', ' ')}: {explanation.message}", style=style)
    if explanation.document_name:
        output.print_text(f"{explanation.document_name}, page {explanation.page_number}")
    if candidate := explanation.candidate:
        rows = [
            ("by meaning", candidate.vector_rank or "–", output.score(candidate.vector_score)),
            ("by words", candidate.lexical_rank or "–", output.score(candidate.lexical_score)),
            ("landmark", "", output.score(candidate.landmark_score)),
            ("whole document", "", output.score(candidate.document_score)),
            ("all of these", candidate.fused_rank, output.score(candidate.fused_score)),
            ("reranked", "", output.score(candidate.rerank_score)),
            ("final", "", output.score(candidate.final_score)),
        ]
        output.print_table(["stage", "rank", "score"], rows, right=["rank", "score"])
