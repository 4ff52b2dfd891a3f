"""`hamtune trace import` and `hamtune trace merge`: stock traces, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from searchspace.formats.operations import decode, encode
from searchspace.formats.time_independent import time_independent
from searchspace.formats.trace import read_operations
from tests.cli.conftest import Hamtune
from tests.searchspace.formats.otf2_archives import archive
from tests.workers.simulator.runs import answer_of, on_a_line, write_program


def test_an_imported_trace_takes_the_same_time(hamtune: Hamtune, tmp_path: Path) -> None:
    ranks = [
        [encode("compute", flops=1e6), encode("send", peer=1, tag=7, count=70_000, size=1)],
        [encode("recv", peer=0, tag=7, count=70_000, size=1)],
        [encode("compute", flops=2e6)],
    ]
    last = [encode("allreduce", count=5000, size=8), encode("bcast", root=1, count=9, size=4)]
    ours = write_program(tmp_path / "ours.ht", [rank + last for rank in ranks])
    for rank in range(3):
        lines = time_independent(rank, 3, decode(read_operations(ours, rank)))
        (tmp_path / f"{rank}.txt").write_text("".join(lines))
    files = [f"{rank}.txt" for rank in range(3)]

    told = hamtune.json("trace", "import", "--time-independent", *files, "-o", "back.ht")

    before = hamtune.json("trace", "info", "ours.ht")
    assert (told["calls"], told["bytes"]) == (before["calls"], before["bytes"])
    request = on_a_line(0, 1, 2)
    expected = answer_of(ours, request)
    assert expected["simulated_time"] > 2e-3
    assert answer_of(tmp_path / "back.ht", request)["simulated_time"] == expected["simulated_time"]


def test_what_a_file_holds_is_found_out(hamtune: Hamtune, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text(
        "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 100\n"
    )
    (tmp_path / "p.yaml").write_text("{pattern: alltoall, ranks: 3, size: 1kB, count: 1, rate: 1}")
    with archive(tmp_path / "scorep", 2) as made:
        for rank in made.ranks:
            rank.compute(10**6)
            rank.collective("allreduce", made.world, 16, 16)
        made.ranks[0].writer.thread_fork(made.ranks[0].now, 0, 2)

    assert hamtune.json("trace", "import", "w.txt", "-o", "w.ht")["bytes"] == 100
    assert hamtune.json("trace", "import", "p.yaml", "-o", "p.ht")["bytes"] == 6000
    told = hamtune("trace", "import", "scorep", "--host-speed", "2Gf", "-o", "o.ht", "--json")
    assert "1 events ThreadFork leave nothing" in told.stderr
    assert json.loads(told.stdout)["flops"] == 4e6


def test_the_help_names_the_patterns(hamtune: Hamtune) -> None:
    assert "gather/reduce" in hamtune("trace", "import", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "give FILES"),
        (["--time-independent"], "go together"),
        (["stock.txt"], "line 2, action win_fence"),
        (["--matrix", "stock.txt", "stock.txt"], "give FILES"),
        (["--rounds", "2", "stock.txt"], "--rounds goes with a matrix"),
        (["--matrix", "stock.txt", "--host-speed", "1Gf"], "--host-speed goes with"),
        (["empty.otf2"], "give --host-speed"),
        (["empty.otf2", "--host-speed", "1Gf"], "empty.otf2: the archive is damaged"),
        (["empty.otf2", "stock.txt"], "imported alone"),
        (["--time-independent", "missing.txt"], "missing.txt"),
        (["--time-independent", "stock.txt"], "line 2, action win_fence"),
        (["--time-independent", "--host-speed", "fast", "stock.txt"], "--host-speed"),
        (["--pattern", "missing.yaml"], "missing.yaml"),
        (["--pattern", "stock.txt"], "stock.txt"),
        (["--matrix", "stock.txt"], "stock.txt"),
        (["--matrix", "zeros.mtx"], "zeros.mtx: there is no traffic"),
        (["zeros.mtx"], "zeros.mtx: there is no traffic"),
    ],
)
def test_wrong_imports_are_refused(
    hamtune: Hamtune, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "stock.txt").write_text("0 init\n0 win_fence 3\n0 finalize\n")
    (tmp_path / "empty.otf2").touch()
    (tmp_path / "zeros.mtx").write_text("0 0\n0 0\n")

    assert reason in hamtune.refused("trace", "import", *arguments, "-o", "t.ht")
    assert not (tmp_path / "t.ht").exists()


def test_merges_of_what_is_no_recording_are_refused(hamtune: Hamtune, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert "there is no directory" in hamtune.refused("trace", "merge", "missing", "-o", "t.ht")
    assert "holds no recording" in hamtune.refused("trace", "merge", "empty", "-o", "t.ht")
    assert "no directory" in hamtune.refused("trace", "merge", "empty", "-o", "nowhere/t.ht")


def test_a_compiler_that_knows_no_mpi_is_told_with_its_last_words(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    done = hamtune("recorder", "build", "--mpicc", "gcc", "-o", "rec")
    first, *rest = done.stderr.splitlines()
    assert done.returncode == 1
    assert first.startswith("hamtune: gcc does not build the recorder; is it the C compiler")
    assert 1 <= len(rest) <= 8
    assert all(line.startswith("    ") for line in rest)
    assert any("mpi.h: No such file" in line for line in rest)
    assert "there is no nocc" in hamtune.refused("recorder", "build", "--mpicc", "nocc", "-o", "r")


def recording(directory: Path, ranks: int, *present: int, ended: Sequence[int] = ()) -> Path:
    """What these ranks of a run leave; those that ended called MPI_Finalize."""
    directory.mkdir()
    for rank in present:
        text = f"ranks {ranks}\nspeed 2e9\nlibrary Open MPI v4.1.4\n./solver\0"
        (directory / f"rank-{rank}.run").write_text(text)
        (directory / f"rank-{rank}.operations").write_bytes(encode("barrier") + encode("finalize"))
        if rank in ended:
            (directory / f"rank-{rank}.operations.count").write_text("2\n")
    return directory


def test_recordings_that_are_not_whole_are_refused(hamtune: Hamtune, tmp_path: Path) -> None:
    recording(tmp_path / "whole", 2, 0, 1, ended=[0, 1])
    assert hamtune.json("trace", "merge", "whole", "-o", "t.ht")["calls"] == {"barrier": 2}

    def merge(name: str) -> str:
        return hamtune.refused("trace", "merge", name, "-o", "no.ht")

    recording(tmp_path / "missing", 3, 0, 1, ended=[0, 1])
    assert "of 3 ranks rank 2 left no file" in merge("missing")
    recording(tmp_path / "unfinished", 2, 0, 1, ended=[0])
    assert "rank 1 did not reach MPI_Finalize" in merge("unfinished")
    mixed = recording(tmp_path / "mixed", 2, 0, 1, ended=[0, 1])
    (mixed / "rank-1.run").write_text("ranks 4\nspeed 2e9\nlibrary Open MPI v4.1.4\n./solver\0")
    assert "ranks 0 and 1 come from different runs" in merge("mixed")
    speeds = recording(tmp_path / "speeds", 2, 0, 1, ended=[0, 1])
    (speeds / "rank-1.run").write_text("ranks 2\nspeed 1e9\nlibrary Open MPI v4.1.4\n./solver\0")
    assert "different host speeds" in merge("speeds")
    refused = recording(tmp_path / "refused", 2, 0, 1)
    (refused / "refused").write_text("MPI_Win_create is not supported in a trace")
    assert "was not recorded: MPI_Win_create is not supported" in merge("refused")
    cut = recording(tmp_path / "cut", 2, 0, 1, ended=[0, 1])
    (cut / "rank-1.operations").write_bytes(encode("barrier"))
    assert "rank 1" in merge("cut")
    assert not (tmp_path / "no.ht").exists()
