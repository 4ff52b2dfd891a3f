"""The service on real servers, against its bars.

    .venv/bin/python -m benchmarks.service [--only ROW] [--scale S] [--output FILE.json]
    .venv/bin/python -m benchmarks.service --table

Starts PostgreSQL (which waits for the disk at every commit), Redis, an API, a coordinator and
workers on free ports of loopback, and prints a table of bars, MET or MISSED; the exit status tells
whether all are met. Rows are throughput, speedup, hosts, clients and convergence. `--scale 0.1`
tries it with fewer trials. It wants two cores to itself. `--table` measures nothing; it writes the
table of docs/scaling.md anew, of the files in `results/`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.service import clients, convergence, hosts, speedup, throughput
from benchmarks.service.bars import Bar
from benchmarks.service.installation import Installation, installation
from benchmarks.service.table import write_bars_table

ROWS: dict[str, Callable[[Installation, float], list[Bar]]] = {
    "throughput": lambda running, scale: throughput.measure(running, scale)[0],
    "speedup": speedup.measure,
    "hosts": hosts.measure,
    "clients": clients.measure,
    "convergence": convergence.measure,
}


def main() -> int:
    """Measure and print a table; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=ROWS, action="append")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--output", type=Path, help="where the figures go")
    parser.add_argument("--table", action="store_true", help="write that of the documentation")
    options = parser.parse_args()
    if options.table:
        write_bars_table()
        return 0
    bars: list[Bar] = []
    for name in options.only or ROWS:
        print(f"{name}: load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        with (
            tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch,
            installation(Path(scratch)) as running,
        ):
            bars += ROWS[name](running, options.scale)
    for bar in bars:
        verdict = "MET" if bar.met else "MISSED"
        print(f"{bar.name:<44} {bar.bar:<30} {bar.measured}  {verdict}")
    if options.output:
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        document = {"date": date, "scale": options.scale, "bars": [asdict(bar) for bar in bars]}
        options.output.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if all(bar.met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
