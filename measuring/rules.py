"""Decision tables held against a cluster: of what simulation found, the fastest is selected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measuring.clusters import Cluster
from measuring.sampling import Asked, Sample, Take, sample
from measuring.trials import Program, measure_once
from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Row
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import HamtuneError

__all__ = ["LIBRARY", "Mixture", "Selection", "select_fastest", "under_table"]

LIBRARY = "library"
"""The name of the empty table: all is left to the library."""

Run = Callable[[DecisionTable], Take]


@dataclass(frozen=True)
class Mixture:
    """A table that takes the rows of each collective from one of several tables.

    Attributes:
        sources: Collectives, each with the name of the table.
    """

    sources: tuple[tuple[str, str], ...]

    def table(self, tables: Mapping[str, DecisionTable]) -> DecisionTable:
        """Its rows; collectives that are left to the library have none."""
        chosen = {name: tables[source].get(name, ()) for name, source in self.sources}
        return {name: rows for name, rows in chosen.items() if _says_something(rows)}

    def instead(self, collective: str, source: str) -> Mixture:
        """The same with the rows of one collective from another table."""
        return Mixture(
            tuple((name, source if name == collective else of) for name, of in self.sources)
        )


@dataclass(frozen=True)
class Selection:
    """What was measured, and the fastest mixture, which is selected.

    Attributes:
        whole: What each of the tables took by itself, by name.
        mixture: What is selected.
        sample: What that took.
        runs: All runs of the program.
    """

    whole: Mapping[str, Sample]
    mixture: Mixture
    sample: Sample
    runs: int


def select_fastest(
    tables: Mapping[str, DecisionTable],
    run: Run,
    asked: Asked,
    *,
    seed: int,
    say: Callable[[str, Sample], None] = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
) -> Selection:
    """Measure tables in turns, then the fastest with one collective after the other exchanged.

    An exchange is kept where it makes the mean smaller by more than the precision that was asked
    for. Tables that say the same are measured once.

    Args:
        tables: By name, among them `LIBRARY`.
        run: Runs the program under a table.
        asked: How well each mixture is to be known, and how long all of it may take.
        seed: Of the order of runs.
        say: Told after each run of which mixture, and what is known of it now.
        clock: Gives seconds.

    Raises:
        HamtuneError: No run of any table counts.
    """
    ends = clock() + asked.seconds
    collectives = sorted({name for table in tables.values() for name in table})
    runs = 0

    def measured(named: Mapping[str, Mixture]) -> dict[str, Sample]:
        nonlocal runs
        left = replace(asked, seconds=ends - clock())
        same = _alike({label: mixture.table(tables) for label, mixture in named.items()})
        found = sample(
            sorted(set(same.values())),
            lambda label: run(named[label].table(tables)),
            left,
            seed=seed,
            say=say,
            clock=clock,
        )
        runs += sum(one.runs for one in found.values())
        return {label: found[first] for label, first in same.items()}

    pure = {name: Mixture(tuple((one, name) for one in collectives)) for name in tables}
    whole = measured(pure)
    fastest = min(whole, key=lambda name: _mean(whole[name]))
    selected, known = pure[fastest], whole[fastest]
    if known.mean is None:
        raise HamtuneError(_why_nothing(whole))
    for collective in collectives:
        others = {
            f"{collective} as in {name}": exchanged
            for name in tables
            if (exchanged := selected.instead(collective, name)).table(tables)
            != selected.table(tables)
        }
        if not others or clock() >= ends:
            continue
        again = measured({"as before": selected, **others})
        best = min(others, key=lambda label: _mean(again[label]))
        if _mean(again[best]) < _mean(again["as before"]) * (1 - asked.precision):
            selected, known = others[best], again[best]
    return Selection(whole, selected, known, runs)


def _alike(tables: Mapping[str, DecisionTable]) -> dict[str, str]:
    """By label, the first label of a table that says the same."""
    return {
        label: next(first for first, one in tables.items() if one == table)
        for label, table in tables.items()
    }


def under_table(
    cluster: Cluster,
    program: Program,
    target: Target,
    rank_hosts: Sequence[str],
    directory: Path,
    own: Path | None,
) -> Run:
    """How a program is run under a table: by the library's own file.

    Args:
        cluster: Where it runs.
        program: What is run; its seconds are those of all runs together.
        target: The library.
        rank_hosts: The name of the host of each rank.
        directory: For the files, which all hosts see.
        own: What the library has inside, where its file has to be made of that.
    """
    file = DECISION_FILES[target.format]
    written: dict[str, Path] = {}
    ends = time.monotonic() + program.seconds

    def run(table: DecisionTable) -> Take:
        environment: dict[str, str] = {}
        if table:
            content = file.write(table, target, [], own)
            path = written.setdefault(content, directory / f"{len(written)}-{file.name}")
            path.write_text(content)
            environment = {name: text.format(file=path) for name, text in file.settings.items()}
        left = replace(program, seconds=max(1.0, ends - time.monotonic()))
        return measure_once(cluster, left, rank_hosts=rank_hosts, environment=environment)

    return run


def _says_something(rows: Sequence[Row]) -> bool:
    return any(line.algorithm != DEFAULT for row in rows for line in row.lines)


def _mean(known: Sample) -> float:
    return math.inf if known.mean is None else known.mean


def _why_nothing(whole: Mapping[str, Sample]) -> str:
    for known in whole.values():
        if known.failures:
            return f"the program does not run on the cluster: {known.failures[-1]}"
    for known in whole.values():
        if known.doubts:
            return f"no run counts: {known.doubts[-1]}"
    return "there was no time for a single run"
