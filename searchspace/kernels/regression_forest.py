"""The kernel that learns numbers from features: a random forest of regression trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from searchspace.kernels import _native

__all__ = ["RegressionForest"]


class RegressionForest:
    """Trees grown to their ends, each of a sample of the observations drawn with replacement.

    Breiman, "Random forests", Machine Learning 45 (2001), with all features competing at each
    split: the one that leaves the least squared error wins, of equal ones one by chance. So small
    a forest of so few observations is grown at each proposal of a search: in less time than it
    takes to load scikit-learn, whose `DecisionTreeRegressor` grows the same trees.

    Args:
        features: Of the observations, finite, shape (observations, features).
        targets: What is to be predicted, shape (observations,).
        trees: How many.
        seed: Of all random choices.

    Raises:
        ValueError: There is no observation, or the shapes do not fit.
    """

    def __init__(
        self, features: NDArray[np.float32], targets: NDArray[np.float64], *, trees: int, seed: int
    ) -> None:
        self._forest = _native.RegressionForest(
            np.ascontiguousarray(features, np.float32),
            np.ascontiguousarray(targets, np.float64),
            trees,
            seed,
        )

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each tree says, shape (trees, rows).

        Args:
            features: Shape (rows, features).

        Raises:
            ValueError: There are more features or fewer than were learned from.
        """
        return self._forest.predict(np.ascontiguousarray(features, np.float32))
