"""`make programs`: strangers' programs captured, replayed and held against plain smpirun.

`python -m benchmarks.programs [NAME...]` takes test suites, codes, and single programs of them by
name, all by default. What becomes of each is kept in `results.json` as soon as it is known; a table
comes at the end.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.programs import codes, suites
from benchmarks.programs.comparing import Outcome

RESULTS = Path(__file__).with_name("results.json")


def programs_of(group: str) -> Iterator[tuple[str, int, Callable[[Path], Outcome]]]:
    """The programs of a suite or code: name, ranks, and what finds out what becomes of it."""
    if group in codes.CODES:
        for run in codes.CODES[group]:
            yield run.name, run.ranks, partial(codes.outcome_of, run)
    else:
        for test in suites.tests_of(group):
            yield test.name, test.ranks, partial(suites.outcome_of, test)


def table(rows: list[dict[str, Any]]) -> str:
    """How many programs of each group have which state, and why those that are not exact."""
    lines = []
    for group in dict.fromkeys(row["group"] for row in rows):
        of_group = [row for row in rows if row["group"] == group]
        states = collections.Counter(row["state"] for row in of_group)
        run = len(of_group) - states["absent"]
        counted = ", ".join(f"{state} {count}" for state, count in states.most_common())
        lines.append(f"{group:10} {states['exact']} of {run} exact ({counted})")
    run = sum(row["state"] != "absent" for row in rows)
    exact = sum(row["state"] == "exact" for row in rows)
    lines.append(f"all        {exact} of {run} that run under plain smpirun are exact")
    lines += [
        f"  {row['name']:30} {row['state']:8} {row['reason']}"
        for row in rows
        if row["state"] not in ("exact", "absent")
    ]
    return "\n".join(lines)


def main() -> None:
    """Find out what becomes of each program of the groups that are named, or of all."""
    known = [*suites.SUITES, *codes.CODES]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(known))
    names = parser.parse_args().names
    groups = dict.fromkeys(name.split("/")[0] for name in names or known)
    unknown = sorted(set(groups) - set(known))
    if unknown:
        sys.exit(f"there is no {unknown[0]!r}; there are {', '.join(known)}")
    rows = json.loads(RESULTS.read_text())["programs"] if RESULTS.exists() else []
    for group in groups:
        for name, ranks, find_out in programs_of(group):
            if names and not {group, name} & set(names):
                continue
            with tempfile.TemporaryDirectory(prefix="hamtune-programs-") as place:
                outcome = find_out(Path(place))
            print(f"{name:32} {outcome.state:8} {outcome.reason}", flush=True)
            rows = [row for row in rows if (row["name"], row["ranks"]) != (name, ranks)]
            rows.append({"group": group, "name": name, "ranks": ranks, **asdict(outcome)})
            keep(rows)
    print(table(rows))


def keep(rows: list[dict[str, Any]]) -> None:
    """Write what is known."""
    version = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=True)
    document = {
        "measured": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "simgrid": version.stdout.split()[-1],
        "programs": sorted(rows, key=lambda row: (row["group"], row["name"], row["ranks"])),
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
