"""A map of vectors: the two directions in which they differ most. A pure function on arrays.

Principal components, and not t-SNE or UMAP: these begin at random, draw gaps between groups that mean nothing, and come
with compilers. This is a shadow of the space, the same one every time, and can say how much it shows.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Projection(NamedTuple):
    """Places (n, 2), and the share of the variance that each of the two directions shows, in 0..1."""

    places: npt.NDArray[Any]
    spread: tuple[float, float]


def principal_plane(vectors: npt.NDArray[Any]) -> Projection:
    """Where `vectors` (n, dimensions) fall on their first two principal components.

    Each direction points to where its largest weight is positive, so that the same vectors give the same map.

    Source: Pearson, "On lines and planes of closest fit to systems of points in space", Philosophical Magazine 2, 1901.
    """
    count = len(vectors)
    if count < 2 or vectors.shape[1] < 2:
        return Projection(np.zeros((count, 2)), (0.0, 0.0))
    centred = vectors - vectors.mean(axis=0)
    _, strengths, directions = np.linalg.svd(np.asarray(centred, np.float64), full_matrices=False)
    plane = directions[:2]
    plane = plane * np.sign(plane[np.arange(2), np.abs(plane).argmax(axis=1)])[:, np.newaxis]
    variances = strengths**2
    total = float(variances.sum())
    if not total:
        return Projection(np.zeros((count, 2)), (0.0, 0.0))
    return Projection(centred @ plane.T, (float(variances[0] / total), float(variances[1] / total)))
