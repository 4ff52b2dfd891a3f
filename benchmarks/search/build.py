"""Evaluates spaces whole."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.search.tables import COMPLETED, FAILED, INFEASIBLE, UNKNOWN, Case, Table, digest_of
from searchspace.configuration import Configuration
from searchspace.jobspec import BuiltinApplication, Workload
from searchspace.platform import Infeasible, resolve
from workers import tuning_problem
from workers.capture import capture_builtin
from workers.probes import APART_SECONDS, MOST_MESSAGES, Bench, probe
from workers.simulator_client import Simulator, simulator_version

__all__ = ["build", "probes_path", "table_path"]

_SAVE_SECONDS = 15.0
_WALL_SECONDS = 60.0


def table_path(case: Case) -> Path:
    """Where the table of a case is."""
    return case.directory / "table.npz"


def probes_path(case: Case) -> Path:
    """Where the probes of a case are."""
    return case.directory / "probes.json"


def build(case: Case) -> Table:
    """Evaluates what a space still lacks; a table that is whole is left as it is.

    May be stopped at any time: the next call goes on.
    """
    case.directory.mkdir(parents=True, exist_ok=True)
    _capture(case)
    configurations = list(case.built.space.enumerate())
    table = _begun(case, configurations)
    left = np.flatnonzero(table.states == UNKNOWN)
    saved = time.monotonic()
    with Simulator(case.traces, gives_way=True) as simulator:
        evaluate = _Evaluation(case, simulator)
        for count, place in enumerate(left):
            table.states[place], table.values[place] = evaluate(configurations[place])
            if time.monotonic() - saved > _SAVE_SECONDS:
                table.save(table_path(case))
                print(f"{case.name}: {count + 1} of {len(left)}", flush=True)
                saved = time.monotonic()
    table.save(table_path(case))
    if not probes_path(case).exists():
        probes_path(case).write_text(json.dumps(probe(_bench(case)).to_json()))
    return table


def _bench(case: Case) -> Bench:
    machine = case.spec.described_machine
    return Bench(
        case.built.space,
        case.called,
        case.traces,
        case.ranks,
        partial(
            resolve,
            machine=machine,
            ranks=case.ranks,
            collectives=case.called,
            traffic=case.traffic,
        ),
        partial(tuning_problem.request_for, workload=_workload(case)),
        machine.host_speed * APART_SECONDS,
        MOST_MESSAGES[machine.trial_model],
    )


def _capture(case: Case) -> None:
    for part, path in zip(case.spec.parts, case.traces, strict=True):
        if not path.exists():
            assert isinstance(part, BuiltinApplication), "spaces have built-in programs"
            parameters = dict(part.run.parameters)
            class_ = parameters.pop("class", None)
            capture_builtin(
                part.builtin, str(class_) if class_ else None, part.ranks, parameters, path
            )


def _begun(case: Case, configurations: list[Configuration]) -> Table:
    version = simulator_version()
    digests = np.array([digest_of(case, one) for one in configurations], dtype=np.uint64)
    if table_path(case).exists():
        known = Table.load(table_path(case))
        if known.version == version and np.array_equal(known.digests, digests):
            return known
    size = len(configurations)
    return Table(digests, np.full(size, np.nan), np.full(size, UNKNOWN, np.uint8), version)


class _Evaluation:
    """Evaluates configurations of a case; those that a structure makes equal, once."""

    def __init__(self, case: Case, simulator: Simulator) -> None:
        self._case = case
        self._simulator = simulator
        self._workload = _workload(case)

    def __call__(self, configuration: Configuration) -> tuple[int, float]:
        case = self._case
        if case.built.space.infeasible(configuration) is not None:
            return INFEASIBLE, np.nan
        try:
            resolved = resolve(
                configuration,
                case.spec.described_machine,
                case.ranks,
                collectives=case.called,
                traffic=case.traffic,
            )
        except Infeasible:
            return INFEASIBLE, np.nan
        request = tuning_problem.request_for(resolved, self._workload)
        answer: dict[str, Any] = self._simulator.evaluate(request, wall_seconds=_WALL_SECONDS)
        if answer["status"] != "completed":
            return FAILED, np.nan
        return COMPLETED, float(answer["simulated_time"])


def _workload(case: Case) -> tuning_problem.Workload | None:
    application = case.spec.application
    if not isinstance(application, Workload):
        return None
    parts = tuple(
        {
            "ranks": summary["ranks"],
            "start": part.start,
            "weight": part.weight if application.objective == "weighted" else 1.0,
        }
        for part, summary in zip(application.applications, case.summaries, strict=True)
    )
    return tuning_problem.Workload(parts, "last" if application.objective == "max" else "mean")
