"""The options of a search: each field of the model, its bounds, and what becomes of what is typed in."""

import os
from typing import Annotated, Any

import pytest
import typer
from typer import testing

from rag import errors
from rag.cli.app import app
from rag.cli.command import add_command
from rag.cli.options import takes_retrieval
from rag.types import RerankOptions, RetrievalOptions

FLAGS = {
    "--k", "--min-score", "--mode", "--fusion", "--vector-weight", "--lexical-weight", "--rrf-k", "--rewrites",
    "--hyde", "--must-include", "--any", "--rerank", "--rerank-top-n", "--diversity", "--passage",
}  # fmt: skip


def typed(*arguments: str, code: int = 0) -> RetrievalOptions | None:
    """What a command gets when `arguments` are typed in; it must end with `code`."""
    got: list[RetrievalOptions] = []

    @takes_retrieval(top_k=20)
    def find(query: Annotated[str, typer.Argument()], *, retrieval: RetrievalOptions) -> None:
        """Find."""
        got.append(retrieval)

    finder = typer.Typer()
    add_command(finder, find)
    result = testing.CliRunner().invoke(finder, ["words", *arguments])
    assert result.exit_code == code, result.output
    return got[0] if got else None


def test_options_default_to_those_of_the_model_and_the_command() -> None:
    assert typed() == RetrievalOptions(top_k=20)


def test_every_stage_can_be_typed_in() -> None:
    options = typed(
        *["--k", "3", "--min-score", "0.1", "--mode", "lexical", "--fusion", "rrf", "--rrf-k", "7"],
        *["--vector-weight", "0.4", "--lexical-weight", "0.6", "--rewrites", "3", "--hyde", "--diversity", "0.5"],
        *["--must-include", "refund", "--must-include", "partial", "--any", "--passage", "chunk"],
        *["--rerank", "--rerank-top-n", "9"],
    )
    assert options == RetrievalOptions(
        top_k=3,
        min_score=0.1,
        mode="lexical",
        fusion="rrf",
        rrf_k=7,
        vector_weight=0.4,
        lexical_weight=0.6,
        multi_query=3,
        hyde=True,
        diversity=0.5,
        must_include=("refund", "partial"),
        must_include_mode="any",
        passage="chunk",
        rerank=RerankOptions(enabled=True, top_n=9),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        ["--k", "0"],
        ["--k", "201"],
        ["--rewrites", "6"],
        ["--diversity", "1.5"],
        ["--mode", "magic"],
        ["--rerank-top-n", "0"],
        ["--rrf-k", "0"],
        ["--must-include", " "],
    ],
)
def test_options_out_of_bounds_are_refused(wrong: list[str]) -> None:
    typed(*wrong, code=2)


@pytest.mark.parametrize("command", ["ask", "search", "why", "eval"])
def test_each_command_that_searches_has_them_explained(command: str) -> None:
    pagelight: Any = typer.main.get_command(app)
    options = pagelight.commands[command].params
    explained = {flag: option.help for option in options if option.param_type_name == "option" for flag in option.opts}
    assert explained.keys() >= FLAGS
    assert all(explained[flag] for flag in FLAGS)


def test_a_system_without_fork_is_told_what_runs_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are read in forked processes, which Windows does not have."""
    monkeypatch.delattr(os, "fork")
    result = testing.CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == errors.ConfigError.exit_code
    assert "WSL 2" in result.output
    assert testing.CliRunner().invoke(app, ["--version"]).exit_code == 0
