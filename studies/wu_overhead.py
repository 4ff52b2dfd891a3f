"""Wu, Xiong and Lan (2015), tables 5 to 7: what it takes to compute mappings."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from studies.laboratory import Laboratory
from studies.mapping_cases import Method
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table
from studies.wu_cases import MACHINES, Platform, traffic

__all__ = ["WU_OVERHEAD"]

_TREE, _TREE_INTER = Method("recursive-tree"), Method("recursive-tree", {"scope": "inter"})
_HALVES = Method("recursive-bipartition")
_HALVES_INTER = Method("recursive-bipartition", {"scope": "inter"})
_OTHERS = {"scotch": Method("scotch"), "auto": Method("auto")}

_METHODS: Mapping[str, Mapping[str, Method]] = {
    "Stampede": {"RT:inter+intra": _TREE, **_OTHERS},
    "Kraken": {"RT:inter+intra": _TREE, "RB:inter+intra": _HALVES, **_OTHERS},
    "Intrepid": {
        "RT:inter": _TREE_INTER,
        "RB:inter": _HALVES_INTER,
        "greedy": Method("greedy"),
        "recursive": Method("recursive-graph"),
        "rcm": Method("rcm"),
        **_OTHERS,
    },
}
_TABLE = {"Stampede": 5, "Kraken": 6, "Intrepid": 7}
_PROCESSES = {
    "Stampede": (256, 512, 1024, 2048, 4096, 8192),
    "Kraken": (192, 384, 768, 1536, 3072, 6144),
    "Intrepid": (256, 512, 1024, 2048, 4096, 8192),
}
_PAPER: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("Stampede", "RT:inter+intra"): (0.003, 0.007, 0.027, 0.040, 0.135, 0.324),
    ("Kraken", "RT:inter+intra"): (0.008, 0.016, 0.044, 0.081, 0.152, 0.425),
    ("Kraken", "RB:inter+intra"): (0.008, 0.016, 0.033, 0.070, 0.149, 0.259),
    ("Intrepid", "RT:inter"): (0.170, 0.442, 1.236, 3.804, 12.683, 45.143),
    ("Intrepid", "RB:inter"): (0.153, 0.336, 0.730, 1.586, 3.424, 7.368),
    ("Intrepid", "greedy"): (0.096, 0.380, 1.525),
    ("Intrepid", "recursive"): (12.324, 36.736, 133.052),
    ("Intrepid", "rcm"): (0.005, 0.012, 0.028),
}
_TRIES = 2
_SLOW = 5.0  # seconds; a mapper that took so long is not tried on more processes

Times = Mapping[str, Sequence[float | None]]
"""By mapping: CPU seconds for each number of processes."""


def _run(laboratory: Laboratory) -> Findings:
    tables, plots = [], []
    claims: list[Claim] = []
    for platform in MACHINES:
        sizes = _PROCESSES[platform.name][: 3 if laboratory.quick else None]
        times = _times(laboratory, platform, sizes)
        tables.append(_table(platform, sizes, times))
        plots.append(_plot(platform, sizes, times))
        claims += _claims(platform, sizes, times)
    return Findings(tuple(tables), tuple(plots), tuple(claims), _REMARKS)


_REMARKS = (
    "CPU seconds of one core, the least of two runs, for a pattern like nlpkkt120's; the paper's "
    "are of its machines: a 2.7 GHz Xeon (table 5), a 2.6 GHz Opteron (6) and an 850 MHz PowerPC "
    "(7). Ours include reading the machine's hops.",
    "`scotch` and `auto` (fast mode) are not in the paper, which failed to run LibTopoMap on more "
    "than 1,024 processes.",
)


def _times(laboratory: Laboratory, platform: Platform, sizes: Sequence[int]) -> Times:
    methods = _METHODS[platform.name]
    times: dict[str, list[float | None]] = {name: [] for name in methods}
    for processes in sizes:
        laboratory.say(f"mapping {processes} processes onto {platform.name}")
        exchanged = traffic("nlpkkt120", processes, quick=laboratory.quick, seed=laboratory.seed)
        for name, method in methods.items():
            spent: list[float] = []
            before = [seconds for seconds in times[name] if seconds is not None]
            if before and (len(before) < len(times[name]) or before[-1] > _SLOW):
                times[name].append(None)
                continue
            for _ in range(_TRIES):
                machine = platform.machine(processes).hops  # a new one, its hops not read yet
                start = time.process_time()
                method.places_of(exchanged, machine, laboratory.seed)
                spent.append(time.process_time() - start)
            times[name].append(min(spent))
    return times


def _table(platform: Platform, sizes: Sequence[int], times: Times) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, ours in times.items():
        rows.append((name, "ours", *(None if t is None else round(t, 4) for t in ours)))
        paper = _PAPER.get((platform.name, name))
        if paper is not None:
            told = [*paper, *(None,) * len(sizes)][: len(sizes)]
            rows.append((name, "paper", *told))
    return Table(
        f"Table {_TABLE[platform.name]}: seconds to map onto {platform.name}, by processes",
        ("mapping", "", *map(str, sizes)),
        tuple(rows),
    )


def _plot(platform: Platform, sizes: Sequence[int], times: Times) -> Plot:
    points = []
    for name, ours in times.items():
        known = [(float(n), t) for n, t in zip(sizes, ours, strict=True) if t]
        points.append(Points(name, tuple(n for n, _ in known), tuple(t for _, t in known)))
        paper = _PAPER.get((platform.name, name))
        if paper is not None:
            few = sizes[: len(paper)]
            points.append(Points(f"{name}, paper", tuple(map(float, few)), paper[: len(few)]))
    number = _TABLE[platform.name]
    title = f"Table {number}: seconds to map onto {platform.name}"
    return Plot(f"table-{number}", title, "processes", "seconds", tuple(points), "xy")


def _claims(platform: Platform, sizes: Sequence[int], times: Times) -> list[Claim]:
    number = _TABLE[platform.name]
    last = f"{sizes[-1]:,} processes"
    claims = []
    for name, ours in times.items():
        paper = _PAPER.get((platform.name, name))
        if paper is not None and len(paper) >= len(sizes) and ours[-1] is not None:
            claims.append(
                Claim(
                    f"{number}: {name} takes {paper[len(sizes) - 1]:.3f} s for {last}",
                    f"{ours[-1]:.3f} s",
                    ours[-1] <= paper[len(sizes) - 1],
                )
            )
    if platform.name != "Stampede":
        tree, halves = [ours[-1] or 0.0 for name, ours in times.items() if name[:2] in ("RT", "RB")]
        claims.append(
            Claim(
                f"{number}: recursive bipartitioning takes less than recursive tree mapping",
                f"{halves:.3f} s and {tree:.3f} s for {last}",
                halves <= tree,
            )
        )
    return claims


WU_OVERHEAD = Study(
    "wu-tables-5-7",
    "Wu et al. 2015, tables 5 to 7",
    "what it takes to compute mappings of up to 8,192 processes",
    _run,
    "2 minutes",
)
