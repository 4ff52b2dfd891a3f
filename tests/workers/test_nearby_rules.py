"""Alternatives at a single size: the fastest by simulation, and only what it tells apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import pytest

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, chosen
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from workers.decision_tables import Sizes
from workers.nearby_rules import NearbyRules
from workers.program_rules import Cell, Program, options_of, table_of
from workers.simulator_client import Simulator

RANKS = 8
MACHINE = parse_machine(
    {"nodes": RANKS, "degree": 2, "host_speed": "10Gf", "link_bandwidth": "10Gbps"}
).simulated_by("packets")
CLUSTER = resolve(Configuration({"topology": "ring"}), MACHINE, RANKS)
OPENMPI = TARGETS["openmpi-4.1"]
SIZES: Sizes = {"bcast": {RANKS: (64, 1 << 20)}, "scatter": {RANKS: (1024,)}}
SMALL, LARGE, SCATTER = ("bcast", RANKS, 64), ("bcast", RANKS, 1 << 20), ("scatter", RANKS, 0)
BINOMIAL = table_of({SMALL: "ompi_binomial", LARGE: "ompi_binomial", SCATTER: DEFAULT})


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    calls = encode("bcast", count=16, size=4) * 20 + encode("bcast", count=1 << 18, size=4)
    path = tmp_path_factory.mktemp("nearby") / "bcast.ht"
    operations = calls + encode("finalize")
    write_trace(path, TraceHeader(ranks=RANKS, program="bcast"), [operations] * RANKS)
    with Simulator([path]) as opened:
        yield opened


def program(simulator: Simulator, most: int = 200) -> Program:
    return Program(simulator, CLUSTER.simulator_request(), OPENMPI, most)


def seconds(simulated: Program, table: DecisionTable) -> float:
    cells: dict[Cell, str] = {
        cell: chosen(table.get(cell[0], ()), *cell[1:]) for cell in (SMALL, LARGE, SCATTER)
    }
    return simulated.seconds(options_of(cells, OPENMPI))


def algorithms(table: DecisionTable) -> Mapping[int, str]:
    return {size: chosen(table["bcast"], RANKS, size) for size in (64, 1 << 20)}


def test_the_largest_calls_come_first_and_those_without_a_size_last(simulator: Simulator) -> None:
    nearby = NearbyRules(program(simulator), OPENMPI, SIZES)
    assert nearby.cells == [LARGE, SMALL, SCATTER]


def test_alternatives_differ_at_one_size_and_come_by_their_simulated_time(
    simulator: Simulator,
) -> None:
    simulated = program(simulator)
    found = NearbyRules(simulated, OPENMPI, SIZES).tables(BINOMIAL, LARGE)

    assert 1 <= len(found) <= 3
    for algorithm, table in found.items():
        assert algorithms(table) == {64: "ompi_binomial", 1 << 20: algorithm}
    took = [seconds(simulated, table) for table in found.values()]
    assert took == sorted(took)
    assert took[0] < seconds(simulated, BINOMIAL)
    assert took[-1] < 1.15 * seconds(simulated, BINOMIAL)


def test_nothing_is_offered_that_changes_nothing(simulator: Simulator) -> None:
    """The program never scatters, so no algorithm of scatter is worth a run."""
    assert not NearbyRules(program(simulator), OPENMPI, SIZES).tables(BINOMIAL, SCATTER)


def test_what_is_longer_than_its_limit_may_be_the_librarys_own_choice(
    simulator: Simulator,
) -> None:
    """The library's choice is simulated with a limit here, and not to its end first."""
    simulated = program(simulator)
    fast = NearbyRules(simulated, OPENMPI, {"bcast": {RANKS: (1 << 20,)}})
    best = min(
        fast.tables(table_of({LARGE: "ompi_binomial"}), LARGE).values(),
        key=lambda table: seconds(simulated, table),
    )
    assert program(simulator).seconds({}) > 1.15 * seconds(simulated, best)

    anew = NearbyRules(program(simulator), OPENMPI, {"bcast": {RANKS: (1 << 20,)}})
    assert DEFAULT not in anew.tables(best, LARGE)


def test_one_of_several_names_of_a_library_for_the_same_is_offered(simulator: Simulator) -> None:
    """Of reduce, the library runs `linear` for `flat_tree` and for `ompi_basic_linear`."""
    sizes: Sizes = {"reduce": {RANKS: (64,)}}
    nearby = NearbyRules(program(simulator), OPENMPI, sizes)
    offered = nearby._others(DEFAULT, ("reduce", RANKS, 64))
    assert len({"flat_tree", "ompi_basic_linear"} & set(offered)) == 1


def test_nothing_is_simulated_when_the_time_is_over(simulator: Simulator) -> None:
    simulated = program(simulator)
    assert not NearbyRules(simulated, OPENMPI, SIZES).tables(BINOMIAL, LARGE, lambda: True)
    assert simulated.evaluations == 1


def test_without_simulations_left_nothing_is_offered(simulator: Simulator) -> None:
    spent = program(simulator, most=1)
    assert math.isfinite(spent.seconds({}))
    assert not NearbyRules(spent, OPENMPI, SIZES).tables(BINOMIAL, LARGE)
