"""The benchmark of searches on its kept table: what is known is true, and ours finds the best."""

from pathlib import Path

import numpy as np
import pytest

import benchmarks.search as package
from benchmarks.search.build import probes_path, table_path
from benchmarks.search.optimisers import OPTIMISERS, Objective
from benchmarks.search.spaces import KEPT
from benchmarks.search.tables import COMPLETED, Case, Table, digest_of
from searchspace.insight import Insight, Probes

assert package.__file__ is not None
CASE = Case(KEPT, Path(package.__file__).parent / "kept" / KEPT)


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.load(table_path(CASE))


def test_the_table_is_of_the_whole_space(table: Table) -> None:
    digests = [digest_of(CASE, point) for point in CASE.built.space.enumerate()]
    assert np.array_equal(np.array(digests, dtype=np.uint64), table.digests)
    assert set(table.states) == {COMPLETED}


def test_points_that_are_known_to_be_the_same_run_take_the_same_time(table: Table) -> None:
    import json

    probes = Probes.from_json(json.loads(probes_path(CASE).read_text()))
    insight = Insight(CASE.spec.described_machine, CASE.ranks, CASE.called, CASE.traces, probes)
    known = insight.known(CASE.built.space)
    seconds: dict[str, float] = {}
    points = list(CASE.built.space.enumerate())
    for point, value in zip(points, table.values, strict=True):
        assert seconds.setdefault(known.identity(point), value) == value, point
    assert len(seconds) < len(points)


def test_ours_finds_the_best_and_nothing_that_is_known_twice(table: Table) -> None:
    objective = Objective(CASE, table, 80)
    OPTIMISERS["hamtune"](objective, 1)
    assert objective.incumbents[-1] == table.best
    assert (objective.infeasible, objective.repeats) == (0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_ends_by_itself_has_found_the_best(table: Table, seed: int) -> None:
    objective = Objective(CASE, table, 400)
    OPTIMISERS["hamtune until 1%"](objective, seed)
    assert objective.ended is not None
    assert objective.ended < 200
    assert objective.incumbents[-1] <= 1.01 * table.best
