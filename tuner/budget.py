"""What a job may spend, what it has spent, and why it ends.

All sums run over trials in the order in which they are told, so that the end of a job, like its
trials, does not depend on which worker was faster. Only wall time is outside this order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from storage.records import Trial, TrialKind
from tuner.objective import TrialResult

__all__ = ["Budget", "EndReason", "Ledger"]

EndReason = Literal[
    "target",
    "trials",
    "evaluations",
    "patience",
    "until",
    "cpu_seconds",
    "wall_seconds",
    "exhausted",
]

_HOPELESS_TRIALS = 100
_UNLIKELY = 0.05


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of a job; None is no limit.

    Attributes:
        trials: Search trials; baselines are not counted.
        evaluations: Trials that were really simulated, baselines among them.
        wall_seconds: Time under a coordinator.
        cpu_seconds: CPU time of the simulator, without trials answered by the cache.
        target: Value that is good enough.
        patience: Search trials in a row that do not improve the best value.
        until: A part of the best value: by more than that no configuration is likely to be better.
    """

    trials: int | None = None
    evaluations: int | None = None
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    target: float | None = None
    patience: int | None = None
    until: float | None = None


class Ledger:
    """The running account of a job.

    Args:
        budget: The limits.
        reserved: Evaluations of the whole trace that are to follow; as much is kept back for each
            of them as the dearest so far has cost.
    """

    def __init__(self, budget: Budget, *, reserved: int = 0) -> None:
        self._budget = budget
        self._reserved = reserved
        self._dearest = 0.0  # CPU seconds of an evaluation of the whole trace
        self.best: float | None = None  # of completed trials inside the search space
        self._asked = 0
        self._open = 0
        self._evaluations = 0
        self._cpu_seconds = 0.0
        self._since_improvement = 0
        self._inside = 0
        self._reasons: Counter[str] = Counter()
        self._probability = 1.0

    def ask(self, kind: TrialKind) -> None:
        """Enter a trial that was asked."""
        self._open += 1
        if kind == "search":
            self._asked += 1

    def expect(self, probability: float | None) -> None:
        """Enter the probability that something is better than the best by more than `until`.

        Args:
            probability: None where nothing is known of that.
        """
        self._probability = 1.0 if probability is None else probability

    def tell(
        self, trial: Trial, result: TrialResult, *, inside: bool, found: bool | None = None
    ) -> None:
        """Enter the outcome of a trial.

        Args:
            trial: The trial, finished.
            result: What it came to.
            inside: Whether it is a point of the search space; baselines need not be, and are then
                neither the best nor a bound for others.
            found: Whether the search has found something by it; None where that is a new best.
        """
        self._open -= 1
        if not trial.cached and trial.state != "infeasible":
            self._evaluations += 1
            self._cpu_seconds += trial.cpu_seconds or 0.0
            if trial.fidelity == "full":
                self._dearest = max(self._dearest, trial.cpu_seconds or 0.0)
        if inside:
            self._inside += 1
            if trial.state in ("failed", "infeasible"):
                reason = (trial.reason or {}).get("message", "no reason was given")
                self._reasons[str(reason)] += 1
        improved = (
            inside and result.value is not None and (self.best is None or result.value < self.best)
        )
        if improved:
            self.best = result.value
        if improved if found is None else found:
            self._since_improvement = 0
        elif trial.kind == "search":
            self._since_improvement += 1

    def end(self) -> EndReason | None:
        """The limit that forbids another trial now, wall time left aside; None while all allow it.

        Open trials count as evaluations until the cache has answered them.
        """
        budget = self._budget
        if budget.target is not None and self.best is not None and self.best <= budget.target:
            return "target"
        if budget.trials is not None and self._asked >= budget.trials:
            return "trials"
        if budget.patience is not None and self._since_improvement >= budget.patience:
            return "patience"
        if budget.until is not None and self._probability < _UNLIKELY:
            return "until"
        return self.spent()

    def spent(self) -> EndReason | None:
        """The limit of what simulations may cost, or a value that is good enough."""
        budget = self._budget
        if budget.target is not None and self.best is not None and self.best <= budget.target:
            return "target"
        evaluations = self._evaluations + self._open + self._reserved
        if budget.evaluations is not None and evaluations >= budget.evaluations:
            return "evaluations"
        cpu_seconds = self._cpu_seconds + self._reserved * self._dearest
        if budget.cpu_seconds is not None and cpu_seconds >= budget.cpu_seconds:
            return "cpu_seconds"
        return None

    def out_of_time(self, active_seconds: float) -> bool:
        """Whether the wall time is spent."""
        limit = self._budget.wall_seconds
        return limit is not None and active_seconds >= limit

    @property
    def hopeless(self) -> bool:
        """Whether so many trials failed, and none completed, that the rest may be spared."""
        return self.best is None and self._inside >= _HOPELESS_TRIALS

    def failure(self) -> str | None:
        """Why the job has no result: the commonest reason; None where it has one."""
        if self.best is not None:
            return None
        if not self._reasons:
            return "no trial of the search space was completed within the budget"
        (reason, count), *_ = self._reasons.most_common(1)
        return (
            f"none of the {self._inside} trials of the search space completed;"
            f" the commonest reason ({count} times): {reason}"
        )
