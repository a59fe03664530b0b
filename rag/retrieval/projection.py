"""Project vectors onto two dimensions by principal components.

Unlike t-SNE and UMAP, the result is deterministic, linear, without heavy dependencies, and has an explained variance.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Projection(NamedTuple):
    """Coordinates (n, 2), and the share of variance that each component explains, in 0..1."""

    places: npt.NDArray[Any]
    spread: tuple[float, float]


def principal_plane(vectors: npt.NDArray[Any]) -> Projection:
    """Project `vectors` (n, dimensions) onto their first two principal components.

    The sign of each component is chosen so that its largest weight is positive, which makes the result deterministic.

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
