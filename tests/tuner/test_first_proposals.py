"""What is proposed before there is a model."""

from __future__ import annotations

import numpy as np

from searchspace.configuration import Configuration
from searchspace.space import EnumParameter, SearchSpace
from tuner.candidates import Candidates
from tuner.first_proposals import FirstProposals

SPACE = SearchSpace(
    [
        EnumParameter("mapping", ("treematch", "greedy")),
        EnumParameter("collectives.bcast", ("flattree", "binomial_tree", "ompi_pipeline")),
    ]
)


def proposed(expected: dict[str, float], count: int) -> list[Configuration]:
    """Proposals by what is expected of each algorithm."""
    candidates = Candidates(SPACE, None, 1, 0)
    first = FirstProposals()
    found: list[int] = []
    for _ in range(count):
        left = np.array([n for n in range(len(candidates.points)) if n not in found])
        points = [candidates.points[number] for number in left]
        logs = np.array([expected[str(one["collectives.bcast"])] for one in points])
        found.append(first.by_expectation(candidates, left, logs))
    return [candidates.points[number] for number in found]


def test_algorithms_that_are_expected_to_be_about_as_quick_take_turns() -> None:
    expected = {"flattree": 0.0, "binomial_tree": 0.04, "ompi_pipeline": 1.0}
    points = proposed(expected, 4)
    algorithms = [one["collectives.bcast"] for one in points]
    assert algorithms == ["flattree", "binomial_tree", "flattree", "binomial_tree"]
    assert len(set(points)) == 4


def test_slower_ones_come_when_no_other_is_left() -> None:
    expected = {"flattree": 0.0, "binomial_tree": 0.5, "ompi_pipeline": 1.0}
    algorithms = [one["collectives.bcast"] for one in proposed(expected, 6)]
    assert algorithms == [name for name in expected for _ in range(2)]


def test_without_probes_algorithms_take_turns() -> None:
    candidates = Candidates(SPACE, None, 1, 0)
    first = FirstProposals()
    left = np.arange(len(candidates.points))
    found = [first.by_probes(candidates, left) for _ in range(3)]
    assert {candidates.points[one]["collectives.bcast"] for one in found} == {
        "flattree",
        "binomial_tree",
        "ompi_pipeline",
    }
