"""What jobs of thousands of ranks cost, beside their bars.

    .venv/bin/python -m benchmarks.scale job [--ranks 1024] [--trials 100] [--output FILE.json]

- job: the 3-D stencil, network x ordering x mapping x collectives, on two workers. Its trace is
  written, not captured. The time is judged by CPU seconds, which other processes do not add to.

The exit status tells whether all bars are met.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.scale.job import show_job
from workers.simulator_client import simulator_version


def main() -> int:
    """Measure what is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    job = parts.add_parser("job", help="a whole job")
    job.add_argument("--ranks", type=int, default=1024, help="a power of two")
    job.add_argument("--trials", type=int, default=100)
    for each in parts.choices.values():
        each.add_argument("--output", type=Path, help="where the figures go")
    options = parser.parse_args()
    bars = Bars()
    figures: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "simulator": simulator_version(),
        options.part: show_job(options.ranks, options.trials, bars),
    }
    if options.output:
        options.output.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())
