"""Whatever `hamtune map` is given, it maps or says in one plain line why not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.__main__ import main
from searchspace.mapping import MAPPERS
from tests.cli.conftest import SECONDS

FOUR = "0 5 0 1\n5 0 5 0\n0 5 0 5\n1 0 5 0\n"
TORUS: dict[str, Any] = {"type": "torus", "dims": [2, 2]}
Map = Callable[..., tuple[int, str, str]]


@pytest.fixture
def map_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Map:
    """Maps traffic on a machine: the exit status, the output, what was said beside it."""
    monkeypatch.chdir(tmp_path)

    def run(method: str, traffic: str, machine: dict[str, Any], *more: str) -> tuple[int, str, str]:
        Path("W.mtx").write_text(traffic)
        Path("M.json").write_text(json.dumps(machine))
        status = main(["map", method, "--traffic", "W.mtx", "--machine", "M.json", *more])
        return status, *capsys.readouterr()

    return run


def results(map_ranks: Map, traffic: str, machine: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What each mapper answers; one that refuses does so in one line and with status 2."""
    found = {}
    for method in MAPPERS:
        status, output, said = map_ranks(method, traffic, machine, "--json")
        if status == 0:
            found[method] = json.loads(output)
        else:
            assert (status, output, said.count("\n")) == (2, "", 1), said
            assert "needs" in said
    return found


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "more ranks than cores": (
        FOUR,
        {"type": "torus", "dims": [3]},
        "4 ranks do not fit on 3 hosts",
    ),
    "more ranks than allocated": (FOUR, TORUS | {"allocated": [0, 3]}, "4 ranks do not fit"),
    "entries outside the matrix": (
        "%%MatrixMarket matrix coordinate integer symmetric\n4 4 1\n5 1 10\n",
        TORUS,
        "entry 1 of the traffic matrix is outside 1 to 4",
    ),
    "rows missing": ("0 1\n", TORUS, "the traffic matrix"),
    "rows too long": ("0 1 2\n1 0\n", TORUS, "line 2 of the traffic matrix"),
    "a matrix that is not square": (
        "%%MatrixMarket matrix coordinate integer general\n4 3 1\n1 2 10\n",
        TORUS,
        "must be square",
    ),
    "negative entries": ("0 -5\n-5 0\n", TORUS, "negative"),
    "huge entries": (f"0 {10**30}\n{10**30} 0\n", TORUS, "line 1 of the traffic matrix"),
    "entries that are huge together": (
        "\n".join(" ".join("0" if a == b else "9" * 18 for a in range(4)) for b in range(4)),
        TORUS,
        "adds up to more than 2.3e18 bytes",
    ),
    "words": ("0 many\nmany 0\n", TORUS, "line 1 of the traffic matrix"),
    "an empty file": ("", TORUS, "the traffic matrix"),
    "a tree without children": (FOUR, {"type": "tree", "arity": [4, 0]}, "arity"),
    "a disconnected machine": (FOUR, {"type": "graph", "edges": "apart"}, "not connected"),
    "no hosts left": (FOUR, TORUS | {"allocated": []}, "names no host"),
}


@pytest.mark.parametrize(("traffic", "machine", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused_by_all_mappers(
    map_ranks: Map, traffic: str, machine: dict[str, Any], complaint: str
) -> None:
    Path("apart").write_text("0 1\n2 3\n")
    for method in MAPPERS:
        status, output, said = map_ranks(method, traffic, machine)
        assert (status, output, said.count("\n")) == (2, "", 1), said
        assert complaint in said or "needs the coordinates" in said


ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "fewer ranks than cores": (FOUR, {"type": "tree", "arity": [2, 4]}),
    "one rank": ("0\n", TORUS),
    "no traffic": (
        "0 0 0\n0 0 0\n0 0 0\n",
        {"type": "dragonfly", "groups": 3, "routers": 2, "nodes": 1},
    ),
    "one host": ("0\n", {"type": "torus", "dims": [1]}),
    "one host with cores": (FOUR, {"type": "mesh", "dims": [1], "cores_per_host": 4}),
    "a tree of arity 1": ("0\n", {"type": "tree", "arity": [1]}),
    "a tree with levels of arity 1": (FOUR, {"type": "tree", "arity": [1, 2, 1, 3]}),
    "entries near the limit": (f"0 {10**18 - 1} 0\n{10**18 - 1} 0 1\n0 1 0\n", TORUS),
    "a network without coordinates": (FOUR, {"type": "graph", "edges": "ring"}),
}


@pytest.mark.parametrize(("traffic", "machine"), ODD.values(), ids=ODD)
def test_what_is_odd_is_mapped_by_all_mappers_that_can_use_the_machine(
    map_ranks: Map, traffic: str, machine: dict[str, Any]
) -> None:
    Path("ring").write_text("0 1\n1 2\n2 3\n3 4\n4 0\n")
    ranks = len(traffic.splitlines())
    answers = results(map_ranks, traffic, machine)
    assert {"by-order", "auto", "scotch", "treematch"} <= answers.keys()
    for answer in answers.values():
        assert len(answer["mapping"]) == ranks
        assert answer["hop_bytes"] >= 0


@pytest.mark.parametrize("method", ["recursive-bipartition", "geometric"])
def test_mappers_that_need_coordinates_say_so(map_ranks: Map, method: str) -> None:
    status, _, said = map_ranks(method, FOUR, {"type": "tree", "arity": [4]})
    assert status == 2
    assert "needs the coordinates of hosts" in said


def test_a_matrix_that_is_not_symmetric_is_taken_as_told(map_ranks: Map) -> None:
    line = {"type": "mesh", "dims": [2]}
    status, output, said = map_ranks("auto", "0 7\n3 0\n", line, "--json")
    assert status == 0
    assert json.loads(output)["hop_bytes"] == 10
    assert "not symmetric: entry (i, j) is taken as what rank i sends to rank j" in said


@pytest.mark.parametrize("seconds", ["0", "0.05"])
def test_little_time_is_enough(map_ranks: Map, seconds: str) -> None:
    status, output, _ = map_ranks("auto", FOUR, TORUS, "--seconds", seconds, "--json")
    assert status == 0
    assert json.loads(output)["dilation"] == 1


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon"])
def test_a_time_that_is_none_is_refused(map_ranks: Map, seconds: str) -> None:
    for method in ("auto", "packed"):
        status, output, said = map_ranks(method, FOUR, TORUS, "--seconds", seconds)
        assert (status, output, said.count("\n")) == (2, "", 1), said
        assert "seconds" in said


def random_traffic(ranks: int) -> str:
    random = np.random.default_rng(3)
    matrix = np.triu(
        random.integers(1, 100, (ranks, ranks)) * (random.random((ranks, ranks)) < 0.1)
    )
    return "\n".join(" ".join(map(str, row)) for row in (matrix + matrix.T).tolist())


def test_threads_and_seed_decide_the_result(map_ranks: Map) -> None:
    torus = {"type": "torus", "dims": [8, 8]}
    once, again, alone = (
        map_ranks("auto", random_traffic(64), torus, "-O", "steps=20000", *more)[1]
        for more in (("--threads", "3"), ("--threads", "3"), ())
    )
    assert once == again
    assert once != alone


def test_progress_is_told_and_ctrl_c_leaves_the_best_so_far(tmp_path: Path) -> None:
    (tmp_path / "W.mtx").write_text(random_traffic(64))
    (tmp_path / "M.json").write_text(json.dumps({"type": "torus", "dims": [8, 8]}))
    command = [sys.executable, "-m", "cli", "map", "auto", "--seconds", "600", "--threads", "2"]
    files = ["--traffic", str(tmp_path / "W.mtx"), "--machine", str(tmp_path / "M.json")]
    process = subprocess.Popen(
        [*command, *files, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert "hop-bytes" in line
    assert "interrupted; this is the best mapping so far" in said
    answer = json.loads(output)
    assert sorted(answer["mapping"]) == list(range(64))
    assert answer["hop_bytes"] <= int(line.split()[-1])
