"""The lines that open every file: whence it comes, whether it was tried, which host is which."""

from __future__ import annotations

from collections.abc import Iterable

from searchspace.significance import error_of, within_error
from searchspace.units import format_duration
from service.exports.result import Result

__all__ = ["comment", "gain_lines", "host_lines", "origin_lines", "readme"]


def origin_lines(result: Result) -> list[str]:
    """Which job and trial this is, and how fast it was in simulation."""
    if result.origin:
        return list(result.origin)
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
    lines = [f"Hamtune: configuration {whose}, trial {trial.number}: {time}"]
    if best is not None:
        faster = f"trial {best.number} with {format_duration(best.value or 0.0)}"
        lines.append(f"It is not the best of the job, which is {faster}.")
    return lines


def gain_lines(result: Result) -> list[str]:
    """Where what is exported is no faster than the best baseline, as far as the model can tell."""
    whole = [one.value for one in result.baselines if one.value is not None]
    if not whole or not result.simulated:
        return []
    best, error = min(whole), error_of(result.machine).value
    if not within_error(result.value, best, error):
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


def readme(result: Result, *parts: Iterable[str]) -> bytes:
    """A README of paragraphs."""
    paragraphs = [origin_lines(result), gain_lines(result), *parts, host_lines(result)]
    return ("\n\n".join("\n".join(part) for part in paragraphs if part) + "\n").encode()
