"""The mapping bars: `auto` on given and unseen instances and beside Scotch, mappers of the papers.

    .venv/bin/python -m benchmarks.mapping [--only given|unseen|formulas|fast|cores|papers]
        [--given DIRECTORY] [--seconds 16] [--threads N] [--long 60] [--runs 5] [--seed S] [--quick]
        [--match TEXT] [--keep]
    .venv/bin/python -m benchmarks.mapping table

- given: `auto --seconds 16` on the reference instances (NAME.mtx and NAME.machine.json in the
  folder that `--given` names) against the best hop-bytes that anyone is known to have found, with
  as many threads as `hamtune map` takes by default: one for each core, up to 16. Two minutes.
- unseen: the same on instances made by rule. The reference is a formula where there is one (rings,
  stencils, hierarchies that fit), and for all kinds of traffic on all machines the best of
  `--runs` runs of `--long` seconds with other seeds and one thread, made now. Five minutes an
  instance, unless no search is needed: choose some by `--match`, or take half a day. `--quick`
  leaves out machines above 600 hosts.
- formulas: of unseen, only what there is a formula for. Six minutes.
- fast: `auto` at 0 seconds beside Scotch in hop-bytes and CPU seconds. Two minutes.
- cores: the same on machines whose hosts have several cores. One minute.
- papers: figures and times that the papers' mappers must reach. A second; `--given` for i02.

CPU seconds are those of one call from Python, reading excluded; of fast and cores the least of
three. `--match` takes only instances whose names contain TEXT. Every line ends with MET or MISSED;
exit status 1 when anything is missed.

`--keep` writes each row to benchmarks/mapping.json with its day, as soon as a part is done, and the
tables of docs/benchmarks.md; rows that were not measured stay as they were. `table` measures
nothing and writes the tables.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mapping_instances import (
    SMALL,
    Instance,
    instances,
    instances_of_cores,
    shuffled_stencil,
)
from benchmarks.mapping_references import planted_instances
from benchmarks.mapping_tables import PAGE, RESULTS, keep, mapping_tables
from benchmarks.tables_in_docs import add_keep, add_table, write_tables
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.kernels._native import bytes_by_hops
from searchspace.mapping import map_ranks
from searchspace.traffic import Traffic

# The best hop-bytes known of the reference instances: the project's, not those of runs of `auto`.
KNOWN = {
    "i01_treematch8": 18568,
    "i02_hier64": 308148,
    "i04_stencil512_torus": 1344000,
    "i05_stencil512_tree": 4480000,
    "i07_alltoall48_tree64": 590400,
    "i11_stencil2d384_tree512": 1824000,
    "s8192_stencil_torus": 23296000,
}
TOLERANCE = 1.002
TURNS = 3
TREEMATCH_SECONDS = 4.0
RECURSIVE_TREE_SECONDS = 0.33
RECURSIVE_BIPARTITION_SECONDS = 0.26
# Jeannot and Mercier, Euro-Par 2010, figure 1 (a): the upper triangle, row by row.
FIGURE_1 = (
    """1000 10 1 100 1 1 1  1000 1 1 100 1 1  1000 1 1 100 1  1 1 1 100  1000 10 1  1000 1  1000"""
)


@dataclass(frozen=True)
class Row:
    """What was measured of an instance.

    Attributes:
        name: The instance.
        found: Hop-bytes.
        seconds: CPU seconds.
        bar: Hop-bytes that they are compared with.
        bar_seconds: CPU seconds that they are compared with.
        met: Whether the bars are met.
        threads: How many searched.
    """

    name: str
    found: int
    seconds: float
    bar: int | None
    bar_seconds: float | None
    met: bool
    threads: int = 1

    def __str__(self) -> str:
        least = "" if self.bar is None else f"{self.bar}"
        above = "" if self.bar is None else f"{self.found / self.bar - 1:+.3%}"
        most = "" if self.bar_seconds is None else f"{self.bar_seconds:.4f}"
        cells = [self.name, f"{self.found}", f"{self.seconds:.4f}", least, most, above]
        return f"| {' | '.join(cells)} | {'MET' if self.met else 'MISSED'} |"


def given(directory: Path) -> Iterator[Instance]:
    """The instances of a folder."""
    for path in sorted(directory.glob("*.mtx")):
        document = json.loads(path.with_suffix(".machine.json").read_text())
        graphs: dict[str, Graph] = {}
        machine = read_hop_machine(document, read_graph=graphs.__getitem__)
        traffic = read_traffic(path.read_text(), notice=lambda _: None)
        yield Instance(path.stem, traffic, machine, KNOWN.get(path.stem))


def measure(instance: Instance, method: str, **options: Any) -> tuple[int, float]:
    """Hop-bytes and CPU seconds."""
    _ = instance.machine.hops, instance.machine.network, instance.machine.place_hosts
    begin = time.process_time()
    places = map_ranks(method, instance.traffic, instance.machine, **options)
    spent = time.process_time() - begin
    traffic = instance.traffic
    by_hops = bytes_by_hops(
        traffic.first, traffic.partner, traffic.size, instance.machine.hops, places
    )
    return sum(hops * size for hops, size in enumerate(by_hops)), spent


def against_known(some: Iterator[Instance], seconds: float, threads: int) -> Iterator[Row]:
    """`auto` at so many seconds against what each instance says is known."""
    for instance in some:
        found, spent = measure(instance, "auto", seconds=seconds, threads=threads)
        if instance.known is None:
            continue
        met = found <= TOLERANCE * instance.known
        yield Row(instance.name, found, spent, instance.known, None, met, threads)


def with_long_runs(
    some: Iterator[Instance], seed: int, long: float, runs: int
) -> Iterator[Instance]:
    """The same, with the best of long runs as what is known."""
    for instance in some:
        seeds = range(seed + 1, seed + 1 + runs)
        found = [measure(instance, "auto", seed=one, seconds=long)[0] for one in seeds]
        yield replace(instance, known=min(found))


def by_turns(instance: Instance, *methods: str) -> list[tuple[int, float]]:
    """Hop-bytes of methods, which choose the same each time, and the least CPU seconds of each."""
    turns = [[measure(instance, method) for method in methods] for _ in range(TURNS)]
    return [(runs[0][0], min(spent for _, spent in runs)) for runs in zip(*turns, strict=True)]


def beside_scotch(some: Iterator[Instance]) -> Iterator[Row]:
    """`auto` at 0 seconds and Scotch, in turn."""
    for instance in some:
        (fast, fast_seconds), (scotch, scotch_seconds) = by_turns(instance, "auto", "scotch")
        met = fast <= scotch and fast_seconds <= scotch_seconds
        yield Row(instance.name, fast, fast_seconds, scotch, scotch_seconds, met)


def papers(directory: Path | None) -> Iterator[Row]:
    """What the papers' mappers must reach."""
    matrix = np.zeros((8, 8), dtype=np.int64)
    matrix[np.triu_indices(8, k=1)] = [int(word) for word in FIGURE_1.split()]
    figure = Instance(
        "Jeannot figure 1",
        Traffic.from_dense(matrix + matrix.T),
        HopMachine.uniform(Tree((2, 3, 2))),
    )
    exact = [(figure, 18568)]
    for instance in given(directory) if directory else ():
        if instance.name.startswith("i02"):
            exact.append((instance, KNOWN[instance.name]))
    for instance, optimum in exact:
        found, spent = measure(instance, "treematch")
        name = f"treematch, {instance.name}"
        yield Row(name, found, spent, optimum, None, found == optimum)
    lattice = (32, 16, 16)
    timed = (
        ("treematch", Tree((16, 8, 4, 16)), 1, (), lattice, TREEMATCH_SECONDS),
        (
            "recursive-tree",
            Grid((8, 8, 8), wrapped=True),
            16,
            (4, 4),
            lattice,
            RECURSIVE_TREE_SECONDS,
        ),
        (
            "recursive-bipartition",
            Grid((8, 8, 8), wrapped=True),
            12,
            (3, 4),
            (24, 16, 16),
            RECURSIVE_BIPARTITION_SECONDS,
        ),
    )
    for method, shape, cores, inside, extents, most in timed:
        machine = HopMachine.uniform(shape, cores, inside)
        instance = Instance(method, shuffled_stencil(extents), machine)
        found, spent = measure(instance, method)
        name = f"{method}, {instance.traffic.ranks} ranks"
        yield Row(name, found, spent, None, most, spent < most)


def table(title: str, compared_with: str, rows: Iterator[Row]) -> list[Row]:
    """Prints rows as they come."""
    heads = ["Instance", "Hop-bytes", "CPU s", compared_with, "CPU s", "Above", ""]
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|", flush=True)
    done = []
    for row in rows:
        done.append(row)
        print(row, flush=True)
    print(f"\n{title}: {sum(row.met for row in done)} of {len(done)} MET", flush=True)
    return done


PARTS = ("given", "formulas", "unseen", "fast", "cores", "papers")


def _part(name: str, asked: argparse.Namespace) -> tuple[str, Iterator[Row]]:
    """What the rows of a part are compared with, and the rows, which are measured as they come."""

    def chosen(some: Iterator[Instance]) -> Iterator[Instance]:
        return (one for one in some if asked.match in one.name)

    def judged(some: Iterator[Instance]) -> Iterator[Row]:
        return against_known(chosen(some), asked.seconds, asked.threads)

    generated = chosen(instances(seed=asked.seed, quick=asked.quick))
    if name == "given":
        return "Known", judged(given(asked.given))
    if name == "formulas":
        planted = planted_instances(asked.seed)
        return "Least possible", judged(
            one for one in planted if not (asked.quick and one.machine.hosts > SMALL)
        )
    if name == "unseen":
        long_runs = with_long_runs(generated, asked.seed, asked.long, asked.runs)
        return f"Best of {asked.runs} x {asked.long:g} s", judged(long_runs)
    if name == "fast":
        return "Scotch", beside_scotch(generated)
    if name == "cores":
        return "Scotch", beside_scotch(chosen(instances_of_cores(seed=asked.seed)))
    return "Bar", papers(asked.given)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--given", type=Path)
    parser.add_argument("--seconds", type=float, default=16)
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 16))
    parser.add_argument("--long", type=float, default=60)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--match", default="")
    add_keep(parser, RESULTS)
    add_table(parser)
    asked = parser.parse_args()
    if asked.only == "given" and asked.given is None:
        parser.error("--only given needs --given DIRECTORY, where the reference instances are")
    return asked


def _parts(asked: argparse.Namespace) -> list[str]:
    """The parts that are asked for."""
    if asked.only == "unseen":
        return ["formulas", "unseen"]
    names = [asked.only] if asked.only else list(PARTS)
    return [name for name in names if name != "given" or asked.given]


def main() -> int:
    """Prints the tables; exit status 1 when a bar is missed."""
    asked = _options()
    if asked.table:
        write_tables(PAGE, mapping_tables())
        return 0
    begin = time.process_time()
    missed = 0
    for name in _parts(asked):
        rows = table(name, *_part(name, asked))
        missed += sum(not row.met for row in rows)
        if asked.keep:
            keep(name, map(asdict, rows))
    print(f"\n{missed} MISSED, {time.process_time() - begin:.0f} CPU s")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
