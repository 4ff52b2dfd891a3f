"""What a search makes of what is known of the application: nothing twice, nothing in vain."""

from collections import deque
from dataclasses import replace
from pathlib import Path

from searchspace.collectives import WORLD
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.insight import Insight, Probes
from searchspace.insight.known import Probe
from searchspace.machine import parse_machine
from searchspace.space import EnumParameter, SearchSpace
from tuner.objective import TrialResult
from tuner.search import Point, Search

MACHINE = parse_machine(
    {"nodes": 8, "degree": 3, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}
)
SPACE = SearchSpace(
    [
        EnumParameter("topology", ("random", "torus-2d", "mesh-2d")),
        EnumParameter("mapping", ("by-order", "recursive-bipartition", "packed")),
        EnumParameter("mpi", ("mpich", "ompi")),
        EnumParameter("collectives.bcast", ("default", "binomial_tree", "flattree", "NTSL")),
    ]
)
PROBES = Probes(
    {
        "bcast": {
            ("default", "mpich"): Probe(1.0, 0),
            ("default", "ompi"): Probe(2.0, 1),
            ("binomial_tree", "mpich"): Probe(1.0, 0),
            ("binomial_tree", "ompi"): Probe(1.0, 0),
            ("flattree", "mpich"): Probe(3.0, 2),
            ("flattree", "ompi"): Probe(3.0, 2),
            ("NTSL", "mpich"): Probe(4.0, 3),
            ("NTSL", "ompi"): Probe(None, None, "it crashed"),
        }
    }
)


def insight(directory: Path) -> Insight:
    path = directory / "t.ht"
    calls = encode("bcast", count=8, size=8) + encode("finalize")
    write_trace(path, TraceHeader(ranks=8, program="p", captured_by="hand"), [calls] * 8)
    return Insight(MACHINE, 8, {"bcast": WORLD}, [path], PROBES)


def seconds(point: Point) -> float:
    return 1.0 + sum(map(ord, point.configuration.canonical_json)) % 97 / 10


def asked(told: Insight, seed: int, in_flight: int = 3) -> list[Point]:
    asked: list[Point] = []
    pending: deque[Point] = deque()
    with Search(SPACE, seed, insight=told) as search:
        while True:
            while len(pending) < in_flight and (point := search.ask()) is not None:
                asked.append(point)
                pending.append(point)
            if not pending:
                return asked
            oldest = pending.popleft()
            value = seconds(oldest)
            if value > 6.0:
                search.tell(oldest.configuration, TrialResult(None, "censored", 6.0))
            else:
                search.tell(oldest.configuration, TrialResult(value, "completed"))


def test_no_run_is_asked_twice_and_none_that_cannot_be(tmp_path: Path) -> None:
    told = insight(tmp_path)
    points = [point.configuration for point in asked(told, 1)]
    known = told.known(SPACE)
    assert all(known.infeasible(point) is None for point in points)
    identities = [known.identity(point) for point in points]
    assert len(set(identities)) == len(identities)
    everything = {known.identity(p) for p in SPACE.enumerate() if known.infeasible(p) is None}
    assert set(identities) == everything
    assert len(everything) < SPACE.size / 2


def test_the_same_is_asked_again_and_the_model_asks_it(tmp_path: Path) -> None:
    told = insight(tmp_path)
    first = asked(told, 2)
    assert asked(told, 2) == first
    assert {point.technique for point in first} <= {"Surrogate", "sampler"}
    assert first[0].technique == "Surrogate"


def test_insight_survives_its_way_to_the_process_of_the_search(tmp_path: Path) -> None:
    told = insight(tmp_path)
    again = Insight.from_json(told.to_json())
    assert again.probes == told.probes
    assert again.machine == told.machine
    assert (again.ranks, dict(again.called)) == (told.ranks, dict(told.called))


def test_where_nothing_can_run_one_point_is_handed_out_to_say_why(tmp_path: Path) -> None:
    space = SearchSpace(
        [
            EnumParameter("topology", ("random",)),
            EnumParameter("mapping", ("recursive-bipartition",)),
            EnumParameter("mpi", ("mpich", "ompi")),
        ]
    )
    with Search(space, 1, insight=insight(tmp_path)) as search:
        point = search.ask()
        assert point is not None
        search.tell(point.configuration, TrialResult(None, "infeasible"))
        assert search.ask() is None


def test_algorithms_that_hang_on_others_are_told_apart_by_name_and_places_are_still_one(
    tmp_path: Path,
) -> None:
    hanging = {key: Probe(one.seconds, None) for key, one in PROBES.entries["bcast"].items()}
    known = replace(insight(tmp_path), probes=Probes({"bcast": hanging})).known(SPACE)

    def identity(**chosen: str) -> str:
        return known.identity({**SPACE.default(), "topology": "torus-2d", **chosen})

    # A host has one core, so both mappers place ranks in the order of the hosts.
    assert identity(mapping="by-order") == identity(mapping="packed")
    apart = {
        identity(**{"mpi": mpi, "collectives.bcast": one})
        for mpi in ("mpich", "ompi")
        for one in ("default", "binomial_tree", "flattree")
    }
    assert len(apart) == 6
    assert identity(topology="mesh-2d") != identity()


def test_first_proposals_have_different_algorithms_where_probes_hardly_tell_them_apart(
    tmp_path: Path,
) -> None:
    seconds = {"default": 1.0, "binomial_tree": 1.02, "flattree": 1.04, "NTSL": 1.2}
    probes = Probes(
        {
            "bcast": {
                (name, mpi): Probe(took, number)
                for number, (name, took) in enumerate(seconds.items())
                for mpi in ("mpich", "ompi")
            }
        }
    )
    with Search(SPACE, 1, insight=replace(insight(tmp_path), probes=probes)) as search:
        points = [search.ask() for _ in range(3)]
    chosen = {point.configuration.get("collectives.bcast", "default") for point in points if point}
    assert chosen == {"default", "binomial_tree", "flattree"}


def test_of_structures_that_probes_do_not_tell_apart_the_one_with_the_least_busy_cable_is_first(
    tmp_path: Path,
) -> None:
    told = insight(tmp_path)
    structures = told.known(SPACE).structures
    first = asked(told, 3)[0].configuration
    alike = [
        point
        for point in SPACE.enumerate()
        if point["collectives.bcast"] == first["collectives.bcast"]
        and point["mpi"] == first["mpi"]
        and structures.of(point).obstacle is None
    ]
    loads = {point.canonical_json: structures.busiest(point) for point in alike}
    assert loads[first.canonical_json] == min(loads.values()) < max(loads.values())
