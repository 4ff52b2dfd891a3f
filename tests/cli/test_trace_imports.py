"""`hamtune trace import` and `hamtune trace merge`: stock traces, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from searchspace.formats.operations import decode, encode
from searchspace.formats.time_independent import time_independent
from searchspace.formats.trace import read_operations
from tests.cli.conftest import Hamtune
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
        lines = time_independent(rank, decode(read_operations(ours, rank)))
        (tmp_path / f"{rank}.txt").write_text("".join(lines))
    files = [f"{rank}.txt" for rank in range(3)]

    told = hamtune.json("trace", "import", "--time-independent", *files, "-o", "back.ht")

    before = hamtune.json("trace", "info", "ours.ht")
    assert (told["calls"], told["bytes"]) == (before["calls"], before["bytes"])
    request = on_a_line(0, 1, 2)
    expected = answer_of(ours, request)
    assert expected["simulated_time"] > 2e-3
    assert answer_of(tmp_path / "back.ht", request)["simulated_time"] == expected["simulated_time"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "give one of"),
        (["--time-independent"], "go together"),
        (["stock.txt"], "give one of"),
        (["--matrix", "stock.txt", "stock.txt"], "go together"),
        (["--time-independent", "missing.txt"], "missing.txt"),
        (["--time-independent", "stock.txt"], "line 2, action win_fence"),
        (["--time-independent", "--host-speed", "fast", "stock.txt"], "--host-speed"),
        (["--pattern", "missing.yaml"], "missing.yaml"),
        (["--pattern", "stock.txt"], "stock.txt"),
        (["--matrix", "stock.txt"], "stock.txt"),
    ],
)
def test_wrong_imports_are_refused(
    hamtune: Hamtune, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "stock.txt").write_text("0 init\n0 win_fence 3\n0 finalize\n")

    assert reason in hamtune.refused("trace", "import", *arguments, "-o", "t.ht")
    assert not (tmp_path / "t.ht").exists()


def test_merges_of_what_is_no_recording_are_refused(hamtune: Hamtune, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert "there is no directory" in hamtune.refused("trace", "merge", "missing", "-o", "t.ht")
    assert "holds no recording" in hamtune.refused("trace", "merge", "empty", "-o", "t.ht")
    assert "no directory" in hamtune.refused("trace", "merge", "empty", "-o", "nowhere/t.ht")
