"""Wu, Xiong and Lan (2015), figures 10 to 12: what mappings gain over the system's default."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np

from searchspace.mapping.metrics import metrics_of
from searchspace.traffic import Traffic
from studies.laboratory import Laboratory
from studies.mapping_cases import Case, Method, on_cores
from studies.mapping_machines import CoreMachine
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table
from studies.wu_cases import MACHINES, PATTERNS, Platform, traffic

__all__ = ["WU_HIERARCHY", "exchange_case"]

_RT, _RT_BOTH, _RB = "RT:inter", "RT:inter+intra", "RB:inter"
_TREE = Method("recursive-tree", {"scope": "inter"})
_HALVES = Method("recursive-bipartition", {"scope": "inter"})
_METHODS: Mapping[str, Mapping[str, Method]] = {
    "Stampede": {_RT: _TREE, _RT_BOTH: Method("recursive-tree"), "auto": Method("auto")},
    "Kraken": {
        _RT: _TREE,
        _RT_BOTH: Method("recursive-tree"),
        _RB: _HALVES,
        "auto": Method("auto"),
    },
    "Intrepid": {
        _RT: _TREE,
        _RB: _HALVES,
        "Greedy": Method("greedy"),
        "Recursive": Method("recursive-graph"),
        "RCM": Method("rcm"),
        "auto": Method("auto"),
    },
}
_PROCESSES: Mapping[str, Sequence[int]] = {
    "Stampede": (32, 128, 256, 1024, 8192),
    "Kraken": (96, 192, 768, 6144),
    "Intrepid": (64, 256, 1024, 8192),
}
_PROCESSES_QUICK: Mapping[str, Sequence[int]] = {
    "Stampede": (32, 64),
    "Kraken": (48, 96),
    "Intrepid": (64, 128),
}
_MOST_SIMULATED = 256
"""Processes of the largest job that is simulated; the larger ones have hop-bytes only."""

_PAPER = {"Stampede": (90, 76, 22), "Kraken": (89, 77, 23), "Intrepid": (79, 69, None)}
"""Per cent by which hop-bytes and time fall at most, and what mapping within nodes adds to it."""

_FIGURE = {"Stampede": 10, "Kraken": 11, "Intrepid": 12}
_IRREGULAR = PATTERNS[1:]

Gains = Mapping[tuple[str, int], Mapping[str, float]]
"""By pattern and processes: the part that a mapping saves of the default, by mapping."""


def exchange_case(
    laboratory: Laboratory, name: str, exchanged: Traffic, machine: CoreMachine
) -> Case:
    """Processes that exchange what a pattern says, by non-blocking messages, all at once."""
    return on_cores(name, laboratory.exchange(exchanged), machine, exchanged)


def _run(laboratory: Laboratory) -> Findings:
    tables, plots = [], []
    claims: list[Claim] = []
    for platform in MACHINES:
        hops, times, shuffled = _gains(laboratory, platform)
        number = _FIGURE[platform.name]
        tables.append(_table(number, platform, "hop-bytes", hops))
        tables.append(_table(number, platform, "communication time", times))
        plots.append(_plot(number, platform, "hop-bytes", hops))
        plots.append(_plot(number, platform, "time", times))
        claims += _claims(number, platform, hops, times, shuffled)
    return Findings(tuple(tables), tuple(plots), tuple(claims), _REMARKS)


_REMARKS = (
    "Numbers are the per cent saved of the default mapping: `packed` on Stampede and Kraken, and "
    "on Intrepid Blue Gene's XYZT, which deals processes to the nodes in turn; negative: lost.",
    "Stampede: a fat tree of two levels, half of its nodes taken by others; Kraken: a torus of "
    "twice as many nodes as the job has, which gets runs of them; Intrepid: a torus, below 512 "
    "nodes a mesh. Cores, sockets and nodes are cables of the simulated network; bandwidths "
    "follow the paper's table 4 where it has them.",
    "The matrices of the paper are not at hand. In their likeness: a mesh of a crankshaft, a mesh "
    "of an engine block, and the KKT matrix of a problem on a cube, with fewer rows that count "
    "for more bytes, cut by METIS; the cosmology is a refined mesh along a Hilbert curve.",
    "`auto` (by hop-bytes, in its fast mode) is not in the paper. Communication is simulated for "
    f"up to {_MOST_SIMULATED} processes.",
)


def _gains(laboratory: Laboratory, platform: Platform) -> tuple[Gains, Gains, float]:
    """Hop-bytes and simulated time that each mapping saves.

    And the part of hop-bytes that recursive tree mapping saves at most where the same processes are
    numbered at random.
    """
    quick, seed = laboratory.quick, laboratory.seed
    chosen = _PROCESSES_QUICK if quick else _PROCESSES
    hops: dict[tuple[str, int], dict[str, float]] = {}
    times: dict[tuple[str, int], dict[str, float]] = {}
    shuffled = 0.0
    for processes in chosen[platform.name]:
        machine = platform.machine(processes)
        for pattern in PATTERNS:
            name = f"{pattern} of {processes} on {platform.name}"
            laboratory.say(name)
            exchanged = traffic(pattern, processes, quick=quick, seed=seed)
            simulated = processes <= _MOST_SIMULATED
            case = exchange_case(laboratory, name, exchanged, machine) if simulated else None
            costs: dict[str, tuple[float, float]] = {}
            methods = {"default": Method(platform.default), **_METHODS[platform.name]}
            for label, method in methods.items():
                places = method.places_of(exchanged, machine.hops, seed)
                assert places is not None
                hop_bytes = metrics_of(exchanged, machine.hops, places).hop_bytes
                costs[label] = hop_bytes, case.seconds(places) if case else 0.0
            base_hops, base_time = costs.pop("default")
            key = pattern, processes
            draw = np.random.default_rng(seed)
            mixed = exchanged.renumbered(draw.permutation(processes))
            shuffled = max(shuffled, _saved(mixed, machine, platform, seed))
            hops[key] = {label: 1 - cost[0] / base_hops for label, cost in costs.items()}
            if case is not None:
                times[key] = {label: 1 - cost[1] / base_time for label, cost in costs.items()}
    return hops, times, shuffled


def _saved(exchanged: Traffic, machine: CoreMachine, platform: Platform, seed: int) -> float:
    """The part of hop-bytes that recursive tree mapping saves."""
    before, after = (
        metrics_of(exchanged, machine.hops, places).hop_bytes
        for method in (Method(platform.default), _TREE)
        if (places := method.places_of(exchanged, machine.hops, seed)) is not None
    )
    return 1 - after / before


def _table(number: int, platform: Platform, what: str, gains: Gains) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (pattern, processes, *(f"{saved:.1%}" for saved in by_method.values()))
        for (pattern, processes), by_method in sorted(
            gains.items(), key=lambda entry: (PATTERNS.index(entry[0][0]), entry[0][1])
        )
    ]
    methods = tuple(_METHODS[platform.name])
    return Table(
        f"Figure {number}: {what} saved on {platform.name}",
        ("test", "processes", *methods),
        tuple(rows),
    )


def _plot(number: int, platform: Platform, what: str, gains: Gains) -> Plot:
    keys = sorted(gains, key=lambda key: (PATTERNS.index(key[0]), key[1]))
    places = tuple(float(place) for place in range(len(keys)))
    points = tuple(
        Points(method, places, tuple(100 * gains[key][method] for key in keys))
        for method in _METHODS[platform.name]
    )
    ticks = tuple(f"{_SHORT[pattern]}\n{_rounded(processes)}" for pattern, processes in keys)
    title = f"Figure {number}: {what} saved on {platform.name}, by test and processes"
    return Plot(
        f"figure-{number}-{what}", title, "", "per cent saved of the default", points, ticks=ticks
    )


_SHORT = dict(zip(PATTERNS, ("3D", "F1", "aud.", "nlp.", "ART"), strict=True))


def _rounded(processes: int) -> str:
    """As few characters as a tick has room for."""
    return str(processes) if processes < 1000 else f"{processes / 1024:g}k"


def _mean(gains: Gains, method: str) -> float:
    return statistics.fmean(by_method[method] for by_method in gains.values())


def _most(gains: Gains, method: str) -> float:
    return max(by_method[method] for by_method in gains.values())


def _claims(
    number: int, platform: Platform, hops: Gains, times: Gains, shuffled: float
) -> list[Claim]:
    paper_hops, paper_time, paper_intra = _PAPER[platform.name]
    claims = []
    most_hops, most_time = _most(hops, _RT), _most(times, _RT)
    enough = most_hops >= paper_hops / 200 and most_time >= paper_time / 200
    claims.append(
        Claim(
            f"{number}: recursive tree mapping saves up to {paper_hops}% of hop-bytes and "
            f"{paper_time}% of the time",
            f"up to {most_hops:.0%} and {most_time:.0%} (holds from half of that on)",
            enough,
            ""
            if enough
            else "METIS numbers parts as it cuts, so the default mapping is near already; with "
            f"processes numbered at random, up to {shuffled:.0%} of hop-bytes are saved",
        )
    )
    if paper_intra is not None:
        claims.append(_claim_within_nodes(number, times, paper_intra))
    trend = _trend(times)
    if platform.name == "Stampede":
        claims.append(_trend_claim(number, trend, "decreases", falling=True))
    if platform.name == "Kraken":
        tree, halves = _mean(hops, _RT), _mean(hops, _RB)
        claims.append(
            Claim(
                f"{number}: recursive tree saves more hop-bytes than bipartitioning, whose "
                "cuts ignore links that wrap around",
                f"{tree:.1%} and {halves:.1%} on average",
                tree > halves,
            )
        )
    if platform.name != "Stampede":
        tree, halves = _mean(times, _RT), _mean(times, _RB)
        claims.append(
            Claim(
                f"{number}: both save about the same time",
                f"{tree:.1%} and {halves:.1%} on average",
                abs(tree - halves) <= 0.05,
            )
        )
    if platform.name == "Intrepid":
        claims.append(_claim_beside_library(number, times))
        claims.append(_trend_claim(number, trend, "increases", falling=False))
    return claims


def _claim_within_nodes(number: int, times: Gains, paper: int) -> Claim:
    added = [by_method[_RT_BOTH] - by_method[_RT] for by_method in times.values()]
    more = statistics.fmean(added)
    return Claim(
        f"{number}: mapping within nodes saves more time, by up to {paper}%",
        f"{more:+.1%} on average, at most {max(added):+.1%}, at least {min(added):+.1%}",
        more > 0 and max(added) > 0.02,
        ""
        if more > 0 and max(added) > 0.02
        else "cables within a node are faster than its interface, which decides",
    )


def _claim_beside_library(number: int, times: Gains) -> Claim:
    library = {name: _mean(times, name) for name in ("Greedy", "Recursive", "RCM")}
    ours = min(_mean(times, _RT), _mean(times, _RB))
    return Claim(
        f"{number}: both save far more time than the mappings of LibTopoMap",
        f"at least {ours:.1%}; "
        + ", ".join(f"{name} {saved:.1%}" for name, saved in library.items()),
        ours > max(library.values()),
        "LibTopoMap's mappings are kept here whatever they do to congestion"
        if ours <= max(library.values())
        else "",
    )


def _trend(times: Gains) -> dict[str, tuple[float, float]]:
    """Of each irregular test: what the fewest and the most processes save."""
    found = {}
    for pattern in _IRREGULAR:
        sizes = sorted(processes for test, processes in times if test == pattern)
        found[pattern] = (times[pattern, sizes[0]][_RT], times[pattern, sizes[-1]][_RT])
    return found


def _trend_claim(
    number: int, trend: Mapping[str, tuple[float, float]], direction: str, *, falling: bool
) -> Claim:
    right = [name for name, (few, many) in trend.items() if (many < few) == falling]
    tests = "ART and matrices" if falling else "matrices"
    if not falling:
        trend = {name: ends for name, ends in trend.items() if name != "ART"}
        right = [name for name in right if name in trend]
    return Claim(
        f"{number}: with more processes the gain {direction} ({tests})",
        ", ".join(f"{name} {few:.0%} to {many:.0%}" for name, (few, many) in trend.items()),
        len(right) > len(trend) / 2,
    )


WU_HIERARCHY = Study(
    "wu-figures-10-12",
    "Wu et al. 2015, figures 10 to 12",
    "hop-bytes and communication time saved on fat tree and tori",
    _run,
    "a minute",
)
