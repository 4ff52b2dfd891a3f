"""Hop-bytes and CPU seconds of `auto` beside Scotch, on given and on generated instances.

    .venv/bin/python -m benchmarks.mapping [--given DIRECTORY] [--seconds 16] [--seed S] [--quick]
        [--only TEXT]

`--given` names a folder of NAME.mtx and NAME.machine.json; the best hop-bytes known of the
project's reference instances are compared with. CPU seconds are those of one call from Python,
reading excluded. `--seconds 0` leaves the long runs out; `--quick` leaves out machines above 600
hosts. Exit status 1 when `auto` at 0 seconds is beaten by Scotch in hop-bytes or time, or `auto`
at `--seconds` is more than 0.2% above what is known or found by Scotch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mapping_instances import Instance, instances
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.kernels._native import bytes_by_hops
from searchspace.mapping import map_ranks

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


def given(directory: Path) -> Iterator[Instance]:
    """The instances of a folder."""
    for path in sorted(directory.glob("*.mtx")):
        document = json.loads(path.with_suffix(".machine.json").read_text())
        machine = read_hop_machine(document, read_graph={}.__getitem__)
        traffic = read_traffic(path.read_text(), notice=lambda _: None)
        yield Instance(path.stem, traffic, machine, KNOWN.get(path.stem))


def measure(instance: Instance, method: str, **options: float) -> tuple[int, float]:
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


def main() -> int:
    """Prints the table; exit status 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--given", type=Path)
    parser.add_argument("--seconds", type=float, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| Instance | Ranks | auto 0 s | CPU s | Scotch | CPU s | auto long | Known | |")
    print("|---|---|---|---|---|---|---|---|---|")
    missed = 0
    everything = [*(given(asked.given) if asked.given else ())]
    everything += instances(seed=asked.seed, quick=asked.quick)
    for instance in everything:
        if asked.only not in instance.name:
            continue
        fast, fast_seconds = measure(instance, "auto")
        scotch, scotch_seconds = measure(instance, "scotch")
        long = measure(instance, "auto", seconds=asked.seconds)[0] if asked.seconds else None
        bound = TOLERANCE * min(scotch, instance.known or scotch)
        faults = [
            text
            for text, wrong in (
                ("above Scotch", fast > scotch),
                ("slower than Scotch", fast_seconds > scotch_seconds),
                ("above the best known", long is not None and long > bound),
            )
            if wrong
        ]
        missed += bool(faults)
        print(
            f"| {instance.name} | {instance.traffic.ranks} | {fast} | {fast_seconds:.4f} "
            f"| {scotch} | {scotch_seconds:.4f} | {long or '-'} | {instance.known or '-'} "
            f"| {', '.join(faults)} |",
            flush=True,
        )
    print(f"\n{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
