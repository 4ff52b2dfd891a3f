"""The lines that open every file: whence it comes, whether it was tried, which host is which."""

from __future__ import annotations

from collections.abc import Iterable

from searchspace.collectives.equivalents import Target
from searchspace.significance import error_of, within_error
from searchspace.units import format_duration
from service.exports.nearest import unlike
from service.exports.result import Result

__all__ = ["comment", "gain_lines", "host_lines", "origin_lines", "readme", "times_by"]


def times_by(result: Result, targets: Iterable[Target]) -> dict[str, float | None]:
    """Seconds of what files for some libraries really hold, by the libraries' titles.

    None where a library does not run all as it was simulated, and what it runs was not simulated.
    """
    return {
        target.title: result.really.get(target.name) if unlike(result, target) else result.value
        for target in targets
    }


def origin_lines(result: Result, *targets: Target) -> list[str]:
    """Which job and trial this is, and how fast it was in simulation.

    Of files for some libraries that do not run all as it was simulated: how fast what these run is.
    """
    if result.origin:
        return list(result.origin)
    if result.simulated and any(unlike(result, target) for target in targets):
        return _inexact_lines(result, targets)
    trial, best = result.trial, result.best
    whose = f"of job {result.title} ({result.job.id})"
    time = f"{format_duration(result.value)} simulated ({result.model})"
    if not result.simulated:
        known = result.trial.value is not None
        time = f"{format_duration(result.value)} {result.model}" if known else "to be measured"
    if trial.fidelity == "low":
        time += ", estimated by the truncated trace"
    if result.configuration.to_dict() != trial.configuration:
        whose_time = "the best" if best == trial else f"trial {trial.number}"
        wanted = f"{whose_time} has {format_duration(trial.value or 0.0)}"
        return [
            f"Hamtune: what comes nearest to {result.what} {whose}:",
            f"{time}, where {wanted}",
        ]
    if best is not None and best.number == trial.number:
        return [f"Hamtune: best configuration {whose}, trial {trial.number}: {time}"]
    return [
        f"Hamtune: configuration {whose}, trial {trial.number}: {time}",
        *_better_lines(result),
    ]


def _inexact_lines(result: Result, targets: Iterable[Target]) -> list[str]:
    """The same of what some libraries make of a result that one at least cannot run exactly."""
    trial = result.trial
    told = [
        f"{title} {'not simulated' if time is None else f'{format_duration(time)} simulated'}"
        for title, time in times_by(result, targets).items()
    ]
    value, is_best = format_duration(result.value), result.best == trial
    wanted = f"where the best has {value}"
    if not is_best:
        wanted = f"in the place of trial {trial.number}: {value} simulated"
    return [
        f"Hamtune: what comes nearest to {result.what} of job {result.title} ({result.job.id}):",
        f"{', '.join(told)} ({result.model}), {wanted}",
        *([] if is_best else _better_lines(result)),
    ]


def _better_lines(result: Result) -> list[str]:
    """Which trial is the best of the job, where another one is exported."""
    if result.best is None:
        return []
    faster = f"trial {result.best.number} with {format_duration(result.best.value or 0.0)}"
    return [f"It is not the best of the job, which is {faster}."]


def gain_lines(result: Result, *targets: Target) -> list[str]:
    """Where what is exported is no faster than the best baseline, as far as the model can tell."""
    whole = [one.value for one in result.baselines if one.value is not None]
    if not whole or not result.simulated:
        return []
    best, error = min(whole), error_of(result.machine).value
    times = times_by(result, targets).values() or (result.value,)
    if not any(within_error(time, best, error) for time in times if time is not None):
        return []
    return [
        f"The best baseline took {format_duration(best)} simulated: the difference is within the",
        f"error of the model ({100 * error:.2g}%), and not to be called a gain or a loss.",
    ]


def host_lines(result: Result) -> list[str]:
    """Which placeholder is which host, where nobody has named them."""
    if not result.placeholders:
        return []
    order = result.resolved.order
    same = order == tuple(range(len(order)))
    which = "is host K of the network" if same else "is the host that had number K before ordering"
    return [
        f"The hosts have no names yet. node-0 to node-{len(order) - 1} are placeholders: node-K",
        f"{which}; cabling and graphml show it with its cables.",
        "Export again with --hosts FILE, which names the hosts in the order of these numbers.",
    ]


def comment(lines: Iterable[str], mark: str = "#") -> str:
    """Lines as comments."""
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


def readme(result: Result, *parts: Iterable[str], targets: Iterable[Target] = ()) -> bytes:
    """A README of paragraphs; of files for some libraries, with the times of what these run."""
    origin = origin_lines(result, *targets)
    paragraphs = [origin, gain_lines(result, *targets), *parts, host_lines(result)]
    return ("\n\n".join("\n".join(part) for part in paragraphs if part) + "\n").encode()
