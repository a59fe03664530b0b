"""The scale of cosines of an embedding space."""

import numpy as np
import pytest

from rag.providers.embedded_models import LocalEmbedding
from rag.retrieval.similarity import RELATED_SD, UNRELATED_SD, UNRELATED_TEXTS, Similarity


def test_a_cosine_is_read_between_unrelated_and_related() -> None:
    scale = Similarity(0.5, 0.9)
    assert [scale.share(cosine) for cosine in (0.0, 0.5, 0.7, 0.9, 1.0)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])


@pytest.mark.parametrize(("floor", "dimensions"), [(0.0, 64), (0.6, 64)])
def test_the_scale_is_that_of_the_space(floor: float, dimensions: int) -> None:
    """Vectors that share a direction have high cosines though they are unrelated."""
    source = np.random.default_rng(7)
    own = source.normal(size=(len(UNRELATED_TEXTS), dimensions))
    own[:, 0] = 0
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    vectors = own * np.sqrt(1 - floor)
    vectors[:, 0] = np.sqrt(floor)
    scale = Similarity.of(vectors.tolist())
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    assert scale.unrelated == pytest.approx(cosines.mean() + UNRELATED_SD * cosines.std())
    assert scale.related == pytest.approx(cosines.mean() + RELATED_SD * cosines.std())
    assert np.mean([scale.share(cosine) for cosine in cosines]) < 0.02
    assert scale.share(1.0) == 1.0


def test_a_space_that_tells_nothing_apart_says_nothing() -> None:
    assert Similarity.of([[1.0, 0.0]] * 3).share(1.0) == 0.0


def test_the_packaged_model_has_the_scale_that_was_measured() -> None:
    model = LocalEmbedding()
    scale = Similarity.of(model.get_text_embedding_batch([*UNRELATED_TEXTS]))
    assert scale == pytest.approx((0.55, 0.85), abs=0.01)
    question = model.get_query_embedding("How many ships did the harbour handle?")
    right, wrong = model.get_text_embedding_batch(
        ["The harbour handled 4,812 ships in 2019.", "The orchard grows eleven kinds of pears."]
    )
    assert scale.share(float(np.dot(question, right))) > 0.5
    assert scale.share(float(np.dot(question, wrong))) < 0.1
