"""Forests in C++ beside scikit-learn's trees, which are grown by nearly the same rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from searchspace.kernels.regression_forest import RegressionForest


def _observations(
    seed: int, rows: int, features: int
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Half of the features are numbers, half are bits, as those of configurations are."""
    random = np.random.default_rng(seed)
    drawn = random.random((rows, features))
    drawn[:, features // 2 :] = np.round(drawn[:, features // 2 :])
    targets = drawn[:, 0] + 2.0 * drawn[:, -1] * drawn[:, 1] + 0.1 * random.normal(size=rows)
    return drawn.astype(np.float32), targets


@given(st.integers(0, 999), st.integers(1, 60), st.integers(2, 9), st.integers(1, 9))
def test_a_tree_says_nothing_beyond_what_it_drew(
    seed: int, rows: int, features: int, trees: int
) -> None:
    known, targets = _observations(seed, rows, features)
    said = RegressionForest(known, targets, trees=trees, seed=seed).predict(known)
    assert said.shape == (trees, rows)
    assert targets.min() <= said.min()
    assert said.max() <= targets.max()


@given(st.integers(0, 999))
def test_a_tree_knows_what_it_drew(seed: int) -> None:
    """Of many observations a sample of as many holds all but 1 / e, and no tree knows others."""
    known, targets = _observations(seed, 80, 6)
    said = RegressionForest(known, targets, trees=60, seed=seed).predict(known)
    assert (said == targets).mean() == pytest.approx(1 - np.exp(-1), abs=0.03)


@given(st.integers(0, 999))
def test_a_seed_means_a_forest(seed: int) -> None:
    known, targets = _observations(seed, 30, 6)
    once, again = (RegressionForest(known, targets, trees=5, seed=seed) for _ in range(2))
    assert np.array_equal(once.predict(known), again.predict(known))
    other = RegressionForest(known, targets, trees=5, seed=seed + 1)
    assert not np.array_equal(once.predict(known), other.predict(known))


@pytest.mark.parametrize("rows", [20, 120])
def test_many_trees_say_what_many_of_scikit_learn_say(rows: int) -> None:
    known, targets = _observations(1, rows, 12)
    asked, truth = _observations(2, 300, 12)
    trees = 800
    random = np.random.default_rng(3)
    theirs = []
    for seed in range(trees):
        times = np.bincount(random.integers(rows, size=rows), minlength=rows)
        drawn = times > 0
        tree = DecisionTreeRegressor(random_state=seed)
        tree.fit(known[drawn], targets[drawn], sample_weight=times[drawn].astype(float))
        theirs.append(tree.predict(asked))
    said = RegressionForest(known, targets, trees=trees, seed=4).predict(asked)

    errors = np.std(theirs, axis=0) / np.sqrt(trees / 2)  # of the difference of both means
    assert (np.abs(said.mean(axis=0) - np.mean(theirs, axis=0)) < 5 * errors + 1e-9).all()
    assert said.std(axis=0).mean() == pytest.approx(np.std(theirs, axis=0).mean(), rel=0.05)
    ours, before = (np.abs(one - truth).mean() for one in (said.mean(axis=0), targets.mean()))
    assert ours < 0.5 * before


def test_what_does_not_fit_is_refused() -> None:
    known, targets = _observations(1, 5, 4)
    with pytest.raises(ValueError, match="a row of features and a target"):
        RegressionForest(known[:4], targets, trees=1, seed=0)
    with pytest.raises(ValueError, match="finite"):
        RegressionForest(known, targets * np.inf, trees=1, seed=0)
    with pytest.raises(ValueError, match="features are numbers"):
        RegressionForest(known * np.float32(np.nan), targets, trees=1, seed=0)
    with pytest.raises(ValueError, match="at least one tree"):
        RegressionForest(known, targets, trees=0, seed=0)
    with pytest.raises(ValueError, match="other features"):
        RegressionForest(known, targets, trees=1, seed=0).predict(known[:, :2])
