"""Numbers and states in words, as the command line writes them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hamtune_client.models import Best, JobRecord, OutlookPoint

__all__ = ["best", "done_of", "duration", "flat", "headway", "outlook"]


def duration(seconds: float | None) -> str:
    """Seconds for people: `60 ns`, `1.5 s`, `12.3 min`; nothing where they are not known."""
    if seconds is None:
        return ""
    if seconds == 0:
        return "0 s"
    for unit, factor in (("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if abs(seconds) < 999.95 * factor:  # what is more is 1000 in four digits
            return f"{seconds / factor:.4g} {unit}"
    if seconds < 120:
        return f"{seconds:.4g} s"
    return f"{seconds / 60:.4g} min" if seconds < 7200 else f"{seconds / 3600:.4g} h"


def best(found: Best) -> str:
    """The best of a job in three lines: its time, its gain, its configuration."""
    lines = [f"{duration(found.value)} ({found.model}), trial {found.trial}"]
    if found.baseline is not None and found.speedup is not None:
        label = min(found.baselines, key=lambda name: found.baselines[name])
        gain = f"{found.speedup:.3g} x the speed of the best baseline"
        lines.append(f"{gain} ({label}, {duration(found.baseline)})")
        if found.within_error:
            lines[-1] += f": no gain and no loss, the model errs by {100 * found.error:.2g}%"
    chosen = flat(found.configuration).items()
    lines.append(" ".join(f"{name}={value}" for name, value in chosen if value != "default"))
    return "\n".join(lines)


def done_of(record: JobRecord) -> tuple[int, int | None]:
    """Trials of the search that have an outcome, and how many there will be, if that is known."""
    budget = record.spec.get("budget") or {}
    limit = budget.get("trials")
    size = (record.space or {}).get("size")
    known = [int(most) for most in (limit, size) if most is not None]
    return record.progress.kinds.get("search", 0), min(known, default=None)


def headway(record: JobRecord) -> str:
    """How far a job is, in a line: state, trials, best so far, time left."""
    done, most = done_of(record)
    capture = getattr(record.progress, "capture", None)
    measuring = getattr(record.progress, "measuring", None)
    best = record.progress.best
    parts = [record.state]
    if record.error:
        parts.append(record.error.strip().splitlines()[0])
    if record.paused_because:
        parts.append(record.paused_because)
    if record.queue_position:
        parts.append(f"{_counted(record.queue_position, 'job')} before it")
    if capture:
        parts.append(f"run {capture['run']} of {capture['runs']} of its program")
    if done:
        parts.append(_counted(done, "trial") if most is None else f"{done} of {most} trials")
    if measuring:
        parts.append(f"{measuring['settled']} of {measuring['wanted']} finalists measured")
    if best is not None:
        parts.append(f"best {duration(best.value)} (trial {best.trial})")
    if record.progress.outlook is not None:
        parts.append(outlook(record.progress.outlook))
    if record.estimated_end is not None and record.finished_at is None:
        parts.append(f"about {duration(max(0.0, round(record.estimated_end - time.time())))} left")
    return ", ".join(parts)


def outlook(point: OutlookPoint) -> str:
    """What more trials would bring: `a further gain above 1% is 12% likely, 0.4% expected`."""
    likely = f"{point.probability:.0%}"
    if not 0.01 <= point.probability <= 0.99:
        likely = "below 1%" if point.probability < 0.5 else "over 99%"
    expected = f"{point.gain:.1%}" if point.gain >= 0.001 else "below 0.1%"
    return f"a further gain above 1% is {likely} likely, {expected} expected"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def flat(configuration: dict[str, object], prefix: str = "") -> dict[str, object]:
    """A configuration without nesting: `{"circulant": {"jumps": "1,5"}}` is `circulant.jumps`."""
    found: dict[str, object] = {}
    for name, value in configuration.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found
