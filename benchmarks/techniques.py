"""Search techniques side by side on made-up spaces of enums, of the shape of Hu's.

    .venv/bin/python -m benchmarks.techniques [SPACES] [--keep]

Each space has a topology, instances, an ordering, an MPI and four collectives; each choice
multiplies the simulated time by a random factor, and three parameters interact. As in a job, four
trials are in flight, the incumbent is the cutoff, and no point is evaluated twice. Printed is the
geometric mean over the spaces of the best value after so many trials (lower is better), and the CPU
milliseconds a trial, asking and telling, without a process of its own. `--keep` writes
benchmarks/techniques.json and its table in docs/tuner.md.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.provenance import measured_now, releases
from benchmarks.search.in_process import in_process
from benchmarks.tables_in_docs import add_keep, markdown, write_table
from searchspace.parameters import Condition, EnumParameter, IntegerParameter
from searchspace.space import SearchSpace
from tuner.objective import TrialResult
from tuner.search import Point, Search

TECHNIQUES: dict[str, list[str]] = {
    "Surrogate": ["Surrogate"],
    "AUCBanditMutationTechnique, NarrowGreedyMutation and WideGreedyMutation": [
        "AUCBanditMutationTechnique",
        "NarrowGreedyMutation",
        "WideGreedyMutation",
    ],
    "AUCBanditMutationTechnique": ["AUCBanditMutationTechnique"],
    "NarrowGreedyMutation": ["NarrowGreedyMutation"],
    "UniformGreedyMutation": ["UniformGreedyMutation"],
    "SteadyStateGA": ["SteadyStateGA"],
    "AUCBanditMetaTechniqueA (OpenTuner's default)": ["AUCBanditMetaTechniqueA"],
    "DifferentialEvolutionAlt": ["DifferentialEvolutionAlt"],
    "PureRandom": ["PureRandom"],
}
RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "tuner.md", "techniques"
MARKS = (25, 50, 100)
BATCH = 4

SPACE = SearchSpace(
    [
        EnumParameter("topology", ("random", "torus-3d", "mesh-3d")),
        IntegerParameter("topology_seed", 0, 9, when=Condition("topology", ("random",))),
        EnumParameter("ordering", ("original", "hamorder")),
        EnumParameter("mpi", ("mpich", "ompi", "mvapich2")),
        *(
            EnumParameter(f"collectives.{name}", tuple(f"algorithm-{i}" for i in range(count)))
            for name, count in (
                ("alltoall", 18),
                ("allreduce", 20),
                ("allgather", 20),
                ("bcast", 18),
            )
        ),
    ]
)


class Application:
    """A made-up program: how its simulated time depends on the configuration."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        rng = random.Random(seed)
        self._factors: dict[tuple[str, Any], float] = {}
        for parameter in SPACE.parameters:
            weight = rng.choice((0.02, 0.1, 0.5, 1.5))
            for value in parameter.every():
                self._factors[parameter.name, value] = 1 + weight * rng.lognormvariate(-1, 1)
        self._interacting = rng.sample([parameter.name for parameter in SPACE.parameters], 3)

    def time(self, configuration: Mapping[str, Any]) -> float:
        """Its simulated time."""
        product = math.prod(self._factors[choice] for choice in configuration.items())
        together = [configuration.get(name) for name in self._interacting]
        return product * (1 + random.Random(f"{self._seed} {together}").random())


def search(techniques: list[str], seed: int) -> list[float]:
    """The best value after each trial of a search for one application."""
    application = Application(seed)
    best = math.inf
    incumbents: list[float] = []
    pending: deque[tuple[Point, float]] = deque()
    with Search(SPACE, seed, techniques) as search:
        while len(incumbents) < max(MARKS):
            while len(pending) < BATCH:
                point = search.ask()
                assert point is not None
                pending.append((point, best))
            point, cutoff = pending.popleft()
            value = application.time(point.configuration)
            kept = value <= cutoff
            told = TrialResult(value, "completed") if kept else TrialResult(None, "censored")
            search.tell(point.configuration, told)
            best = min(best, value) if kept else best
            incumbents.append(best)
    return incumbents


def compare(spaces: int) -> dict[str, Any]:
    """The best values of all techniques after so many trials, and what a trial cost."""
    rows = {}
    for name, techniques in TECHNIQUES.items():
        before = time.process_time()
        with in_process():
            runs = [search(techniques, seed) for seed in range(spaces)]
        rows[name] = {
            "best": {
                str(mark): statistics.geometric_mean(incumbents[mark - 1] for incumbents in runs)
                for mark in MARKS
            },
            "cpu_ms": (time.process_time() - before) / (spaces * max(MARKS)) * 1000,
        }
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    return {**measured_now(), **releases("opentuner"), "spaces": spaces, "rows": rows}


def techniques_table(found: Mapping[str, Any]) -> str:
    """What was found, in Markdown."""
    where = f"{found['date']}, OpenTuner {found['opentuner']}, {found['spaces']} spaces"
    heads = [where, *(f"{mark} trials" for mark in MARKS), "CPU ms a trial"]
    rows = [
        [name, *(f"{row['best'][str(mark)]:.2f}" for mark in MARKS), f"{row['cpu_ms']:.1f}"]
        for name, row in found["rows"].items()
    ]
    return markdown(heads, rows)


def main() -> None:
    """Print the table, and keep it where that is asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spaces", metavar="SPACES", nargs="?", type=int, default=32)
    add_keep(parser, RESULTS)
    given = parser.parse_args()
    found = compare(given.spaces)
    print(techniques_table(found), end="")
    if given.keep:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        write_table(PAGE, TABLE, techniques_table(found))


if __name__ == "__main__":
    main()
