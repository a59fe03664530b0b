"""`pagelight validate`: check relevance, sources and consistency of what test queries find."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson

PAGE = re.compile(r"[1-9][0-9]{0,8}")

COLUMNS = ["query", "found", "relevant", "sources", "accuracy", "relevance", "consistency", "variance"]

Expected = Annotated[
    list[str] | None,
    typer.Option(
        "--expect",
        metavar="SOURCE[#PAGE]",
        help="An expected source: a document's name, path, URL or id. The first belongs to the first query, and so on; "
        "all belong to a single query.",
    ),
]


def validate(
    queries: Annotated[list[str] | None, typer.Argument(metavar="[QUERY...]", help="What to search for.")] = None,
    *,
    expect: Expected = None,
    file: Annotated[Path | None, typer.Option(metavar="FILE.json", help="A request body of POST /validate.")] = None,
    collection: Annotated[
        str | None,
        typer.Option("--collection", "--index", metavar="NAME", help="The index; “default” unless given."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, max=10, help="How often each query is run; 3 unless given.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, max=100, help="Chunks to find; 5 unless given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run test queries and check what they find: relevance, sources, and consistency over several runs.

    The validation passes if every query finds relevant chunks with correct sources, including all expected ones, and
    the same chunks in every run. The exit code is 1 otherwise. All together may take 60 seconds.

        pagelight validate "What were net sales?" --expect acme-2023.pdf#12
        pagelight validate --file queries.json --runs 5
    """
    given = {"collection": collection, "consistency_runs": runs, "top_k": k}
    fields = _from_file(file, queries, expect) if file else _from_arguments(queries or [], expect or [])
    request = validated(
        types.ValidationRequest, **fields | {name: value for name, value in given.items() if value is not None}
    )
    with open_engine() as engine:
        response = engine.retrieval_api.validate(request)
    if as_json:
        output.print_json(response)
    else:
        output.print_table(COLUMNS, map(_row, response.validation_results), right=COLUMNS[4:])
        overall = response.overall_validation
        verdict, style = ("Passed", "green") if overall.passed else ("Not passed", "red")
        output.print_text(f"\n{verdict}, score {output.score(overall.score)}. {overall.summary}", style=style)
    if not response.overall_validation.passed:
        raise typer.Exit(1)


def _from_arguments(queries: Sequence[str], expect: Sequence[str]) -> dict[str, Any]:
    if not queries:
        raise errors.ValidationError("There is nothing to validate. Give queries, or a --file with them.")
    if len(queries) > 1 and len(expect) > len(queries):
        raise errors.ValidationError(
            "There are more --expect than queries. Give at most one for each, or a --file, which can name several."
        )
    about = [queries[0]] * len(expect) if len(queries) == 1 else queries
    return {
        "test_queries": queries,
        "expected_sources": [{"query": query, **_source(text)} for query, text in zip(about, expect, strict=False)],
    }


def _source(text: str) -> dict[str, object]:
    """Parse `SOURCE#PAGE`; names may contain a number sign, too, so the page follows the last one."""
    source, sign, page = text.rpartition("#")
    return {"source": source, "page": int(page)} if sign and PAGE.fullmatch(page) else {"source": text}


def _from_file(file: Path, queries: Sequence[str] | None, expect: Sequence[str] | None) -> dict[str, Any]:
    if queries or expect:
        raise errors.ValidationError("Give queries and --expect, or a --file with them, not both.")
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise errors.SourceError(f"{file} cannot be read: {error.strerror}. Check the path.") from error
    except ValueError as error:
        raise errors.ValidationError(f"{file} is not JSON: {error}.") from error
    if not isinstance(fields, dict):
        raise errors.ValidationError(f'{file} must hold an object such as {{"test_queries": ["…"]}}.')
    return fields


def _row(result: types.QueryValidation) -> Sequence[object]:
    metrics = result.validation_metrics
    return (
        output.excerpt(result.query, 60),
        output.plural(len(result.retrieved_chunks), "chunk"),
        "✓" if result.relevance_valid else "✗",
        "✓" if result.metadata_correct else "✗",
        output.score(metrics.accuracy),
        output.score(metrics.relevance_score),
        output.score(result.consistency_score),
        f"{metrics.consistency_variance:.2g}",
    )
