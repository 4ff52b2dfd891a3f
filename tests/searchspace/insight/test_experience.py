"""What of a finished job makes sense in another one."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.formats.patterns import pattern_trace
from searchspace.insight import Comparable, Experience, Insight, Tried, experience_of
from searchspace.machine import parse_machine
from searchspace.space import Condition, EnumParameter, IntegerParameter, SearchSpace

SPACE = SearchSpace(
    [
        EnumParameter("topology", ("random", "torus-2d")),
        IntegerParameter("topology_seed", 1, 4, when=Condition("topology", ("random",))),
        EnumParameter("mpi", ("mpich", "ompi")),
    ]
)
PLACE = " of 16 hosts of degree 4, 1 cores each, 16 ranks"
MACHINE = {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}


def tried(count: int, factor: float = 1.0) -> list[Tried]:
    rng = random.Random(1)
    return [
        Tried(SPACE.sample(rng), factor * (1.0 + number), completed=number % 3 > 0)
        for number in range(count)
    ]


def experience(trials: list[Tried]) -> Experience:
    found = experience_of("j1", "first", SPACE, None, trials)
    assert found is not None
    return found


def insight(**changes: object) -> Insight:
    return Insight(parse_machine({**MACHINE, **changes}), 16, {}, [])


@given(factor=st.floats(1e-6, 1e6))
def test_a_machine_that_is_so_many_times_slower_teaches_the_same(factor: float) -> None:
    one, other = experience(tried(20)), experience(tried(20, factor))
    assert np.allclose(one.times, other.times, atol=2e-6)
    assert np.median(one.times[one.completed]) == pytest.approx(0.0, abs=1e-6)


def test_it_is_the_same_after_it_was_stored() -> None:
    found = experience(tried(20))
    again = Experience.from_json(json.loads(json.dumps(found.to_json())))
    assert again.to_json() == found.to_json()
    assert (again.rows == found.rows).all()


def test_the_best_trial_is_a_point_of_jobs_that_can_choose_the_same() -> None:
    best = Configuration({"topology": "random", "topology_seed": 2, "mpi": "ompi"})
    source = replace(experience(tried(20)), best=best, place=PLACE)
    assert Comparable(SPACE, insight(host_speed="1Gf"), None).same_point(source) == best
    assert Comparable(SPACE, insight(degree=5), None).same_point(source) is None
    assert Comparable(SPACE, None, None).same_point(source) is None
    fewer = SearchSpace([*SPACE.parameters[:2], EnumParameter("mpi", ("mpich", "impi"))])
    assert Comparable(fewer, insight(), None).same_point(source) is None
    more = SearchSpace([*SPACE.parameters, EnumParameter("ordering", ("original", "hamorder"))])
    assert Comparable(more, insight(), None).same_point(source) is None


def test_a_value_that_a_job_fixes_is_held_against_that_of_the_best_trial() -> None:
    """Another seed is another network, also where neither job could choose it."""
    best = Configuration({"topology": "random", "topology_seed": 2, "mpi": "ompi"})
    source = replace(experience(tried(20)), best=best, place=PLACE)
    for seed, found in ((2, best), (3, None)):
        fixed = IntegerParameter(
            "topology_seed", seed, seed, when=Condition("topology", ("random",))
        )
        space = SearchSpace([SPACE.parameters[0], fixed, SPACE.parameters[2]])
        assert Comparable(space, insight(), None).same_point(source) == found


def test_on_any_machine_a_point_without_instances_is_the_same() -> None:
    best = Configuration({"topology": "torus-2d", "mpi": "ompi"})
    source = replace(experience(tried(20)), best=best, place=PLACE)
    assert Comparable(SPACE, insight(degree=5), None).same_point(source) == best


def test_an_experience_knows_its_best_trial_and_one_that_was_stored_without_does_not() -> None:
    trials = tried(20)
    found = experience(trials)
    best = min((one for one in trials if one.completed), key=lambda one: one.seconds)
    assert found.best == best.configuration
    told = {key: one for key, one in found.to_json().items() if key not in ("best", "place")}
    old = Experience.from_json(told)
    assert (old.best, Comparable(SPACE, None, None).same_point(old)) == (None, None)


def test_of_a_long_job_the_best_trials_are_kept_and_some_of_the_others() -> None:
    trials = tried(2000)
    found = experience(trials)
    assert len(found.times) == 400
    best = sorted(one.seconds for one in trials if one.completed)[:100]
    relative = np.sort(np.exp(found.times[found.completed]))[:100]
    assert np.allclose(relative / relative[0], np.array(best) / best[0], rtol=1e-4)


def test_a_job_without_a_trial_that_ran_to_its_end_teaches_nothing() -> None:
    trials = [Tried(one.configuration, one.seconds, completed=False) for one in tried(5)]
    assert experience_of("j1", "first", SPACE, None, trials) is None


def test_instances_of_networks_are_the_same_only_where_hosts_and_degree_are() -> None:
    names = {
        degree: set(Comparable(SPACE, insight(degree=degree), None).names) for degree in (4, 5)
    }
    shared = names[4] & names[5]
    assert "topology=random" in shared
    assert "mpi=ompi" in shared
    assert not any(name.startswith("topology_seed") for name in shared)
    faster = set(Comparable(SPACE, insight(host_speed="200Gf"), None).names)
    assert faster == names[4]


def test_numbers_are_relative_to_what_is_usual_in_the_job(tmp_path: Path) -> None:
    trace = tmp_path / "trace.ht"
    pattern_trace(
        {"pattern": "all-to-all", "ranks": 16, "size": 1000, "count": 2, "rate": 100}, trace
    )
    seen = Insight(parse_machine(MACHINE), 16, {}, [trace])
    known = seen.known(SPACE)
    comparable = Comparable(SPACE, seen, known)
    points = list(SPACE.enumerate())
    rows = comparable.rows(points)
    relative = comparable.relative(rows, rows)
    column = comparable.names.index("network.aspl")
    assert np.median(relative[:, column]) == pytest.approx(0.0, abs=1e-6)
    torus = next(place for place, one in enumerate(points) if one["topology"] == "torus-2d")
    # A random network has shorter paths than a torus.
    assert relative[torus, column] == relative[:, column].max() > 0
