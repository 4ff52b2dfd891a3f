"""`hamtune trace extrapolate`, and jobs of more ranks than were captured."""

from __future__ import annotations

from pathlib import Path

import yaml

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune

MACHINE = {"nodes": 32, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}


def ring(path: Path, ranks: int, total: int = 1024) -> Path:
    """A ring in which every rank passes on its share of so many numbers."""
    sizes = {"send_size": 8, "recv_size": 8}
    sizes |= {"send_count": round(total / ranks), "recv_count": round(total / ranks)}
    body = [
        encode("sendrecv", **{"to": (rank + 1) % ranks, "from": (rank - 1) % ranks, **sizes})
        + encode("finalize")
        for rank in range(ranks)
    ]
    write_trace(path, TraceHeader(ranks=ranks, program="ring"), body)
    return path


def write_job(path: Path, captures: list[dict[str, str]]) -> None:
    job = {
        "name": "large",
        "application": {"extrapolate": {"captures": captures}, "ranks": 32},
        "machine": MACHINE,
        "search": {"topology": ["ring", "mesh-2d"]},
        "budget": {"trials": 1},
    }
    path.write_text(yaml.safe_dump(job))


def test_a_trace_is_extrapolated_and_checked(hamtune: Hamtune, tmp_path: Path) -> None:
    captures = [ring(tmp_path / f"{ranks}.ht", ranks) for ranks in (4, 8, 16)]
    output = tmp_path / "32.ht"
    command: list[str | Path] = ["trace", "extrapolate", *captures, "--ranks", "32", "-o", output]
    made = hamtune.json(*command)
    assert (made["from_ranks"], made["rounding"]) == ([4, 8, 16], 0.0)
    assert made["check"]["bytes"] == 0.0
    assert abs(made["check"]["time"]) < 1e-12
    assert hamtune.json("trace", "info", tmp_path / "32.ht")["bytes"] == 32 * 8 * 32
    assert "check: 16 ranks predicted from 4, 8" in hamtune(*command).stdout


def test_uneven_shares_are_told(hamtune: Hamtune, tmp_path: Path) -> None:
    captures = [ring(tmp_path / f"{ranks}.ht", ranks, total=1000) for ranks in (2, 4, 8)]
    made = hamtune("trace", "extrapolate", *captures, "--ranks", "64", "-o", tmp_path / "64.ht")
    assert "the problem does not divide evenly: sizes are off by 2.40% at most" in made.stdout


def test_a_job_extrapolates_the_traces_that_it_names(hamtune: Hamtune, tmp_path: Path) -> None:
    captures = [{"trace": ring(tmp_path / f"{ranks}.ht", ranks).name} for ranks in (4, 8, 16)]
    write_job(tmp_path / "job.yaml", captures)

    hamtune("run", tmp_path / "job.yaml")

    best = hamtune.json("best", "large")
    assert best["value"] > 0.0
    assert "extrapolate" in hamtune.json("show", "large")["spec"]["application"]


def test_a_job_that_cannot_be_extrapolated_says_why(hamtune: Hamtune, tmp_path: Path) -> None:
    captures = [{"trace": ring(tmp_path / f"{ranks}.ht", ranks, 40).name} for ranks in (4, 8)]
    write_job(tmp_path / "job.yaml", captures)

    failed = hamtune("run", tmp_path / "job.yaml")

    assert failed.returncode == 1
    assert "application.extrapolate" in failed.stderr
    assert "does not divide evenly" in failed.stderr
