"""`hamtune trace info` and `hamtune trace truncate` on a program with a loop."""

from pathlib import Path

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune


def looping(path: Path, iterations: int) -> Path:
    operations = encode("allreduce", count=1, size=8) * iterations + encode("finalize")
    write_trace(path, TraceHeader(ranks=2, program="p"), [operations] * 2)
    return path


def test_loops_are_shown(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = looping(tmp_path / "t.ht", 40)
    text = hamtune("trace", "info", trace).stdout
    assert "loop of 40 iterations (found), all the same, 2 calls each" in text
    loops = hamtune.json("trace", "info", trace)["loops"]
    assert loops[0]["iterations"] == 40


def test_a_trace_is_truncated(hamtune: Hamtune, tmp_path: Path) -> None:
    trace, short = looping(tmp_path / "t.ht", 40), tmp_path / "s.ht"
    done = hamtune.json("trace", "truncate", trace, "-o", short, "--iterations", "2")
    assert done["operations"] == 10
    info = hamtune.json("trace", "info", short)
    assert info["calls"] == {"allreduce": 4}


def test_a_trace_without_a_loop_is_refused_in_one_line(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = looping(tmp_path / "t.ht", 1)
    assert "no loop that could be cut short" in hamtune("trace", "info", trace).stdout
    line = hamtune.refused("trace", "truncate", trace, "-o", tmp_path / "s.ht")
    assert "cannot be cut short: it has no loop of more than 2 iterations" in line
