"""How fast distances are evaluated, and how good the networks are that `topology optimize` finds.

    .venv/bin/python -m benchmarks.networks [--quick] [--only PART] [--seed S] [--output FILE.json]

One core, CPU seconds. `--quick` measures the rates and the small networks only. The search for a
wide bisection ends when it holds the bar for reached; what it found is then judged by all verifiers
at their most thorough, with a seed that the search has not seen.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import rustworkx
from scipy.sparse import csgraph, csr_matrix

from searchspace.kernels import _native
from searchspace.topology import generate
from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import begin
from searchspace.topology.optimise.search import Problem, Search
from searchspace.topology.rotation import orbit_array, orbits_of

RATE_BARS = {"networkx": 4000, "igraph": 200, "rustworkx": 110, "scipy": 1000}
MOVES_BAR = 200_000
# nodes, degree, most ASPL, most diameter (None: any), CPU seconds, diameter first
ASPL_BARS: list[tuple[int, int, float, int | None, float, bool]] = [
    (32, 3, 2.935484, None, 2, False),
    (32, 4, 2.354839, None, 2, False),
    (64, 4, 2.869048, None, 60, False),
    (64, 6, 2.333334, None, 60, False),
    (256, 3, 5.660, None, 60, False),
    (256, 4, 4.1355, None, 60, False),
    (256, 6, 3.167, None, 60, False),
    (256, 8, 2.749, None, 60, False),
    (252, 11, 2.4750, None, 60, False),
    (264, 11, 2.4986, None, 60, False),
    (1024, 11, 3.0692, None, 60, False),
    (256, 3, 9.0, 8, 60, True),
    (256, 6, 3.17, 4, 60, True),
]
WIDTH_BARS = [
    (64, 4, 28),
    (64, 6, 56),
    (256, 4, 92),
    (256, 6, 192),
    (256, 8, 290),
    (252, 11, 446),
    (264, 11, 466),
]


def rate(evaluate: Callable[[], Any], seconds: float = 1.0) -> float:
    """Calls a CPU second."""
    evaluate()
    begin_time = time.process_time()
    calls = 0
    while (spent := time.process_time() - begin_time) < seconds:
        evaluate()
        calls += 1
    return calls / spent


def rates(nodes: int, degree: int) -> dict[str, float]:
    """Evaluations of the ASPL of one network a second: ours and the others', side by side."""
    graph = generate("random", nodes, degree=degree, seed=1)
    ours = _native.Distances(nodes, degree, 1, orbit_array(orbits_of(graph, 1)))
    nx_graph = networkx.Graph(graph.edges)
    ig_graph = igraph.Graph(nodes, graph.edges)
    rx_graph = rustworkx.PyGraph()
    rx_graph.add_nodes_from(range(nodes))
    rx_graph.add_edges_from_no_data(list(graph.edges))
    u, v = np.asarray(graph.edges).T
    both = (np.ones(2 * len(u)), (np.concatenate([u, v]), np.concatenate([v, u])))
    matrix = csr_matrix(both, shape=(nodes, nodes))
    return {
        "ours": rate(ours.evaluate),
        "networkx": rate(lambda: networkx.average_shortest_path_length(nx_graph)),
        "igraph": rate(ig_graph.average_path_length),
        "rustworkx": rate(
            lambda: rustworkx.graph_unweighted_average_shortest_path_length(rx_graph)
        ),
        "scipy": rate(lambda: csgraph.shortest_path(matrix, unweighted=True).mean()),
    }


def search(problem: Problem, method: str, *, width: int | None = None) -> tuple[Search, float]:
    """Runs a search for its CPU seconds or up to a width; returns it and the seconds."""
    start = time.process_time()
    found = begin(method, problem)
    spent = 0.0
    while not found.finished and spent < problem.seconds:
        if width is not None and (found.best.bisection_width or 0) >= width:
            break
        found.step()
        spent = time.process_time() - start
    return found, spent


def main() -> int:
    """Measure, print a table and the JSON; the status tells whether all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("rates", "aspl", "bisection"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    report: dict[str, Any] = {"instructions": _native.level_instructions()}
    parts = {"rates": _rates, "aspl": _aspl, "bisection": _bisection}
    chosen = [parts[options.only]] if options.only else list(parts.values())
    missed = [bar for part in chosen for bar in part(options, report)]
    print("all bars met" if not missed else "NOT met: " + ", ".join(missed))
    if options.output:
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 1 if missed else 0


def _rates(options: argparse.Namespace, report: dict[str, Any]) -> Iterator[str]:
    """Measures evaluations and moves; yields the bars that are missed."""
    report["rates"] = found = rates(256, 4)
    for name, bar in RATE_BARS.items():
        ratio = found["ours"] / found[name]
        print(f"(256,4) evaluations: {ratio:9.0f} x {name} (bar {bar})", flush=True)
        if ratio < bar:
            yield f"rate against {name}"
    problem = Problem(256, 4, seed=options.seed, seconds=3.0, symmetry=1)
    done, seconds = search(problem, "sa")
    report["moves_per_second"] = moves = done.moves / seconds
    print(f"(256,4) annealing moves: {moves:.0f} a second (bar {MOVES_BAR})", flush=True)
    if moves < MOVES_BAR:
        yield "annealing moves"


def _aspl(options: argparse.Namespace, report: dict[str, Any]) -> Iterator[str]:
    """Anneals for a low ASPL; yields the bars that are missed."""
    report["aspl"] = []
    for nodes, degree, most, diameter, seconds, first in ASPL_BARS:
        if options.quick and nodes > 64:
            continue
        budget = min(seconds, 10.0) if options.quick else seconds
        problem = Problem(nodes, degree, seed=options.seed, seconds=budget, diameter_first=first)
        found, spent = search(problem, "sa")
        metrics = measure(found.best.graph)
        met = metrics.aspl <= most and (diameter is None or metrics.diameter <= diameter)
        report["aspl"].append([nodes, degree, metrics.aspl, metrics.diameter, spent, met])
        print(
            f"({nodes},{degree}) ASPL {metrics.aspl:.6f} diameter {metrics.diameter} "
            f"(bar {most}{'' if diameter is None else f', {diameter}'}) in {spent:.1f} s",
            flush=True,
        )
        if not met:
            yield f"ASPL of ({nodes},{degree})"


def _bisection(options: argparse.Namespace, report: dict[str, Any]) -> Iterator[str]:
    """Looks for wide bisections; yields the bars that are missed."""
    report["bisection"] = []
    for nodes, degree, least in WIDTH_BARS:
        if options.quick and nodes > 64:
            continue
        problem = Problem(nodes, degree, objective="bisection", seed=options.seed)
        found, spent = search(problem, "symmetric", width=least)
        judged = bisection_width(found.best.graph, seed=options.seed + 1, effort="thorough")
        report["bisection"].append([nodes, degree, judged.width, spent, judged.width >= least])
        print(
            f"({nodes},{degree}) bisection width {judged.width}, held for "
            f"{found.best.bisection_width} (bar {least}), in {spent:.1f} s: {dict(judged.widths)}",
            flush=True,
        )
        if judged.width < least:
            yield f"bisection of ({nodes},{degree})"


if __name__ == "__main__":
    sys.exit(main())
