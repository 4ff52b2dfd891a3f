"""Which parameters decide the simulated time: permutation importance over a forest.

A forest of trees learns the time from the configuration; a parameter matters as much as the
forest's error grows when the parameter's values are shuffled among the trials (Breiman 2001,
"Random Forests", section 10). The trees are scikit-learn's. What the forest says of
trials that it has not seen tells how far it can be believed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

__all__ = ["EXAMPLE", "FEWEST", "Importance", "ParameterImportance", "importance"]

FEWEST = 12
"""Fewer trials than that tell nothing about several parameters."""
MANY = 50
"""With fewer trials the shares change much from one job to another like it."""
BELIEVED = 0.6
"""Of a forest with a lower R^2 on trials left out, the shares are a hint at most."""
MOST = 1000
"""Of more trials than that a sample is learnt from: the answer stays the same and comes sooner."""
MOST_TRIED = 256
"""Columns that a split is chosen among; of more, such as the places of long permutations, a sample
is drawn for each."""
TREES = 40
REPEATS = 5

EXAMPLE: dict[str, Any] = {
    "method": "permutation importance of a random forest on log time",
    "trials": 120,
    "available": 120,
    "censored": 40,
    "score": 0.87,
    "parameters": [
        {"name": "topology", "importance": 0.71, "deviation": 0.05},
        {"name": "mpi", "importance": 0.29, "deviation": 0.03},
    ],
    "note": None,
}


class ParameterImportance(BaseModel):
    """How much one parameter matters."""

    name: str
    importance: float = Field(description="Share of all; they add up to 1.")
    deviation: float = Field(description="Standard deviation of it over repeated shuffling.")


class Importance(BaseModel):
    """How much each parameter of a job matters."""

    method: str
    trials: int = Field(description="Completed trials of the search space that were learnt from.")
    available: int = Field(
        description=f"How many there are. Of more than {MOST} a random sample is learnt from."
    )
    censored: int = Field(description="Trials of the search space that were stopped at a cutoff.")
    score: float | None = Field(
        description="R^2 on trials left out of learning (cross-validation): 1 is perfect, 0 says "
        "that the shares mean little."
    )
    parameters: list[ParameterImportance] = Field(description="The most important first.")
    note: str | None = Field(description="Why there is no answer, or what limits it.")


METHOD = "permutation importance of a random forest on log time"


def importance(
    rows: Sequence[tuple[Mapping[str, Any], float]],
    *,
    censored: int = 0,
    seed: int = 0,
    exhausted: bool = False,
) -> Importance:
    """Learn the times of configurations and tell what matters.

    Args:
        rows: Configurations by parameter name, and their simulated seconds (above 0).
        censored: How many more trials were stopped at a cutoff.
        seed: Decides the sample, trees and shuffling.
        exhausted: Whether there are no more configurations to try.
    """
    known = _Known(len(rows), censored, exhausted)
    rows = _imputed(rows)
    names = [name for name, values in _domains(rows).items() if len(values) > 1]
    rows = _sampled(rows, seed)
    untold = known.untold(rows, names)
    if untold is not None:
        return untold
    # Loading these takes a second or two, which other requests should not pay for.
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import KFold, cross_val_score

    features, owners = _encoded(rows, names)
    table = np.array(features, dtype=float).T
    times = np.log([value for _, value in rows])
    tried = min(len(features), MOST_TRIED)
    forest = RandomForestRegressor(
        TREES, min_samples_leaf=2, max_features=tried, random_state=seed, n_jobs=1
    )
    folds = KFold(3, shuffle=True, random_state=seed)
    score = float(cross_val_score(forest, table, times, cv=folds, scoring="r2").mean())
    forest.fit(table, times)
    # Columns of one parameter are shuffled together: they are one choice.
    groups = [[i for i, owner in enumerate(owners) if owner == name] for name in names]
    losses = np.maximum(_losses(forest, table, times, groups, seed), 0.0)
    total = float(losses.mean(axis=1).sum()) or 1.0
    shares = [
        ParameterImportance(
            name=name, importance=float(row.mean()) / total, deviation=float(row.std()) / total
        )
        for name, row in zip(names, losses, strict=True)
    ]
    return Importance(
        method=METHOD,
        trials=len(rows),
        available=known.completed,
        censored=censored,
        score=score,
        parameters=sorted(shares, key=lambda one: -one.importance),
        note=known.weakness(score, len(rows)),
    )


@dataclass(frozen=True)
class _Known:
    """Trials of the search space: those that completed, and those that were cut off."""

    completed: int
    censored: int
    exhausted: bool

    def weakness(self, score: float, trials: int) -> str | None:
        """Why the shares are to be taken as a hint only; None where they can be believed."""
        causes = []
        if score < BELIEVED:
            causes.append(f"the forest explains little of trials left out (R^2 {score:.2f})")
        if trials < MANY:
            causes.append(f"{trials} trials are few")
        if not causes:
            return None
        return f"this says little: {' and '.join(causes)}{self._starved()}"

    def untold(
        self, rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str]
    ) -> Importance | None:
        """The answer where nothing can be learnt; `names` are parameters with two values."""
        if len(rows) < FEWEST:
            plural = "" if self.completed == 1 else "s"
            few = f"{self.completed} completed trial{plural} of the search space"
            if self.exhausted:
                return self._nothing(
                    f"{few}, and there are no more to try: too few to learn from; compare them in "
                    "the page's view 'One parameter at a time' or by 'hamtune trials'"
                )
            return self._nothing(f"{few}: at least {FEWEST} are needed")
        if not names:
            return self._nothing("no parameter has taken two values yet")
        if len({value for _, value in rows}) == 1:
            return self._nothing("all completed trials took the same time")
        return None

    def _nothing(self, note: str) -> Importance:
        return Importance(
            method=METHOD,
            trials=self.completed,
            available=self.completed,
            censored=self.censored,
            score=None,
            parameters=[],
            note=note + self._starved(),
        )

    def _starved(self) -> str:
        """What helps where most trials were cut off."""
        if self.censored <= self.completed:
            return ""
        return (
            f"; {self.censored:,} more were cut off, of which a share runs to its end in a job "
            "with cutoff: adaptive"
        )


def _sampled(
    rows: Sequence[tuple[dict[str, Any], float]], seed: int
) -> list[tuple[dict[str, Any], float]]:
    """Rows drawn at random, in their order.

    Every n-th would not do: of trials that come in a regular order, as those of a grid, these may
    have all the same value of a parameter.
    """
    if len(rows) <= MOST:
        return list(rows)
    drawn = random.Random(seed).sample(range(len(rows)), MOST)  # noqa: S311 (no secret)
    return [rows[index] for index in sorted(drawn)]


def _imputed(
    rows: Sequence[tuple[Mapping[str, Any], float]],
) -> list[tuple[dict[str, Any], float]]:
    """Rows in which a parameter that does not count has its most frequent value.

    That a torus has no seed would tell the forest as much as that it is a torus, and the seed would
    seem to matter.
    """
    counts: dict[str, Counter[Any]] = {}
    for configuration, _ in rows:
        for name, value in configuration.items():
            counts.setdefault(name, Counter())[value] += 1
    usual = {name: values.most_common(1)[0][0] for name, values in counts.items()}
    return [({**usual, **configuration}, value) for configuration, value in rows]


def _domains(rows: Sequence[tuple[Mapping[str, Any], float]]) -> dict[str, dict[Any, None]]:
    """The values that each parameter takes."""
    names = dict.fromkeys(name for configuration, _ in rows for name in configuration)
    return {name: dict.fromkeys(c[name] for c, _ in rows) for name in names}


def _encoded(
    rows: Sequence[tuple[Mapping[str, Any], float]], names: Sequence[str]
) -> tuple[list[list[float]], list[str]]:
    """Columns of numbers: a number is its rank, a name has a column for each of its values.

    A permutation has a column for each of its places: hardly two trials have a whole one in common.

    Trees see the order of numbers alone, but as 32-bit floats, in which large seeds that follow
    each other are one.
    """
    domains = _domains(rows)
    columns: list[list[float]] = []
    owners: list[str] = []
    for name in names:
        values = list(domains[name])
        if any(isinstance(value, tuple) for value in values):
            places = _places([configuration[name] for configuration, _ in rows])
            columns += places
            owners += [name] * len(places)
            values = [value for value in values if not isinstance(value, tuple)]
        elif all(isinstance(value, int | float) for value in values):
            ranks = {value: float(rank) for rank, value in enumerate(sorted(values))}
            columns.append([ranks[configuration[name]] for configuration, _ in rows])
            owners.append(name)
            continue
        for value in values:
            columns.append([float(configuration[name] == value) for configuration, _ in rows])
            owners.append(name)
    return columns, owners


def _places(cells: Sequence[Any]) -> list[list[float]]:
    """What stands at each place of permutations, as its rank; -1 where there is no such place."""
    rows = [cell if isinstance(cell, tuple) else () for cell in cells]
    items = {item for row in rows for item in row}
    ranks = {item: float(rank) for rank, item in enumerate(sorted(items, key=_order))}
    return [
        [ranks[row[place]] if place < len(row) else -1.0 for row in rows]
        for place in range(max(map(len, rows)))
    ]


def _order(item: Any) -> tuple[bool, Any]:
    """Of numbers by size, then of texts."""
    return (isinstance(item, str), item)


def _losses(forest: Any, table: Any, times: Any, groups: list[list[int]], seed: int) -> Any:
    """How much the forest's score falls by shuffling: a row a parameter, a column a repetition.

    scikit-learn's `permutation_importance` shuffles single columns; here a parameter may have
    several, which are shuffled alike.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    base = forest.score(table, times)
    losses = []
    for group in groups:
        drops = []
        for _ in range(REPEATS):
            shuffled = table.copy()
            shuffled[:, group] = table[generator.permutation(len(table))][:, group]
            drops.append(base - forest.score(shuffled, times))
        losses.append(drops)
    return np.array(losses)
