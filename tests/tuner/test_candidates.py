"""Candidates of a space that is too large for all of its points to be some."""

from __future__ import annotations

from searchspace.configuration import canonical_json
from searchspace.space import EnumParameter, PermutationParameter, SearchSpace
from tuner.candidates import Candidates

ENUMS = [EnumParameter(name, tuple("abcdefgh")) for name in ("one", "two", "three", "four", "five")]


def _alone(candidates: Candidates) -> set[str]:
    return {canonical_json(dict(point)) for point in candidates.points}


def test_all_that_differ_from_a_point_in_one_parameter_join_once() -> None:
    candidates = Candidates(SearchSpace(ENUMS), None, 1, 3)
    assert not candidates.whole
    before = len(candidates.points)
    candidates.look_around(7)
    around = [
        canonical_json({**candidates.points[7], parameter.name: value})
        for parameter in ENUMS
        for value in parameter.values
    ]
    assert set(around) <= _alone(candidates)
    joined = len(candidates.points)
    assert before < joined <= before + len(ENUMS) * 7
    candidates.look_around(7)
    assert len(candidates.points) == joined
    assert len(_alone(candidates)) == joined == len(candidates.features)


def test_of_a_permutation_other_neighbours_join_each_time() -> None:
    space = SearchSpace([PermutationParameter("order", tuple(range(12)))])
    candidates = Candidates(space, None, 1, 3)
    sizes = [len(candidates.points)]
    for _ in range(2):
        candidates.look_around(0)
        sizes.append(len(candidates.points))
    assert sizes[0] < sizes[1] < sizes[2]
