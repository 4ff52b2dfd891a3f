"""A job as an Optuna study, so that Optuna's own tools can look at it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from searchspace.configuration import Configuration, canonical_json
from storage.records import Job, Trial

__all__ = ["optuna_study"]

_STATES = {
    "completed": "COMPLETE",
    "censored": "PRUNED",  # stopped since it was worse than the best: what Optuna calls pruned
    "infeasible": "FAIL",
    "failed": "FAIL",
    "cancelled": "FAIL",
    "running": "RUNNING",
    "pending": "WAITING",
}


class _Journal:
    """A journal of Optuna in memory; its own, in a file, takes a lock and the disk for each trial.

    Implements `optuna.storages.journal.BaseJournalBackend`.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """What was appended, from a number on."""
        return map(json.loads, self._lines[log_number_from:])

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append what happened to the study."""
        self._lines += (json.dumps(log, separators=(",", ":")) for log in logs)

    def content(self) -> bytes:
        """What its file holds."""
        return "".join(f"{line}\n" for line in self._lines).encode()


def optuna_study(job: Job, trials: Sequence[Trial]) -> bytes:
    """A journal of Optuna with one study, named as the job and its id.

    Comparisons, whose values are of another network model, are left out.

    Every parameter is categorical or an integer range, as it occurs in the trials. A censored trial
    is a pruned one whose bound is its intermediate value. What Optuna has no place for is in
    the user attributes: kind, label, technique, cached, reason, fidelity, the number here, and
    permutations. As values of a category each trial would list those of all trials.
    """
    import optuna  # takes a second to load, which other requests should not pay for
    from optuna.storages import JournalStorage

    previous = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    trials = [trial for trial in trials if trial.kind != "comparison"]
    try:
        configurations = [Configuration.from_json(trial.configuration) for trial in trials]
        domains = _distributions(configurations)
        journal = _Journal()
        study = optuna.create_study(
            storage=JournalStorage(cast(Any, journal)),
            study_name=f"{job.name} {job.id}",
            direction="minimize",
        )
        study.set_user_attr("hamtune_job", job.id)
        study.set_user_attr("unit", "simulated seconds")
        study.add_trials(
            [
                _frozen(trial, configuration, domains)
                for trial, configuration in zip(trials, configurations, strict=True)
            ]
        )
        return journal.content()
    finally:
        optuna.logging.set_verbosity(previous)


def _distributions(configurations: Sequence[Configuration]) -> dict[str, Any]:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    seen: dict[str, dict[Any, None]] = {}
    for configuration in configurations:
        for name in configuration:
            if not isinstance(configuration[name], tuple):
                seen.setdefault(name, {})[configuration[name]] = None
    return {
        name: IntDistribution(min(values), max(values))
        if all(type(value) is int for value in values)
        else CategoricalDistribution(tuple(values))
        for name, values in seen.items()
    }


def _frozen(trial: Trial, configuration: Configuration, domains: Mapping[str, Any]) -> Any:
    from optuna.trial import FrozenTrial, TrialState

    state = TrialState[_STATES[trial.state]]
    chosen = {name: one for name, one in configuration.items() if not isinstance(one, tuple)}
    own = {
        f"configuration.{name}": canonical_json(list(one))
        for name, one in configuration.items()
        if isinstance(one, tuple)
    } | {
        "number_in_job": trial.number,
        "kind": trial.kind,
        "label": trial.label,
        "technique": trial.technique,
        "cached": trial.cached,
        "inside_space": trial.inside,
        "fidelity": trial.fidelity,
        "state_in_job": trial.state,
        "reason": trial.reason,
        "simulator_cpu_seconds": trial.cpu_seconds,
    }
    started = trial.started_at or trial.created_at
    ended = trial.finished_at if state.is_finished() else None
    return FrozenTrial(
        number=trial.number - 1,
        trial_id=trial.number,
        state=state,
        value=trial.value if state == TrialState.COMPLETE else None,
        datetime_start=None if state == TrialState.WAITING else datetime.fromtimestamp(started),
        datetime_complete=None if ended is None else datetime.fromtimestamp(ended),
        params=chosen,
        distributions={name: domains[name] for name in chosen},
        user_attrs={name: value for name, value in own.items() if value is not None},
        system_attrs={},
        intermediate_values={0: trial.value}
        if state == TrialState.PRUNED and trial.value is not None
        else {},
    )
