"""What a job does beside its search, for `hamtune check`: how much, and how long at most."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchspace.kernels import CannotCut
from searchspace.units import format_duration

if TYPE_CHECKING:
    from cli.simulation_inputs import TracedApplication
    from searchspace.jobspec import JobSpec

__all__ = ["after_search", "after_words", "truncated_share"]


def truncated_share(spec: JobSpec, traced: TracedApplication) -> float | None:
    """The part of the trace that trials of the search replay; None where that is all of it."""
    from searchspace.truncation import pays, truncate
    from workers.prepare import MOST_SHARE

    # As when the job is prepared.
    pays_off = len(spec.objective) == 1 and pays(traced.mpi_calls, spec.budget.trials)
    if (spec.fidelity or ("auto" if pays_off else "full")) == "full" or traced.workload is not None:
        return None
    with tempfile.TemporaryDirectory(prefix="hamtune-check-") as directory:
        try:
            share = truncate(traced.traces[0], Path(directory) / "truncated.ht").share
        except CannotCut:
            return None
    return share if share <= MOST_SHARE else None


def after_search(
    spec: JobSpec,
    traced: TracedApplication | None,
    evaluation: Mapping[str, Any] | None,
    estimate: Mapping[str, Any] | None,
    share: float | None,
    baselines: int,
) -> dict[str, Any]:
    """What comes beside the trials of the search: a key for each kind, None where it does not come.

    Args:
        spec: The job.
        traced: Its application; None where it has no trace yet.
        evaluation: What one evaluation of the whole trace took, where one was tried.
        estimate: Of the search, where there is one.
        share: Of the trace, as of `truncated_share`.
        baselines: How many the job has.

    Returns:
        `refinement`, `verification` and `comparison` have the most `evaluations`, and `seconds` of
        the clock, which are None where they are not known; those of comparisons are the most that
        they may take. `refinement` is among the trials of the estimate. `verification` has the
        `share` too. `finalists` has `runs`, and the most seconds that they take (`most_seconds`)
        and that an agent is waited for (`most_wait_seconds`).
    """
    done = evaluation is not None and evaluation["status"] == "completed"
    each = evaluation["cpu_seconds"] if evaluation is not None and done else None
    at_once = None if estimate is None else estimate["at_once"]
    return {
        "refinement": _refinement(spec, each, at_once, share),
        "verification": None if share is None else _verification(each, at_once, share, baselines),
        "comparison": _comparison(spec, traced, estimate),
        "finalists": _finalists(spec),
    }


def _refinement(
    spec: JobSpec, each: float | None, at_once: int | None, share: float | None
) -> dict[str, Any] | None:
    if not spec.refinement:
        return None
    seconds = None
    if each is not None and at_once is not None:
        seconds = spec.refinement * each * (share or 1.0) / at_once
    return {"evaluations": spec.refinement, "seconds": seconds}


def _verification(
    each: float | None, at_once: int | None, share: float, baselines: int
) -> dict[str, Any]:
    from tuner.verification import IN_FLIGHT, MOST

    # Of the best baselines before the search, and of its own best after it.
    evaluations = min(baselines, MOST) + MOST
    seconds = None
    if each is not None and at_once is not None:
        seconds = evaluations * each / min(at_once, IN_FLIGHT)
    return {"evaluations": evaluations, "seconds": seconds, "share": share}


def _comparison(
    spec: JobSpec, traced: TracedApplication | None, estimate: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    from tuner.comparing import MOST, MOST_RANKS

    if spec.described_machine.network != "auto" or spec.external == "measurements":
        return None
    if traced is not None and traced.ranks > MOST_RANKS:
        return None
    seconds = None
    if estimate is not None:
        search = estimate["seconds"] * estimate["at_once"]
        limit = spec.comparison_limits(search).wall_seconds
        seconds = min(2, MOST) * limit  # none is begun after the limit, and each ends at it
    return {"evaluations": MOST, "seconds": seconds}


def _finalists(spec: JobSpec) -> dict[str, Any] | None:
    if spec.finalists is None:
        return None
    return {
        "on": spec.finalists.on,
        "runs": (spec.finalists.measure + 1) * spec.finalists.repetitions,
        "most_seconds": spec.finalists.seconds,
        "most_wait_seconds": spec.finalists.wait,
    }


def after_words(spec: JobSpec, after: Mapping[str, Any]) -> list[str]:
    """The same in words, a line each."""
    lines = []
    if one := after["refinement"]:
        lines.append(
            f"refinement    {one['evaluations']} other mappings of the best at most, among the "
            f"trials above{_about(one['seconds'], ' for ')}"
        )
    if one := after["verification"]:
        lines.append(
            f"verification  trials replay {_percent(one['share'])} of the trace; the best "
            f"baselines and trials all of it, {one['evaluations']} evaluations at most"
            + _about(one["seconds"], ": up to ")
        )
    if one := after["comparison"]:
        lines.append(
            f"comparison    the best {one['evaluations']} are evaluated by the fluid model too"
            + _about(one["seconds"], ": at most ")
        )
    if one := after["finalists"]:
        assert spec.finalists is not None
        where = "a cluster" if one["on"] == "agent" else f"the testbed {spec.finalists.testbed}"
        lines.append(
            f"finalists     {spec.finalists.measure} at most and the library's defaults are "
            f"measured on {where}, {one['runs']} runs at most: up to "
            f"{format_duration(one['most_seconds'])}, after a wait of up to "
            f"{format_duration(one['most_wait_seconds'])}"
        )
    return lines


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"


def _about(seconds: float | None, before: str) -> str:
    return "" if seconds is None else f"{before}{format_duration(seconds)}"
