"""What jobs of thousands of ranks cost, beside their bars.

    .venv/bin/python -m benchmarks.scale job [--ranks 1024] [--trials 100] [--output FILE.json]
    .venv/bin/python -m benchmarks.scale page [--ranks 4096] [--output FILE.json]
    .venv/bin/python -m benchmarks.scale networks [--hosts 16384] [--output FILE.json]
    .venv/bin/python -m benchmarks.scale captures [--ranks 1024] [--output FILE.json]
    .venv/bin/python -m benchmarks.scale evaluations [--ranks 4096] [--output FILE.json]
    .venv/bin/python -m benchmarks.scale table

- job: the 3-D stencil, network x ordering x mapping x collectives, on two workers. Its trace is
  written, not captured. The time is judged by CPU seconds, which other processes do not add to.
- page: the job's page and the view of a trial in Debian's Chromium, from an empty cache
- networks: every family, ordering and mapper, each in a process of its own. None may take as much
  memory as a byte for each pair of hosts.
- captures: the stencil and CG.A, seconds of the clock and memory; nothing else should run
- evaluations: CG.A and FT.W, extrapolated from captures of at most 256 ranks, on a random network
  of degree 8; file and load of the stencil's trace of 100 iterations
- table: measures nothing; writes that of docs/scaling.md anew, of the files in `results/`

The exit status tells whether all bars are met.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.scale.captures import show_captures
from benchmarks.scale.evaluations import show_evaluations
from benchmarks.scale.job import show_job
from benchmarks.scale.networks import show_networks
from benchmarks.scale.page import show_page
from benchmarks.scale.table import write_scale_table
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
    page = parts.add_parser("page", help="the page of a job")
    page.add_argument("--ranks", type=int, default=4096)
    networks = parts.add_parser("networks", help="families, orderings and mappers")
    networks.add_argument("--hosts", type=int, default=16384, help="a power of two")
    networks.add_argument("--seconds", type=int, default=120, help="CPU seconds a case, at most")
    captures = parts.add_parser("captures", help="captures on many ranks")
    captures.add_argument("--ranks", type=int, default=1024, help="a power of four")
    evaluations = parts.add_parser("evaluations", help="extrapolated programs, a long trace")
    evaluations.add_argument("--ranks", type=int, default=4096, help="a power of four")
    parts.add_parser("table", help="the table of the documentation")
    for each in parts.choices.values():
        each.add_argument("--output", type=Path, help="where the figures go")
    options = parser.parse_args()
    if options.part == "table":
        write_scale_table()
        return 0
    bars = Bars()
    figures: dict[str, Any] = {
        **measured_now(),
        "simulator": simulator_version(),
    }
    if options.part == "job":
        figures["job"] = show_job(options.ranks, options.trials, bars)
    elif options.part == "page":
        figures["page"] = show_page(options.ranks, bars)
    elif options.part == "captures":
        figures["captures"] = list(show_captures(options.ranks, bars))
    elif options.part == "evaluations":
        figures["evaluations"] = list(show_evaluations(options.ranks, bars))
    else:
        figures["networks"] = list(show_networks(options.hosts, options.seconds, bars))
    if options.output:
        options.output.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())
