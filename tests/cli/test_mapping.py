"""`hamtune map`, and mappers among the dimensions of a job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Hamtune

RING = [(3 * i % 16, 3 * (i + 1) % 16) for i in range(16)]
"""A ring that rank order scatters."""


@pytest.fixture
def files(hamtune: Hamtune) -> Path:
    """A directory with W.mtx, the traffic of the ring, and M.json, a torus."""
    lines = [f"{max(u, v) + 1} {min(u, v) + 1} 1000000" for u, v in RING]
    header = "%%MatrixMarket matrix coordinate integer symmetric\n16 16 16\n"
    (hamtune.directory / "W.mtx").write_text(header + "\n".join(lines) + "\n")
    (hamtune.directory / "M.json").write_text(json.dumps({"type": "torus", "dims": [4, 4]}))
    return hamtune.directory


def mapped(hamtune: Hamtune, method: str, *more: str) -> dict[str, object]:
    arguments = ("--traffic", "W.mtx", "--machine", "M.json", *more)
    return dict(hamtune.json("map", method, *arguments))


def test_a_mapping_is_a_host_for_each_rank_and_its_judgement(hamtune: Hamtune, files: Path) -> None:
    by_order = mapped(hamtune, "by-order", "--seconds", "0")
    better = mapped(hamtune, "mpipp", "--seed", "3", "-O", "starts=5")

    assert by_order["mapping"] == list(range(16))
    assert sorted(better["mapping"]) == list(range(16))  # type: ignore[call-overload]
    assert set(better) == {"mapping", "hop_bytes", "dilation", "congestion", "seconds"}
    assert better["hop_bytes"] < by_order["hop_bytes"]  # type: ignore[operator]
    again = mapped(hamtune, "mpipp", "--seed", "3", "-O", "starts=5")
    assert again["mapping"] == better["mapping"]


def test_a_picture_shows_the_traffic_before_and_after(hamtune: Hamtune, files: Path) -> None:
    mapped(hamtune, "greedy", "--picture", "heat.svg")

    drawn = (files / "heat.svg").read_text()
    assert "<svg" in drawn
    assert "greedy" in drawn


def test_cores_within_hosts_are_told_where_they_differ(hamtune: Hamtune, files: Path) -> None:
    (files / "M.json").write_text(json.dumps({"type": "mesh", "dims": [2], "inside": [2, 4]}))

    found = mapped(hamtune, "recursive-tree")

    places = set(zip(found["mapping"], found["cores"], strict=True))  # type: ignore[call-overload]
    assert places == {(host, core) for host in range(2) for core in range(8)}


@pytest.mark.parametrize(
    ("machine", "arguments", "complaint"),
    [
        ({"type": "torus", "dims": [4, 4]}, ["nearest"], "METHOD"),
        ({"type": "torus", "dims": [4, 4]}, ["packed", "--seconds", "-1"], "--seconds"),
        ({"type": "graph", "edges": "apart"}, ["greedy"], "not connected"),
    ],
)
def test_wrong_use_is_one_line(
    hamtune: Hamtune, files: Path, machine: object, arguments: list[str], complaint: str
) -> None:
    (files / "M.json").write_text(json.dumps(machine))
    (files / "apart").write_text("\n".join(f"{i} {i + 1}" for i in range(0, 20, 2)))

    said = hamtune.refused("map", *arguments, "--traffic", "W.mtx", "--machine", "M.json")

    assert complaint in said
    assert len(said.splitlines()) == 1


def test_a_job_chooses_among_mappers_and_their_options(hamtune: Hamtune, files: Path) -> None:
    imported = ("trace", "import", "--matrix", "W.mtx", "--rounds", "2", "-o", "ring.ht")
    assert hamtune(*imported).returncode == 0
    job = {
        "name": "mapping",
        "application": {"trace": "ring.ht"},
        "machine": {
            "nodes": 16,
            "host_speed": "1Gf",
            "link_bandwidth": "1Gbps",
            "link_latency": "1us",
            "network": "fluid",
        },
        "search": {
            "topology": ["torus-2d"],
            "mapping": ["by-order", "greedy", {"mapper": "mpipp", "starts": [1, 5]}, "permutation"],
        },
        "budget": {"trials": 24},
        "refinement": 8,
    }

    ended = hamtune.json("run", hamtune.job_file(job))

    trials = hamtune.trials(ended["job"]["id"])
    tried = [trial["configuration"] for trial in trials]
    # What a mapper makes, by the first of its options, is tried as a permutation first, and is
    # known to be the same afterwards.
    names = {c["mapping"] for c in tried} | {trial["technique"] for trial in trials}
    assert {"by-order", "greedy", "mpipp", "permutation"} <= names
    assert ended["job"]["progress"]["kinds"]["refinement"] == 8
    starts = {c["mappers"]["mpipp"]["starts"] for c in tried if c["mapping"] == "mpipp"}
    assert starts | {1} == {1, 5}
    best = ended["best"]
    assert best["configuration"]["mapping"] != "by-order"
    (files / "best.json").write_text(json.dumps(best["configuration"]))
    (files / "machine.json").write_text(json.dumps(job["machine"]))
    given = ("--application", "ring.ht", "--machine", "machine.json")
    evaluated = hamtune.json("evaluate", *given, "--configuration", "best.json")
    assert evaluated["simulated_time"] == best["value"]


REFINE = (
    "map",
    "refine",
    "--application",
    "{pattern: linear, ranks: 8, size: 100kB, count: 3, rate: 1000}",
    "--machine",
    "{nodes: 8, host_speed: 1Gf, link_bandwidth: 1Gbps}",
    "--configuration",
    "{topology: ring}",
)


def test_a_mapping_is_refined_by_simulated_time(hamtune: Hamtune) -> None:
    start = [0, 4, 1, 5, 2, 6, 3, 7]
    (hamtune.directory / "start.json").write_text(json.dumps({"mapping": start}))

    found = hamtune.json(*REFINE, "--start", "start.json", "--evaluations", "40")

    assert sorted(found["mapping"]) == list(range(8))
    assert found["start"]["mapping"] == "start.json"
    assert found["simulated_time"] < found["start"]["simulated_time"]
    assert found["speedup"] == found["start"]["simulated_time"] / found["simulated_time"]
    assert found["configuration"]["permutation"] == found["mapping"]
    (hamtune.directory / "best.json").write_text(json.dumps(found))
    simulated = hamtune.json("evaluate", *REFINE[2:6], "--configuration", "best.json")
    assert simulated["simulated_time"] == found["simulated_time"]


def test_a_start_that_does_not_fit_is_refused(hamtune: Hamtune) -> None:
    (hamtune.directory / "start.json").write_text(json.dumps([0, 1, 2, 3, 4, 5, 6, 6]))

    message = hamtune.refused(*REFINE, "--start", "start.json")

    assert "host 6 is given 2 ranks, but has 1 cores" in message


def test_auto_lowers_the_objective_that_is_asked_for(hamtune: Hamtune, files: Path) -> None:
    plain = mapped(hamtune, "by-order", "--weights", "1,0,2")
    lowered = mapped(hamtune, "auto", "--objective", "congestion")

    assert plain["weighted"] == 3
    assert lowered["congestion"] == 1_000_000  # a ring goes round a torus, one flow a cable
    refused = hamtune.refused(
        "map", "rcm", "--traffic", "W.mtx", "--machine", "M.json", "--objective", "congestion"
    )
    assert "'rcm' has an objective of its own" in refused
