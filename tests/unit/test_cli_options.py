"""What is typed in, what the settings say, and what becomes of both."""

import pytest

from rag import errors
from rag.cli.options import retrieval_options
from rag.config import Config


def test_settings_decide_what_was_not_typed_in() -> None:
    config = Config(rag_hybrid=False, rag_fusion="rrf", rag_rrf_k=10)
    options = retrieval_options(config, k=3, min_score=0.1)
    assert (options.mode, options.fusion, options.rrf_k) == ("vector", "rrf", 10)
    options = retrieval_options(config, k=3, min_score=0.1, mode="lexical", fusion="weighted")
    assert (options.mode, options.fusion) == ("lexical", "weighted")
    assert retrieval_options(Config(), k=3, min_score=0.1).mode == "hybrid"


def test_every_stage_can_be_typed_in() -> None:
    options = retrieval_options(
        Config(),
        k=3,
        min_score=0.1,
        rerank=True,
        rerank_by="llm",
        rewrites=3,
        hyde=True,
        must_include=["refund", "partial"],
        must_include_any=True,
        diversity=0.5,
        passage="chunk",
    )
    assert (options.multi_query, options.hyde, options.diversity, options.passage) == (3, True, 0.5, "chunk")
    assert (options.must_include, options.must_include_mode) == (("refund", "partial"), "any")
    assert (options.rerank.enabled, options.rerank.by) == (True, "llm")


@pytest.mark.parametrize("wrong", [{"rewrites": 6}, {"diversity": 1.5}, {"must_include": [" "]}, {"k": 0}])
def test_what_is_out_of_bounds_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(errors.ValidationError):
        retrieval_options(Config(), **{"k": 3, "min_score": 0.1, **wrong})  # type: ignore[arg-type]  # wrong on purpose
