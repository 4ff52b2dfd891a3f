"""Measuring several things against each other: in turns, until each is known well enough."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from scipy import stats

from measuring.clusters import RunFailed

__all__ = ["Asked", "Sample", "Take", "is_faster", "sample"]

T = TypeVar("T", bound=Hashable)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Asked:
    """How well each thing is to be known.

    Attributes:
        precision: Half the confidence interval of the mean, relative to it.
        least: Runs of each at least, two or more.
        most: Runs of each at most, those that do not count included.
        failures: Failed runs after which a thing is not tried again.
        seconds: When the measuring ends, however little is known.
    """

    precision: float = 0.03
    least: int = 3
    most: int = 30
    failures: int = 2
    seconds: float = math.inf


@dataclass(frozen=True)
class Take:
    """One run: its seconds, and why they do not count; none where they do."""

    seconds: float
    doubts: Sequence[str] = ()


@dataclass
class Sample:
    """What was measured of one thing.

    Attributes:
        seconds: Of the runs that count.
        doubted: The runs that do not.
        failures: What the failed runs said.
    """

    seconds: list[float] = field(default_factory=list)
    doubted: list[Take] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """All runs."""
        return len(self.seconds) + len(self.doubted) + len(self.failures)

    @property
    def doubts(self) -> list[str]:
        """Why runs do not count, a sentence each."""
        return ["; ".join(take.doubts) for take in self.doubted]

    @property
    def mean(self) -> float | None:
        """The mean of the seconds that count; None without any."""
        return statistics.fmean(self.seconds) if self.seconds else None

    @property
    def half_interval(self) -> float | None:
        """Half the 95% confidence interval of the mean (Student's t); None below two runs."""
        if len(self.seconds) < 2:
            return None
        error = statistics.stdev(self.seconds) / math.sqrt(len(self.seconds))
        return float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(self.seconds) - 1)) * error

    def with_more(self, more: Sample) -> Sample:
        """The runs of both."""
        return Sample(
            [*self.seconds, *more.seconds],
            [*self.doubted, *more.doubted],
            [*self.failures, *more.failures],
        )

    def settled(self, asked: Asked) -> bool:
        """Whether it need not be run again."""
        if self.runs >= asked.most or len(self.failures) >= asked.failures:
            return True
        half, mean = self.half_interval, self.mean
        if len(self.seconds) < asked.least or half is None or mean is None:
            return False
        return half < asked.precision * mean


def is_faster(one: Sample, other: Sample, of: int = 1) -> bool:
    """Whether the mean of one is less than that of another by more than chance would have it.

    By the t-test for unequal variances (Welch, "The generalization of Student's problem when
    several different population variances are involved", Biometrika 34 (1947)), one-sided at 2.5%.
    Not where less than two runs of either count.

    Args:
        one: What may be faster.
        other: What it is held against.
        of: How many are held against it at once, each of which chance may favour (Bonferroni).
    """
    if min(len(one.seconds), len(other.seconds)) < 2:
        return False
    if len(set(one.seconds)) == len(set(other.seconds)) == 1:  # a test of what does not vary
        return one.seconds[0] < other.seconds[0]
    tested = stats.ttest_ind(one.seconds, other.seconds, equal_var=False, alternative="less")
    return bool(tested.pvalue < (1 - CONFIDENCE) / 2 / of)


def sample(
    things: Sequence[T],
    run: Callable[[T], Take],
    asked: Asked,
    *,
    seed: int,
    say: Callable[[T, Sample], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[T, Sample]:
    """Run things in turns, each turn in random order, until each is settled or time is over.

    What drifts meanwhile, such as the load of a cluster, meets all of them alike.

    Args:
        things: What is measured, each once.
        run: Runs one. `RunFailed` is an outcome of its own.
        asked: How well each is to be known.
        seed: Of the orders.
        say: Told after each run of which thing, and what is known of it now.
        clock: Gives seconds.

    Returns:
        What was measured of each.
    """
    found = {thing: Sample() for thing in things}
    rng = random.Random(seed)  # noqa: S311 (the order of runs is no secret)
    begun = clock()
    while open_ := [thing for thing in things if not found[thing].settled(asked)]:
        rng.shuffle(open_)
        for thing in open_:
            if clock() - begun >= asked.seconds:
                return found
            _add(found[thing], thing, run)
            if say is not None:
                say(thing, found[thing])
    return found


def _add(known: Sample, thing: T, run: Callable[[T], Take]) -> None:
    try:
        taken = run(thing)
    except RunFailed as failed:
        known.failures.append(str(failed))
        return
    if taken.doubts:
        known.doubted.append(taken)
    else:
        known.seconds.append(taken.seconds)
