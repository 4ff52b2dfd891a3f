"""The convergence of a job with 100,000 trials, downsampled by the server."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import httpx

from benchmarks.service.bars import Bar
from benchmarks.service.installation import Installation
from benchmarks.service.seeded import ended_job

SECONDS_BAR = 0.3
GROWTH_BAR = 16.0  # MiB
TRIALS = 100_000
POINTS = 1000
READS = 20


def measure(installation: Installation, scale: float) -> list[Bar]:
    """Ask for the convergence again and again."""
    trials = max(1000, int(TRIALS * scale))
    job_id = ended_job(installation, trials)
    url = f"{installation.url}/jobs/{job_id}/convergence"

    with httpx.Client(timeout=60.0) as client:

        def read() -> float:
            began = time.monotonic()
            answer = client.get(url, params={"points": POINTS})
            answer.raise_for_status()
            assert answer.json()["points"][-1]["trial"] == trials, "all trials are there"
            return time.monotonic() - began

        for _ in range(3):
            read()
        before = _peak(installation.api.process.pid)
        seconds = statistics.median(read() for _ in range(READS))
    grown = _peak(installation.api.process.pid) - before
    return [
        Bar(
            f"convergence of {trials} trials in {POINTS} points",
            f"< {1000 * SECONDS_BAR:.0f} ms",
            f"{1000 * seconds:.0f} ms in the median of {READS}",
            seconds < SECONDS_BAR,
        ),
        Bar(
            "peak memory of the API meanwhile",
            f"grows < {GROWTH_BAR:.0f} MiB",
            f"{grown:.1f} MiB on {before:.0f}",
            grown < GROWTH_BAR,
        ),
    ]


def _peak(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
