"""A job in words: its state in one line, its outlook, its best and what that gains."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cli.harmless import harmless
from searchspace.units import format_duration

__all__ = [
    "by_both_models",
    "compared",
    "describe",
    "expectation",
    "headway",
    "measuring_line",
    "outlook_text",
    "search_trials",
    "status_line",
]

_BECAUSE = {
    "until": "no further gain is likely",
    "exhausted": "every configuration that differs was tried",
}
"""Why a job has ended, where the service's word for it does not say."""


def headway(running: Mapping[str, Any]) -> str:
    """How far an evaluation under way is; empty before its worker has said so.

    Args:
        running: An item of `GET /jobs/J/trials/running`.

    Example:
        >>> headway({"share": 0.43, "simulated_time": 0.0402})
        '43% of the calls, 40.2 ms'
    """
    if running["share"] is None:
        return ""
    return f"{running['share']:.0%} of the calls, {format_duration(running['simulated_time'])}"


def status_line(job: Mapping[str, Any]) -> str:
    """State, progress and incumbent of a job in one line."""
    progress = job["progress"]
    parts = [f"{job['name']} ({job['id']}): {job['state']}"]
    if job["state"] == "completed" and job["ended_because"]:
        because = job["ended_because"]
        parts[0] += f" ({_BECAUSE.get(because, because)})"
    parts.append(_progress(job))
    if progress.get("capture"):
        parts.append(f"captures its program, {capture_line(progress['capture'])}")
    if progress.get("measuring"):
        parts.append(measuring_line(progress["measuring"]))
    if told := failures_text(progress):
        parts.append(told)
    if progress["best"]:
        best = progress["best"]
        parts.append(f"best {format_duration(best['value'])} (trial {best['trial']})")
    if progress.get("outlook"):
        parts.append(outlook_text(progress["outlook"]))
    parts.append(f"{progress['cpu_seconds']:.1f} CPU s")
    expected = expectation(job)
    return ", ".join([*parts, expected] if expected else parts)


def failures_text(progress: Mapping[str, Any]) -> str:
    """How many trials failed and the commonest reason; nothing where none did.

    Example:
        >>> wall = {"kind": "wall", "message": "stopped after 2 s", "trials": 31}
        >>> failures_text({"failures": [wall, {"kind": "crash", "message": "", "trials": 1}]})
        '32 failed: stopped after 2 s (31)'
    """
    failures = progress.get("failures") or []
    if not failures:
        return ""
    count, first = sum(one["trials"] for one in failures), failures[0]
    reason = f"{count} failed: {harmless(first['message'] or first['kind'])}"
    return reason if len(failures) == 1 else f"{reason} ({first['trials']})"


def outlook_text(outlook: Mapping[str, Any]) -> str:
    """What more trials would bring, as the search's model sees it.

    Example:
        >>> outlook_text({"trial": 57, "probability": 0.12, "gain": 0.004})
        'a further gain above 1% is 12% likely, 0.4% expected'
    """
    chance, gain = outlook["probability"], outlook["gain"]
    likely = f"{chance:.0%}"
    if not 0.01 <= chance <= 0.99:
        likely = "below 1%" if chance < 0.5 else "over 99%"
    expected = f"{gain:.1%}" if gain >= 0.001 else "below 0.1%"
    return f"a further gain above 1% is {likely} likely, {expected} expected"


def capture_line(capture: Mapping[str, Any]) -> str:
    """How far the capture of a program has come, in words."""
    return (
        f"run {capture['run']} of {capture['runs']}: {capture['operations']:,} operations so far, "
        f"{capture['ranks_ended']} of {capture['ranks']} ranks finished"
    )


def measuring_line(measuring: Mapping[str, Any]) -> str:
    """How far the measuring of finalists has come, in words."""
    if not measuring["wanted"]:
        return "finalists wait for an agent"
    runs = measuring["runs"]
    return (
        f"measuring finalists: {measuring['settled']} of {measuring['wanted']} known after "
        f"{runs} run{'' if runs == 1 else 's'}"
    )


def expectation(job: Mapping[str, Any]) -> str:
    """What is to be expected of a job, in words; nothing where that is not known."""
    before, end = job.get("queue_position"), job.get("estimated_end")
    if before:
        return f"{before} job{'s' if before > 1 else ''} before it"
    if end is not None:
        return f"about {_left(max(0.0, end - time.time()))} left"
    return ""


def _left(seconds: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def search_trials(job: Mapping[str, Any]) -> tuple[int, int | None]:
    """How many trials of the search have an outcome, and how many there will be at most.

    That is what the budget allows, or the size of the search space where that is smaller.
    """
    size = (job.get("space") or {}).get("size")
    limits = [int(most) for most in (job["spec"]["budget"].get("trials"), size) if most is not None]
    return job["progress"]["kinds"].get("search", 0), min(limits, default=None)


def _progress(job: Mapping[str, Any]) -> str:
    """The trials that count against the budget, and those that come on top."""
    finished, limit = search_trials(job)
    words = f"{finished}{f'/{limit}' if limit else ''} trials"
    kinds = job["progress"]["kinds"]
    estimates, whole = kinds.get("estimate", 0), kinds.get("baseline", 0)
    baselines = estimates or whole
    verified = kinds.get("verification", 0) + (whole if estimates else 0)
    if baselines:
        words += f" + {baselines} baseline{'s' if baselines > 1 else ''}"
    refined = kinds.get("refinement", 0)
    if refined:
        words += f" + {refined} refined"
    if verified:
        words += f" + {verified} verified"
    compared = kinds.get("comparison", 0)
    return words + (f" + {compared} compared by fluid" if compared else "")


_SHOWN_RANKS = 8


def describe(configuration: Mapping[str, Any]) -> str:
    """A configuration in one line, each value with its name, the network first.

    What is left at its default says nothing: collectives as the MPI implementation chooses them,
    and the first seed of a mapping.
    """
    rest = dict(configuration)
    if rest.get("mapping_seed") == 1:
        del rest["mapping_seed"]
    words = []
    for name in ("topology", "topology_seed", "ordering", "mapping", "mpi"):
        if name in rest:
            words.append(f"{name}={rest.pop(name)}")
    for name, value in rest.items():
        if isinstance(value, list):
            shown = ",".join(map(str, value[:_SHOWN_RANKS]))
            words.append(f"{name}={shown}{',...' if len(value) > _SHOWN_RANKS else ''}")
        elif isinstance(value, Mapping):
            words += [f"{key}={item}" for key, item in value.items() if item != "default"]
        else:
            words.append(f"{name}={value}")
    return " ".join(words)


def timed(best: Mapping[str, Any]) -> str:
    """The time of the best, and where it comes from."""
    time = format_duration(best["value"])
    if best["decided_by"] == "script":
        return f"{time} {best['model']}"
    return f"{time} simulated ({best['model']})"


def by_both_models(best: Mapping[str, Any]) -> list[str]:
    """What the fluid model says of the best few where packets decided, or why it says nothing."""
    lines = []
    for one in best["comparisons"]:
        fluid = one["state"] if one["fluid"] is None else format_duration(one["fluid"])
        lines.append(
            f"trial {one['trial']}: packets {format_duration(one['value'])}, fluid {fluid}"
        )
    return lines if best["note"] is None else [*lines, str(best["note"])]


def decided(best: Mapping[str, Any]) -> list[str]:
    """What chose the best, and what its gain is worth, a line each."""
    lines = list(best["advice"])
    measured = best["measured"]
    if measured is not None:
        took = f"measured on {measured['cluster']}: {format_duration(measured['seconds'])}"
        took += f" (median of {len(measured['runs'])} runs), the best of the finalists"
        lines.append(took)
        if measured["gain"] is not None:
            lines.append(_measured_gain(measured))
        else:
            unknown = str(measured["default_unknown"]).strip().splitlines()
            lines.append(f"the library's defaults have no measured time: {unknown[-1]}")
        if measured["simulated_best"] != best["trial"]:
            lines.append(f"by simulation the best is trial {measured['simulated_best']}")
    if best["undecided"]:
        lines.append(f"not measured: {best['undecided']}; the simulation decided")
    return lines


_KNOWN_FROM = {
    "fluid": "of the fluid model, in the median",
    "packets": "of packets, in the median",
    "calibration": "of packets on a calibrated machine, in the median",
    "measurements": "as this job's measurements show",
}


def _measured_gain(measured: Mapping[str, Any]) -> str:
    gain, default = measured["gain"], format_duration(measured["default"])
    if not measured["separated"]:
        return f"no faster or slower than the library's defaults ({default}) as far as runs tell"
    factor, word = (gain, "faster") if gain > 1.0 else (1.0 / gain, "slower")
    return f"{factor:.3g} x {word} than the library's defaults ({default}), measured"


def gained(best: Mapping[str, Any]) -> str:
    """What the best gains over the best baseline, or that the model cannot tell, in words."""
    words = compared(best["value"], best["baselines"])
    if not best["within_error"]:
        return words
    joined = ", to" if words.startswith("as fast as") else " is"
    return (
        f"no gain and no loss: {words}{joined} within the error of the model "
        f"({100 * best['error']:.2g}%, {_KNOWN_FROM[best['error_from']]})"
    )


def compared(value: float, baselines: Mapping[str, float], *, times: str = "x") -> str:
    """How a simulated time compares with the best baseline, in words."""
    if not baselines:
        return "there is no baseline"
    label = min(baselines, key=lambda name: baselines[name])
    named = f"the best baseline ({label}, {format_duration(baselines[label])})"
    if value == 0.0 or baselines[label] == 0.0:  # as of a program of no calls
        quicker = "slower" if value else "faster"
        return f"as fast as {named}" if value == baselines[label] else f"{quicker} than {named}"
    ratio = baselines[label] / value
    faster, factor = ("faster", ratio) if ratio > 1.0 else ("slower", 1.0 / ratio)
    if f"{factor:.3g}" == "1":
        return f"as fast as {named}"
    return f"{factor:.3g} {times} {faster} than {named}"
