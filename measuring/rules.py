"""Decision tables held against a cluster: of what simulation found, the fastest is selected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measuring.clusters import Cluster
from measuring.sampling import Asked, Sample, Take, is_faster, sample
from measuring.trials import Program, measure_once
from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Row
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import HamtuneError

__all__ = ["LIBRARY", "Mixture", "Selection", "select_fastest", "under_table"]

_CLOSER = 3.0
"""By so much better are tables known that could not be told apart."""
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

    Tables that cannot be told from the fastest are measured again, three times as well. An exchange
    is kept where it makes the program faster by more than chance (`is_faster`). Tables that say the
    same are measured once.

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
    runs = _Runs(tables, run, asked, seed, say, clock)
    collectives = sorted({name for table in tables.values() for name in table})
    pure = {name: Mixture(tuple((one, name) for one in collectives)) for name in tables}
    whole = runs.measured(pure)
    fastest = _fastest(whole)
    close = {name: pure[name] for name in pure if not is_faster(whole[fastest], whole[name])}
    if runs.are_several(close) and not runs.over:
        again = runs.measured(close, asked.precision / _CLOSER)
        whole |= {name: whole[name].with_more(more) for name, more in again.items()}
        fastest = _fastest({name: whole[name] for name in close})
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
        if not others or runs.over:
            continue
        again = runs.measured({"as before": selected, **others})
        best = min(others, key=lambda label: _mean(again[label]))
        if is_faster(again[best], again["as before"]):
            selected, known = others[best], again[best]
    return Selection(whole, selected, known, runs.count)


@dataclass
class _Runs:
    """Runs of a program under mixtures of tables, until the time for all of them is over."""

    tables: Mapping[str, DecisionTable]
    run: Run
    asked: Asked
    seed: int
    say: Callable[[str, Sample], None]
    clock: Callable[[], float]
    count: int = 0

    def __post_init__(self) -> None:
        self._ends = self.clock() + self.asked.seconds

    @property
    def over(self) -> bool:
        return self.clock() >= self._ends

    def are_several(self, named: Mapping[str, Mixture]) -> bool:
        """Whether not all of them say the same."""
        return len(set(self._alike(named).values())) > 1

    def measured(
        self, named: Mapping[str, Mixture], precision: float | None = None
    ) -> dict[str, Sample]:
        """What the program takes under mixtures, in turns; to a precision of their own, if any."""
        asked = replace(
            self.asked,
            seconds=self._ends - self.clock(),
            precision=self.asked.precision if precision is None else precision,
        )
        same = self._alike(named)
        found = sample(
            sorted(set(same.values())),
            lambda label: self.run(named[label].table(self.tables)),
            asked,
            seed=self.seed,
            say=self.say,
            clock=self.clock,
        )
        self.count += sum(one.runs for one in found.values())
        return {label: found[first] for label, first in same.items()}

    def _alike(self, named: Mapping[str, Mixture]) -> dict[str, str]:
        return _alike({label: mixture.table(self.tables) for label, mixture in named.items()})


def _fastest(known: Mapping[str, Sample]) -> str:
    return min(known, key=lambda name: _mean(known[name]))


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
