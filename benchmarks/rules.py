"""Decision files of collectives: what they cost, and what programs gain by them.

    .venv/bin/python -m benchmarks.rules cost [--output benchmarks/rules.json]
    .venv/bin/python -m benchmarks.rules programs [--repeats 21] [--only panels,ensemble]
        [--output benchmarks/rules.json]
    .venv/bin/python -m benchmarks.rules table

`cost` decides 8 collectives at 15 sizes in 6 communicators of 64 hosts, with both network models.
The bar: 5 CPU minutes, all processes counted.

`programs` runs five programs of mixed sizes (`mixed_sizes/`) by real Open MPI on an emulated
cluster of 16 hosts: as the library chooses, with the best algorithm that can be forced for each
collective, and under rules; both are found by simulation alone. The fourth are the rules that
`hamtune rules --testbed` keeps, which has run the program before. Runs take turns in random order,
those that the testbed doubts are made again, and the median counts. The bars: the rules that are
kept are never slower than the library's choice or a forced algorithm by more than 2%, and faster
than both in 3 of 5, by a rank test of the runs. As root, while the machine does nothing else; with
`--only` the others' rows stay as they are in the file.
`table` writes that of docs/rules.md anew.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scipy.stats import mannwhitneyu

from benchmarks.packets.bars import Bars
from benchmarks.tables_in_docs import write_table
from measuring.building import compiler_of
from measuring.clusters import Launch
from measuring.sampling import Asked, Take, sample
from measuring.testbed_cluster import TestbedCluster
from measuring.trust.cases import NETWORKS, SCALE
from searchspace.collectives.equivalents import TARGETS
from testbed.clusters import bring_up, take_down
from testbed.plan import scaled

RESULTS = Path(__file__).with_suffix(".json")
SOURCES = Path(__file__).parent / "mixed_sizes"
ROOT = Path(__file__).resolve().parent.parent
PAGE, TABLE = "rules.md", "programs"
PROGRAMS = {"gradients": 4, "panels": 6, "spectral": 6, "samplesort": 8, "ensemble": 4}
"""Rounds of each: some seconds on the emulated cluster."""
NETWORK = "random4"
_MINUTES = "20"
"""Of `hamtune rules --testbed`."""
MOST_CPU_SECONDS = 300.0
MOST_SLOWER, LEAST_FASTER = 0.02, 3
_CHANCE = 0.05
"""How likely it may be that any of the programs would differ as much if all runs were alike (Mann
and Whitney 1947; Bonferroni's correction for their number)."""
_SIMULATED = {
    "default": "default_seconds",
    "single": "single_seconds",
    "rules": "seconds",
}
_HEADS = {
    "default": "As the library chooses",
    "single": "One algorithm for each collective",
    "rules": "Under rules",
    "kept": "Under rules that were measured",
}
_MACHINE = {"nodes": 64, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}
_OPENMPI = TARGETS["openmpi-4.1"]


def hamtune(*words: str | Path) -> dict[str, Any]:
    """What a command answers as JSON."""
    command = [str(ROOT / "hamtune"), *map(str, words), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cost() -> dict[str, Any]:
    """CPU seconds of whole commands, by model."""
    found: dict[str, Any] = {}
    for model in ("fluid", "packets"):
        before = _children()
        answer = hamtune(
            "rules",
            json.dumps({**_MACHINE, "network": model}),
            "--configuration",
            "{topology: random, topology_seed: 1}",
        )
        found[model] = {
            "cpu_seconds": _children() - before,
            "evaluations": answer["evaluations"],
            "mean_gain": {name: one["mean_gain"] for name, one in answer["collectives"].items()},
        }
    return found


def programs(names: Sequence[str], repeats: int) -> list[dict[str, Any]]:
    """Seconds of programs on an emulated cluster, by how algorithms are chosen."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="hamtune-rules-") as folder:
        here = Path(folder)
        binary = here / "mixed_sizes"
        sources = str(SOURCES / "mixed_sizes.c")
        subprocess.run([compiler_of("openmpi"), "-O2", sources, "-o", binary], check=True)
        cluster_name = f"rules-{os.getpid()}"
        testbed, _ = bring_up(NETWORKS[NETWORK].machine(), cluster_name, scale=SCALE)
        try:
            cluster = TestbedCluster(testbed)
            for name in names:
                command = [str(binary), name, str(PROGRAMS[name])]
                found = _decided(name, command, cluster_name, here)
                rows.append(_measured(cluster, name, command, found, repeats))
                print(json.dumps(rows[-1]), flush=True)
        finally:
            take_down(cluster_name)
    return rows


def _decided(name: str, command: Sequence[str], testbed: str, here: Path) -> dict[str, Any]:
    """What a program runs under: settings of Open MPI by variant, and what was said of them."""
    trace = here / f"{name}.ht"
    sources = [str(SOURCES / "mixed_sizes.c"), *command[1:]]
    capture = ["capture", "--ranks", "16", "--declared-flops", "-o", str(trace), "--", *sources]
    subprocess.run([str(ROOT / "hamtune"), *capture], check=True)
    machine = scaled(NETWORKS[NETWORK].machine(), SCALE)
    described = here / "machine.json"
    described.write_text(json.dumps(machine.canonical()))
    given = ("rules", described, "--application", trace)
    simulated = hamtune(*given, "-o", here / f"{name}-rules")
    on_it = ("--testbed", testbed, "--program", shlex.join(command), "--minutes", _MINUTES)
    kept = hamtune(*given, *on_it, "-o", here / f"{name}-kept")
    forced = dict(_OPENMPI.always)
    for collective, algorithm in simulated["program"]["single_algorithms"].items():
        offered = _OPENMPI.equivalent(collective, algorithm, (16,))
        forced |= dict(offered.settings or {})
    return {
        "simulated": simulated["program"],
        "measured": {key: kept["measured"][key] for key in ("kept", "exchanges", "runs")},
        "default": {},
        "single": forced,
        "rules": _under(here / f"{name}-rules"),
        "kept": _under(here / f"{name}-kept"),
    }


def _under(directory: Path) -> dict[str, str]:
    return {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": str(directory / "dynamic-rules.conf"),
    }


def _measured(
    cluster: TestbedCluster,
    name: str,
    command: Sequence[str],
    found: Mapping[str, Any],
    repeats: int,
) -> dict[str, Any]:
    """Runs in turns of random order; those that a testbed doubts do not count."""

    def run(variant: str) -> Take:
        settings = {f"OMPI_MCA_{key}": value for key, value in found[variant].items()}
        ran = cluster.run(Launch(command=command, ranks=16, environment=settings))
        return Take(float(ran.output), ran.doubts)

    enough = Asked(precision=math.inf, least=repeats, most=2 * repeats)
    known = sample(tuple(_HEADS), run, enough, seed=1)
    for variant, one in known.items():
        if one.failures or len(one.seconds) < repeats:
            raise SystemExit(f"{name}, {variant}: {[*one.failures, *one.doubts][-1]}")
    return {
        "program": name,
        "date": _today(),
        **{key: found[key] for key in ("simulated", "measured")},
        "seconds": {variant: one.seconds for variant, one in known.items()},
        "doubts": [doubt for one in known.values() for doubt in one.doubts],
    }


def rules_table() -> str:
    """What was measured, in Markdown."""
    found = json.loads(RESULTS.read_text())
    rows = found["programs"]["rows"]
    measured = [name for name in _HEADS if all(name in row["seconds"] for row in rows)]
    lines = [
        f"| Program | {' | '.join(_HEADS[name] for name in measured)} |",
        "|---|" + "---|" * len(measured),
    ]
    for row in rows:
        cells = []
        for name in measured:
            median = statistics.median(row["seconds"][name])
            simulated = _SIMULATED.get(name)
            told = f" (simulated {row['simulated'][simulated]:.2f})" if simulated else ""
            cells.append(f"{median:.2f} s{told}")
        lines.append(f"| {row['program']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def judge(rows: Sequence[Mapping[str, Any]], bars: Bars) -> None:
    """Hold programs against the bars."""
    faster = 0
    for row in rows:
        medians = {name: statistics.median(times) for name, times in row["seconds"].items()}
        rival = min(("default", "single"), key=medians.__getitem__)
        slower = medians["kept"] / medians[rival] - 1
        ranked = mannwhitneyu(row["seconds"]["kept"], row["seconds"][rival], alternative="less")
        bars.at_most(f"{row['program']}: slower than the better of both by", slower, MOST_SLOWER)
        faster += bool(ranked.pvalue < _CHANCE / len(rows))
    bars.at_least(f"programs of {len(rows)} faster than both", faster, LEAST_FASTER)


def main() -> int:
    """Measure one of both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("cost", "programs", "table"))
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument(
        "--only", type=_names, default=tuple(PROGRAMS), help="programs, separated by commas"
    )
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.what == "table":
        write_table(PAGE, TABLE, rules_table())
        return 0
    exists = given.output is not None and given.output.exists()
    known = json.loads(given.output.read_text()) if exists else {}
    bars = Bars()
    if given.what == "cost":
        found: dict[str, Any] = cost()
        for model, one in found.items():
            bars.at_most(f"{model}: CPU seconds", one["cpu_seconds"], MOST_CPU_SECONDS)
    else:
        rows = {row["program"]: row for row in known.get("programs", {}).get("rows", ())}
        rows |= {row["program"]: row for row in programs(given.only, given.repeats)}
        found = {"rows": [rows[name] for name in PROGRAMS if name in rows]}
        judge(found["rows"], bars)
    if given.output:
        known[given.what] = {"date": _today(), **found}
        given.output.write_text(json.dumps(known, indent=1) + "\n")
    return 1 if bars.missed else 0


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(PROGRAMS):
        raise argparse.ArgumentTypeError(f"known programs: {', '.join(PROGRAMS)}")
    return names


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
