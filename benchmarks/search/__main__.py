"""Search techniques on spaces whose every point is known, ours beside others.

    .venv/bin/python -m benchmarks.search build [SPACE ...]
    .venv/bin/python -m benchmarks.search run [--seeds N] [--optimisers A,B] [SPACE ...]
    .venv/bin/python -m benchmarks.search report [--keep]
    .venv/bin/python -m benchmarks.search transfer [--seeds N] [--table-only]

`build` evaluates whole spaces with the packets model and may be stopped and called again. `run`
lets optimisers search the tables, where a trial takes microseconds, and adds each run to a file;
`report` says what the runs come to; with `--keep` it writes `results.json` and the table in
docs/tuner.md. The bars: a mean regret of at most 2, 0.3 and 0.1% after 25, 50 and 100 trials, and
0.5% in the 90th percentile after 100; ahead of every other optimiser or level with it in 95% of the
pairs after each, and on no space behind by more than 0.2% in the mean. SMAC3, and PyTorch for
Optuna's Gaussian process, are in benchmarks/search/requirements.txt, for an environment of their
own.

`transfer` runs pairs of jobs, of which the second learns from the first, and writes
`transfer.json` and its table in docs/tuner.md; it may be stopped and called again, too. The bars:
of the trials to within 1% of the best half or less for related jobs, and no more than 1.1 times as
many for others.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from benchmarks.search import comparison, transfer
from benchmarks.search.build import build
from benchmarks.search.optimisers import OPTIMISERS, OURS
from benchmarks.search.runs import read_runs, run_all
from benchmarks.search.spaces import SPACES, TRANSFER
from benchmarks.search.tables import Case

RUNS = Path(__file__).with_name("runs.jsonl")
TABLES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hamtune-search"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="evaluate spaces whole")
    running = commands.add_parser("run", help="let optimisers search the tables")
    transferring = commands.add_parser("transfer", help="let jobs learn from others")
    transferring.add_argument("--tables", type=Path, default=TABLES, help=f"default: {TABLES}")
    transferring.add_argument("--seeds", type=int, default=20)
    transferring.add_argument("--table-only", action="store_true", help="run nothing")
    for command in (building, running):
        command.add_argument("--tables", type=Path, default=TABLES, help=f"default: {TABLES}")
        command.add_argument("spaces", nargs="*", metavar="SPACE", help=", ".join(SPACES))
    running.add_argument("--seeds", type=int, default=20)
    names = ", ".join(OPTIMISERS).replace("%", "%%")
    running.add_argument("--optimisers", default=",".join(OPTIMISERS), help=names)
    reporting = commands.add_parser("report", help="say what the runs come to")
    reporting.add_argument("--keep", action="store_true", help="write data file and table")
    for command in (running, reporting):
        command.add_argument("--runs", type=Path, default=RUNS, help=f"default: {RUNS.name}")
    return parser


def main() -> None:
    """Do what the command line says."""
    arguments = _parser().parse_args()
    if arguments.command == "report":
        runs = read_runs(arguments.runs)
        print(comparison.table(comparison.compared(runs, OURS)))
        if arguments.keep:
            comparison.keep(runs, OURS)
        return
    if arguments.command == "transfer":
        runs = arguments.tables / "transfer-runs.jsonl"
        if not arguments.table_only:
            for name in transfer.SPACES_OF_PAIRS:
                build(Case(name, arguments.tables / name))
            transfer.run_pairs(arguments.tables.absolute(), arguments.seeds, runs)
            transfer.RESULTS.write_text(
                json.dumps(transfer.results_of(runs), indent=1, sort_keys=True) + "\n"
            )
        transfer.write_table_of(json.loads(transfer.RESULTS.read_text()))
        return
    spaces = arguments.spaces or list(SPACES)
    known = [*SPACES, *TRANSFER]
    unknown = [name for name in spaces if name not in known]
    if unknown:
        raise SystemExit(f"unknown space '{unknown[0]}'; known: {', '.join(known)}")
    if arguments.command == "build":
        for name in spaces:
            table = build(Case(name, arguments.tables / name))
            print(f"{name}: {len(table.values)} points, {table.identity(name)}", flush=True)
        return
    optimisers = arguments.optimisers.split(",")
    unknown = [name for name in optimisers if name not in OPTIMISERS]
    if unknown:
        raise SystemExit(f"unknown optimiser '{unknown[0]}'; known: {', '.join(OPTIMISERS)}")
    # Optimisers may change the directory.
    tables, runs = arguments.tables.absolute(), arguments.runs.absolute()
    run_all(tables, optimisers, spaces, arguments.seeds, runs)


if __name__ == "__main__":
    main()
