"""Readers of files of strangers: whatever they hold, a value or a plain error, in bounded time.

A bounded run of `python -m tests.fuzz` from one seed. More, and other, files:
`HAMTUNE_FUZZ_COUNT=100000 HAMTUNE_FUZZ_SEED=2 pytest tests/fuzz`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = os.environ.get("HAMTUNE_FUZZ_COUNT", "400")
SEED = os.environ.get("HAMTUNE_FUZZ_SEED", "1")
LEAST_COVERED = 15
"""Places in the code of a reader; a fuzzer that sees none of them is not guided."""


def fuzz(keep: Path, group: str) -> dict[str, int]:
    """How many places of the code of each target were reached."""
    options = ["--runs", COUNT, "--seed", SEED, "--keep", str(keep)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *options, group],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )
    logs = {path.stem: path.read_text(errors="replace") for path in keep.glob("*.log")}
    assert done.returncode == 0, "\n".join(
        [done.stdout, done.stderr, *(f"{name}: {log[-2000:]}" for name, log in logs.items())]
    )
    found = {name: re.search(r"DONE +cov: (\d+)", log) for name, log in logs.items()}
    return {name: int(match[1]) if match else 0 for name, match in found.items()}


@pytest.mark.parametrize("group", ["native", "python"])
def test_whatever_the_file_holds(group: str, tmp_path: Path) -> None:
    covered = fuzz(tmp_path, group)
    assert covered
    assert {name for name, places in covered.items() if places < LEAST_COVERED} == set()
