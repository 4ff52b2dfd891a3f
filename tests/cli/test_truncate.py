"""`hamtune trace info` and `hamtune trace truncate` on a program with a loop."""

from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune

MACHINE = "{nodes: 8, degree: 4, host_speed: 100Gf, link_bandwidth: 40Gbps, switch_latency: 60ns}"


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


def test_what_is_shown_of_a_truncated_trace_says_that_it_is_one(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    trace, short = looping(tmp_path / "t.ht", 40), tmp_path / "s.ht"
    hamtune("trace", "truncate", trace, "-o", short)

    told = [hamtune.json("trace", "info", path)["truncated"] for path in (trace, short)]
    assert told == [False, True]
    assert "truncated" not in hamtune("trace", "info", trace).stdout
    assert "truncated: calls, bytes and traffic" in hamtune("trace", "info", short).stdout


def test_a_job_tells_that_its_trace_is_truncated(hamtune: Hamtune, tmp_path: Path) -> None:
    trace, short = looping(tmp_path / "t.ht", 40), tmp_path / "s.ht"
    hamtune("trace", "truncate", trace, "-o", short)
    job = tmp_path / "job.yaml"
    job.write_text(
        "{name: cut, application: {trace: s.ht}, search: {topology: [ring, mesh-2d]}, "
        f"budget: {{trials: 1}}, machine: {MACHINE}}}"
    )

    hamtune("run", job)

    assert "truncated: calls, bytes and traffic" in hamtune("show", "cut").stdout


def test_the_time_of_a_truncated_trace_is_an_estimate(hamtune: Hamtune, tmp_path: Path) -> None:
    trace, short = looping(tmp_path / "t.ht", 40), tmp_path / "s.ht"
    hamtune("trace", "truncate", trace, "-o", short)
    on = ["--machine", MACHINE, "--configuration", "{topology: mesh-2d}"]

    whole = hamtune.json("evaluate", "--application", trace, *on)
    estimated = hamtune.json("evaluate", "--application", short, *on)
    text = hamtune("evaluate", "--application", short, *on).stdout

    assert whole["estimate"] is None
    assert estimated["simulated_time"] == pytest.approx(whole["simulated_time"])
    assert estimated["estimate"]["played"] < whole["simulated_time"] / 10
    assert estimated["estimate"]["error"] == pytest.approx(0)
    assert "an estimate: the truncated trace itself takes" in text


def test_a_trace_without_a_loop_is_refused_in_one_line(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = looping(tmp_path / "t.ht", 1)
    assert "no loop that could be cut short" in hamtune("trace", "info", trace).stdout
    line = hamtune.refused("trace", "truncate", trace, "-o", tmp_path / "s.ht")
    assert "cannot be cut short: it has no loop of more than 3 iterations" in line
