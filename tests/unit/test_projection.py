"""The map of vectors: the directions in which they differ most, and how much of that it shows."""

import numpy as np
import pytest

from rag.retrieval import principal_plane

SOURCE = np.random.default_rng(7)


def test_a_flat_cloud_is_shown_as_it_is() -> None:
    flat = SOURCE.normal(size=(200, 2)) * (3.0, 1.0)
    turned, _ = np.linalg.qr(SOURCE.normal(size=(16, 16)))
    projection = principal_plane(flat @ turned[:2] + 5.0)
    assert sum(projection.spread) == pytest.approx(1.0)
    assert projection.spread[0] > projection.spread[1] > 0
    between = np.linalg.norm(flat[:, np.newaxis] - flat, axis=2)
    shown = np.linalg.norm(projection.places[:, np.newaxis] - projection.places, axis=2)
    assert shown == pytest.approx(between)


def test_what_it_does_not_show_counts() -> None:
    cloud = SOURCE.normal(size=(5000, 4)) * (4.0, 3.0, 2.0, 1.0)
    assert principal_plane(cloud).spread == pytest.approx((16 / 30, 9 / 30), abs=0.03)


def test_the_same_vectors_give_the_same_map_whichever_way_they_are_turned() -> None:
    cloud = SOURCE.normal(size=(50, 8))
    once = principal_plane(cloud).places
    assert principal_plane(cloud[::-1]).places[::-1] == pytest.approx(once)


@pytest.mark.parametrize("vectors", [np.zeros((0, 384)), np.ones((1, 384)), np.ones((3, 384)), np.ones((3, 1))])
def test_what_has_no_directions_lies_on_one_point(vectors: np.ndarray) -> None:
    projection = principal_plane(vectors)
    assert projection.places.shape == (len(vectors), 2)
    assert projection.places == pytest.approx(np.zeros((len(vectors), 2)))
    assert projection.spread == (0.0, 0.0)
