"""Networks made for an application beside others: `python -m benchmarks.tailored`.

Each of the nine programs of Hu (2023), table 1, with 64 ranks (Graph500 with 4 of its 64 searches),
one a host, on networks of degree 4: random ones, one of small ASPL, a torus, and the one that is
made for its traffic; simulated under both network models. Captures are kept in a directory between
runs. The bar: on the tailored network 7 of 9 are faster than in the mean on random ones and than on
the one of small ASPL, and the gain is 10% in the geometric mean.

    python -m benchmarks.tailored --traces captures/ --output benchmarks/tailored.json
    python -m benchmarks.tailored --traces captures/ mg lu
    python -m benchmarks.tailored table
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.packets.bars import Bars
from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import write_table
from searchspace.graph import Graph
from searchspace.topology import generate
from studies.hu_programs import NODES, hu_programs
from studies.laboratory import HU, Laboratory, as_packets
from studies.recordings import Program
from workers.simulator_client import simulator_version

RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "networks/tailored.md", "nine programs"

PROGRAMS = ("mg", "cg", "lu", "bt", "sp", "ft", "is", "mm", "graph500")
DEGREE = 4
RANDOM_SEEDS = (1, 2, 3)
LEAST_WON, LEAST_GAIN = 7, 0.10

MODELS: Mapping[str, Mapping[str, Any]] = {"packets": as_packets(HU), "fluid": HU}


def measure(name: str, program: Program) -> dict[str, Any]:
    """Simulated seconds of a program on all networks, by model, and what making its own took."""
    begin = time.process_time()
    tailored = generate("tailored", NODES, degree=DEGREE, seed=1, traffic=program.traffic)
    took = time.process_time() - begin
    networks = {f"random {seed}": _random(seed) for seed in RANDOM_SEEDS}
    networks["optimised"] = generate("optimised", NODES, degree=DEGREE, seed=1)
    networks["torus-2d"] = generate("torus-2d", NODES)
    networks["tailored"] = tailored
    times = {
        model: {network: program.time(graph, machine) for network, graph in networks.items()}
        for model, machine in MODELS.items()
    }
    return {"program": name, "cpu_seconds": took, "simulated_time": times}


def _program(laboratory: Laboratory, name: str) -> Program:
    if name == "graph500":
        return laboratory.program(name, NODES, scale=12, searches=4)
    return hu_programs(laboratory, [name])[name]


def _random(seed: int) -> Graph:
    return generate("random", NODES, degree=DEGREE, seed=seed)


def others(times: Mapping[str, float]) -> float:
    """The better of the mean of the random networks and the one of small ASPL."""
    random = statistics.mean(times[f"random {seed}"] for seed in RANDOM_SEEDS)
    return min(random, times["optimised"])


def tailored_table() -> str:
    """What was measured, in Markdown: times as multiples of those on the tailored network."""
    rows = json.loads(RESULTS.read_text())["rows"]
    lines = [
        "| Program | Model | random, mean of 3 | small ASPL | 2-D torus | tailored |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        for model, times in row["simulated_time"].items():
            random = statistics.mean(times[f"random {seed}"] for seed in RANDOM_SEEDS)
            shown = [random, times["optimised"], times["torus-2d"]]
            cells = [f"{seconds / times['tailored']:.2f}" for seconds in shown]
            cells.append(f"{1000 * times['tailored']:.3f} ms")
            lines.append(f"| {row['program']} | {model} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure the programs that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", choices=[*PROGRAMS, "table", []])
    parser.add_argument("--traces", type=Path, help="where captures are kept")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if given.programs == ["table"]:
        write_table(PAGE, TABLE, tailored_table())
        return 0
    if given.traces is None:
        parser.error("--traces says where captures are kept")
    rows = []
    with Laboratory(given.traces, quick=False, seed=1, say=_say) as laboratory:
        for name in given.programs or PROGRAMS:
            rows.append(measure(name, _program(laboratory, name)))
            print(json.dumps(rows[-1]), flush=True)
    bars = Bars()
    for model in MODELS:
        gains = [others(row["simulated_time"][model]) / _own(row, model) for row in rows]
        won = sum(gain > 1 for gain in gains)
        bars.at_least(f"{model}: programs of {len(rows)} faster than on others", won, LEAST_WON)
        mean = math.exp(statistics.mean(map(math.log, gains))) - 1
        bars.at_least(f"{model}: gain in the mean", mean, LEAST_GAIN)
    if given.output:
        document = {
            **measured_now(),
            "simulator": simulator_version(),
            "rows": rows,
        }
        given.output.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if bars.missed else 0


def _own(row: Mapping[str, Any], model: str) -> float:
    return float(row["simulated_time"][model]["tailored"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
