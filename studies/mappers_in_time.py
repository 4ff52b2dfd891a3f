"""All mappers in simulated time, over the cases of the studies of Jeannot, Wu and Soryani."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from studies.jeannot_treematch import (
    BERTHA,
    nas_programs,
    played_case,
    program_case,
    synthetic_cases,
)
from studies.laboratory import Laboratory
from studies.mapping_cases import METHODS, Case
from studies.soryani_workloads import MIXED, UNIFORM, synthetic_workloads
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table
from studies.wu_cases import MACHINES, PATTERNS, traffic
from studies.wu_hierarchy import exchange_case

__all__ = ["MAPPERS_IN_TIME", "Standing", "standings"]

_ALONE, _ALL = "auto, refined from itself", "auto, refined from all"
_EVALUATIONS, _EVALUATIONS_QUICK = 100, 30
_SLACK = 0.01
_BAR = 0.95

_PROCESSES = {"Stampede": (32, 128), "Kraken": (96, 192), "Intrepid": (64, 256)}

_DRAWN = ("packed", "cyclic", "treematch", "scotch", "contention-free", "auto", _ALONE, _ALL)


@dataclass(frozen=True)
class Standing:
    """How a case went.

    Attributes:
        group: Of which study.
        name: Of the case.
        ratios: By mapper that could be used: its time over the least of all mappers'. What was
            refined may be below 1.
        cpu_seconds: By mapper: of finding the mapping, simulations left out.
        simulations: By mapper: of finding the mapping.
    """

    group: str
    name: str
    ratios: Mapping[str, float]
    cpu_seconds: Mapping[str, float]
    simulations: Mapping[str, int]

    @property
    def best(self) -> str:
        """The fastest mapper, without refinement."""
        plain = {name: ratio for name, ratio in self.ratios.items() if name in METHODS}
        return min(plain, key=lambda name: plain[name])


def standings(
    cases: Iterator[tuple[str, Case]], *, evaluations: int, seed: int
) -> Iterator[Standing]:
    """Tries every mapper on every case, and refines.

    Args:
        cases: With the group that each is of.
        evaluations: Simulations of a refinement, those of its starts included.
        seed: Of all random choices.
    """
    for group, case in cases:
        usable, cpu_seconds = {}, {}
        for name, method in METHODS.items():
            begin = time.process_time()
            places = method.places(case, seed)
            if places is not None:
                usable[name] = places
                cpu_seconds[name] = time.process_time() - begin
        times = {name: case.seconds(places) for name, places in usable.items()}
        least = min(times.values())
        simulations = dict.fromkeys(usable, 0)
        starts = sorted(usable, key=lambda name: (name != "auto", times[name]))
        for label, names in ((_ALONE, starts[:1]), (_ALL, starts)):
            begin = time.process_time()
            refined = case.refined(
                [usable[name] for name in names], evaluations=evaluations, seed=seed
            )
            cpu_seconds[label] = time.process_time() - begin
            simulations[label] = refined.evaluations
            times[label] = refined.seconds
        ratios = {name: seconds / least for name, seconds in times.items()}
        yield Standing(group, case.name, ratios, cpu_seconds, simulations)


def _cases(laboratory: Laboratory) -> Iterator[tuple[str, Case]]:
    quick = laboratory.quick
    for name, program in nas_programs(laboratory):
        yield "NAS programs", program_case(name, program)
        yield "NAS patterns", played_case(laboratory, f"{name} played", program.traffic, BERTHA)
    for case in synthetic_cases(laboratory):
        yield "hierarchies", case
    for platform in MACHINES:
        for processes in _PROCESSES[platform.name][: 1 if quick else None]:
            machine = platform.machine(processes)
            for pattern in PATTERNS:
                exchanged = traffic(pattern, processes, quick=quick, seed=laboratory.seed)
                name = f"{pattern} of {processes} on {platform.name}"
                yield platform.name, exchange_case(laboratory, name, exchanged, machine)
    # Refinement simulates often, so fewer messages of each sender are played.
    names = ("Bcast/Scatter", "Linear") if quick else (*UNIFORM, *MIXED)
    for work in synthetic_workloads(laboratory, names, queued=1000, played=1000):
        yield "workloads", work.case


def _run(laboratory: Laboratory) -> Findings:
    evaluations = _EVALUATIONS_QUICK if laboratory.quick else _EVALUATIONS
    found = []
    cases = _cases(laboratory)
    for standing in standings(cases, evaluations=evaluations, seed=laboratory.seed):
        laboratory.say(
            f"{standing.name}: best {standing.best}, auto {standing.ratios['auto']:.3f}, "
            f"refined {standing.ratios[_ALONE]:.3f} and {standing.ratios[_ALL]:.3f}"
        )
        found.append(standing)
    tables = (_by_mapper(found), _by_group(found), _behind(found))
    return Findings(tables, (_ecdf(found),), _claims(found), _remarks(evaluations))


def _remarks(evaluations: int) -> tuple[str, ...]:
    return (
        "Ratios are to the least simulated time of all mappers without refinement, in the same "
        "case. The cases are those of the studies of Jeannot (programs, patterns played, "
        "hierarchies), Wu (up to 256 processes) and Soryani (synthetic workloads, time of the last "
        "job; a simulation of the real ones takes up to a minute).",
        "`auto` has its fast mode and looks at hop-bytes. Refined from itself it is what `hamtune "
        "map refine --configuration '{mapping: auto}'` makes: it knows the trace and, beside ranks "
        "in order, no other mapper's result, and leaps to what a model of time, which learns from "
        "the simulations, takes for better. Refined from all it is what `hamtune map refine` "
        "makes, which cannot be slower than the best of them. Both make at most "
        f"{evaluations} simulations, those of the starts included; the mappers make none. Other "
        "CPU seconds are those of the mapper or of the refinement's own work, without the "
        "simulator's.",
    )


def _near(found: Sequence[Standing], name: str) -> float:
    """The share of all cases in which a mapper is best or within the slack."""
    good = sum(s.ratios.get(name, float("inf")) <= 1 + _SLACK for s in found)
    return good / len(found)


def _by_mapper(found: Sequence[Standing]) -> Table:
    names = [*METHODS, _ALONE, _ALL]
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(names, key=lambda name: -_near(found, name)):
        ratios = [standing.ratios[name] for standing in found if name in standing.ratios]
        if ratios:
            mean, worst = statistics.fmean(ratios), max(ratios)
            share = f"{_near(found, name):.1%}"
            cost = statistics.fmean(s.cpu_seconds[name] for s in found if name in s.ratios)
            made = statistics.fmean(s.simulations[name] for s in found if name in s.ratios)
            row = (name, len(ratios), share, round(mean, 3), round(worst, 3))
            rows.append((*row, round(made, 1), float(f"{cost:.2g}")))
    return Table(
        f"Simulated time over {len(found)} cases",
        ("mapper", "cases", "best or within 1%, of all cases", "mean ratio", "worst ratio",
         "simulations", "other CPU s"),
        tuple(rows),
    )  # fmt: skip


def _by_group(found: Sequence[Standing]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in dict.fromkeys(standing.group for standing in found):
        chosen = [standing for standing in found if standing.group == group]
        shares = (f"{_near(chosen, name):.1%}" for name in ("auto", _ALONE, _ALL))
        rows.append((group, len(chosen), *shares))
    return Table(
        "Best or within 1% of the best mapper",
        ("cases of", "cases", "auto", _ALONE, _ALL),
        tuple(rows),
    )


def _behind(found: Sequence[Standing]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (s.name, s.best, *(round(s.ratios[name], 3) for name in ("auto", _ALONE, _ALL)))
        for s in sorted(found, key=lambda s: -s.ratios[_ALONE])
        if s.ratios[_ALONE] > 1 + _SLACK
    ]
    return Table(
        "Cases in which auto, refined from itself, is more than 1% behind the best mapper",
        ("case", "best mapper", "auto", _ALONE, _ALL),
        tuple(rows),
    )


def _ecdf(found: Sequence[Standing]) -> Plot:
    points = []
    for name in _DRAWN:
        ratios = sorted(s.ratios[name] for s in found if name in s.ratios)
        shares = tuple((index + 1) / len(ratios) for index in range(len(ratios)))
        if ratios:
            x = (ratios[0], *ratios)
            points.append(Points(name, x, (0.0, *shares), joined=True, held=True))
    title = "Simulated time relative to the best mapper"
    return Plot(
        "ratios", title, "ratio to the best mapper", "share of the cases", tuple(points), "x"
    )


def _claims(found: Sequence[Standing]) -> tuple[Claim, ...]:
    what = f"best or within 1% of the best mapper on at least {_BAR:.0%} of the cases"
    share, alone, plain = (_near(found, name) for name in (_ALL, _ALONE, "auto"))
    return (
        Claim(
            f"from every mapper's mapping, auto refined on time is {what}",
            f"{share:.1%} of {len(found)}; more than 1% faster than every mapper on "
            f"{_faster(found, _ALL):.1%}",
            share >= _BAR,
        ),
        Claim(
            f"the project's aim: from its own mapping alone, auto refined on time is {what}",
            f"{alone:.1%} of {len(found)}; more than 1% faster than every mapper on "
            f"{_faster(found, _ALONE):.1%}; without refinement {plain:.1%}",
            alone >= _BAR,
        ),
    )


def _faster(found: Sequence[Standing], name: str) -> float:
    """The share of all cases in which it is clearly faster than every mapper."""
    return sum(s.ratios[name] < 1 - _SLACK for s in found) / len(found)


MAPPERS_IN_TIME = Study(
    "mappers-in-time",
    "Mappers of all papers and our own",
    "every mapper by simulated time over the cases of the other studies of mappings",
    _run,
    "hours",
)
