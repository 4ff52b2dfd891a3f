"""A pipe, a device or a socket in the place of a file is told in one line; nobody waits for it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.__main__ import main
from tests.cli.conftest import ROOT, SECONDS, Hamtune, tiny_job
from tests.searchspace.formats.otf2_archives import archive

MATRIX = "0 5\n5 0\n"
WHAT_TO_DO = "save what comes out of it in a file and name that"
Refuse = Callable[..., str]


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refuse:
    """Runs a command in a folder with a link `special` to a device; the line that refuses it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HAMTUNE_DATA", str(tmp_path / "data"))
    Path("special").symlink_to(os.devnull)

    def run(*arguments: str) -> str:
        status, said = main(list(arguments)), capsys.readouterr()
        assert (status, said.out, said.err.count("\n")) == (2, "", 1), said.err
        return said.err

    return run


@pytest.mark.parametrize(
    "command",
    [
        "trace import special -o t.ht",
        "trace import --time-independent special -o t.ht",
        "trace import --matrix special -o t.ht",
        "trace import --pattern special -o t.ht",
        "trace info special",
        "trace truncate special -o t.ht",
        "map treematch --traffic special --machine M.json",
        "map treematch --machine special --traffic W.mtx",
        "map refine --start special --application a --machine m",
        "topology metrics special",
        "topology convert special -o G.edges",
        "topology draw special -o G.svg",
        "topology embed special --pattern ring",
        "topology embed --traffic special G.edges",
        "topology optimize --start special --nodes 8 --degree 3",
        "topology pareto --resume special -o x",
        "order rcm special",
        "capture --source special --build make --ranks 2 -o t.ht -- program",
        "capture --input special --ranks 2 -o t.ht -- program.c",
        "evaluate --application a --machine special",
        "run special",
        "submit special",
        "export j --hosts special --format simgrid -o x",
        "export j --fabric special --format simgrid -o x",
        "restore special",
    ],
)
def test_every_command_that_reads_a_file(refused: Refuse, command: str) -> None:
    line = refused(*command.split())

    assert "special is a device, not a file" in line
    assert WHAT_TO_DO in line


@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/self/environ", "/sys/kernel/notes"])
@pytest.mark.parametrize(
    "command",
    ["run", "trace info", "topology metrics", "restore", "trace import --pattern", "order rcm"],
)
def test_what_the_kernel_shows_of_itself_is_no_file(
    refused: Refuse, command: str, path: str
) -> None:
    """Reading a process's memory ends in an error of the disk, where it ends at all."""
    options = ["-o", "t.ht"] if "import" in command else []
    line = refused(*command.split(), path, *options)

    assert f"{path} is a view of the kernel, not a file" in line


def test_what_a_description_of_a_machine_names(refused: Refuse) -> None:
    Path("W.mtx").write_text(MATRIX)
    torus = {"type": "torus", "dims": [2]}
    for description in (
        {"type": "graph", "edges": "special"},
        torus | {"cores_per_host": 2, "inside": "special"},
    ):
        Path("M.json").write_text(json.dumps(description))
        assert "special is a device" in refused(
            "map", "treematch", "--traffic", "W.mtx", "--machine", "M.json"
        )


@pytest.mark.parametrize(
    "application", ["special", "{trace: special}", "{builtin: player, matrix: special, ranks: 4}"]
)
def test_what_is_evaluated(refused: Refuse, application: str) -> None:
    machine = json.dumps(tiny_job()["machine"])

    assert "special is a device" in refused(
        "evaluate", "--application", application, "--machine", machine
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"application": {"trace": "special"}},
        {"application": {"builtin": "player", "matrix": "special", "ranks": 4}},
        {"application": {"source": "special", "build": "make", "run": "p", "ranks": 4}},
        {"machine": tiny_job()["machine"] | {"topology": {"file": "special"}}},
        {"machine": tiny_job()["machine"] | {"cores_per_host": {"file": "special"}}},
    ],
    ids=["trace", "matrix", "source", "topology", "cores"],
)
def test_what_a_job_file_names(refused: Refuse, changes: dict[str, Any]) -> None:
    Path("job.yaml").write_text(yaml.safe_dump(tiny_job() | changes))

    assert "special is a device" in refused("run", "job.yaml")


@pytest.mark.parametrize(
    "part", ["refused", "rank-1.run", "rank-1.operations", "rank-1.operations.count"]
)
def test_a_part_of_a_recording(refused: Refuse, part: str) -> None:
    Path("rec").mkdir()
    for rank in range(2):
        text = "ranks 2\nspeed 2e9\nlibrary Open MPI v4.1.4\n./solver\0"
        Path("rec", f"rank-{rank}.run").write_text(text)
        Path("rec", f"rank-{rank}.operations").write_bytes(b"\x0f")
        Path("rec", f"rank-{rank}.operations.count").write_text("1\n")
    Path("rec", part).unlink(missing_ok=True)
    os.mkfifo(Path("rec", part))

    assert f"{part} is a pipe, not a file" in refused("trace", "merge", "rec", "-o", "t.ht")


def test_a_part_of_an_archive(refused: Refuse) -> None:
    with archive(Path("scorep"), 2):
        pass
    events = sorted(Path("scorep/run").iterdir())[0]
    events.unlink()
    os.mkfifo(events)

    line = refused("trace", "import", "scorep", "--host-speed", "1Gf", "-o", "t.ht")

    assert f"{events.name} is a pipe, not a file" in line


def test_a_pipe_that_nobody_writes_to(hamtune: Hamtune, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "0.txt").write_text("0 init\n0 finalize\n")
    (tmp_path / "list").write_text("0.txt\npipe\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/0.txt").write_text("0 init\n0 finalize\n")
    os.mkfifo(tmp_path / "folder/1.txt")

    def refused(*files: str) -> str:
        return hamtune.refused("trace", "import", *files, "-o", "t.ht")

    assert "pipe is a pipe, not a file" in refused("pipe")
    assert "pipe is a pipe, not a file" in refused("--time-independent", "0.txt", "pipe")
    assert "pipe is a pipe, not a file" in refused("list")
    assert "folder/1.txt is a pipe, not a file" in refused("folder")
    assert not (tmp_path / "t.ht").exists()


def test_a_socket(refused: Refuse) -> None:
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.bind("socket")
        assert "socket is a socket, not a file" in refused("topology", "metrics", "socket")


def test_what_the_shell_hands_over_open_is_read(tmp_path: Path) -> None:
    (tmp_path / "G.edges").write_text("0 1\n1 2\n2 0\n")
    for given in ("<(cat G.edges)", "/dev/stdin"):
        done = subprocess.run(
            ["bash", "-c", f"cat G.edges | {ROOT}/hamtune topology metrics {given} --json"],
            cwd=tmp_path,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
        assert json.loads(done.stdout)["nodes"] == 3
