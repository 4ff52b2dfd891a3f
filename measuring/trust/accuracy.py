"""What a model's simulated times are worth, held against measured ones."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from measuring.agreement import Pair, errors, grouped, quantile, ratio_errors, regret, tau
from measuring.trust.cases import Case

__all__ = ["Accuracy", "Bar", "Gain", "assess", "bars", "gains"]

TIE = 0.03
"""Times that differ by less have no order: repetitions differ by as much."""


@dataclass(frozen=True)
class Accuracy:
    """How well a model foretells what was measured.

    Attributes:
        pairs: Measured and simulated seconds of each case.
        regrets: Of each group of algorithms for one operation, size, library and network.
        median: Error of the median case, relative.
        ninetieth: 90th percentile of the errors.
        tau: Kendall's tau over all cases.
        tau_within: Its mean within the groups that have an order; None where none has.
        ratio: The median error of the ratio of two cases of a group, relative.
    """

    pairs: Mapping[Case, Pair]
    regrets: Mapping[Hashable, float]
    median: float
    ninetieth: float
    tau: float | None
    tau_within: float | None
    ratio: float

    def regrets_within(self, most: float) -> float:
        """The part of the groups whose regret is at most that."""
        return sum(lost <= most for lost in self.regrets.values()) / len(self.regrets)

    @property
    def worst(self) -> float:
        """The highest regret."""
        return max(self.regrets.values())


def assess(measured: Mapping[Case, float], simulated: Mapping[Case, float]) -> Accuracy:
    """Hold simulated seconds against measured ones.

    Args:
        measured: Of at least two cases of one group.
        simulated: Of the same cases at least.
    """
    pairs = {case: Pair(seconds, simulated[case]) for case, seconds in measured.items()}
    off = errors(pairs.values())
    collectives = {
        case: pair for case, pair in pairs.items() if not case.is_program and not case.is_default
    }
    groups = grouped(collectives, lambda case: case.group)
    within = [tau(group.values(), TIE) for group in groups]
    ordered = [value for value in within if value is not None]
    return Accuracy(
        pairs=pairs,
        regrets={next(iter(group)).group: regret(group.values()) for group in groups},
        median=quantile(off, 0.5),
        ninetieth=quantile(off, 0.9),
        tau=tau(pairs.values(), TIE),
        tau_within=statistics.fmean(ordered) if ordered else None,
        ratio=quantile([off for group in groups for off in ratio_errors(group.values())], 0.5),
    )


@dataclass(frozen=True)
class Gain:
    """What choosing by a model gains over the library's own choice, for one group of cases.

    Attributes:
        group: Network, library, operation and bytes.
        chosen: The algorithm that the model holds for the fastest.
        measured: Measured time of the library's own choice over that of the chosen one.
        simulated: The same by simulated times.
    """

    group: tuple[str, str, str, int]
    chosen: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """How far the simulated gain is off, relative to the measured one."""
        return abs(self.simulated / self.measured - 1.0)


def gains(accuracy: Accuracy) -> list[Gain]:
    """The gain of each group whose library was left to choose as well."""
    found = []
    own = {case.group: pair for case, pair in accuracy.pairs.items() if case.is_default}
    tuned = {
        case: pair
        for case, pair in accuracy.pairs.items()
        if case.group in own and not case.is_default
    }
    for group in grouped(tuned, lambda case: case.group):
        best = min(group, key=lambda case: group[case].simulated)
        default = own[best.group]
        found.append(
            Gain(
                best.group,
                best.choice,
                default.measured / group[best].measured,
                default.simulated / group[best].simulated,
            )
        )
    return found


@dataclass(frozen=True)
class Bar:
    """Something that a model has to reach to be trusted.

    Attributes:
        what: In words, with what is asked.
        found: The figure reached, for people.
        met: Whether it is.
    """

    what: str
    found: str
    met: bool


def bars(accuracy: Accuracy) -> list[Bar]:
    """What a model has to reach so that one may choose by it."""
    order = accuracy.tau if accuracy.tau is not None else 0.0
    within = accuracy.tau_within if accuracy.tau_within is not None else 0.0
    jobs = gains(accuracy)
    right = sum(gain.error <= 0.10 for gain in jobs)
    small, middle = accuracy.regrets_within(1.05), accuracy.regrets_within(1.10)
    return [
        Bar("median error <= 8%", f"{accuracy.median:.1%}", accuracy.median <= 0.08),
        Bar("90th percentile <= 25%", f"{accuracy.ninetieth:.1%}", accuracy.ninetieth <= 0.25),
        Bar("Kendall's tau over all >= 0.93", f"{order:.3f}", order >= 0.93),
        Bar("mean tau within groups >= 0.85", f"{within:.3f}", within >= 0.85),
        Bar("regret <= 1.05 in 90% of groups", f"{small:.1%}", small >= 0.90),
        Bar("regret <= 1.10 in 97% of groups", f"{middle:.1%}", middle >= 0.97),
        Bar("worst regret <= 1.2", f"{accuracy.worst:.3f}", accuracy.worst <= 1.2),
        Bar(
            "gain over the library's choice within 10% for 9 of 10",
            f"{right} of {len(jobs)}",
            right >= 0.9 * len(jobs),
        ),
    ]
