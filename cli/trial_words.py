"""One trial in words."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cli.differences import flat
from cli.harmless import harmless
from searchspace.units import format_duration, format_size

__all__ = ["kind_text", "limit_of", "trial_lines", "why_failed"]

_WIDTH = 14
_REASONS = {
    "wall": "wall-clock limit",
    "memory": "memory limit",
    "messages": "too many messages",
}
"""What a kind of reason is called where its own word does not say it."""
_KINDS = {
    "search": "the search",
    "refinement": "the refinement of the best",
    "verification": "the verification of the best on the whole trace",
    "comparison": "the comparison of the best by the fluid model",
}


def trial_lines(
    job: Mapping[str, Any], trial: Mapping[str, Any], placed: Mapping[str, Any] | None
) -> list[str]:
    """Everything of a trial, a line each.

    Args:
        job: `GET /jobs/J`.
        trial: `GET /jobs/J/trials/N`.
        placed: `busiest_cable`, the ends of the cable that carries most, `hosts`, and `words` of
            its collective algorithms; None where they are not known.
    """
    lines = [f"trial {trial['number']} of {job['name']} ({job['id']}): {_outcome(trial)}"]
    lines += _row("because", _because(job, trial))
    lines += _row("baseline", trial["label"])
    lines += _row("proposed by", None if trial["label"] else _proposer(trial))
    lines += _configuration(trial, placed)
    lines += _row("ranks", _ranks(trial))
    lines += _row("cables", _cables(trial, placed))
    lines += _row("took", _cost(trial))
    lines += [line for attempt in trial["attempts"] for line in _row("attempt", _attempt(attempt))]
    return lines + _row("log", _log(job, trial))


def limit_of(
    job: Mapping[str, Any], reason: Mapping[str, Any], *, kind: str = "search"
) -> str | None:
    """The field of the job file that stopped an evaluation, with its value; None if none did.

    Comparisons of network models have less time than `limits.wall_seconds`, by no field.

    Args:
        job: `GET /jobs/J`.
        reason: Why a trial has failed.
        kind: Of the trial.

    Example:
        >>> job = {"spec": {"limits": {"wall_seconds": 0.01, "memory": 4294967296}}}
        >>> limit_of(job, {"kind": "wall", "message": "stopped after 0.010000 s"})
        'limits.wall_seconds (10 ms)'
    """
    from searchspace.jobspec.limits import FIELD_OF_REASON

    name = FIELD_OF_REASON.get(str(reason.get("kind")))
    if name is None or (kind == "comparison" and name == "wall_seconds"):
        return None
    limit = (job["spec"].get("limits") or {}).get(name)
    if limit is None:
        return f"limits.{name}"
    return f"limits.{name} ({format_size(limit) if name == 'memory' else format_duration(limit)})"


def kind_text(kind: str) -> str:
    """A kind of reason for which trials fail, in a word or two.

    Example:
        >>> kind_text("wall"), kind_text("deadlock")
        ('wall-clock limit', 'deadlock')
    """
    return _REASONS.get(kind, kind)


def _row(title: str, text: str | None) -> list[str]:
    return [] if text is None else [f"  {title:{_WIDTH}} {text}"]


def _outcome(trial: Mapping[str, Any]) -> str:
    state, value = trial["state"], trial["value"]
    if state == "censored":
        return f"stopped at its cutoff, so it takes at least {format_duration(value)}"
    said = str(state) if value is None else f"{state}, {format_duration(value)}"
    return said + (" (answered by the cache)" if trial["cached"] else "")


def _because(job: Mapping[str, Any], trial: Mapping[str, Any]) -> str | None:
    if trial["state"] == "censored":
        return (
            "a configuration this slow is not simulated to its end (cutoff_factor of the job file)"
        )
    return why_failed(job, trial)


def why_failed(job: Mapping[str, Any], trial: Mapping[str, Any]) -> str | None:
    """Why a trial failed or is infeasible, on one line; None of other trials.

    Args:
        job: `GET /jobs/J`.
        trial: An item of `GET /jobs/J/trials`.
    """
    reason = trial["reason"]
    if not reason:
        return None
    message = harmless(" ".join(str(reason.get("message", "")).split()))
    limit = limit_of(job, reason, kind=trial["kind"])
    return message if limit is None else f"{limit} of the job file ended it: {message}"


def _proposer(trial: Mapping[str, Any]) -> str:
    if trial["technique"]:
        return f"the search's technique {trial['technique']}"
    return _KINDS.get(trial["kind"], str(trial["kind"]))


def _configuration(trial: Mapping[str, Any], placed: Mapping[str, Any] | None) -> list[str]:
    words = {one["name"]: one["words"] for one in (placed or {}).get("words", [])}
    values = flat(trial["configuration"])
    wide = max(map(len, values), default=0)
    lines = []
    for path, value in values.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        meaning = words.get(path.rpartition(".")[2], "") if path.startswith("coll") else ""
        lines.append(f"    {path:{wide}}  {text}" + (f"  ({meaning})" if meaning else ""))
    return ["  configuration", *lines]


def _ranks(trial: Mapping[str, Any]) -> str | None:
    ranks = (trial["summary"] or {}).get("rank_finish_times")
    if ranks is None:
        return None
    first, half, last = (format_duration(ranks["quantiles"][at]) for at in ("0", "0.5", "1"))
    return (
        f"{ranks['ranks']} finish between {first} and {last}, half of them by {half}; "
        f"rank {ranks['worst'][0]['rank']} is the last"
    )


def _cables(trial: Mapping[str, Any], placed: Mapping[str, Any] | None) -> str | None:
    cables = (trial["summary"] or {}).get("link_loads")
    if cables is None:
        return None
    busiest = cables["worst"][0]
    between = ""
    if placed is not None and placed["busiest_cable"] is not None:
        between = f" ({' - '.join(_end(end, placed['hosts']) for end in placed['busiest_cable'])})"
    return (
        f"{cables['cables']} carry {format_size(cables['bytes'])} in all; the busiest, cable "
        f"{busiest['cable']}{between}, {format_size(max(busiest['bytes']))} one way"
    )


def _end(vertex: int, hosts: int) -> str:
    return f"host {vertex}" if vertex < hosts else f"switch {vertex}"


def _cost(trial: Mapping[str, Any]) -> str | None:
    if trial["cpu_seconds"] is None:
        return None
    said = f"{format_duration(trial['cpu_seconds'])} of CPU"
    if trial["wall_seconds"] is not None:
        said += f", {format_duration(trial['wall_seconds'])} on the clock"
    if trial["peak_rss_bytes"] is not None:
        said += f", {format_size(trial['peak_rss_bytes'])} of memory"
    return said


def _attempt(attempt: Mapping[str, Any]) -> str:
    worker = attempt["worker"] or "a worker"
    if attempt["state"] == "dispatched":
        return f"{attempt['number']}: offered to workers at {_clock(attempt['dispatched_at'])}"
    if attempt["finished_at"] is None:
        return f"{attempt['number']}: under way on {worker}"
    ended = "lost with" if attempt["state"] == "lost" else "finished on"
    return f"{attempt['number']}: {ended} {worker} at {_clock(attempt['finished_at'])}"


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _log(job: Mapping[str, Any], trial: Mapping[str, Any]) -> str | None:
    if not trial["attempts"]:
        return None
    worker = trial["worker"] or "its worker"
    named = f"job={job['id']} trial={job['id']}-{trial['number']}"
    said = f"stderr of the worker {worker}, in lines with '{named}'"
    if "source" in job["spec"]["application"] or "id" in job["spec"]["application"]:
        said += f"; 'hamtune logs {job['id']}' has what its program printed"
    return said
