"""The mapping bars: `auto` on given and unseen instances and beside Scotch, mappers of the papers.

    .venv/bin/python -m benchmarks.mapping [--only given|unseen|fast|cores|papers]
        [--given DIRECTORY] [--seconds 16] [--threads N] [--long 60] [--runs 5] [--seed S] [--quick]
        [--match TEXT]

- given: `auto --seconds 16` on the reference instances (NAME.mtx and NAME.machine.json in the
  folder that `--given` names) against the best hop-bytes that anyone is known to have found, with
  as many threads as `hamtune map` takes by default: one for each core, up to 16. Two minutes.
- unseen: the same on instances made by rule. The reference is a formula where there is one (rings,
  stencils, hierarchies that fit), and for all kinds of traffic on all machines the best of
  `--runs` runs of `--long` seconds with other seeds and one thread, made now. Five minutes an
  instance, unless no search is needed: choose some by `--match`, or take half a day. `--quick`
  leaves out machines above 600 hosts.
- fast: `auto` at 0 seconds beside Scotch in hop-bytes and CPU seconds. Two minutes.
- cores: the same on machines whose hosts have several cores. One minute.
- papers: figures and times that the papers' mappers must reach. A second; `--given` for i02.

CPU seconds are those of one call from Python, reading excluded. `--match` takes only instances
whose names contain TEXT. Every line ends with MET or MISSED; exit status 1 when anything is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mapping_instances import (
    Instance,
    instances,
    instances_of_cores,
    shuffled_stencil,
)
from benchmarks.mapping_references import planted_instances
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
TREEMATCH_SECONDS = 4.0
RECURSIVE_TREE_SECONDS = 0.33
RECURSIVE_BIPARTITION_SECONDS = 0.26
# Jeannot and Mercier, Euro-Par 2010, figure 1 (a): the upper triangle, row by row.
FIGURE_1 = (
    """1000 10 1 100 1 1 1  1000 1 1 100 1 1  1000 1 1 100 1  1 1 1 100  1000 10 1  1000 1  1000"""
)

Row = tuple[list[str], bool]
"""The cells of a line, and whether its bar is met."""


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
        excess = found / instance.known - 1
        cells = [instance.name, str(found), f"{spent:.1f}", str(instance.known), f"{excess:+.3%}"]
        yield cells, found <= TOLERANCE * instance.known


def with_long_runs(
    some: Iterator[Instance], seed: int, long: float, runs: int
) -> Iterator[Instance]:
    """The same, with the best of long runs as what is known."""
    for instance in some:
        seeds = range(seed + 1, seed + 1 + runs)
        found = [measure(instance, "auto", seed=one, seconds=long)[0] for one in seeds]
        yield replace(instance, known=min(found))


def beside_scotch(some: Iterator[Instance]) -> Iterator[Row]:
    """`auto` at 0 seconds and Scotch, in turn."""
    for instance in some:
        fast, fast_seconds = measure(instance, "auto")
        scotch, scotch_seconds = measure(instance, "scotch")
        cells = [instance.name, str(fast), f"{fast_seconds:.4f}", str(scotch)]
        cells += [f"{scotch_seconds:.4f}", f"{fast / scotch - 1:+.2%}"]
        yield cells, fast <= scotch and fast_seconds <= scotch_seconds


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
        yield (
            [f"treematch, {instance.name}", str(found), f"{spent:.4f}", f"{optimum}"],
            found == optimum,
        )
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
        yield [name, str(found), f"{spent:.4f}", f"{most} s"], spent < most


def table(title: str, heads: list[str], rows: Iterator[Row]) -> int:
    """Prints rows as they come; how many missed their bar."""
    print(f"\n{title}\n\n| {' | '.join(heads)} | |\n{'|---' * (len(heads) + 1)}|", flush=True)
    missed = count = 0
    for cells, met in rows:
        count += 1
        missed += not met
        print(f"| {' | '.join(cells)} | {'MET' if met else 'MISSED'} |", flush=True)
    print(f"\n{title}: {count - missed} of {count} MET", flush=True)
    return missed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("given", "unseen", "fast", "cores", "papers"))
    parser.add_argument("--given", type=Path)
    parser.add_argument("--seconds", type=float, default=16)
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 16))
    parser.add_argument("--long", type=float, default=60)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--match", default="")
    return parser


def main() -> int:
    """Prints the tables; exit status 1 when a bar is missed."""
    parser = _parser()
    asked = parser.parse_args()
    if asked.only == "given" and asked.given is None:
        parser.error("--only given needs --given DIRECTORY, where the reference instances are")
    begin = time.process_time()

    def chosen(some: Iterator[Instance]) -> Iterator[Instance]:
        return (one for one in some if asked.match in one.name)

    def generated() -> Iterator[Instance]:
        return chosen(instances(seed=asked.seed, quick=asked.quick))

    def judged(some: Iterator[Instance]) -> Iterator[Row]:
        return against_known(some, asked.seconds, asked.threads)

    missed = 0
    heads = ["Instance", "auto", "CPU s", "Known", "Above"]
    if asked.only in (None, "given") and asked.given:
        missed += table("given", heads, judged(chosen(given(asked.given))))
    if asked.only in (None, "unseen"):
        planted = (
            one
            for one in chosen(planted_instances(asked.seed))
            if not (asked.quick and one.machine.hosts > 600)
        )
        heads[3] = "Least possible"
        missed += table("unseen, formulas", heads, judged(planted))
        heads[3] = f"Best of {asked.runs} x {asked.long:g} s"
        compared = with_long_runs(generated(), asked.seed, asked.long, asked.runs)
        missed += table("unseen, long runs", heads, judged(compared))
    heads = ["Instance", "auto 0 s", "CPU s", "Scotch", "CPU s", "Above"]
    if asked.only in (None, "fast"):
        missed += table("fast", heads, beside_scotch(generated()))
    if asked.only in (None, "cores"):
        of_cores = chosen(instances_of_cores(seed=asked.seed))
        missed += table("cores", heads, beside_scotch(of_cores))
    if asked.only in (None, "papers"):
        heads = ["Mapper", "Hop-bytes", "CPU s", "Bar"]
        missed += table("papers", heads, papers(asked.given))
    print(f"\n{missed} MISSED, {time.process_time() - begin:.0f} CPU s")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
