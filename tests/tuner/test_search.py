"""The search above OpenTuner: no point twice, known results told at once, an end."""

from collections import deque
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.space import (
    Condition,
    EnumParameter,
    IntegerParameter,
    PlacementParameter,
    SearchSpace,
)
from tuner.objective import TrialResult
from tuner.search import SAMPLER, Point, Search

SPACE = SearchSpace(
    [
        EnumParameter("topology", ("random", "torus-3d")),
        IntegerParameter("topology_seed", 0, 4, when=Condition("topology", ("random",))),
        EnumParameter("alltoall", tuple("abcde")),
    ]
)


def value(configuration: Configuration) -> float:
    return 1.0 + sum(map(ord, configuration.canonical_json)) % 97 / 10


def drive(search: Search, in_flight: int, limit: int = 10_000) -> Iterator[Point]:
    """Run a search in the order of a job: tell the oldest, then ask for one more."""
    pending: deque[Point] = deque()
    asked = 0
    while True:
        while len(pending) < in_flight and asked < limit:
            point = search.ask()
            if point is None:
                break
            asked += 1
            yield point
            pending.append(point)
        if not pending:
            return
        told = pending.popleft()
        search.tell(told.configuration, TrialResult(value(told.configuration), "completed"))


@pytest.mark.parametrize("in_flight", [1, 4, 100])
def test_every_point_is_handed_out_once_and_then_the_space_is_exhausted(in_flight: int) -> None:
    with Search(SPACE, seed=1) as search:
        points = [point.configuration for point in drive(search, in_flight)]
        assert search.ask() is None
    assert len(points) == SPACE.size == 30
    assert set(points) == set(SPACE.enumerate())


def test_a_space_of_one_point_is_exhausted_after_it() -> None:
    space = SearchSpace([EnumParameter("mpi", ("mpich",))])
    with Search(space, seed=1) as search:
        assert [point.technique for point in drive(search, 4)] == [SAMPLER]


def test_the_same_results_lead_to_the_same_points() -> None:
    def run() -> list[Point]:
        with Search(SPACE, seed=9) as search:
            return list(drive(search, 4))

    assert run() == run()


def test_baselines_are_points_seen_and_results_known() -> None:
    inside = Configuration({"topology": "torus-3d", "alltoall": "c"})
    with Search(SPACE, seed=1) as search:
        assert search.add(inside)
        assert not search.add(inside)
        assert not search.add(Configuration({"topology": "mesh-2d", "alltoall": "c"}))
        search.tell(inside, TrialResult(0.5, "completed"))
        points = [point.configuration for point in drive(search, 4)]
    assert len(points) == 29
    assert inside not in points


def test_a_duplicate_of_a_trial_in_flight_is_told_with_it() -> None:
    """One technique, two points: the second ask may propose the first again, and must not wait."""
    space = SearchSpace([EnumParameter("a", (1, 2)), EnumParameter("b", ("x",))])
    with Search(space, seed=1, techniques=["PureRandom"]) as search:
        first, second = search.ask(), search.ask()
        assert first is not None
        assert second is not None
        assert search.ask() is None
        for point in (first, second):
            search.tell(point.configuration, TrialResult(None, "failed"))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from([1, 3, 8]))
def test_a_large_space_yields_as_many_distinct_points_as_are_asked(
    seed: int, in_flight: int
) -> None:
    space = SearchSpace([EnumParameter(f"p{i}", tuple("abcdefgh")) for i in range(5)])
    with Search(space, seed=seed) as search:
        points = [point.configuration.sha256 for point in drive(search, in_flight, limit=150)]
    assert len(set(points)) == len(points) == 150


def test_points_that_are_known_to_be_good_come_first_and_are_learned_from() -> None:
    ranks = 12
    space = SearchSpace([PlacementParameter("p", ranks, ranks, 1)])
    aim = tuple(reversed(range(ranks)))

    def wrong(configuration: Configuration) -> float:
        return float(sum(a != b for a, b in zip(configuration["p"], aim, strict=True)))  # type: ignore[arg-type]

    near = (*aim[:-4], 0, 1, 2, 3)  # two swaps from the aim
    first = [Point(Configuration({"p": near}), "treematch")] * 2
    for technique in ("SteadyStateGA", "NarrowGreedyMutation", "AUCBanditMutationTechnique"):
        with Search(space, 4, [technique], first=first) as search:
            best, asked = float(ranks), []
            for _ in range(120):
                point = search.ask()
                assert point is not None
                asked.append(point.technique)
                best = min(best, wrong(point.configuration))
                search.tell(
                    point.configuration, TrialResult(1 + wrong(point.configuration), "completed")
                )
        assert asked[0] == "treematch"
        assert asked.count("treematch") == 1  # handed out once
        assert best < 4, technique
