"""Jeannot and Mercier (2010), figures 3 to 5: TreeMatch against other mappings, as ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from searchspace.formats.matrix_market import write_traffic
from searchspace.hop_machine import HopMachine, Network, Tree
from searchspace.mapping.metrics import cable_loads, metrics_of
from searchspace.traffic import Traffic
from studies.laboratory import Laboratory
from studies.mapping_cases import Case, Method, on_cores
from studies.mapping_machines import CoreMachine
from studies.mapping_patterns import hierarchical
from studies.recordings import Program
from studies.study import Claim, Findings, Plot, Points, Study, Table

__all__ = [
    "BERTHA",
    "JEANNOT_TREEMATCH",
    "TOPOLOGIES",
    "nas_programs",
    "played_case",
    "program_case",
    "synthetic_cases",
]

_QUANTITIES = {
    "host_speed": "2.66Gf",
    "link_bandwidth": "1GBps",
    "link_latency": "50ns",
    "model": "plain",
}

_SOCKET, _CACHE = 8, 10
"""GB/s of the front-side bus of a socket (1,066 MT/s of 8 bytes), and of caches."""

_NUMA, _NETWORK = 5, 1
"""GB/s each way of the port between NUMA nodes, and of a network between hosts."""

BERTHA = CoreMachine(
    "bertha 4:4:3:2",
    HopMachine.uniform(Tree((4,)), 24, (4, 3, 2)),
    _QUANTITIES,
    (_NUMA,),
    (_SOCKET, _CACHE, _CACHE),
)
"""Four NUMA nodes of four sockets of six cores, two to an L2 cache (section 5.1)."""

TOPOLOGIES = (
    BERTHA,
    CoreMachine(
        "20:4:3:2",
        HopMachine.uniform(Tree((20,)), 24, (4, 3, 2)),
        _QUANTITIES,
        (_NETWORK,),
        (_SOCKET, _CACHE, _CACHE),
    ),
    CoreMachine(
        "16:2:4",
        HopMachine.uniform(Tree((16,)), 8, (2, 4)),
        _QUANTITIES,
        (_NETWORK,),
        (_SOCKET, _CACHE),
    ),
    CoreMachine(
        "4:4:6",
        HopMachine.uniform(Tree((4, 4)), 6, (6,)),
        _QUANTITIES,
        (_NUMA, _SOCKET),
        (_CACHE,),
    ),
    CoreMachine(
        "8:2:4:2",
        HopMachine.uniform(Tree((8,)), 16, (2, 4, 2)),
        _QUANTITIES,
        (_NETWORK,),
        (_SOCKET, _CACHE, _CACHE),
    ),
    CoreMachine(
        "4:2:2:2:4",
        HopMachine.uniform(Tree((4, 2)), 16, (2, 2, 4)),
        _QUANTITIES,
        (_NETWORK, _NUMA),
        (_SOCKET, _CACHE, _CACHE),
    ),
)
"""Six topologies of depth 3 to 5; the second is the cluster that section 5.1 describes."""

_TREEMATCH, _OURS = "TreeMatch", "auto"
_METHODS: Mapping[str, Method] = {
    "RR": Method("round-robin"),
    "Packed": Method("packed"),
    "MPIPP.1": Method("mpipp"),
    "MPIPP.5": Method("mpipp", {"starts": 5}),
    "Scotch": Method("scotch"),
    _TREEMATCH: Method("treematch", {"heuristic": "best"}),
    _OURS: Method("auto"),
}
_OTHERS = ("RR", "Packed", "MPIPP.1", "MPIPP.5")
_SQUARE = ("bt", "sp")
_ITERATED = ("bt", "lu", "sp")
"""Programs that are run for a few of their iterations; their patterns are the same in each."""

_PROGRAMS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
_SYNTHETIC = (16, 16, 16, 16, 32, 32, 32, 32, 48, 64, 64, 64, 64, 96)
_MOST_BYTES = 1 << 28
"""Of a pattern that is played: the largest are scaled down to it."""

_ROUNDS = {"collectives.alltoallv": "ring"}
"""All at once, which is SMPI's default, thousands of flows would share the cables."""

_SAME = 1e-6  # two times this close, relative, are equal

Costs = Mapping[str, Sequence[float]]
"""By method: cost of each case."""


@dataclass(frozen=True)
class _Ratios:
    """How much more a method costs than another, over all cases."""

    values: tuple[float, ...]

    @property
    def above(self) -> float:
        return sum(value > 1 + _SAME for value in self.values) / len(self.values)

    @property
    def equal(self) -> float:
        return sum(abs(value - 1) <= _SAME for value in self.values) / len(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)


def nas_programs(laboratory: Laboratory) -> Iterator[tuple[str, Program]]:
    """The NAS programs of 16, 32 or 36, and 64 processes; quick: class S, fewer of them."""
    if laboratory.quick:
        wanted = [(name, "S", 16) for name in ("bt", "cg", "ft", "lu", "mg")]
        wanted += [(name, "S", 32) for name in ("cg", "is", "mg")]
    else:
        wanted = [
            (name, class_, 36 if size == 32 and name in _SQUARE else size)
            for class_, size in (("W", 16), ("W", 32), ("W", 64), ("A", 64))
            for name in _PROGRAMS
        ]
    for name, class_, ranks in wanted:
        parameters: dict[str, str | int] = {"class": class_}
        if name in _ITERATED:
            parameters["iterations"] = 3
        program = laboratory.program(name, ranks, short=False, **parameters)
        yield f"{name}.{class_}.{ranks}", program


def synthetic_cases(laboratory: Laboratory) -> Iterator[Case]:
    """The synthetic matrices, played on every topology."""
    sizes = _SYNTHETIC[::4] if laboratory.quick else _SYNTHETIC
    for topology in TOPOLOGIES[:4:2] if laboratory.quick else TOPOLOGIES:
        for number, ranks in enumerate(sizes):
            matrix = hierarchical(ranks, seed=laboratory.seed + number)
            name = f"hierarchy {number + 1} of {ranks} on {topology.name}"
            yield played_case(laboratory, name, matrix, topology)


def program_case(name: str, program: Program) -> Case:
    """A program on Bertha."""
    return on_cores(name, program, BERTHA, configuration=_ROUNDS)


def played_case(laboratory: Laboratory, name: str, pattern: Traffic, machine: CoreMachine) -> Case:
    """A pattern that the program `player` exchanges, one partner after the other."""
    program = player(laboratory, pattern)
    return on_cores(name, program, machine, pattern, configuration=_ROUNDS)


def player(laboratory: Laboratory, pattern: Traffic) -> Program:
    """The program that plays a pattern by MPI_Alltoallv and does nothing else (section 5.4)."""
    matrix = write_traffic(pattern.within(_MOST_BYTES))
    return laboratory.program("player", pattern.ranks, matrix=matrix, rounds=2)


def _run(laboratory: Laboratory) -> Findings:
    hops, times, played, busiest = _empty(), _empty(), _empty(), _empty()
    cables = HopMachine.uniform(Network(BERTHA.network))
    names = []
    for name, program in nas_programs(laboratory):
        laboratory.say(f"{name} on {BERTHA.name}")
        names.append(name)
        pattern = program.traffic
        whole = program_case(name, program)
        alone = played_case(laboratory, f"{name} played", pattern, BERTHA)
        for label, method in _METHODS.items():
            places = method.places(whole, laboratory.seed)
            assert places is not None
            hops[label].append(float(metrics_of(pattern, BERTHA.hops, places).hop_bytes))
            busiest[label].append(float(max(cable_loads(pattern, cables, places), default=0)))
            times[label].append(whole.seconds(places))
            played[label].append(alone.seconds(places))
    synthetic, exchanged = _empty(), _empty()
    for case in synthetic_cases(laboratory):
        laboratory.say(case.name)
        for label, method in _METHODS.items():
            places = method.places(case, laboratory.seed)
            assert places is not None
            synthetic[label].append(float(metrics_of(case.traffic, case.machine, places).hop_bytes))
            exchanged[label].append(case.seconds(places))
    large = [index for index, name in enumerate(names) if not name.endswith(".16")]
    largest = [index for index, name in enumerate(names) if name.endswith(".64")] or large
    most = "more than 16" if laboratory.quick else "64"
    figures = {
        "3(a) NAS patterns, hop-bytes": hops,
        "3(b) synthetic matrices, hop-bytes": synthetic,
        "3(b) synthetic matrices, simulated time": exchanged,
        "4(a) NAS programs": times,
        "4(b) NAS programs of more than 16 processes": _some(times, large),
        "5(a) NAS patterns played": played,
        f"5(b) NAS patterns of {most} processes played": _some(played, largest),
    }
    tables = tuple(_table(title, costs) for title, costs in figures.items())
    plots = tuple(
        _ecdf(f"figure-{title[0]}{title[2]}{'-time' if 'simulated' in title else ''}", title, costs)
        for title, costs in figures.items()
    )
    return Findings(
        tables, plots, _claims(names, busiest, *figures.values()), _remarks(quick=laboratory.quick)
    )


def _remarks(*, quick: bool) -> tuple[str, ...]:
    classes = "class S" if quick else "classes W and A"
    return (
        "Ratios are the cost of a mapping over TreeMatch's in the same case: above 1, TreeMatch is "
        "better. In figure 3 the paper simulates without saying how; here it is hop-bytes on "
        "the topology, and for synthetic matrices also the simulated time of playing them.",
        f"Figure 4: simulated time of the programs, {classes} (the paper: A to D); BT, LU and SP "
        "for three iterations. Figure 5: the program `player` exchanges the pattern by "
        "MPI_Alltoallv, which sends to one partner after the other in all programs (`ring`).",
        "The paper gives no bandwidths and latencies; here caches have 10 GB/s, the six cores of a "
        "socket share 8 GB/s (their bus), the 24 of a NUMA node 5 GB/s, hosts of a cluster have "
        "1 GB/s, and a level takes 50 ns. `RR` deals ranks to the NUMA nodes in turn; in the "
        "paper's figure 3(b) it equals Packed, on our topologies it does not.",
        "TreeMatch is the best of its three heuristics. Scotch and `auto` (by hop-bytes, in its "
        "fast mode) are not in the paper.",
    )


def _empty() -> dict[str, list[float]]:
    return {label: [] for label in _METHODS}


def _some(costs: Costs, chosen: Sequence[int]) -> Costs:
    return {label: [values[index] for index in chosen] for label, values in costs.items()}


def _ratios(costs: Costs, label: str, base: str = _TREEMATCH) -> _Ratios:
    pairs = zip(costs[label], costs[base], strict=True)
    # Costs of nothing at all are the same.
    return _Ratios(tuple(ours / theirs if theirs else 1.0 for ours, theirs in pairs))


_PAPER = {("3(a)", "MPIPP.1"): ("> 93%", "1.415", "1.446", "1", "2.352")}


def _table(title: str, costs: Costs) -> Table:
    rows = []
    for label in costs:
        if label == _TREEMATCH:
            continue
        found = _ratios(costs, label)
        values = (
            f"{found.above:.0%}",
            f"{found.equal:.0%}",
            round(found.median, 3),
            round(found.mean, 3),
            round(min(found.values), 3),
            round(max(found.values), 3),
        )
        rows.append((label, *values, ", ".join(_PAPER.get((title[:4], label), ()))))
    cases = len(costs[_TREEMATCH])
    return Table(
        f"Figure {title}: ratio to TreeMatch over {cases} cases",
        ("mapping", "above 1", "equal to 1", "median", "mean", "least", "most",
         "paper: above 1, median, mean, least, most"),
        tuple(rows),
    )  # fmt: skip


def _ecdf(name: str, title: str, costs: Costs) -> Plot:
    points = []
    for label in costs:
        if label == _TREEMATCH:
            continue
        values = sorted(_ratios(costs, label).values)
        shares = [(index + 1) / len(values) for index in range(len(values))]
        points.append(Points(label, (values[0], *values), (0.0, *shares), joined=True, held=True))
    return Plot(name, f"Figure {title}", "ratio to TreeMatch", "share of the cases", tuple(points))


def _claims(
    names: Sequence[str],
    busiest: Costs,
    hops: Costs,
    synthetic: Costs,
    exchanged: Costs,
    times: Costs,
    times_large: Costs,
    played: Costs,
    played_large: Costs,
) -> tuple[Claim, ...]:
    return (
        *_claims_of_costs(hops),
        *_claims_of_matrices(synthetic, exchanged),
        *_claims_of_programs(times, times_large),
        *_claims_of_phases(names, busiest, played, played_large),
    )


def _claims_of_costs(hops: Costs) -> tuple[Claim, ...]:
    """Figure 3(a)."""
    mpipp, five = _ratios(hops, "MPIPP.1"), _ratios(hops, "MPIPP.5")
    losers = [label for label in _OTHERS if _ratios(hops, label).mean < 1]
    slower = [label for label in ("RR", "Packed") if _ratios(hops, label).mean > mpipp.mean]
    packed, rr = _ratios(hops, "Packed"), _ratios(hops, "RR")
    return (
        Claim(
            "3(a): TreeMatch is better than all others on NAS patterns, on average",
            _told({label: _ratios(hops, label).mean for label in _OTHERS}),
            not losers,
            f"not than {', '.join(losers)}" if losers else "",
        ),
        Claim(
            "3(a): better than MPIPP.1 in more than 93% of the cases, median ratio 1.415",
            f"{mpipp.above:.0%}, {mpipp.median:.3f}",
            mpipp.above > 0.93,
            ""
            if mpipp.above > 0.93
            else f"in the other cases MPIPP.1 is at most {1 - min(mpipp.values):.1%} better",
        ),
        Claim(
            "3(a): only slightly better than MPIPP.5",
            f"mean ratio {five.mean:.3f} (MPIPP.1: {mpipp.mean:.3f})",
            1 <= five.mean < mpipp.mean,
        ),
        Claim(
            "3(a): MPIPP.1 is outperformed by all others",
            f"mean ratios: MPIPP.1 {mpipp.mean:.3f}, Packed {packed.mean:.3f}, RR {rr.mean:.3f}",
            not slower,
            f"{', '.join(slower)} cost more: our MPIPP exchanges until nothing helps, and Bertha's "
            "cores are numbered in order here"
            if slower
            else "",
        ),
        Claim(
            "3(a): Packed is better than Round Robin",
            f"mean ratios {packed.mean:.3f} and {rr.mean:.3f}",
            packed.mean < rr.mean,
        ),
    )


def _claims_of_matrices(synthetic: Costs, exchanged: Costs) -> tuple[Claim, ...]:
    """Figure 3(b)."""
    never = min(min(_ratios(synthetic, label).values) for label in _OTHERS)
    beaten = min(min(_ratios(exchanged, label).values) for label in _OTHERS)
    return (
        Claim(
            "3(b): TreeMatch finds the optimum of hierarchical matrices: no mapping is better",
            f"least ratio {never:.3f} in hop-bytes, {beaten:.3f} in simulated time",
            never >= 1 - _SAME,
            "sizes that are no multiple of the arities: groups are made without regard to the "
            "levels above"
            if never < 1 - _SAME
            else "",
        ),
    )


def _claims_of_programs(times: Costs, times_large: Costs) -> tuple[Claim, ...]:
    """Figure 4."""
    worst4 = {label: min(_ratios(times_large, label).values) for label in _OTHERS}
    means4 = {label: _ratios(times, label).mean for label in _OTHERS}
    return (
        Claim(
            "4(a): TreeMatch is the best on the programs, on average",
            _told(means4),
            min(means4.values()) >= 1 - _SAME,
        ),
        Claim(
            "4(b): with more than 16 processes the ratio is never under 0.9",
            _told(worst4, "least "),
            min(worst4.values()) >= 0.9,
        ),
    )


def _claims_of_phases(
    names: Sequence[str], busiest: Costs, played: Costs, played_large: Costs
) -> tuple[Claim, ...]:
    """Figure 5."""
    shares = {label: _ratios(played, label).above for label in ("RR", "Packed", "MPIPP.1")}
    worst5 = {label: min(_ratios(played, label).values) for label in _OTHERS}
    worst5_large = {label: min(_ratios(played_large, label).values) for label in _OTHERS}
    better = _ratios(played_large, "MPIPP.5")
    good = sum(value >= 0.99 for value in better.values) / len(better.values)
    return (
        Claim(
            "5(a): except for MPIPP.5, better in almost 75% of the cases",
            ", ".join(f"{label} {share:.0%}" for label, share in shares.items()),
            min(shares.values()) >= 0.7,
            f"equal or near: Packed is within 5% in {_even(played, 'Packed'):.0%}"
            if min(shares.values()) < 0.7
            else "",
        ),
        Claim(
            "5(a): the loss never exceeds 10% (RR: 0.83)",
            _told(worst5, "least "),
            all(value >= (0.83 if label == "RR" else 0.9) for label, value in worst5.items()),
            _lost(names, played, busiest, 0.9),
        ),
        Claim(
            "5(b): with 64 processes the least ratio is above 0.92",
            _told(worst5_large, "least "),
            min(worst5_large.values()) > 0.92,
            "" if min(worst5_large.values()) > 0.92 else "as for 5(a)",
        ),
        Claim(
            "5(b): better than or similar to MPIPP.5 in two thirds of the cases",
            f"{good:.0%} at 0.99 or above",
            good >= 2 / 3,
        ),
    )


def _lost(names: Sequence[str], costs: Costs, busiest: Costs, limit: float) -> str:
    """The cases in which another mapping is faster than a limit allows, and its busiest cable."""
    lost = [
        f"{label} on {name}: {ratio:.2f}, its busiest cable carries {load:.2f} of TreeMatch's"
        for label in _OTHERS
        for name, ratio, load in zip(
            names,
            _ratios(costs, label).values,
            _ratios(busiest, label).values,
            strict=True,
        )
        if ratio < limit
    ]
    return "; ".join(lost)


def _even(costs: Costs, label: str) -> float:
    """The share of the cases in which a mapping takes as long as TreeMatch's, within 5%."""
    values = _ratios(costs, label).values
    return sum(abs(value - 1) <= 0.05 for value in values) / len(values)


def _told(values: Mapping[str, float], what: str = "") -> str:
    return ", ".join(f"{what}{label} {value:.3f}" for label, value in values.items())


JEANNOT_TREEMATCH = Study(
    "jeannot-figures-3-5",
    "Jeannot and Mercier 2010, figures 3 to 5",
    "TreeMatch against other mappings on NAS and synthetic patterns",
    _run,
    "10 minutes",
)
