"""What notebooks show of jobs, trials and results: HTML, in which every text is escaped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hamtune_client.wording import done_of, duration, flat, headway

if TYPE_CHECKING:
    from hamtune_client.models import Best, Importance, JobRecord, Trial
    from hamtune_client.records import ApplicationRecord, Check

__all__ = [
    "application",
    "best",
    "check",
    "differing",
    "importance",
    "job",
    "jobs",
    "table",
    "trials",
]

_LONGEST = 120
_MOST_VALUES = 8
_MOST_ROWS = 200
_RIGHT = ' style="text-align:right"'
_LEFT = ' style="text-align:left"'


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand to the right, None is an empty cell, long texts are cut.

    Of more than 200 rows the first ones are shown, and how many are not.
    """
    listed = list(rows)
    head = "".join(f"<th{_LEFT}>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:_MOST_ROWS])
    more = len(listed) - _MOST_ROWS
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def job(record: JobRecord) -> str:
    """A job: how far it is, with a bar, and what people wrote on it."""
    lines = [f"<b>{escape(record.name)}</b> <code>{escape(record.id)}</code>"]
    done, most = done_of(record)
    if most and record.finished_at is None:
        lines.append(f'<progress value="{min(done, most)}" max="{most}"></progress>')
    lines.append(escape(headway(record)))
    if record.tags:
        lines.append(f"tags: {escape(', '.join(record.tags))}")
    if record.note:
        lines.append(escape(record.note))
    if record.error and "\n" in record.error.strip():
        lines.append(f"<pre>{escape(record.error)}</pre>")
    return f"<div>{'<br>'.join(lines)}</div>"


def application(record: ApplicationRecord) -> str:
    """A program: its state, what its trace holds, and how far that can be relied on."""
    lines = [
        f"<b>{escape(record.name)}</b> <code>{escape(record.id)}</code>",
        f"{escape(record.state)}, {record.ranks} ranks",
        *map(escape, record.notes),
    ]
    calls = record.summary.get("calls") or {}
    error = f"<pre>{escape(record.error)}</pre>" if record.error else ""
    return f"<div>{'<br>'.join(lines)}{error}</div>" + (
        table(("call", "times"), calls.items()) if calls else ""
    )


def jobs(records: Sequence[JobRecord]) -> str:
    """Jobs, a row each."""

    def row(record: JobRecord) -> list[Any]:
        found = record.progress.best
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created_at))
        value = None if found is None else duration(found.value)
        return [
            record.id, record.name, record.state, done_of(record)[0], value, created,
            ", ".join(record.tags),
        ]  # fmt: skip

    titles = ("id", "name", "state", "trials", "best", "created", "tags")
    return table(titles, map(row, records))


def trials(found: Sequence[Trial]) -> str:
    """Trials, a row each, with the parameters of their configurations that differ."""
    settings = [flat(trial.configuration) for trial in found]
    names = differing(settings)
    rows = [
        [
            trial.number, trial.kind, trial.state, duration(trial.value),
            trial.label or (trial.reason or {}).get("message"),
            *(one.get(name) for name in names),
        ]
        for trial, one in zip(found, settings, strict=True)
    ]  # fmt: skip
    return table(("trial", "kind", "state", "simulated", "", *names), rows)


def differing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of which rows have different values; all of a single row."""
    return [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if len(rows) == 1 or len({str(row.get(name)) for row in rows}) > 1
    ]


def best(found: Best) -> str:
    """The best configuration: what it gains, over what, and by which model."""
    parts = [
        f"<b>{duration(found.value)}</b> simulated ({escape(found.model)}), trial {found.trial}",
        escape(_gain(found)),
        *(escape(line) for line in (found.undecided, *found.advice) if line),
    ]
    if found.measured:
        parts.append(f"measured: {duration(found.measured['seconds'])}")
    times = [["this", duration(found.value), None]]
    times += [
        [label, duration(value), f"{value / found.value:.2f} ×" if found.value else None]
        for label, value in sorted(found.baselines.items(), key=lambda item: item[1])
    ]
    by_both = [[one.trial, duration(one.value), duration(one.fluid)] for one in found.comparisons]
    return (
        f"<div>{'<br>'.join(parts)}</div>"
        + table(("parameter", "value"), flat(found.configuration).items())
        + (table(("baseline", "simulated", "over the best"), times) if found.baselines else "")
        + (table(("trial", "by packets", "by fluid"), by_both) if by_both else "")
    )


def _gain(found: Best) -> str:
    if found.baseline is None:
        return "there is no baseline to compare it with"
    beside = f"the best baseline, {duration(found.baseline)}"
    if found.speedup is None:  # nothing has a ratio to a best that takes no time
        same = found.baseline == found.value
        return f"as fast as {beside}" if same else f"it takes no time beside {beside}"
    same = f"{found.speedup:.3g}" == "1"
    if found.within_error:
        words = f"as fast as {beside}, to" if same else f"{found.speedup:.3g} × beside {beside}, is"
        return f"no gain and no loss: {words} within the error of the model ({found.error:.1%})"
    if same:
        return f"as fast as {beside}"
    if found.speedup < 1:
        return f"{1 / found.speedup:.3g} × slower than {beside}"
    return f"{found.speedup:.3g} × faster than {beside}"


def importance(found: Importance) -> str:
    """How much each parameter matters, the most important first."""
    note = "" if found.note is None else f"<p>{escape(found.note)}</p>"
    if not found.parameters:
        return note or "<p>no parameter matters</p>"
    rows = [
        [one.name, f"{one.importance:.1%}", f"± {one.deviation:.1%}"] for one in found.parameters
    ]
    return table(("parameter", "importance", ""), rows) + note


def check(found: Check) -> str:
    """What a job file would become: its space, its parameters, how long it may take."""
    lines = [f"<b>{escape(str(found.spec.get('name')))}</b>: a valid job"]
    lines += [escape(note) for note in (found.note, found.network_note) if note]
    space = found.space or {}
    rows = [[one.get("name"), _values(one)] for one in space.get("parameters") or ()]
    if space:
        size = space.get("size")
        counted = "size not known" if size is None else f"{size:,} configurations"
        lines.append(
            f"{counted}; baselines: " + escape(", ".join(space.get("baselines") or ()) or "none")
        )
    lines += [
        f"left out: {escape(str(one.get('parameter')))} {escape(str(one.get('value') or ''))}: "
        f"{escape(str(one.get('reason')))}"
        for one in space.get("excluded") or ()
    ]
    known = found.estimate
    took = f"about {duration(known.seconds)}, " if known.seconds is not None else ""
    lines.append(escape(f"estimate: {took}{known.note}"))
    return f"<div>{'<br>'.join(lines)}</div>" + (
        table(("parameter", "values"), rows) if rows else ""
    )


def _values(parameter: Mapping[str, Any]) -> str:
    values = parameter.get("values")
    if values is None:
        return f"{parameter.get('low')} to {parameter.get('high')}" if "low" in parameter else ""
    shown = ", ".join(str(value) for value in values[:_MOST_VALUES])
    more = len(values) - _MOST_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    side = _RIGHT if isinstance(value, (int, float)) and not isinstance(value, bool) else _LEFT
    text = f"{value:,}" if type(value) is int else str(value)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"<td{side}>{escape(text)}</td>"
