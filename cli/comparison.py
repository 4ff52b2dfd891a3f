"""Jobs side by side: what their files, results and best configurations differ in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.curves import Curve
from cli.differences import apart

__all__ = ["MARKS", "Compared", "best_after", "compare_jobs"]

MARKS = (10, 25, 50, 100)
"""After so many trials of the search the best is told."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A job and its results, as the service answers.

    Attributes:
        job: `GET /jobs/J`.
        best: `GET /jobs/J/best`; None before a trial has completed.
        convergence: `GET /jobs/J/convergence`.
    """

    job: Mapping[str, Any]
    best: Mapping[str, Any] | None
    convergence: Mapping[str, Any]

    @property
    def spec(self) -> dict[str, Any]:
        """The job file, without the name, which differs anyway."""
        return {name: value for name, value in self.job["spec"].items() if name != "name"}

    @property
    def value(self) -> float | None:
        """Simulated seconds of the best."""
        return None if self.best is None else float(self.best["value"])

    @property
    def curve(self) -> Curve:
        """Its convergence, to be drawn."""
        return Curve.of(self.job["name"], self.convergence)


def compare_jobs(jobs: Sequence[Compared]) -> dict[str, Any]:
    """The answer of `hamtune compare`.

    Returns:
        `jobs` with the results of each, in the order given; `job_file` and `configuration` with the
        values of each job by dotted path where they differ; `notes` on what cannot be compared,
        with which no job has a `ratio`.
    """
    values = [one.value for one in jobs if one.value is not None]
    notes = _notes(jobs)
    # Of what cannot be compared there is no fastest.
    least = None if notes else min(values, default=None)
    return {
        "jobs": [_results(one, least) for one in jobs],
        "job_file": apart([one.spec for one in jobs]),
        "configuration": apart([(one.best or {}).get("configuration", {}) for one in jobs]),
        "notes": notes,
    }


def best_after(job: Mapping[str, Any], convergence: Mapping[str, Any]) -> dict[str, float | None]:
    """Best simulated seconds after 10, 25, 50 and 100 trials of the search; None of fewer trials.

    None either where the search has only estimated its trials, on part of the trace: times are
    those of the few that are verified in the end, in an order that tells nothing of the search.
    A service leaves points of long jobs out, but never one that improves on those before it.
    """
    kinds = job["progress"]["kinds"]
    searched = 0 if kinds.get("estimate", 0) else kinds.get("search", 0)
    before = kinds.get("baseline", 0)
    points = [one for one in convergence["points"] if one["kind"] != "comparison"]
    found: dict[str, float | None] = {}
    for mark in MARKS:
        upto = [one["best"] for one in points if one["trial"] <= before + mark]
        found[str(mark)] = upto[-1] if upto and mark <= searched else None
    return found


def _results(one: Compared, least: float | None) -> dict[str, Any]:
    job, best = one.job, one.best or {}
    return {
        "id": job["id"],
        "name": job["name"],
        "state": job["state"],
        "trials": job["progress"]["kinds"].get("search", 0),
        "cpu_seconds": job["progress"]["cpu_seconds"],
        "value": one.value,
        "ratio": one.value / least if one.value is not None and least else None,
        "trial": best.get("trial"),
        "model": best.get("model"),
        "configuration": best.get("configuration"),
        "baseline": best.get("baseline"),
        "speedup": best.get("speedup"),
        "baselines": best.get("baselines", {}),
        "after": best_after(job, one.convergence),
    }


def _notes(jobs: Sequence[Compared]) -> list[str]:
    notes = []
    models = {one.best["model"] for one in jobs if one.best is not None}
    if len(models) > 1:
        notes.append(
            f"their times come from different models ({'; '.join(sorted(models))}): "
            "not to be compared"
        )
    if apart([{"application": one.spec.get("application")} for one in jobs]):
        notes.append("they do not tune the same application: their times are those of two programs")
    return notes
