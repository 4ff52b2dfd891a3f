"""What single calls take, and the tables that come of it, on small machines."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from pathlib import Path

import pytest

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.decision_table import SIZED, Line, Row, chosen
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.collectives.equivalents.decisions import decided
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.machine import NetworkModel, parse_machine
from searchspace.platform import Resolved, resolve
from workers.collective_times import Asked, one_call, simulate_collectives
from workers.decision_tables import candidates, decide_collectives
from workers.simulator_client import Simulator

RING = Configuration({"topology": "ring"})


def cluster(model: NetworkModel) -> Resolved:
    described = {"nodes": 8, "degree": 2, "host_speed": "10Gf", "link_bandwidth": "10Gbps"}
    return resolve(RING, parse_machine(described).simulated_by(model), 8)


@pytest.mark.parametrize("model", ["fluid", "packets"])
def test_a_table_is_as_fast_as_it_says_when_the_simulator_follows_it(
    model: NetworkModel, tmp_path: Path
) -> None:
    on, target = cluster(model), TARGETS["openmpi-4.1"]
    sizes = {name: dict.fromkeys((4, 8), (64, 40000)) for name in SIZED}
    found = decide_collectives(on, target, sizes)

    assert set(found.table) == set(SIZED)
    for name, ranks, size in itertools.product(SIZED, (4, 8), (64, 40_000)):
        trace = tmp_path / f"{name}-{ranks}-{size}.ht"
        header = TraceHeader(ranks=ranks, program=name)
        write_trace(trace, header, [one_call(name, ranks, size)] * ranks)
        request = on.simulator_request()
        request["applications"][0]["hosts"] = list(range(ranks))
        request["options"][f"smpi/{name}"] = decided(found.table[name], name, target.selector)
        with Simulator([trace]) as simulator:
            answer = simulator.evaluate(request)
        at = found.times[name][ranks][size]
        assert answer["simulated_time"] == at[chosen(found.table[name], ranks, size)]


def test_something_is_gained_and_nothing_lost() -> None:
    on, target = cluster("packets"), TARGETS["openmpi-4.1"]
    sizes = {"bcast": {8: (64, 4096, 1 << 20)}, "reduce": {8: (64, 4096, 1 << 20)}}
    found = decide_collectives(on, target, sizes)
    ratios = [
        at["default"] / at[chosen(found.table[name], 8, size)]
        for name, times in found.times.items()
        for size, at in times[8].items()
    ]
    assert min(ratios) >= 1
    assert max(ratios) > 1.2


def test_the_answer_does_not_depend_on_how_many_work_at_it() -> None:
    on, target = cluster("packets"), TARGETS["mpich-4.0"]
    sizes = {name: {2: (8, 3000), 7: (8, 3000)} for name in ("allreduce", "alltoall", "bcast")}
    told: list[int] = []
    alone = decide_collectives(on, target, sizes, done=told.append)
    together = decide_collectives(on, target, sizes, at_once=3)

    assert (alone.table, alone.times, alone.more_than) == (
        together.table,
        together.times,
        together.more_than,
    )
    assert told == list(range(1, 7))


def test_what_takes_far_longer_is_given_up_and_said_to_take_at_least_so_long() -> None:
    asked = Asked("bcast", 8, (1 << 19, 1 << 20), ("flattree", "NTSL"), "openmpi-4.1")
    (found,) = simulate_collectives(cluster("packets"), [asked])
    fastest = found.seconds[1 << 20]["NTSL"]
    assert found.more_than[1 << 20].keys() == {"flattree"}
    assert found.more_than[1 << 20]["flattree"] > 2.9 * fastest


def test_more_ranks_than_cores_are_refused() -> None:
    asked = Asked("bcast", 9, (8,), ("flattree",), "openmpi-4.1")
    with pytest.raises(InvalidInput, match="not 9"):
        simulate_collectives(cluster("fluid"), [asked])


@pytest.mark.parametrize(
    "target", [name for name, one in TARGETS.items() if one.format in DECISION_FILES]
)
def test_every_communicator_gets_what_works_there_in_the_library_too(target: str) -> None:
    library = TARGETS[target]
    sizes = {name: dict.fromkeys((4, 8), (64, 40_000)) for name in ("allgather", "bcast")}
    found = decide_collectives(cluster("fluid"), library, sizes, worth=0)
    for (name, rows), ranks, size in itertools.product(
        found.table.items(), range(1, 33), (1, 64, 40_000, 1 << 20)
    ):
        algorithm = chosen(rows, ranks, size)
        if algorithm != "default":
            assert COLLECTIVES[name].algorithms[algorithm].invalid(ranks) is None
            assert library.equivalent(name, algorithm, (ranks,)).kind == "same"


def test_open_mpi_does_not_choose_by_sizes_that_ranks_may_see_differently() -> None:
    sizes = {name: {8: (64, 4096, 1 << 20)} for name in ("gather", "scatter")}
    found = decide_collectives(cluster("packets"), TARGETS["openmpi-4.1"], sizes)
    for rows in found.table.values():
        assert [len(row.lines) for row in rows] == [1] * len(rows)


def test_the_order_of_ranks_is_kept_unless_it_does_not_matter() -> None:
    sizes = {name: {8: (8, 1 << 20)} for name in ("allreduce", "reduce", "reduce_scatter")}
    target = TARGETS["openmpi-4.1"]

    def named(non_commutative: Collection[str] | None) -> set[tuple[str, str]]:
        found = decide_collectives(
            cluster("packets"), target, sizes, non_commutative=non_commutative
        )
        return {
            (name, line.algorithm)
            for name, rows in found.table.items()
            for row in rows
            for line in row.lines
        }

    kept = {(name, one) for name, names in target.in_order.items() for one in names}
    kept |= {(name, "default") for name in sizes}
    falls_back = {(name, one) for name, names in target.falls_back.items() for one in names}
    falls_back.add(("allreduce", "rab_rdb"))  # Rabenseifner's too
    assert named([*sizes]) <= kept
    assert named(None) <= kept | falls_back
    assert not named([]) <= kept | falls_back
    assert "rab" in candidates(target, "allreduce", 8, None)
    assert "rab" not in candidates(target, "allreduce", 8, ["allreduce"])
    assert "lr" in candidates(target, "allreduce", 8, ["reduce"])


def test_mpichs_file_says_nothing_of_operations_that_do_not_commute() -> None:
    target = TARGETS["mpich-4.0"]
    assert "rab_rdb" in candidates(target, "allreduce", 8, None)
    assert candidates(target, "allreduce", 8, ["allreduce"]) == ()
    rows = (Row(8, (Line(0, "rab_rdb"),)),)
    commuting, _, other = decided(rows, "allreduce", "mpich-4.0").partition("|")
    assert "8:0=rab_rdb" in commuting
    assert other == "2:0=rdb"
    rows = (Row(8, (Line(0, "rdb"),)),)
    both = decided(rows, "allreduce", "openmpi-4.1").split("|")
    assert ["8:0=rdb" in one.split(";") or ";8:0=rdb," in one for one in both] == [True, True]


def test_a_call_is_simulated_with_its_kind_of_operation() -> None:
    """Open MPI by itself takes Rabenseifner's algorithm for operations that commute alone."""
    sizes = {"allreduce": {8: (1 << 16,)}}
    commuting, other = (
        decide_collectives(
            cluster("packets"), TARGETS["openmpi-4.1"], sizes, non_commutative=named
        ).times["allreduce"][8][1 << 16]
        for named in ((), ("allreduce",))
    )
    assert commuting["default"] == commuting["rab"]
    assert other["default"] == other["rdb"] != commuting["default"]


def test_where_the_librarys_own_choice_fails_it_is_left_to_it_and_told() -> None:
    sizes = {"bcast": {2: (8, 32_768)}}
    found = decide_collectives(cluster("packets"), TARGETS["intelmpi-2021"], sizes)
    assert list(found.failed) == [("bcast", 2, 32_768)]
    assert found.times["bcast"][2][32_768] == {}
    assert chosen(found.table["bcast"], 2, 32_768) == "default"
