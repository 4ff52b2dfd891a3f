"""Hamiltonian cycles of random regular networks, and `blocks` beside the other orderings.

    .venv/bin/python -m benchmarks.orderings [--networks 100] [--seed S] [--rows 256,6 ...]
        [--output FILE.json]
    .venv/bin/python -m benchmarks.orderings --keep [--seed S]
    .venv/bin/python -m benchmarks.orderings table

`--rows` leaves out the cycles and compares orderings on the sizes named (nodes,degree) only. One
core, CPU seconds. `--keep` measures all and writes benchmarks/orderings.json and its tables in
docs/benchmarks.md, `table` only the tables of what was kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import add_keep, add_table, markdown, missed_unless, write_tables
from searchspace.graph import Graph
from searchspace.ordering import ORDERINGS, order
from searchspace.ordering.metrics import adjacency, aspl_of_blocks
from searchspace.topology import generate

RESULTS = Path(__file__).with_suffix(".json")
PAGE, CYCLES_TABLE, TABLE = "benchmarks.md", "hamiltonian cycles", "orderings"

CYCLES = [(nodes, degree) for nodes in (16, 64, 128, 256) for degree in (3, 4, 6, 8)]
CYCLE_SHARE, CYCLE_MILLISECONDS = 0.99, 1.0
SIZES = [(64, 4), (64, 6), (256, 4), (256, 6)]
WON_SHARE, ADJACENT_SHARE = 0.9, 0.9
BLOCK = 8


def networks(nodes: int, degree: int, count: int, seed: int) -> list[Graph]:
    """Random regular networks, none of them seen while the orderings were written."""
    first = 1_000_000 + seed * count
    return [generate("random", nodes, degree=degree, seed=first + i) for i in range(count)]


def cycles(nodes: int, degree: int, count: int, seed: int) -> dict[str, Any]:
    """How many networks a Hamiltonian cycle is found in, and how long that takes on average."""
    found, spent = 0, 0.0
    order("hamiltonian", generate("ring", nodes), seed=seed)  # what is loaded at the first call
    for graph in networks(nodes, degree, count, seed):
        begin = time.process_time()
        walk = order("hamiltonian", graph, seed=seed)
        spent += time.process_time() - begin
        closed = tuple(sorted((walk[0], walk[-1]))) in graph.edges
        found += adjacency(graph.relabel(walk)) == 1.0 and closed
    return {"share": found / count, "milliseconds": 1000 * spent / count}


def compare(
    nodes: int, degree: int, count: int, seed: int, names: Collection[str] = tuple(ORDERINGS)
) -> dict[str, Any]:
    """Mean hops in blocks and adjacency of orderings, `blocks` and `gorder` among them.

    Beside that, how often `blocks` is not worse than `gorder` and adjacent enough.
    """
    hops: dict[str, list[float]] = {name: [] for name in names}
    adjacent: dict[str, list[float]] = {name: [] for name in names}
    spent = 0.0
    for graph in networks(nodes, degree, count, seed):
        for name in names:
            begin = time.process_time()
            renumbered = graph.relabel(order(name, graph, seed=seed))
            spent += (time.process_time() - begin) if name == "blocks" else 0.0
            hops[name].append(aspl_of_blocks(renumbered)[BLOCK])
            adjacent[name].append(adjacency(renumbered))
    won = sum(
        ours <= gorders and share >= ADJACENT_SHARE
        for ours, gorders, share in zip(
            hops["blocks"], hops["gorder"], adjacent["blocks"], strict=True
        )
    )
    return {
        "won": won / count,
        "seconds": spent / count,
        "hops": {name: statistics.fmean(values) for name, values in hops.items()},
        "adjacent": {name: statistics.fmean(values) for name, values in adjacent.items()},
    }


def orderings_tables() -> dict[str, str]:
    """The tables of the documentation by name, as the results have them."""
    kept = json.loads(RESULTS.read_text())
    head = f"{kept['date']}, {kept['processor']}, seed {kept['seed']}, "
    head += f"{kept['networks']} networks each"
    return {CYCLES_TABLE: _cycles_table(kept, head), TABLE: _blocks_table(kept, head)}


def _cycles_table(kept: dict[str, Any], head: str) -> str:
    degrees = sorted({degree for _, degree in CYCLES})
    rows = []
    for nodes in sorted({nodes for nodes, _ in CYCLES}):
        row = [f"{nodes} nodes"]
        for degree in degrees:
            found = kept["cycles"][f"{nodes},{degree}"]
            met = found["milliseconds"] < CYCLE_MILLISECONDS
            shown = f"{found['share']:.0%}, {found['milliseconds']:.2f} ms"
            row.append(shown + missed_unless(met))
        rows.append(row)
    share = statistics.fmean(found["share"] for found in kept["cycles"].values())
    total = f"{share:.2%}{missed_unless(share >= CYCLE_SHARE)}"
    rows.append(["of all", total, *[""] * (len(degrees) - 1)])
    return markdown([head, *(f"degree {degree}" for degree in degrees)], rows)


def _blocks_table(kept: dict[str, Any], head: str) -> str:
    blocks = [kept["blocks"][f"{nodes},{degree}"] for nodes, degree in SIZES]
    names = sorted(blocks[0]["hops"], key=lambda name: sum(one["hops"][name] for one in blocks))
    rows = [
        [f"`{name}`", *(f"{one['hops'][name]:.3f} ({one['adjacent'][name]:.2f})" for one in blocks)]
        for name in names
    ]
    won = [f"{one['won']:.0%}{missed_unless(one['won'] >= WON_SHARE)}" for one in blocks]
    what = f"`blocks` at or below `gorder` with {ADJACENT_SHARE:.0%} adjacent (bar {WON_SHARE:.0%})"
    rows.append([what, *won])
    rows.append(["CPU s of `blocks`", *(f"{one['seconds']:.2f}" for one in blocks)])
    return markdown([head, *(f"({nodes}, {degree})" for nodes, degree in SIZES)], rows)


def main() -> int:
    """Prints the tables; exit status 1 when a bar is missed."""
    arguments = _options()
    if arguments.table:
        write_tables(PAGE, orderings_tables())
        return 0
    wanted = [size for size in SIZES if f"{size[0]},{size[1]}" in (arguments.rows or [])]
    result: dict[str, Any] = {"cycles": {}, "blocks": {}}
    met = wanted != [] or _measure_cycles(arguments, result["cycles"])
    for nodes, degree in wanted or SIZES:
        found = compare(nodes, degree, arguments.networks, arguments.seed)
        result["blocks"][f"{nodes},{degree}"] = found
        good = found["won"] >= WON_SHARE
        met &= good
        print(
            f"({nodes},{degree}) blocks not worse than gorder in {found['won']:.0%}, "
            f"{found['seconds']:.2f} s{'' if good else '  MISSED'}; mean hops in blocks of {BLOCK} "
            f"(consecutive ids adjacent):"
        )
        for name, mean in sorted(found["hops"].items(), key=lambda item: item[1]):
            print(f"    {name:12} {mean:.3f} ({found['adjacent'][name]:.2f})")
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2))
    if arguments.keep:
        settings = {"networks": arguments.networks, "seed": arguments.seed}
        RESULTS.write_text(json.dumps({**measured_now(), **settings, **result}, indent=1) + "\n")
        write_tables(PAGE, orderings_tables())
    return 0 if met else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", nargs="+", choices=[f"{n},{d}" for n, d in SIZES])
    parser.add_argument("--output", type=Path)
    add_keep(parser, RESULTS)
    add_table(parser)
    arguments = parser.parse_args()
    if arguments.keep and arguments.rows:
        parser.error("--keep measures all sizes; leave out --rows")
    return arguments


def _measure_cycles(arguments: argparse.Namespace, result: dict[str, Any]) -> bool:
    """Whether Hamiltonian cycles are found as often and as fast as they have to be."""
    met = True
    for nodes, degree in CYCLES:
        found = cycles(nodes, degree, arguments.networks, arguments.seed)
        result[f"{nodes},{degree}"] = found
        good = found["milliseconds"] < CYCLE_MILLISECONDS
        met &= good
        print(
            f"({nodes},{degree}) Hamiltonian cycle in {found['share']:.0%}, "
            f"{found['milliseconds']:.3f} ms{'' if good else '  MISSED'}"
        )
    share = statistics.fmean(found["share"] for found in result.values())
    verdict = "" if share >= CYCLE_SHARE else "  MISSED"
    print(f"Hamiltonian cycle in {share:.2%} of all{verdict}")
    return met and share >= CYCLE_SHARE


if __name__ == "__main__":
    sys.exit(main())
