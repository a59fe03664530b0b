from collections.abc import Callable
from functools import partial

import pytest

from rag.retrieval.fusion import min_max, ranks, reciprocal_rank_fusion, weighted_fusion


def test_min_max_stretches_to_the_unit_interval() -> None:
    assert min_max({"a": 3.0, "b": 1.0, "c": 2.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}


def test_min_max_of_equal_scores_and_of_nothing() -> None:
    assert min_max({"a": 0.3, "b": 0.3}) == {"a": 1.0, "b": 1.0}
    assert min_max({}) == {}


def test_ranks_keep_the_given_order_of_ties() -> None:
    assert ranks({"a": 1.0, "b": 2.0, "c": 1.0}) == {"b": 1, "a": 2, "c": 3}


def test_weighted_fusion_by_hand() -> None:
    fused = weighted_fusion([({"a": 1.0, "b": 0.0}, 0.65), ({"b": 9.0, "c": 5.0}, 0.35)])
    assert fused == pytest.approx({"a": 0.65, "b": 0.35, "c": 0.0})


def test_an_empty_list_does_not_pull_the_other_down() -> None:
    assert weighted_fusion([({"a": 0.4, "b": 0.2}, 0.65), ({}, 0.35)]) == pytest.approx({"a": 1.0, "b": 0.0})


def test_reciprocal_rank_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion([({"a": 9.0, "b": 8.0}, 1.0), ({"b": 3.0, "a": 1.0, "c": 0.5}, 1.0)], k=60)
    best = 2 / 61
    assert fused == pytest.approx({"a": (1 / 61 + 1 / 62) / best, "b": (1 / 62 + 1 / 61) / best, "c": (1 / 63) / best})


def test_first_in_every_list_scores_one() -> None:
    fused = reciprocal_rank_fusion([({"a": 9.0, "b": 8.0}, 0.7), ({"a": 3.0}, 0.3)], k=10)
    assert fused["a"] == pytest.approx(1.0)
    assert max(fused.values()) <= 1.0


@pytest.mark.parametrize("fused_by", [weighted_fusion, partial(reciprocal_rank_fusion, k=60)])
def test_a_list_without_weight_or_without_entries_has_no_say(fused_by: Callable[..., dict[str, float]]) -> None:
    first, other = {"a": 9.0, "b": 8.0}, {"c": 1.0}
    alone = fused_by([(first, 0.7)])
    assert alone["a"] == 1.0
    assert fused_by([(first, 0.7), (other, 0.0)]) == alone
    assert fused_by([({}, 0.3), (first, 0.7)]) == alone
    assert fused_by([(first, 0.0), (other, 0.0)]) == fused_by([({}, 0.7)]) == {}
