"""The measured times of cases: real MPI libraries on emulated clusters."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from measuring.building import build_builtin, build_preload, build_program
from measuring.clusters import Cluster, Launch, Library, RunFailed
from measuring.trust.cases import PROGRAMS, Case, Plan
from measuring.trust.log import Log, Row
from searchspace.configuration import Configuration

__all__ = ["Exporter", "measure"]

ATTEMPTS = 3
"""Of a run whose times do not count; what segments were sent again in is taken anew."""
WARM_UPS = 1
_WHOLE = re.compile(r"^whole ([0-9.]+)$", re.MULTILINE)
_SECONDS = 600.0

Exporter = Callable[[Configuration, str, Library, int], Path]
"""Gives the directory of an export of a configuration, on a network, for a library and ranks."""


def measure(
    plan: Plan,
    cluster_of: Callable[[str, float], AbstractContextManager[Cluster]],
    export: Exporter,
    log: Log,
    directory: Path,
    *,
    seed: int,
    say: Callable[[str], None],
) -> None:
    """Take every run of a plan that the log does not have, in random order on each network.

    Args:
        plan: What is measured.
        cluster_of: Brings up a cluster with a network at a scale, until it is left.
        export: Makes the files that an administrator would install.
        log: Where each run is added.
        directory: Where programs are built.
        seed: Of the order.
        say: Told what was measured.
    """
    bench = _Bench(directory, export)
    waiting: dict[tuple[str, float], list[tuple[_Run, int]]] = defaultdict(list)
    for run in _runs(plan.cases):
        for number in range(plan.runs):
            if (*run.key, number) not in log.done:
                waiting[run.cases[0].network, run.cases[0].scale].append((run, number))
    rng = random.Random(seed)  # noqa: S311 (the order of runs is no secret)
    left = sum(map(len, waiting.values()))
    for (network, scale), runs in waiting.items():
        rng.shuffle(runs)
        with cluster_of(network, scale) as cluster:
            for run, number in runs:
                for row in bench.attempts(cluster, run, number):
                    log.add(row)
                left -= 1
                say(f"{_summary(log.rows[-1])}; {left} runs left")


class _Run:
    """Cases that one run of a program times: those that differ in bytes alone."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases
        first = cases[0]
        self.key = (first.network, first.library, first.operation, first.choice)
        self.library: Library = first.library


def _runs(cases: Iterable[Case]) -> list[_Run]:
    together: dict[tuple[str, str, str, str], list[Case]] = defaultdict(list)
    for case in cases:
        together[case.network, case.library, case.operation, case.choice].append(case)
    return [_Run(found) for found in together.values()]


class _Bench:
    """Builds programs once, and runs them."""

    def __init__(self, directory: Path, export: Exporter) -> None:
        self._directory = directory
        self._export = export
        self._built: dict[tuple[Library, str], list[str]] = {}

    def attempts(self, cluster: Cluster, run: _Run, number: int) -> Iterable[Row]:
        """Runs until the times count, or `ATTEMPTS` times."""
        for _ in range(ATTEMPTS):
            row = self._row(cluster, run, number)
            yield row
            if not row.doubts:
                return

    def _row(self, cluster: Cluster, run: _Run, number: int) -> Row:
        first = run.cases[0]
        ranks = len(cluster.hosts)
        preloaded = []
        if first.is_program:
            command = self._program(first.choice, run.library)
            preloaded = [self._whole(run.library)]
        else:
            sizes = [f"{case.bytes}x{case.calls}x{case.repetitions}" for case in run.cases]
            program = self._collectives(run.library)
            command = [*program, first.operation, str(WARM_UPS), *sizes]
        launch = Launch(
            command=command,
            ranks=ranks,
            library=run.library,
            export=None
            if first.is_default
            else self._export(first.configuration, first.network, run.library, ranks),
            preloaded=preloaded,
            seconds=_SECONDS,
        )
        try:
            ran = cluster.run(launch)
        except RunFailed as failed:
            return Row(*run.key, number, {}, (str(failed),))
        seconds = _whole(ran.output) if first.is_program else _repetitions(ran.output)
        return Row(*run.key, number, seconds, tuple(ran.doubts), dict(ran.details))

    def _collectives(self, library: Library) -> list[str]:
        return self._once(
            library,
            "collectives",
            lambda path: [str(build_program("collectives", library, path))],
        )

    def _whole(self, library: Library) -> Path:
        return Path(
            self._once(
                library, "whole.so", lambda path: [str(build_preload("whole", library, path))]
            )[0]
        )

    def _program(self, name: str, library: Library) -> list[str]:
        return self._once(
            library, name, lambda path: build_builtin(PROGRAMS[name], library, path.parent)
        )

    def _once(self, library: Library, name: str, build: Callable[[Path], list[str]]) -> list[str]:
        if (library, name) not in self._built:
            self._built[library, name] = build(self._directory / library / name)
        return self._built[library, name]


def _repetitions(said: str) -> dict[int, list[float]]:
    seconds: dict[int, list[float]] = defaultdict(list)
    for line in said.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].isdigit():
            seconds[int(words[0])].append(float(words[1]))
    return dict(seconds)


def _whole(said: str) -> dict[int, list[float]]:
    return {0: [float(seconds) for seconds in _WHOLE.findall(said)]}


def _summary(row: Row) -> str:
    what = f"{row.network} {row.library} {row.operation} {row.choice}"
    if row.doubts:
        return f"{what}: does not count: {row.doubts[0]}"
    times = ", ".join(f"{min(each):.4f}" for each in row.seconds.values() if each)
    return f"{what}: {times} s"
