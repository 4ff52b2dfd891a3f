"""Trials as a table for people: what became of each, of which configuration, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from cli.differences import flat, shown
from cli.trial_words import why_failed
from searchspace.units import format_duration

__all__ = ["trial_table"]


def trial_table(
    job: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]
) -> tuple[Table, list[str]]:
    """A row for each trial, and lines with what all have in common.

    Where there are several, a row has only what tells its trial from others.

    Args:
        job: `GET /jobs/J`.
        trials: Items of `GET /jobs/J/trials`.
    """
    configurations = [_short(trial["configuration"]) for trial in trials]
    common = _common(configurations) if len(trials) > 1 else {}
    why = [why_failed(job, trial) or "" for trial in trials]
    same = set(why).pop() if len(trials) > 1 and len(set(why)) == 1 else ""
    own_why = any(why) and not same
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("trial", justify="right", no_wrap=True)
    for title in ("kind", "state"):
        table.add_column(title, no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    if own_why:
        table.add_column("why")
    table.add_column("configuration")
    for trial, configuration, reason in zip(trials, configurations, why, strict=True):
        own = {name: value for name, value in configuration.items() if name not in common}
        reasons = [reason] if own_why else []
        table.add_row(
            str(trial["number"]), _kind(trial), trial["state"], _time(trial), *reasons, _words(own)
        )
    lines = [f"all of them: {same}"] if same else []
    return table, lines + ([f"in all of them: {_words(common)}"] if common else [])


def _short(configuration: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.removeprefix("collectives."): shown(value)
        for name, value in flat(configuration).items()
    }


def _common(configurations: Sequence[Mapping[str, str]]) -> dict[str, str]:
    first, *others = configurations
    return {
        name: value
        for name, value in first.items()
        if all(one.get(name) == value for one in others)
    }


def _words(configuration: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in configuration.items()) or "-"


def _kind(trial: Mapping[str, Any]) -> str:
    return str(trial["kind"]) + (f" {trial['label']}" if trial["label"] else "")


def _time(trial: Mapping[str, Any]) -> str:
    if trial["value"] is None:
        return "-"
    bound = "> " if trial["state"] == "censored" else ""
    return bound + format_duration(trial["value"])
