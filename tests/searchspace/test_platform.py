"""From configurations to what the simulator runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.machines import designed
from searchspace.collectives import WORLD
from searchspace.configuration import Configuration, sha256_of
from searchspace.errors import InvalidInput
from searchspace.machine import SMPI_DEFAULT, Machine, parse_machine
from searchspace.mapping import MAPPERS
from searchspace.ordering import order
from searchspace.platform import Infeasible, complete, evaluation_key, resolve
from searchspace.topology import FAMILIES, generate
from searchspace.traffic import Traffic


def machine(**change: Any) -> Machine:
    document = designed(16, 4)  # fmt: skip
    return parse_machine(document | change)


def configuration(**values: Any) -> Configuration:
    return Configuration.from_json(values)


def test_a_full_configuration() -> None:
    chosen = configuration(
        topology="random",
        topology_seed=3,
        ordering="hamorder",
        mapping="round-robin",
        mpi="ompi",
        collectives={"alltoall": "bruck", "bcast": "default"},
    )
    resolved = resolve(chosen, machine(cores_per_host=2), 32)
    network = generate("random", 16, degree=4, seed=3)
    assert resolved.network == network.relabel(order("hamorder", network))
    assert resolved.rank_hosts == tuple(rank % 16 for rank in range(32))
    assert dict(resolved.options) == {
        "network/model": "SMPI",
        "smpi/alltoall": "bruck",
        "smpi/coll-selector": "ompi",
        # SimGrid's own calibration, said since 4.1 sets it later than 3.32 does
        "smpi/bw-factor": SMPI_DEFAULT.bandwidth_factor,
        "smpi/lat-factor": SMPI_DEFAULT.latency_factor,
    }


def test_algorithms_by_size_are_rules_on_top_of_what_the_library_chooses() -> None:
    chosen = configuration(
        topology="torus-2d",
        mpi="mpich",
        collectives={"bcast": "default", "bcast@4096": "NTSL", "bcast@65536": "NTSL"},
    )
    assert complete(chosen, machine())["collectives.bcast@4096"] == "NTSL"
    assert [n for n in complete(chosen, machine()) if "bcast" in n] == ["collectives.bcast@4096"]
    assert resolve(chosen, machine(), 16).options["smpi/bcast"] == "rules:2:0=mpich,4096=NTSL"
    same = configuration(topology="torus-2d", collectives={"bcast": "NTSL", "bcast@9": "NTSL"})
    assert resolve(same, machine(), 16).options["smpi/bcast"] == "NTSL"


def test_each_range_of_sizes_is_checked() -> None:
    pair = configuration(topology="random", collectives={"alltoall@8": "pair"})
    with pytest.raises(Infeasible, match=r"collectives\.alltoall: pair needs a power of two ranks"):
        resolve(pair, machine(), 6)
    table = configuration(topology="random", collectives={"alltoall@8": "openmpi-4.1"})
    with pytest.raises(Infeasible, match=r"openmpi-4\.1 decides all sizes itself"):
        resolve(table, machine(), 6)
    unsized = configuration(topology="random", collectives={"barrier@8": "ompi_bruck"})
    with pytest.raises(InvalidInput, match="COLLECTIVE@BYTES"):
        resolve(unsized, machine(), 6)


def test_the_request_to_the_simulator() -> None:
    resolved = resolve(configuration(topology="torus-2d"), machine(), 16)
    request = resolved.simulator_request()
    assert request["platform"] == {
        "hosts": 16,
        "cores": 1,
        "host_speed": 100e9,
        "edges": [list(edge) for edge in generate("torus-2d", 16).edges],
        "link_bandwidth": 5e9,
        "link_latency": 0.0,
        "switch_latency": 60e-9,
        "switch_bandwidth": None,
        "loopback_bandwidth": 10e9,
        "loopback_latency": 0.0,
        "tie_rule": "lowest-id",
    }
    assert request["applications"] == [{"trace": 0, "hosts": list(range(16)), "start": 0.0}]
    assert request["options"] == {
        "network/model": "SMPI",
        "smpi/bw-factor": SMPI_DEFAULT.bandwidth_factor,
        "smpi/lat-factor": SMPI_DEFAULT.latency_factor,
    }


def test_the_model_factors_are_options() -> None:
    plain = resolve(configuration(topology="mesh-2d"), machine(model="plain"), 4).options
    assert (plain["smpi/bw-factor"], plain["smpi/lat-factor"]) == ("0:1.0", "0:1.0")
    factors = {"bandwidth_factor": "0:0.5;1000:0.9", "latency_factor": 2}
    measured = resolve(configuration(topology="mesh-2d"), machine(model=factors), 4).options
    assert measured["smpi/bw-factor"] == "0:0.5;1000:0.9"


@pytest.mark.parametrize("network", ["packets", "auto"])
def test_packets_go_by_their_protocol_and_no_factors(network: str) -> None:
    on = machine(network=network, protocol={"name": "verbs", "mtu": "2KiB"})
    packets = resolve(configuration(topology="torus-2d"), on, 16).simulator_request()
    fluid = resolve(
        configuration(topology="torus-2d"), on.simulated_by("fluid"), 16
    ).simulator_request()
    assert packets["platform"] == fluid["platform"] | {
        "packets": {
            "switching": "cut-through",
            "mtu": 2048,
            "header": 0,
            "framing": 26,
            "message_header": 22,
            "control_bytes": 64,
            "eager_limit": 12_288,
            "send_buffer": 0,
            "exchange": "full",
            "exchange_above": 65_480,
            "trains": 64,
            "turn": 0,
            "buffer": None,
            "burst": 0,
            "send_overhead": [],
            "isend_overhead": [],
            "receive_overhead": [],
            "peer_overhead": 0.0,
        }
    }
    assert packets["options"] == {"network/model": "SMPI"}
    assert "packets" not in fluid["platform"]


def test_the_key_is_that_of_the_model_which_evaluates() -> None:
    chosen = configuration(topology="torus-2d")

    def key(**change: Any) -> str:
        return evaluation_key("t", machine(**change), chosen, "1")

    assert key(network="auto") == key(network="packets") == key(network="auto", model="plain")
    assert key(network="fluid") == key() != key(model="plain")
    assert key() != key(network="packets") != key(network="packets", protocol="verbs")


def test_a_given_network_is_the_default_topology() -> None:
    ring = machine(nodes=3, topology={"edges": [[0, 1], [1, 2], [0, 2]]})
    assert resolve(configuration(), ring, 3).edges == ((0, 1), (0, 2), (1, 2))
    assert complete(configuration(), ring)["topology"] == "given"


@pytest.mark.parametrize(
    ("values", "ranks", "message"),
    [
        ({}, 4, "topology: is required; allowed: random, mesh-2d"),
        ({"topology": "rung"}, 4, "topology: unknown topology 'rung'; allowed: random"),
        ({"topology": "given"}, 4, "topology: the machine has no network of its own"),
        ({"topology": "random", "topology_seed": -1}, 4, "topology_seed: must be a whole"),
        ({"topology": "random", "order": "original"}, 4, "order: unknown parameter; allowed:"),
        ({"topology": "random", "ordering": "best"}, 4, "ordering: unknown ordering 'best'"),
        ({"topology": "random", "mapping": "best"}, 4, "mapping: unknown mapping 'best'"),
        ({"topology": "random", "mpi": "lam"}, 4, "mpi: unknown MPI implementation 'lam'"),
        ({"topology": "random"}, 17, "mapping: 17 ranks do not fit on 16 hosts of 1 cores"),
        (
            {"topology": "random", "collectives": {"alltoall": "brock"}},
            4,
            "collectives.alltoall: unknown algorithm 'brock'; allowed: default, basic_linear",
        ),
        (
            {"topology": "random", "collectives": {"alltol": "bruck"}},
            4,
            "collectives.alltol: unknown parameter",
        ),
    ],
)
def test_refuses(values: dict[str, Any], ranks: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        resolve(configuration(**values), machine(), ranks)


def test_what_exists_but_cannot_run_is_infeasible() -> None:
    with pytest.raises(Infeasible, match="topology: mesh-2d: 13 is not a product of 2 extents"):
        resolve(configuration(topology="mesh-2d"), machine(nodes=13), 4)
    pair = configuration(topology="random", collectives={"alltoall": "pair"})
    with pytest.raises(Infeasible, match=r"collectives\.alltoall: pair needs a power of two ranks"):
        resolve(pair, machine(), 6)
    wrong = configuration(topology="random", collectives={"alltoall": "pair_rma"})
    with pytest.raises(Infeasible, match="gives wrong data"):
        resolve(wrong, machine(), 4)


def test_the_choice_of_an_implementation_is_checked_for_collectives_that_are_called() -> None:
    intel = configuration(topology="random", mpi="impi")
    assert resolve(intel, machine(), 7).options["smpi/coll-selector"] == "impi"
    with pytest.raises(Infeasible, match=r"collectives\.bcast: impi may choose SMP_linear"):
        resolve(intel, machine(), 7, collectives={"bcast": WORLD})


def test_an_algorithm_is_checked_on_the_communicators_that_call_it() -> None:
    pair = configuration(topology="random", collectives={"alltoall": "pair"})
    halves = {"alltoall": ((0, 1), (2, 3))}
    assert resolve(pair, machine(), 6, collectives=halves).options["smpi/alltoall"] == "pair"
    with pytest.raises(Infeasible, match=r"not 3 \(in a communicator of 3 ranks\)"):
        resolve(pair, machine(), 6, collectives={"alltoall": ((0, 1), (2, 3, 4))})


def test_the_mapping_decides_for_each_communicator() -> None:
    """Ranks 0 and 1 share a host, ranks 0 and 2 do not."""
    linear = configuration(topology="random", mapping="packed", collectives={"bcast": "SMP_linear"})
    shared = machine(cores_per_host=2)
    assert resolve(linear, shared, 4, collectives={"bcast": ((0, 1),)})
    with pytest.raises(Infeasible, match="needs hosts with more than one rank"):
        resolve(linear, shared, 4, collectives={"bcast": ((0, 2),)})


def test_equal_runs_have_equal_keys_and_others_do_not() -> None:
    def key(values: dict[str, Any], trace: str = "t", version: str = "1", **change: Any) -> str:
        return evaluation_key(trace, machine(**change), configuration(**values), version)

    short = {"topology": "random"}
    full = {
        "topology": "random", "topology_seed": 0, "ordering": "original", "mapping": "by-order",
        "mpi": "default", "collectives": {"alltoall": "default"},
    }  # fmt: skip
    assert key(short) == key(full)
    assert key({"topology": "torus-2d", "topology_seed": 5}) == key({"topology": "torus-2d"})
    others = [
        key(short, trace="u"),
        key(short, version="2"),
        key(short, model="plain"),
        key(short, degree=6),
        key(short | {"topology_seed": 1}),
        key(short | {"collectives": {"alltoall": "bruck"}}),
    ]
    assert len({key(short), *others}) == 7


def test_a_key_is_the_digest_of_the_canonical_json_of_all_that_counts() -> None:
    """Caches outlive versions of the program: the form may not change."""
    chosen = complete(configuration(topology="random", mapping="packed"), machine())
    everything = {
        "trace": "t",
        "machine": machine().canonical(),
        "configuration": chosen.to_dict(),
        "simulator": "1",
    }
    assert evaluation_key("t", machine(), chosen, "1") == sha256_of(everything)


@pytest.mark.parametrize(
    ("values", "looks"),
    [
        ({"topology": "random"}, False),
        ({"topology": "tailored"}, True),
        ({"topology": "random", "mapping": "treematch"}, True),
    ],
)
def test_what_looks_at_the_whole_program_has_another_key_where_a_part_of_it_is_simulated(
    values: dict[str, Any], looks: bool
) -> None:
    def key(whole: str | None) -> str:
        return evaluation_key("part", machine(), configuration(**values), "1", whole)

    assert key(None) == key("part")
    assert (key("part") != key("whole")) is looks


def test_a_family_that_builds_other_networks_now_has_other_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key() -> str:
        return evaluation_key("t", machine(), configuration(topology="random"), "1")

    before = key()
    changed = dataclasses.replace(FAMILIES["random"], version=7)
    monkeypatch.setitem(FAMILIES, "random", changed)
    assert key() != before


def test_a_mapper_that_places_ranks_otherwise_now_has_other_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key() -> str:
        return evaluation_key(
            "t", machine(), configuration(topology="random", mapping="greedy"), "1"
        )

    before = key()
    changed = dataclasses.replace(MAPPERS["greedy"], version=7)
    monkeypatch.setitem(MAPPERS, "greedy", changed)
    assert key() != before


FAT_TREE = {
    "switches": 3,
    "edges": [[0, 4], [1, 5], [2, 4], [3, 5], [4, 6, 2], [5, 6]],
    "host_names": ["a", "b", "c", "d"],
}


def test_hosts_on_switches() -> None:
    given = machine(nodes=4, topology=FAT_TREE, host_link_bandwidth="10Gbps", tie_rule="spread")
    request = resolve(configuration(), given, 4).simulator_request()["platform"]
    assert (request["hosts"], request["switches"]) == (4, 3)
    assert request["edges"] == FAT_TREE["edges"]
    assert request["host_link_bandwidth"] == 1.25e9
    assert given.canonical()["topology"] == FAT_TREE
    assert given.host_names == ("a", "b", "c", "d")


def test_an_ordering_of_switches_takes_their_hosts_along() -> None:
    given = machine(nodes=4, topology=FAT_TREE)
    ordered = resolve(configuration(ordering="hamorder"), given, 4).network
    first, second = ordered.neighbors[0], ordered.neighbors[1]
    assert first == second
    assert ordered.hosts == 4
    assert resolve(configuration(), given, 4).network == given.given_network


def test_a_machine_keeps_its_identity_when_nothing_of_it_changes() -> None:
    """Cached results are stored under it."""
    ring = machine(nodes=3, topology={"edges": [[0, 1], [1, 2], [0, 2]]})
    assert machine().sha256.startswith("4f4accc573af5687")
    assert ring.sha256.startswith("a491699d24ee6b39")


def test_parameters_of_families() -> None:
    chosen = configuration(
        topology="mesh-2d", **{"mesh-2d": {"dims": "8x2"}, "dragonfly": {"routers": 4}}
    )
    assert resolve(chosen, machine(), 16).network == generate("mesh-2d", 16, dims="8,2")
    whole = complete(chosen, machine())
    assert whole["mesh-2d.dims"] == "8,2"
    assert "dragonfly.routers" not in whole  # of a family that is not chosen
    plain = configuration(topology="mesh-2d", **{"mesh-2d": {"hosts_per_switch": 0}})
    assert complete(plain, machine()) == complete(configuration(topology="mesh-2d"), machine())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dims": "big"}, r"mesh-2d\.dims: must be whole numbers"),
        ({"k": 3}, r"mesh-2d\.k: unknown parameter of mesh-2d; allowed: dims, hosts_per_switch"),
    ],
)
def test_wrong_parameters_of_families(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        resolve(configuration(topology="mesh-2d", **{"mesh-2d": options}), machine(), 4)


def test_families_whose_hosts_are_on_switches() -> None:
    request = resolve(configuration(topology="fat-tree"), machine(), 16).simulator_request()
    assert (request["platform"]["hosts"], request["platform"]["switches"]) == (16, 20)


def ring_traffic(_algorithms: Mapping[str, str]) -> Traffic:
    return Traffic.from_pairs(4, [0, 2], [2, 1], [100, 100])


def test_a_mapper_sees_the_network_and_the_traffic() -> None:
    line = machine(nodes=4, topology={"edges": [[0, 1], [1, 2], [2, 3]]})
    chosen = configuration(mapping="mpipp", mappers={"mpipp": {"starts": 5}})

    found = resolve(chosen, line, 4, traffic=ring_traffic).rank_hosts

    assert abs(found[0] - found[2]) == abs(found[2] - found[1]) == 1
    with pytest.raises(InvalidInput, match="looks at what ranks exchange"):
        resolve(chosen, line, 4)


def test_options_of_mappers_have_one_form() -> None:
    ring = machine(nodes=3, topology={"edges": [[0, 1], [1, 2], [0, 2]]})
    plain = complete(configuration(mapping="mpipp"), ring)

    assert plain["mappers.mpipp.starts"] == 1
    told = configuration(mapping="mpipp", mappers={"mpipp": {"starts": 1}, "treematch": {"x": 1}})
    assert complete(told, ring) == plain
    with pytest.raises(InvalidInput, match="no such option") as refused:
        complete(configuration(mapping="mpipp", mappers={"mpipp": {"ends": 1}}), ring)
    assert refused.value.field == "mappers.mpipp.ends"


@pytest.mark.parametrize("topology", ["torus-2d", "torus-3d", "mesh-2d", "mesh-3d"])
def test_a_torus_in_its_own_order_is_known_as_one(topology: str) -> None:
    chosen = configuration(topology=topology, mapping="geometric")
    stencil = generate(topology.replace("torus", "mesh"), 12)
    low, high = zip(*stencil.edges, strict=True)
    traffic = Traffic.from_pairs(12, low, high, [1] * len(low))

    resolved = resolve(chosen, machine(nodes=12), 12, traffic=lambda _algorithms: traffic)

    cables = set(resolved.edges)
    hosts = resolved.rank_hosts
    assert all(tuple(sorted((hosts[u], hosts[v]))) in cables for u, v in stencil.edges)
    moved = configuration(topology=topology, mapping="geometric", ordering="bfs")
    with pytest.raises(Infeasible, match="mapping: geometric needs the coordinates"):
        resolve(moved, machine(nodes=12), 12, traffic=lambda _algorithms: traffic)


def test_a_mapping_written_out() -> None:
    ring = machine(nodes=4, cores_per_host=2, topology={"edges": [[0, 1], [1, 2], [2, 3], [0, 3]]})
    chosen = configuration(mapping="permutation", permutation=[7, 0, 6, 2])

    resolved = resolve(chosen, ring, 4)

    assert resolved.rank_hosts == (3, 0, 3, 1)
    assert resolved.where.place_hosts[resolved.places].tolist() == [3, 0, 3, 1]
    # Which core of a host makes no difference; nor does a permutation beside another mapping.
    other = configuration(mapping="permutation", permutation=[6, 1, 7, 3])
    assert complete(other, ring) == complete(chosen, ring)
    beside = configuration(mapping="by-order", permutation=[7, 0, 6, 2])
    assert complete(beside, ring) == complete(configuration(), ring)


@pytest.mark.parametrize(
    ("permutation", "message"),
    [
        ([0, 1, 2], "cores of 3 ranks, not of 4"),
        ([0, 1, 2, 2], "core 2 is given to 2 ranks"),
        ([0, 1, 2, 16], "16 is not a core; allowed: 0 to 15"),
        ([0, 1, 2, True], "True is not a core"),
        ("by-order", "must list the core of rank 0"),
        (None, "must list the core of rank 0"),
    ],
)
def test_wrong_mappings_written_out(permutation: Any, message: str) -> None:
    given = {} if permutation is None else {"permutation": permutation}
    chosen = configuration(topology="ring", mapping="permutation", **given)
    with pytest.raises(InvalidInput, match=message):
        resolve(chosen, machine(), 4)


def test_a_seed_counts_for_mappers_that_use_one() -> None:
    def hosts(mapping: str, seed: int) -> tuple[int, ...]:
        chosen = configuration(topology="ring", mapping=mapping, mapping_seed=seed)
        return resolve(chosen, machine(), 16).rank_hosts

    assert hosts("random", 1) != hosts("random", 2)
    assert hosts("random", 2) == hosts("random", 2)
    plain = configuration(topology="ring")
    assert complete(configuration(topology="ring", mapping_seed=3), machine()) == complete(
        plain, machine()
    )
    with pytest.raises(InvalidInput, match="mapping_seed: must be a whole number"):
        resolve(configuration(topology="ring", mapping="random", mapping_seed=-1), machine(), 16)


def test_a_mapper_is_told_the_algorithms_of_the_configuration() -> None:
    asked: list[Mapping[str, str]] = []

    def traffic(algorithms: Mapping[str, str]) -> Traffic:
        asked.append(algorithms)
        return Traffic.silent(16)

    for algorithm in ("rdb", "default"):
        chosen = configuration(
            topology="ring", mapping="greedy", collectives={"allreduce": algorithm}
        )
        resolve(chosen, machine(), 16, traffic=traffic)

    assert asked == [{"allreduce": "rdb"}, {}]
