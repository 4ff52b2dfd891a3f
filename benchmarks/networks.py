"""How fast distances are evaluated, and how good the networks are that `topology optimize` finds.

    .venv/bin/python -m benchmarks.networks [--quick] [--only PART] [--seed S] [--output FILE.json]
    .venv/bin/python -m benchmarks.networks --keep [--seed S]
    .venv/bin/python -m benchmarks.networks table

One core, CPU seconds: one table of bar, measured value and MET or MISSED; the status is 1 if a bar
is missed. `--quick` measures the rates and the small networks only. A search ends at its bar. What
it found is then judged from outside: distances by igraph, widths by all our verifiers at their most
thorough with a seed that the search has not seen, and by METIS, KaHIP and networkx alone; the least
of all counts. `--keep` measures all parts and writes the figures of this seed to
benchmarks/networks.json and the table of all seeds in docs/benchmarks.md, `table` only the table.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import igraph
import kahip
import networkx
import numpy as np
import rustworkx
from scipy.sparse import csgraph, csr_matrix

from benchmarks import orderings
from benchmarks.provenance import measured_now, releases
from benchmarks.tables_in_docs import add_keep, add_table, markdown, missed_unless, write_table
from searchspace.graph import Graph
from searchspace.kernels import _native
from searchspace.topology import generate
from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import begin
from searchspace.topology.optimise.search import Problem, Search
from searchspace.topology.rotation import orbit_array, orbits_of

RESULTS = Path(__file__).with_suffix(".json")
PAGE, TABLE = "benchmarks.md", "networks"
COMPARED = ("networkx", "igraph", "rustworkx", "scipy", "kahip")

RATE_BARS = {"networkx": 4000, "igraph": 200, "rustworkx": 110, "scipy": 1000}
MOVES_BAR = 200_000
TURNS, TURN_SECONDS = 8, 0.15
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
WIDTH_SECONDS = 180.0  # at most: searches end at their bar, which names no time
# nodes, girth, connected cubic networks of at least that girth (Meringer 1999, table 2)
LISTED = [(16, 3, 4060), (20, 5, 5783), (30, 7, 546), (32, 7, 30_368)]
# nodes, degree, most CPU seconds for all metrics
SCALE_BARS = [(4096, 8, 0.2), (65_536, 8, 60.0)]
LISTING_SECONDS = 300.0
OUTSIDE_RUNS = {"METIS": 30, "KaHIP": 60, "networkx": 6}


def rate(evaluate: Callable[[], Any], seconds: float) -> float:
    """Calls a CPU second."""
    begin_time = time.process_time()
    calls = 0
    while (spent := time.process_time() - begin_time) < seconds or calls == 0:
        evaluate()
        calls += 1
    return calls / spent


def rates(nodes: int, degree: int) -> dict[str, float]:
    """Evaluations of the ASPL of one network a second: ours and the others', side by side.

    All take turns, and of each the fastest turn counts, so that what else the machine does
    disturbs them alike.
    """
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
    evaluations: dict[str, Callable[[], Any]] = {
        "ours": ours.evaluate,
        "networkx": lambda: networkx.average_shortest_path_length(nx_graph),
        "igraph": ig_graph.average_path_length,
        "rustworkx": lambda: rustworkx.graph_unweighted_average_shortest_path_length(rx_graph),
        "scipy": lambda: csgraph.shortest_path(matrix, unweighted=True).mean(),
    }
    turns = [
        {name: rate(evaluate, TURN_SECONDS) for name, evaluate in evaluations.items()}
        for _ in range(TURNS)
    ]
    return {name: max(turn[name] for turn in turns) for name in evaluations}


def search(
    problem: Problem, method: str, reached: Callable[[Search], bool] = lambda _: False
) -> tuple[Search, float]:
    """Runs a search for its CPU seconds or up to its goal; returns it and the seconds."""
    start = shown = time.process_time()
    found = begin(method, problem)
    while not (found.finished or reached(found)):
        now = time.process_time()
        if now - start >= problem.seconds:
            break
        if now - shown >= 10.0:
            shown = now
            best = found.best.bisection_width or found.best.aspl
            say(f"  ({problem.nodes},{problem.degree}) {now - start:.0f} CPU s: {best:.7g}")
        found.step()
    return found, time.process_time() - start


def say(line: str) -> None:
    """Tells of the progress on stderr."""
    print(line, file=sys.stderr, flush=True)


def outside_width(graph: Graph, seed: int) -> int:
    """The narrowest halves that others find by themselves, each from many seeds, counted here."""
    network = networkx.Graph(graph.edges)
    ends = np.asarray(graph.edges, dtype=np.uint32)
    neighbours = [sorted(network[node]) for node in range(graph.nodes)]
    targets = [other for row in neighbours for other in row]
    first = [0, *np.cumsum([len(row) for row in neighbours]).tolist()]

    def metis(run: int) -> Any:
        return _native.metis_split(graph.nodes, ends, 10, run)

    def kahip_eco(run: int) -> Any:
        ones = [1] * graph.nodes
        return kahip.kaffpa(ones, first, [1] * len(targets), targets, 2, 0.0, True, run, 1)[1]

    def kernighan_lin(run: int) -> Any:
        half, _ = networkx.algorithms.community.kernighan_lin_bisection(
            network, seed=run, max_iter=20
        )
        return np.isin(np.arange(graph.nodes), list(half))

    narrowest = len(graph.edges)
    for (name, runs), split in zip(
        OUTSIDE_RUNS.items(), (metis, kahip_eco, kernighan_lin), strict=True
    ):
        for run in range(runs):
            sides = np.asarray(split(1000 * seed + run), dtype=np.int64)
            if abs(2 * int(sides.sum()) - graph.nodes) > graph.nodes % 2:
                continue
            width = int((sides[ends[:, 0]] != sides[ends[:, 1]]).sum())
            if width < narrowest:
                narrowest = width
                say(f"  {name}, seed {1000 * seed + run}: {width}")
    return narrowest


@dataclass(frozen=True)
class Row:
    """A bar, and what was measured against it."""

    what: str
    bar: str
    measured: str
    met: bool
    cpu_seconds: float

    def __str__(self) -> str:
        verdict = "MET" if self.met else "MISSED"
        return (
            f"{self.what:<34} {self.bar:>16} {self.measured:>26} {verdict:<6} "
            f"{self.cpu_seconds:7.1f}"
        )


def networks_table() -> str:
    """The table of the documentation, as the results have it: what each seed gave."""
    kept = json.loads(RESULTS.read_text())
    bars: dict[str, str] = {}
    cells: dict[tuple[str, str], str] = {}
    for seed, run in kept.items():
        for part, rows in run["parts"].items():
            for row in rows:
                bars[row["what"]] = row["bar"]
                cells[row["what"], seed] = _cell(part, row)
    heads = [f"seed {seed}, {run['date']}" for seed, run in kept.items()]
    lines = [
        [what, bar, *(cells.get((what, seed), "-") for seed in kept)] for what, bar in bars.items()
    ]
    below = [
        f"Seed {seed}: {', '.join([run['processor'], *_compared(run)])}."
        for seed, run in kept.items()
    ]
    table = markdown(["CPU s of searches in brackets", "Bar", *heads], lines)
    return table + "\n" + "\n".join(below) + "\n"


def _compared(run: dict[str, Any]) -> list[str]:
    """Beside which releases a seed was measured, where that is known."""
    return [f"{name} {release}" for name, release in run.get("releases", {}).items()]


def _cell(part: str, row: dict[str, Any]) -> str:
    spent = f" ({row['cpu_seconds']:.1f})" if part in SEARCHES else ""
    return f"{row['measured']}{spent}{missed_unless(row['met'])}"


def main() -> int:
    """Measure and print one table; the status is 0 when all bars are met, else 1."""
    options = _options()
    if options.table:
        write_table(PAGE, TABLE, networks_table())
        return 0
    begun = time.process_time()
    print(f"{'what':<34} {'bar':>16} {'measured':>26} {'':<6} {'CPU s':>7}", flush=True)
    parts: dict[str, list[Row]] = {}
    for name, part in _PARTS.items():
        if options.only in (None, name):
            say(f"{name}: {part.__doc__}")
            parts[name] = []
            for row in part(options):
                print(row, flush=True)
                parts[name].append(row)
    rows = [row for part in parts.values() for row in part]
    missed = [row.what for row in rows if not row.met]
    print(f"{len(rows) - len(missed)} of {len(rows)} bars met", end="")
    print(f" in {time.process_time() - begun:.0f} CPU s", end="")
    print("; MISSED: " + ", ".join(missed) if missed else "; ALL BARS MET")
    if options.output:
        report = {
            "instructions": _native.level_instructions(),
            "seed": options.seed,
            "rows": [dataclasses.asdict(row) for row in rows],
        }
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    if options.keep:
        _keep(options.seed, parts)
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="CPU time on an x86 core of 2.5 GHz: rates 15 s, aspl 2 to 12 minutes, bisection 3 "
        "to 8,\norderings and scale 3 to 5, exhaustive half a minute, --quick 1 minute.",
    )
    parser.add_argument("--quick", action="store_true", help="rates and networks of 64 nodes only")
    parser.add_argument("--only", choices=tuple(_PARTS), help="one part")
    parser.add_argument("--seed", type=int, default=1, help="of all searches [1]")
    parser.add_argument("--output", type=Path, metavar="FILE.json", help="write the rows as JSON")
    add_keep(parser, RESULTS)
    add_table(parser)
    options = parser.parse_args()
    if options.keep and (options.quick or options.only):
        parser.error("--keep measures all parts; leave out --quick and --only")
    return options


def _keep(seed: int, parts: dict[str, list[Row]]) -> None:
    """Put what a seed gave beside what others gave, and write the table of all."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept[str(seed)] = {
        **measured_now(),
        "instructions": _native.level_instructions(),
        "releases": releases(*COMPARED),
        "parts": {name: [dataclasses.asdict(row) for row in rows] for name, rows in parts.items()},
    }
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    write_table(PAGE, TABLE, networks_table())


def _rates(options: argparse.Namespace) -> Iterator[Row]:
    """Evaluations and moves a second."""
    begun = time.process_time()
    found = rates(256, 4)
    for name, bar in RATE_BARS.items():
        ratio = found["ours"] / found[name]
        spent = time.process_time() - begun
        yield Row(
            f"(256,4) evaluations over {name}", f">= {bar} x", f"{ratio:.0f} x", ratio >= bar, spent
        )
    begun = time.process_time()
    moves = 0.0
    for turn in range(TURNS):
        problem = Problem(256, 4, seed=options.seed + turn, seconds=0.4, symmetry=1)
        done, seconds = search(problem, "sa")
        moves = max(moves, done.moves / seconds)
    yield Row(
        "(256,4) moves a second",
        f">= {MOVES_BAR}",
        f"{moves:.0f}",
        moves >= MOVES_BAR,
        time.process_time() - begun,
    )


def _aspl(options: argparse.Namespace) -> Iterator[Row]:
    """Networks annealed for a low ASPL."""
    for nodes, degree, most, diameter, seconds, first in ASPL_BARS:
        if options.quick and nodes > 64:
            continue
        budget = min(seconds, 10.0) if options.quick else seconds
        problem = Problem(nodes, degree, seed=options.seed, seconds=budget, diameter_first=first)

        def reached(found: Search, most: float = most, diameter: int = diameter or nodes) -> bool:
            best = found.best
            low = best.aspl is not None and best.aspl <= most
            return low and best.diameter is not None and best.diameter <= diameter

        found, spent = search(problem, "sa", reached)
        network = igraph.Graph(nodes, found.best.graph.edges)
        aspl, widest = network.average_path_length(), network.diameter()
        regular = set(network.degree()) == {degree} and network.is_simple()
        met = regular and aspl <= most and widest <= (diameter or nodes)
        yield Row(
            f"({nodes},{degree}) ASPL{', diameter first' if first else ''}",
            f"<= {most:.6g}" + (f", D {diameter}" if diameter else ""),
            f"{aspl:.6f}, D {widest}",
            met,
            spent,
        )


def _bisection(options: argparse.Namespace) -> Iterator[Row]:
    """Wide bisections, judged by verifiers with a seed that the search has not seen."""
    for nodes, degree, least in WIDTH_BARS:
        if options.quick and nodes > 64:
            continue
        problem = Problem(
            nodes, degree, objective="bisection", seed=options.seed, seconds=WIDTH_SECONDS
        )

        def reached(found: Search, least: int = least) -> bool:
            return (found.best.bisection_width or 0) >= least

        found, spent = search(problem, "symmetric", reached)
        graph = found.best.graph
        judged = bisection_width(graph, seed=options.seed + 1, effort="thorough").width
        outside = outside_width(graph, options.seed + 1)
        width = min(judged, outside)
        held = found.best.bisection_width
        yield Row(
            f"({nodes},{degree}) bisection width",
            f">= {least}",
            f"{width} (others {outside})" + (f" (held for {held})" if held != width else ""),
            width >= least and set(graph.degrees) == {degree},
            spent,
        )


def _orderings(options: argparse.Namespace) -> Iterator[Row]:
    """Hamiltonian cycles, and `blocks` beside `gorder`, of random regular networks."""
    count = 10 if options.quick else 100
    begun = time.process_time()
    cycles = [orderings.cycles(*size, count, options.seed) for size in orderings.CYCLES]
    share = sum(found["share"] for found in cycles) / len(cycles)
    mean = sum(found["milliseconds"] for found in cycles) / len(cycles)
    yield Row(
        "Hamiltonian cycles",
        f">= {orderings.CYCLE_SHARE:.0%}, {orderings.CYCLE_MILLISECONDS:g} ms",
        f"{share:.2%}, {mean:.3f} ms",
        share >= orderings.CYCLE_SHARE and mean < orderings.CYCLE_MILLISECONDS,
        time.process_time() - begun,
    )
    for nodes, degree in orderings.SIZES:
        begun = time.process_time()
        won = orderings.compare(nodes, degree, count, options.seed, ("blocks", "gorder"))["won"]
        yield Row(
            f"({nodes},{degree}) blocks at or below gorder",
            f">= {orderings.WON_SHARE:.0%}",
            f"{won:.0%}",
            won >= orderings.WON_SHARE,
            time.process_time() - begun,
        )


def _exhaustive(options: argparse.Namespace) -> Iterator[Row]:
    """All connected cubic networks of a girth, listed once each."""
    for nodes, girth, count in LISTED:
        if options.quick and nodes > 20:
            continue
        problem = Problem(nodes, 3, girth=girth, seed=options.seed, seconds=LISTING_SECONDS)
        found, spent = search(problem, "exhaustive")
        yield Row(
            f"({nodes},3) networks of girth {girth} or more",
            f"{count}",
            f"{found.moves}, best ASPL {found.best.aspl:.6g}",
            found.finished and found.moves == count,
            spent,
        )


def _scale(options: argparse.Namespace) -> Iterator[Row]:
    """All distances of large networks."""
    for nodes, degree, most in SCALE_BARS:
        if options.quick and nodes > 4096:
            continue
        graph = generate("random", nodes, degree=degree, seed=options.seed)
        begun = time.process_time()
        measure(graph)
        spent = time.process_time() - begun
        yield Row(
            f"({nodes},{degree}) metrics", f"<= {most} s", f"{spent:.3f} s", spent <= most, spent
        )


_PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "rates": _rates,
    "aspl": _aspl,
    "bisection": _bisection,
    "orderings": _orderings,
    "exhaustive": _exhaustive,
    "scale": _scale,
}
SEARCHES = ("aspl", "bisection", "exhaustive")
"""Parts whose CPU seconds say how fast something is found."""

if __name__ == "__main__":
    sys.exit(main())
