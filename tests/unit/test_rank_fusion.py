import pytest

from rag.retrieval.ranking import ranks, reciprocal_rank_fusion


def test_ranks_keep_the_given_order_of_ties() -> None:
    assert ranks({"a": 1.0, "b": 2.0, "c": 1.0}) == {"b": 1, "a": 2, "c": 3}


def test_reciprocal_rank_fusion_is_the_sum_over_the_lists() -> None:
    fused = reciprocal_rank_fusion([{"a": 9.0, "b": 8.0}, {"b": 3.0, "a": 1.0, "c": 0.5}], k=60)
    assert fused == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61, "c": 1 / 63})


def test_an_empty_list_adds_nothing() -> None:
    assert reciprocal_rank_fusion([{"a": 2.0}, {}], k=10) == {"a": 1 / 11}
    assert reciprocal_rank_fusion([{}, {}], k=10) == {}
