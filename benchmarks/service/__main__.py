"""The service on real servers, against its bars.

    .venv/bin/python -m benchmarks.service [--only ROW] [--scale S] [--output FILE.json]
    .venv/bin/python -m benchmarks.service --keep [--only ROW]
    .venv/bin/python -m benchmarks.service --table

Starts PostgreSQL (which waits for the disk at every commit), Redis, an API, a coordinator and
workers on free ports of loopback, and prints a table of bars, MET or MISSED; the exit status tells
whether all are met. Rows are throughput, speedup, hosts, clients and convergence. `--scale 0.1`
tries it with fewer trials. It wants two cores to itself. `--keep` writes what each row gave to its
file in `results/` and the tables of docs/benchmarks.md and docs/scaling.md. `--table` measures
nothing; it writes these tables anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.provenance import measured_now
from benchmarks.service import clients, convergence, hosts, speedup, throughput
from benchmarks.service.bars import Bar
from benchmarks.service.installation import Installation, installation
from benchmarks.service.table import RESULTS, write_bars_tables
from benchmarks.tables_in_docs import add_keep

ROWS: dict[str, Callable[[Installation, float], list[Bar]]] = {
    "throughput": lambda running, scale: throughput.measure(running, scale)[0],
    "speedup": speedup.measure,
    "hosts": hosts.measure,
    "clients": clients.measure,
    "convergence": convergence.measure,
}


def main() -> int:
    """Measure and print a table; 1 where a bar is missed."""
    options = _options()
    if options.table:
        write_bars_tables()
        return 0
    bars: list[Bar] = []
    for name in options.only or ROWS:
        load = os.getloadavg()[0]
        print(f"{name}: load {load:.1f}", file=sys.stderr)
        with (
            tempfile.TemporaryDirectory(prefix="hamtune-benchmark-") as scratch,
            installation(Path(scratch)) as running,
        ):
            found = ROWS[name](running, options.scale)
        bars += found
        if options.keep:
            _write(RESULTS / f"{name}.json", options.scale, found, load=round(load, 1))
    for bar in bars:
        verdict = "MET" if bar.met else "MISSED"
        print(f"{bar.name:<44} {bar.bar:<30} {bar.measured}  {verdict}")
    if options.output:
        _write(options.output, options.scale, bars)
    if options.keep:
        write_bars_tables()
    return 0 if all(bar.met for bar in bars) else 1


def _write(path: Path, scale: float, bars: list[Bar], **said: float) -> None:
    """Write bars with the day and what else is said of their measurement."""
    document = {**measured_now(), **said, "scale": scale, "bars": [asdict(bar) for bar in bars]}
    path.write_text(json.dumps(document, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=ROWS, action="append")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--output", type=Path, help="where the figures go")
    parser.add_argument("--table", action="store_true", help="write those of the documentation")
    add_keep(parser, RESULTS)
    options = parser.parse_args()
    if options.keep and options.scale != 1:
        parser.error("--keep measures with all trials; leave out --scale")
    return options


if __name__ == "__main__":
    sys.exit(main())
