from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from searchspace.configuration import Configuration
from searchspace.formats.patterns import Pattern, pattern_trace
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import parse_machine
from searchspace.platform import resolve, written_out
from workers.mapping_refinement import Runs, refine_mapping
from workers.simulator_client import Simulator

MACHINE = parse_machine(
    {
        "nodes": 4,
        "cores_per_host": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
        "topology": {"edges": [[0, 1], [1, 2], [2, 3]]},
    }
)
GIVEN = Configuration.from_json({"mapping": "random", "mapping_seed": 5})


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Eight ranks, each sending to the next."""
    path = tmp_path / "chain.ht"
    pattern = Pattern.model_validate(
        {"pattern": "linear", "ranks": 8, "size": "100kB", "count": 3, "rate": 1000}
    )
    pattern_trace(pattern, path)
    return path


@pytest.fixture
def simulator(trace: Path) -> Iterator[Simulator]:
    with Simulator([trace]) as running:
        yield running


def test_a_mapping_becomes_faster_in_the_simulator(trace: Path, simulator: Simulator) -> None:
    runs = Runs(MACHINE, GIVEN, 8, TracesTraffic([trace]))
    bad = {"bad": [0, 4, 2, 6, 1, 5, 3, 7]}

    refined, start = refine_mapping(runs, simulator, starts=bad, evaluations=40, seed=1)

    chosen = written_out(GIVEN, MACHINE, refined.places.tolist())
    answer = simulator.evaluate(resolve(chosen, MACHINE, 8).simulator_request())
    assert start == "bad"
    assert answer["simulated_time"] == refined.seconds < refined.start_seconds
    assert set(chosen) == {"mapping", "permutation"}
    again, _ = refine_mapping(runs, simulator, starts=bad, evaluations=40, seed=1)
    assert again.places.tolist() == refined.places.tolist()


def test_without_a_start_it_is_as_good_as_every_mapper(trace: Path, simulator: Simulator) -> None:
    runs = Runs(MACHINE, GIVEN, 8, TracesTraffic([trace]))

    refined, start = refine_mapping(runs, simulator, evaluations=1)

    traffic = TracesTraffic([trace])
    times = {}
    for name in ("by-order", "auto", "treematch", "cyclic"):
        resolved = resolve(
            Configuration({"mapping": name}), MACHINE, 8, traffic=lambda _: traffic()
        )
        times[name] = simulator.evaluate(resolved.simulator_request())["simulated_time"]
    assert refined.seconds <= min(times.values())
    assert refined.evaluations > 1
    assert start not in ("permutation", "refined")
