"""Soryani, Analoui and Zarrinchian (2013), figures 9 to 12: mappings of workloads on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from searchspace.mapping import Places, map_ranks
from studies.laboratory import Laboratory
from studies.queues import Waiting
from studies.soryani_workloads import (
    MACHINE,
    MIXED,
    UNIFORM,
    Workflow,
    real_workloads,
    synthetic_workloads,
)
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["SORYANI_CONTENTION"]

_BLOCKED, _CYCLIC, _DRB, _OLD, _NEW = "Blocked", "Cyclic", "DRB", "Old", "New"
_OURS = "auto"
_METHODS: Mapping[str, Callable[[Workflow, int], Places]] = {
    _BLOCKED: lambda work, seed: map_ranks("packed", work.traffic, MACHINE),
    _CYCLIC: lambda work, seed: map_ranks("cyclic", work.traffic, MACHINE),
    _DRB: lambda work, seed: map_ranks("scotch", work.traffic, MACHINE, seed=seed),
    _OLD: lambda work, seed: work.contention_free("old"),
    _NEW: lambda work, seed: work.contention_free("new"),
    _OURS: lambda work, seed: map_ranks("auto", work.traffic, MACHINE, seed=seed),
}
_TIMED = "auto in time"
_EVALUATIONS, _EVALUATIONS_QUICK = 24, 12

_GAINS = {
    "Mixed_1": (12.8, 7.7), "Mixed_2": (21.9, 19.6), "Mixed_3": (8.8, 0.3),
    "Mixed_4": (23.7, 17.4), "Mixed_5": (37.6, 12.2), "Mixed_6": (91.1, -1.5),
    "HW_1": (24.7, 14.8), "HW_2": (12.1, 16.9),
}  # fmt: skip
"""Per cent that New waits less than Cyclic, and than Old (section 5)."""

_QUICK = ("Bcast/Scatter", "Linear", "Mixed_1", "Mixed_6")
_REAL, _REAL_QUICK = ("HW_1", "HW_2", "MW", "LW_1", "LW_2"), ("HW_2", "LW_1")


@dataclass(frozen=True)
class _Outcome:
    """What a mapping made of a workload."""

    waiting: Waiting
    finish: tuple[float, ...]  # none where only queues were looked at

    @property
    def waits(self) -> float:
        return self.waiting.memory + self.waiting.interface

    @property
    def end(self) -> float:
        return max(self.finish)

    @property
    def total(self) -> float:
        return sum(self.finish)


Outcomes = Mapping[str, Mapping[str, _Outcome]]
"""By workload and mapping."""


def _waiting_only(work: Workflow, laboratory: Laboratory) -> dict[str, _Outcome]:
    laboratory.say(f"workload {work.name}")
    return {
        name: _Outcome(work.waiting(place(work, laboratory.seed)), ())
        for name, place in _METHODS.items()
    }


def _outcomes(work: Workflow, laboratory: Laboratory) -> dict[str, _Outcome]:
    laboratory.say(f"workload {work.name}")
    places = {name: place(work, laboratory.seed) for name, place in _METHODS.items()}
    refined = work.case.refined(
        [places[_OURS], *places.values()],
        evaluations=_EVALUATIONS_QUICK if laboratory.quick else _EVALUATIONS,
        seed=laboratory.seed,
    )
    places[_TIMED] = refined.places
    return {
        name: _Outcome(work.waiting(each), work.finish_times(each)) for name, each in places.items()
    }


def _run(laboratory: Laboratory) -> Findings:
    quick = laboratory.quick
    names = _QUICK if quick else (*UNIFORM, *MIXED)
    synthetic = {
        work.name: _outcomes(work, laboratory)
        for work in synthetic_workloads(
            laboratory, names, queued=100 if quick else 10, played=1000 if quick else 750
        )
    }
    classes = {"B": "S", "C": "S"} if quick else {"B": "W", "C": "A"}
    real = {
        work.name: _waiting_only(work, laboratory)
        for work in real_workloads(laboratory, _REAL_QUICK if quick else _REAL, classes)
    }
    figures: tuple[tuple[str, Outcomes, Callable[[_Outcome], float]], ...] = (
        ("9: waiting time, synthetic workloads", synthetic, lambda outcome: outcome.waits),
        ("10: workload finish time", synthetic, lambda outcome: outcome.end),
        ("11: total finish time of the jobs", synthetic, lambda outcome: outcome.total),
        ("12: waiting time, real workloads", real, lambda outcome: outcome.waits),
    )
    tables = [
        _waiting_table("Figure 9: waiting of all messages, s", synthetic),
        _table("Figure 10: workload finish time, simulated s", synthetic, figures[1][2]),
        _table("Figure 11: total finish time, simulated s", synthetic, figures[2][2]),
        _waiting_table("Figure 12: waiting of all messages, s", real),
    ]
    plots = tuple(
        _plot(f"figure-{title.partition(':')[0]}", f"Figure {title}", outcomes, value)
        for title, outcomes, value in figures
    )
    return Findings(tuple(tables), plots, _claims(synthetic, real), _remarks(quick=quick))


def _remarks(*, quick: bool) -> tuple[str, ...]:
    queued, played = ("a 100th", "a 1,000th") if quick else ("a tenth", "a 750th")
    classes = "S (BT and SP: W)" if quick else "W and A"
    return (
        "Waiting times are those of queues at the memory of every socket and at both ports of "
        "every interface, first come, first served, as in section 2; messages come at the paper's "
        f"rates, {queued} of its number. In brackets: the share that waits at interfaces.",
        f"Finish times are simulated by SimGrid with {played} of the messages (two or more of each "
        "sender): senders wait for their messages there, and memories and interfaces are shared "
        "by max-min fairness.",
        f"NAS programs are of classes {classes} for the paper's B and C, BT, LU and SP with three "
        "iterations, CG with three of its 15, LU with 32 processes instead of 25; their messages "
        "come when their computation at 1 Gf alone would get to them. Like the paper, the study "
        "has no finish times of these.",
        f"`{_TIMED}` begins with `auto` and the other mappings and swaps ranks as the simulated "
        "finish time of the workload tells it; it is not in the paper, nor is `auto`.",
    )


def _waiting_table(title: str, outcomes: Outcomes) -> Table:
    rows = []
    for work, by_method in outcomes.items():
        cells: list[Cell] = [work]
        for outcome in by_method.values():
            share = outcome.waiting.interface / outcome.waits if outcome.waits else 0.0
            cells.append(f"{outcome.waits:.4g} ({share:.0%})")
        rows.append(tuple(cells))
    return Table(title, ("workload", *_names(outcomes)), tuple(rows))


def _table(title: str, outcomes: Outcomes, value: Callable[[_Outcome], float]) -> Table:
    rows = tuple(
        (work, *(f"{value(outcome):.4g}" for outcome in by_method.values()))
        for work, by_method in outcomes.items()
    )
    return Table(title, ("workload", *_names(outcomes)), rows)


def _names(outcomes: Outcomes) -> tuple[str, ...]:
    return tuple(next(iter(outcomes.values())))


def _plot(name: str, title: str, outcomes: Outcomes, value: Callable[[_Outcome], float]) -> Plot:
    places = tuple(float(place) for place in range(len(outcomes)))
    points = tuple(
        Points(
            method,
            places,
            tuple(
                value(by_method[method]) / (value(by_method[_BLOCKED]) or 1.0)
                for by_method in outcomes.values()
            ),
        )
        for method in _names(outcomes)
    )
    return Plot(name, title, "", "relative to Blocked", points, "y", tuple(outcomes))


_NEAR = 1.05  # what the paper calls as well as


def _claims(synthetic: Outcomes, real: Outcomes) -> tuple[Claim, ...]:
    finished = (
        ("10", "workload finish time", lambda outcome: outcome.end),
        ("11", "total finish time", lambda outcome: outcome.total),
    )
    return (
        *_claims_of_patterns(synthetic),
        *_claims_of_mixtures(synthetic, real),
        *_claims_of_heavy(real),
        *(_finish_claim(synthetic, number, what, value) for number, what, value in finished),
    )


def _claims_of_patterns(synthetic: Outcomes) -> list[Claim]:
    """Figure 9, workloads of one pattern."""
    claims = []
    for work in ("Bcast/Scatter", "Gather/Reduce"):
        if work in synthetic:
            waits = _waits(synthetic[work])
            others = (_BLOCKED, _DRB, _OLD)
            best = min(waits[each] for each in others)
            claims.append(
                Claim(
                    f"9: {work}: New as well as Blocked, DRB and Old; Cyclic is inefficient",
                    _told(waits, (_NEW, *others, _CYCLIC)),
                    waits[_NEW] <= _NEAR * best and waits[_CYCLIC] > waits[_NEW],
                )
            )
    if "All-to-All" in synthetic:
        waits = _waits(synthetic["All-to-All"])
        claims.append(
            Claim(
                "9: All-to-All: New as well as Blocked and DRB; Cyclic and Old are unacceptable",
                _told(waits, (_NEW, _BLOCKED, _DRB, _CYCLIC, _OLD)),
                waits[_NEW] <= _NEAR * min(waits[_BLOCKED], waits[_DRB])
                and min(waits[_CYCLIC], waits[_OLD]) > waits[_NEW],
            )
        )
    if "Linear" in synthetic:
        waits = _waits(synthetic["Linear"])
        best = min(waits[_BLOCKED], waits[_CYCLIC], waits[_DRB])
        claims.append(
            Claim(
                "9: Linear: Cyclic waits longest; New 53% less than the best of the others (holds "
                "from half of that on)",
                f"{_told(waits, (_BLOCKED, _CYCLIC, _DRB))}; New {1 - waits[_NEW] / best:.0%} less",
                waits[_CYCLIC] >= max(waits[_BLOCKED], waits[_DRB])
                and _bears_out(1 - waits[_NEW] / best, 53),
            )
        )
    return claims


def _claims_of_mixtures(synthetic: Outcomes, real: Outcomes) -> list[Claim]:
    """Figures 9 and 12, workloads with a gain in the text."""
    claims = []
    for number, outcomes in (("9", synthetic), ("12", real)):
        for work, by_method in outcomes.items():
            if work not in _GAINS:
                continue
            waits = _waits(by_method)
            cyclic, old = (1 - waits[_NEW] / waits[each] for each in (_CYCLIC, _OLD))
            told = _GAINS[work]
            right = _bears_out(cyclic, told[0]) and _bears_out(old, told[1])
            claims.append(
                Claim(
                    f"{number}: {work}: New waits {told[0]}% less than Cyclic, {told[1]}% than Old "
                    "(holds from half of that on)",
                    f"{cyclic:.1%}, {old:.1%}",
                    right,
                    "" if right else f"interfaces hold {_interface(by_method)}",
                )
            )
    return claims


def _bears_out(gain: float, percent: float) -> bool:
    """Whether a gain is half of what the paper tells; about as good where it tells of none."""
    return gain >= percent / 200 if percent >= 1 else gain > 1 - _NEAR


def _claims_of_heavy(real: Outcomes) -> list[Claim]:
    """Figure 12, heavy workloads."""
    claims = []
    if "HW_2" in real:
        heavy = {work: _waits(real[work]) for work in ("HW_1", "HW_2") if work in real}
        claims.append(
            Claim(
                "12: in heavy workloads Cyclic is better than Blocked and DRB",
                "; ".join(
                    f"{work}: {_told(waits, (_CYCLIC, _BLOCKED, _DRB))}"
                    for work, waits in heavy.items()
                ),
                all(w[_CYCLIC] < min(w[_BLOCKED], w[_DRB]) for w in heavy.values()),
            )
        )
    return claims


def _finish_claim(
    outcomes: Outcomes, number: str, what: str, value: Callable[[_Outcome], float]
) -> Claim:
    good, lost = 0, []
    for work, by_method in outcomes.items():
        best = min(value(by_method[each]) for each in (_BLOCKED, _CYCLIC, _DRB, _OLD))
        if value(by_method[_NEW]) <= _NEAR * best:
            good += 1
        else:
            lost.append(f"{work} ({value(by_method[_NEW]) / best:.2f} of the best)")
    return Claim(
        f"{number}: New is efficient in nearly all scenarios by {what}",
        f"within 5% of the best of the other four in {good} of {len(outcomes)}",
        good >= 0.8 * len(outcomes),
        f"not in {', '.join(lost)}" if lost else "",
    )


def _waits(by_method: Mapping[str, _Outcome]) -> dict[str, float]:
    return {name: outcome.waits for name, outcome in by_method.items()}


def _interface(by_method: Mapping[str, _Outcome]) -> str:
    return ", ".join(
        f"{name} {by_method[name].waiting.interface:.4g} s" for name in (_NEW, _CYCLIC, _OLD)
    )


def _told(waits: Mapping[str, float], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {waits[name]:.4g} s" for name in names)


SORYANI_CONTENTION = Study(
    "soryani-figures-9-12",
    "Soryani et al. 2013, figures 9 to 12",
    "waiting and finish times of workloads on a cluster by mapping",
    _run,
    "5 minutes",
)
