"""`hamtune topology optimize` from outside."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.__main__ import main
from searchspace.formats.edge_list import read_edge_list
from searchspace.topology.metrics import measure
from searchspace.topology.rotation import orbits_of
from tests.cli.conftest import SECONDS

COMMAND = [sys.executable, "-m", "cli", "topology", "optimize"]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def here(*arguments: object) -> int:
    """The exit status of the command, run in this process."""
    return main(["topology", "optimize", *map(str, arguments)])


def test_the_result_is_what_the_file_holds(tmp_path: Path) -> None:
    output = tmp_path / "G.edges"
    arguments = ("--nodes", 32, "--degree", 3, "--iterations", 200_000, "--seed", 5, "--json")
    found = json.loads(run(*arguments, "-o", output).stdout)
    graph = read_edge_list(output.read_text())
    assert measure(graph).aspl == pytest.approx(found["aspl"])
    assert (found["nodes"], found["degree"], found["method"]) == (32, 3, "sa")
    again = tmp_path / "again.edges"
    assert here(*arguments, "-o", again) == 0
    assert again.read_text() == output.read_text()


def test_an_interrupted_search_leaves_its_best_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "G.edges"
    process = subprocess.Popen(
        [*COMMAND, "--nodes", "128", "--degree", "3", "--seconds", "500", "-o", str(output)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # it is under way
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert "go on with --resume" in said
    before = measure(read_edge_list(output.read_text())).aspl
    state = tmp_path / "G.state.json"
    assert here("--resume", state, "--seconds", 0.5, "--json", "-o", tmp_path / "H.edges") == 0
    assert json.loads(capsys.readouterr().out)["aspl"] <= before


def test_a_network_for_traffic_is_told_by_what_it_does_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic = tmp_path / "W.mtx"
    ring = "".join(f"{max(r, (r + 1) % 16) + 1} {min(r, (r + 1) % 16) + 1} 5\n" for r in range(16))
    traffic.write_text(f"%%MatrixMarket matrix coordinate integer symmetric\n16 16 16\n{ring}")
    output, state = tmp_path / "G.edges", tmp_path / "G.state.json"
    asked = ("--degree", 3, "--traffic", traffic, "--iterations", 3000, "--json", "-o", output)
    assert here(*asked, "--state", state) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["nodes"], found["objective"], found["method"]) == (16, "traffic", "traffic")
    assert found["traffic"] == {
        "hop_bytes": 80,
        "dilation": 1,
        "congestion": 5,
        "hops_of_a_byte": 1.0,
    }
    edges = set(read_edge_list(output.read_text()).edges)
    assert {tuple(sorted((r, (r + 1) % 16))) for r in range(16)} <= edges
    assert here("--resume", state, "--json", "-o", tmp_path / "H.edges") == 0
    assert json.loads(capsys.readouterr().out)["traffic"] == found["traffic"]

    assert here(*asked, "--symmetry", 4, "--state", state) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["symmetry"] == 4
    assert orbits_of(read_edge_list(output.read_text()), 4)
    again = tmp_path / "H.edges"
    assert here("--resume", state, "--json", "-o", again) == 0
    assert json.loads(capsys.readouterr().out)["symmetry"] == 4
    assert again.read_text() == output.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes", 9, "--degree", 3), "must be even"),
        (("--nodes", 9, "--degree", 9), "from 1 to 8"),
        (("--nodes", 12, "--degree", 3, "--symmetry", 5), "does not divide 12 nodes"),
        (("--degree", 3), "--nodes and --degree are needed"),
        (("--nodes", 9, "--degree", 4, "--seed", 2**70), "is not in the range"),
        (("--nodes", 9, "--degree", 4, "--seconds", "nan"), "above 0"),
        (("--nodes", 9, "--degree", 4, "--objective", "bisection", "--method", "sa"), "spectral"),
        (("--nodes", 9, "--degree", 4, "--method", "2opt", "--threads", 2), "in one thread"),
        (("--nodes", 32, "--degree", 3, "--method", "exhaustive"), "use a girth of 7 or more"),
        (
            ("--nodes", 8, "--degree", 3, "--objective", "traffic"),
            "--traffic W.mtx belong together",
        ),
    ],
)
def test_wrong_use_is_one_plain_line(
    tmp_path: Path,
    arguments: tuple[object, ...],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert here(*arguments, "-o", tmp_path / "G.edges") == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("0 1\n2 3\n", "not connected"),
        ("0 0\n", "to itself"),
        ("0 1\n1 0\n", "repeats"),
        ("0 1 5\n", "three columns"),
        ('{"a": 1}', "edges: is required"),
    ],
)
def test_a_start_that_is_no_network_is_one_plain_line(
    tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = tmp_path / "start.edges"
    start.write_text(text)
    assert here("--start", start, "-o", tmp_path / "G.edges") == 2
    assert words in capsys.readouterr().err
    assert here("--resume", start, "-o", tmp_path / "G.edges") == 2


def test_a_state_of_another_version_is_one_plain_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "G.state.json"
    wanted = ("--nodes", 16, "--degree", 3, "--objective", "bisection", "--iterations", 50)
    assert here(*wanted, "--state", state, "-o", tmp_path / "G.edges") == 0
    document = json.loads(state.read_text())
    del document["search"]["records"]
    state.write_text(json.dumps(document))
    capsys.readouterr()
    assert here("--resume", state, "-o", tmp_path / "G.edges") == 2
    error = capsys.readouterr().err
    assert "another version" in error
    assert len(error.splitlines()) == 1


def test_what_cannot_be_written_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def searched(*_arguments: object) -> None:
        raise AssertionError("it was searched")

    monkeypatch.setattr("cli.optimise._drive", searched)
    arguments = ("--nodes", 16, "--degree", 3, "--iterations", 1)
    missing = tmp_path / "missing/G.edges"
    assert here(*arguments, "-o", missing) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--output {missing}: there is no directory {missing.parent}; make it first" in line
    assert here(*arguments, "-o", tmp_path / "G.edges", "--state", missing) == 2
    assert f"--state {missing}: there is no directory" in capsys.readouterr().err

    monkeypatch.setattr("os.access", lambda _path, mode: not mode & os.W_OK)
    assert here(*arguments, "-o", tmp_path / "G.edges") == 2
    assert f"no file can be made in {tmp_path}" in capsys.readouterr().err
    (tmp_path / "G.edges").touch()
    assert here(*arguments, "-o", tmp_path / "G.edges", "--state", tmp_path / "state") == 2
    assert "G.edges: cannot be written; name another file" in capsys.readouterr().err


def test_the_state_is_kept_where_the_network_cannot_be_written_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, state = tmp_path / "G.edges", tmp_path / "state.json"

    def interrupted(*_arguments: object) -> tuple[float, bool]:
        output.mkdir()
        return 0.0, True

    monkeypatch.setattr("cli.optimise._drive", interrupted)
    assert here("--nodes", 16, "--degree", 3, "-o", output, "--state", state) == 1
    assert f"{output}: Is a directory" in capsys.readouterr().err
    monkeypatch.undo()
    again = tmp_path / "again.edges"
    assert here("--resume", state, "--seconds", "0.01", "-o", again) == 0
    assert read_edge_list(again.read_text()).nodes == 16


def test_a_full_disk_takes_neither_the_network_nor_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cli.optimise.tempfile.gettempdir", lambda: str(tmp_path))
    full = Path("/dev/full")
    assert here("--nodes", 16, "--degree", 3, "--seconds", "0.01", "-o", full) == 1
    said = capsys.readouterr()
    assert "/dev/full: No space left on device; its edges are on stdout" in said.err
    assert read_edge_list(said.out).nodes == 16
    (kept,) = tmp_path.glob("*.json")
    assert here("--resume", kept, "--seconds", "0.01", "-o", tmp_path / "again.edges") == 0


def test_a_state_that_cannot_be_replaced_is_left_and_the_network_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state, output = tmp_path / "state.json", tmp_path / "G.edges"
    begin = ("--nodes", 16, "--degree", 3, "--seconds", "0.01", "--state", state)
    assert here(*begin, "-o", tmp_path / "first.edges") == 0
    before = state.read_text()
    write = Path.write_text

    def short(path: Path, text: str) -> int:
        if path.suffix != ".edges" and "edges" not in path.name:
            write(path, text[:9])
            raise OSError(errno.EFBIG, "File too large")
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", short)
    again = ("--resume", state, "--seconds", "0.01", "--state", state)
    assert here(*again, "-o", output) == 1
    assert f"{state} cannot be written" in capsys.readouterr().err
    assert state.read_text() == before
    assert read_edge_list(output.read_text()).nodes == 16
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "G.edges", "first.edges", "state.json",
    ]  # fmt: skip
