"""Studies of mappings: their machines, what ranks exchange in them, and queues of messages."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cli.__main__ import main
from searchspace.formats.operations import encode
from searchspace.formats.patterns import Pattern
from searchspace.formats.trace import RankBlock, TraceHeader, write_trace
from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.kernels import hop_distances
from searchspace.mapping import MAPPERS
from searchspace.traffic import Traffic
from searchspace.validation import check
from studies.laboratory import Laboratory
from studies.mappers_in_time import standings
from studies.mapping_cases import METHODS, Case, on_cores
from studies.mapping_machines import CoreMachine, fragmented, torus_extents
from studies.mapping_patterns import (
    crankshaft,
    engine,
    hierarchical,
    kkt,
    partitioned,
    refined_mesh,
    stencil,
)
from studies.queues import Cluster, Messages, Waiting, of_pattern, of_trace, serve
from studies.soryani_workloads import synthetic_workloads
from studies.wu_cases import MACHINES, PATTERNS, Platform, traffic


@pytest.mark.parametrize(
    "machine",
    [
        HopMachine.uniform(Tree((3, 2))),
        HopMachine.uniform(Tree((2,)), 6, (3, 2)),
        HopMachine(Tree((2, 2)), (4, 0, 4, 2), (2, 2)),
        HopMachine.uniform(Grid((3, 4), wrapped=True), 4, (2, 2)),
        HopMachine(Grid((2, 3), wrapped=False), (2, 0, 2, 2, 0, 1), (2,)),
    ],
    ids=["tree", "tree inside", "part of a tree", "torus", "part of a mesh"],
)
def test_cores_are_as_far_apart_in_the_simulated_network_as_for_mappers(
    machine: HopMachine,
) -> None:
    network = CoreMachine("m", machine, {}).network
    places = np.arange(machine.places, dtype=np.uint32)
    seen = hop_distances(network.nodes, network.edges)
    assert network.hosts == machine.places
    assert (machine.hops.table(places, places) == seen[: len(places), : len(places)]).all()


def test_cores_of_hosts_that_are_alike_meet_in_their_host() -> None:
    network = CoreMachine("m", HopMachine.uniform(Grid((2, 2), wrapped=False), 4), {}).network
    assert (network.hosts, network.switches) == (16, 4)


def test_cables_grow_towards_the_root_of_a_fat_tree() -> None:
    tree = HopMachine.uniform(Tree((2, 3)), 4, (2, 2))
    network = CoreMachine("m", tree, {}, cables=(9, 5), inner=(3, 2)).network
    widths = defaultdict(list)
    for edge, width in zip(network.edges, network.widths, strict=True):
        widths[width].append(edge)
    assert {width: len(edges) for width, edges in widths.items()} == {9: 2, 5: 6, 3: 12, 2: 24}


@given(st.integers(1, 60), st.data())
def test_a_fragmented_allocation_has_the_hosts_that_are_wanted(
    hosts: int, data: st.DataObject
) -> None:
    wanted = data.draw(st.integers(1, hosts))
    runs = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    chosen = fragmented(hosts, wanted, runs)
    assert len(set(chosen)) == wanted
    assert list(chosen) == sorted(chosen)
    assert 0 <= chosen[0] <= chosen[-1] < hosts


def test_the_most_cubic_torus() -> None:
    assert [torus_extents(n) for n in (8, 64, 96, 512)] == [
        (2, 2, 2),
        (4, 4, 4),
        (6, 4, 4),
        (8, 8, 8),
    ]


def test_a_stencil_has_the_neighbours_of_a_grid() -> None:
    assert stencil((2, 2), 5).to_dense().tolist() == [
        [0, 10, 10, 0],
        [10, 0, 0, 10],
        [10, 0, 0, 10],
        [0, 10, 10, 0],
    ]


@pytest.mark.parametrize("make", [crankshaft, engine])
def test_meshes_have_about_the_points_that_are_asked_for(make: Callable[[int], Traffic]) -> None:
    mesh = make(3000)
    assert mesh.ranks == pytest.approx(3000, rel=0.35)
    assert np.diff(mesh.first).max() <= 26


def test_states_are_coupled_to_multipliers_only() -> None:
    matrix = kkt(3).to_dense()
    assert not matrix[:27, :27].any()
    assert matrix[13, 27:].sum() == 7  # the point in the middle: its own multiplier and six more


def test_owners_send_a_row_once_to_each_part_that_needs_it() -> None:
    chain = stencil((16,), 1)
    exchanged = partitioned(chain, 4, bytes_a_row=8, seed=0)
    assert sorted(exchanged.pairs[2].tolist()) == [16, 16, 16]  # a row each way over every cut


def test_ranks_of_a_refined_mesh_have_few_partners() -> None:
    mesh = refined_mesh(64, cells=8, bytes_a_face=1, seed=3)
    assert mesh.ranks == 64
    assert 3 <= np.diff(mesh.first).mean() <= 16


def test_the_hierarchy_of_a_synthetic_matrix_is_clear() -> None:
    sizes = np.sort(hierarchical(8, seed=2).pairs[2])
    assert (sizes[-4:].min() > 3 * sizes[12:24].max()) or sizes[-4:].min() > sizes[:-4].max()
    assert sizes[-12:].min() > sizes[:16].max()


def one_by_one(messages: Messages, places: NDArray[np.int64], cluster: Cluster) -> Waiting:
    """The same as `serve`, event by event."""
    free: dict[tuple[str, int], float] = defaultdict(float)
    memory = interface = end = 0.0
    events: list[tuple[float, int, int]] = []
    routes = []
    for index in range(len(messages.sent)):
        here = int(places[messages.sender[index]])
        there = int(places[messages.receiver[index]])
        size = float(messages.length[index])
        inside, wire = size / cluster.memory, size / cluster.interface
        first = (("memory", here // cluster.socket), inside, 0.0)
        last = (("memory", there // cluster.socket), inside, 0.0)
        if here // cluster.cores == there // cluster.cores:
            routes.append([first, last])
        else:
            out = (("out", here // cluster.cores), wire, cluster.switch)
            routes.append([first, out, (("in", there // cluster.cores), wire, 0.0), last])
        heapq.heappush(events, (float(messages.sent[index]), index, 0))
    while events:
        now, index, step = heapq.heappop(events)
        server, service, then = routes[index][step]
        begins = max(now, free[server])
        if server[0] == "memory":
            memory += begins - now
        else:
            interface += begins - now
        free[server] = begins + service
        end = max(end, free[server])
        if step + 1 < len(routes[index]):
            heapq.heappush(events, (free[server] + then, index, step + 1))
    return Waiting(memory, interface, end)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), busy=st.sampled_from((0.2, 1.0, 5.0)))
def test_queues_settle_to_what_events_one_by_one_give(seed: int, busy: float) -> None:
    draw = np.random.default_rng(seed)
    count, ranks = 120, 16
    messages = Messages(
        draw.random(count) / busy,
        draw.integers(1, 10**8, count),
        draw.integers(0, ranks, count),
        draw.integers(0, ranks, count),
    )
    cluster = Cluster(cores=4, socket=2)
    places = draw.permutation(ranks)
    found, expected = serve(messages, places, cluster), one_by_one(messages, places, cluster)
    for got, wanted in zip(
        (found.memory, found.interface, found.end),
        (expected.memory, expected.interface, expected.end),
        strict=True,
    ):
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_a_broadcast_waits_at_the_interface_of_its_root_when_it_is_spread() -> None:
    pattern = check(
        Pattern, {"pattern": "bcast", "ranks": 8, "size": "2MB", "rate": 100.0, "count": 5}
    )
    messages = of_pattern(pattern, seed=1)
    assert len(messages.sent) == 7 * 5
    packed = serve(messages, np.arange(8), Cluster())
    spread = serve(messages, np.arange(8) * 16, Cluster())
    assert packed.interface == 0 < spread.interface
    assert packed.end < spread.end


def test_messages_of_a_trace_are_sent_when_its_computation_gets_there(tmp_path: Path) -> None:
    bodies = [
        encode("compute", flops=2e9)
        + encode("send", peer=1, count=3, size=8)
        + encode("alltoall", send_count=2, send_size=4, recv_count=2, recv_size=4)
        + encode("finalize"),
        encode("recv", peer=0, count=3, size=8)
        + encode("alltoall", send_count=2, send_size=4, recv_count=2, recv_size=4)
        + encode("finalize"),
    ]
    header = TraceHeader(ranks=2, program="p", captured_by="synthetic", host_speed=None)
    write_trace(
        tmp_path / "p.ht", header, [RankBlock(b, n) for b, n in zip(bodies, (4, 3), strict=True)]
    )
    found = of_trace(tmp_path / "p.ht", 1e9)
    rows = sorted(
        zip(
            *(each.tolist() for each in (found.sent, found.length, found.sender, found.receiver)),
            strict=True,
        )
    )
    assert rows == [(0.0, 8, 1, 0), (2.0, 8, 0, 1), (2.0, 24, 0, 1)]


def test_applications_of_a_workload_share_its_machine(tmp_path: Path) -> None:
    pattern = check(
        Pattern, {"pattern": "linear", "ranks": 2, "size": "2MB", "rate": 100.0, "count": 3}
    )
    machine = CoreMachine(
        "m",
        HopMachine.uniform(Tree((2,)), 4, (2, 2)),
        {"host_speed": "1Gf", "link_bandwidth": "1GBps", "model": "plain"},
    )
    with Laboratory(tmp_path, quick=True, seed=1, say=lambda _line: None) as laboratory:
        alone = laboratory.pattern(pattern)
        both = laboratory.workload([alone, alone])
        apart = both.finish_times(machine.network, machine.quantities, (0, 1, 2, 3))
        crowded = both.finish_times(machine.network, machine.quantities, (0, 4, 1, 5))
        again = both.finish_times(machine.network, machine.quantities, (0, 4, 1, 5))
        seconds = alone.time(machine.network, machine.quantities, hosts=(0, 1))
        assert alone.time_within(machine.network, machine.quantities, (0, 1), seconds / 2) is None
        within = alone.time_within(machine.network, machine.quantities, (0, 1), None)
    assert crowded == again
    assert max(apart) < max(crowded)
    assert apart == pytest.approx((seconds, seconds))
    assert within == seconds


def test_what_is_exchanged_at_once_takes_as_long_as_its_bytes(tmp_path: Path) -> None:
    machine = CoreMachine(
        "m",
        HopMachine.uniform(Tree((2,))),
        {"host_speed": "1Gf", "link_bandwidth": "1GBps", "model": "plain"},
    )
    with Laboratory(tmp_path, quick=True, seed=1, say=lambda _line: None) as laboratory:
        exchange = laboratory.exchange(Traffic.from_pairs(2, [0], [1], [2_000_000]), rounds=2)
        seconds = exchange.time(machine.network, machine.quantities)
        assert exchange.traffic.total == 4_000_000
    assert seconds == pytest.approx(2e-3, rel=0.1)


def small_case(laboratory: Laboratory) -> Case:
    machine = CoreMachine(
        "m",
        HopMachine.uniform(Tree((2,)), 4, (2, 2)),
        {"host_speed": "1Gf", "link_bandwidth": "1GBps", "model": "plain"},
    )
    exchanged = Traffic.from_pairs(4, [0, 1], [3, 2], [4_000_000, 4_000_000])
    return on_cores("pairs", laboratory.exchange(exchanged), machine)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    directory = tmp_path_factory.mktemp("laboratory")
    with Laboratory(directory, quick=True, seed=1, say=lambda _line: None) as shared:
        yield shared


def test_every_mapper_has_a_place_in_the_comparison() -> None:
    assert {method.mapper for method in METHODS.values()} == set(MAPPERS)


def test_a_case_is_refined_by_its_simulated_time(laboratory: Laboratory) -> None:
    case = small_case(laboratory)
    apart = np.array([0, 1, 4, 5], dtype=np.uint32)  # both pairs cross the cables of the hosts
    refined = case.refined([apart], evaluations=40, seed=0).places
    assert case.seconds(refined) < 0.7 * case.seconds(apart)
    assert case.measure(apart, case.seconds(refined)) is None


def test_mappers_are_held_against_the_fastest_of_them(laboratory: Laboratory) -> None:
    (standing,) = standings(iter([("g", small_case(laboratory))]), evaluations=40, seed=1)
    plain = {name: ratio for name, ratio in standing.ratios.items() if name in METHODS}
    assert "recursive-bipartition" not in plain  # a tree has no coordinates
    assert min(plain.values()) == 1 == plain[standing.best]
    assert plain["cyclic"] > 1.5
    refined = [ratio for name, ratio in standing.ratios.items() if name not in METHODS]
    assert len(refined) == 2
    assert max(refined) <= 1


@pytest.mark.parametrize("platform", MACHINES, ids=lambda platform: platform.name)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_wus_processes_fit_their_machines(platform: Platform, pattern: str) -> None:
    machine = platform.machine(96)
    assert machine.hops.places >= 96
    exchanged = traffic(pattern, 96, quick=True, seed=1)
    assert exchanged.ranks == 96
    assert exchanged.total > 0
    for mapper in (platform.default, "recursive-tree", "auto"):
        assert METHODS[mapper].places_of(exchanged, machine.hops, 0) is not None


def test_a_contention_free_mapping_spares_the_interface_of_a_linear_job(
    laboratory: Laboratory,
) -> None:
    (work,) = synthetic_workloads(laboratory, ["Linear"], queued=200, played=1000)
    assert work.traffic.ranks == 256
    cyclic = METHODS["cyclic"].places(work.case, 0)
    assert cyclic is not None
    new = work.contention_free("new")
    assert sorted(set(new.tolist())) == list(range(256))
    assert work.waiting(new).interface < work.waiting(cyclic).interface
    ends = work.finish_times(new)
    assert len(ends) == 8
    assert max(ends) <= max(work.finish_times(cyclic))
    assert work.case.seconds(new) == max(ends)


def test_overheads_of_mappings_from_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["study", "wu-tables-5-7", "--quick", "--json", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--data", str(tmp_path / "data")]) == 0

    document = json.loads(capsys.readouterr().out)
    assert [table["title"].partition(":")[0] for table in document["tables"]] == [
        "Table 5",
        "Table 6",
        "Table 7",
    ]
    ours, paper = document["tables"][0]["rows"][:2]
    assert ours[:2] == ["RT:inter+intra", "ours"]
    assert paper[1:] == ["paper", 0.003, 0.007, 0.027]
    assert all(seconds > 0 for seconds in ours[2:])
    assert (tmp_path / "out" / "wu-tables-5-7-table-6.svg").exists()
