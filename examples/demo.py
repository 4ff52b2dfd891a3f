"""The demonstration: tune a real MPI program in simulation, draw it, export it, rerun it.

Everything lands in `demo/`. Run it by `make demo`, which sets Hamtune up first.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
DATA = "demo/data"
HERE = ["--data", DATA]


def main() -> int:
    """Run the steps, each a command that can be typed as well; returns the exit status."""
    job = (ROOT / "examples/demo.yaml").read_text()
    # Evaluations of an earlier demonstration would answer at once, and show no tuning.
    shutil.rmtree(ROOT / DATA, ignore_errors=True)
    print(f"\nThe job, examples/demo.yaml:\n\n{job}", flush=True)
    steps = (
        ("Tune it", ["./hamtune", "run", "examples/demo.yaml", *HERE]),
        ("Draw its convergence", ["./hamtune", "plot", "demo", "--output", "demo", *HERE]),
        (
            "Export the best configuration as one document",
            ["./hamtune", "export", "demo", "--format", "json", "--output", "demo", *HERE],
        ),
        (
            "Export it for plain smpirun",
            ["./hamtune", "export", "demo", "--format", "simgrid", "-o", "demo/simgrid", *HERE],
        ),
        ("Rerun it there", ["demo/simgrid/run.sh"]),
    )
    for title, command in steps:
        print(f"\n# {title}\n$ {shlex.join(command)}", flush=True)
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status:
            return status
    print("\nPictures, the best configuration and its rerun are in demo/.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
