import pytest

from rag.retrieval.fusion import ranks, reciprocal_rank_fusion, weighted_mean


def test_ranks_keep_the_given_order_of_ties() -> None:
    assert ranks({"a": 1.0, "b": 2.0, "c": 1.0}) == {"b": 1, "a": 2, "c": 3}


@pytest.mark.parametrize(
    ("parts", "mean"),
    [
        ([(1.0, 0.65), (0.0, 0.35)], 0.65),
        ([(0.5, 2.0), (1.0, 2.0)], 0.75),
        ([(0.3, 1.0), (1.0, 0.0)], 0.3),
        ([(1.0, 0.0)], 0.0),
        ([], 0.0),
    ],
)
def test_weighted_mean(parts: list[tuple[float, float]], mean: float) -> None:
    assert weighted_mean(parts) == pytest.approx(mean)


def test_reciprocal_rank_fusion_is_the_sum_over_the_lists() -> None:
    fused = reciprocal_rank_fusion([{"a": 9.0, "b": 8.0}, {"b": 3.0, "a": 1.0, "c": 0.5}], k=60)
    assert fused == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62 + 1 / 61, "c": 1 / 63})


def test_an_empty_list_adds_nothing() -> None:
    assert reciprocal_rank_fusion([{"a": 2.0}, {}], k=10) == {"a": 1 / 11}
    assert reciprocal_rank_fusion([{}, {}], k=10) == {}
