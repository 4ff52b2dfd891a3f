"""Decision tables held against a cluster: of what simulation found, the fastest is selected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from measuring.clusters import Cluster, RunFailed
from measuring.sampling import Asked, Sample, Take, is_faster, sample
from measuring.trials import Program, measure_once
from searchspace.collectives.decision_table import DecisionTable, is_decided
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import HamtuneError
from searchspace.units import format_size
from workers.program_rules import Cell

__all__ = [
    "LIBRARY",
    "Exchange",
    "Mixture",
    "Nearby",
    "Selection",
    "select_fastest",
    "under_table",
]

_CLOSER = 3.0
"""By so much better are tables known that could not be told apart."""
_FEW = 3
"""Runs that tell which exchanges may be worth more of them."""
_MOST_LONGER, _START = 3.0, 30.0
"""An alternative is given up after so many times what the program took, and seconds to start it."""
_HANGS = 20.0
"""Any run is given up after so many times the shortest, and seconds to start it."""
_BEFORE = "as before"
LIBRARY = "library"
"""The name of the empty table: all is left to the library."""

Run = Callable[[DecisionTable, float], Take]
"""Runs the program under a table; takes the seconds after which it is given up."""


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
        return {name: rows for name, rows in chosen.items() if is_decided(rows)}

    def instead(self, collective: str, source: str) -> Mixture:
        """The same with the rows of one collective from another table."""
        return Mixture(
            tuple((name, source if name == collective else of) for name, of in self.sources)
        )


@dataclass(frozen=True)
class Exchange:
    """An algorithm that took the place of another one in a cell, as the cluster is faster so.

    Attributes:
        cell: A collective, the ranks of its communicator, and the bytes of a call; 0 where the
            library does not look at them.
        algorithm: What these calls run now.
    """

    cell: Cell
    algorithm: str

    @property
    def calls(self) -> str:
        """Which calls these are, for people."""
        return _calls(self.cell)


@dataclass(frozen=True)
class Selection:
    """What was measured, and the fastest table, which is selected.

    Attributes:
        whole: What each of the tables took by itself, by name.
        mixture: Of these tables, what is selected but for exchanges.
        exchanges: The cells that were exchanged after that.
        table: What is selected.
        sample: What that took.
        runs: All runs of the program.
    """

    whole: Mapping[str, Sample]
    mixture: Mixture
    exchanges: tuple[Exchange, ...]
    table: DecisionTable
    sample: Sample
    runs: int


class Nearby(Protocol):
    """Tables that differ from another one in a single cell, as `workers.nearby_rules` has them."""

    @property
    def cells(self) -> Sequence[Cell]:
        """What is decided for the program, in the order in which it is exchanged."""

    def tables(
        self, table: DecisionTable, cell: Cell, over: Callable[[], bool]
    ) -> Mapping[str, DecisionTable]:
        """By algorithm, the tables worth a run that have another one there."""


def select_fastest(
    tables: Mapping[str, DecisionTable],
    run: Run,
    asked: Asked,
    *,
    seed: int,
    nearby: Nearby | None = None,
    say: Callable[[str, Sample], None] = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
) -> Selection:
    """Measure tables in turns, then the fastest with one part after the other exchanged.

    Tables that cannot be told from the fastest are measured again, three times as well. First a
    collective takes its rows from another of the tables, then single cells take other algorithms.
    An exchange is kept where it makes the program faster by more than chance (`is_faster`). Tables
    that say the same are measured once.

    Args:
        tables: By name, among them `LIBRARY`.
        run: Runs the program under a table, for so many seconds at most.
        asked: How well each table is to be known, and how long all of it may take.
        seed: Of the order of runs.
        nearby: What single cells may be exchanged for; None leaves them as they are.
        say: Told after each run of which table, and what is known of it now.
        clock: Gives seconds.

    Raises:
        HamtuneError: No run of any table counts.
    """
    runs = _Runs(run, asked, seed, say, clock)
    collectives = sorted({name for table in tables.values() for name in table})
    pure = {name: Mixture(tuple((one, name) for one in collectives)) for name in tables}
    whole, fastest = _whole(runs, {name: one.table(tables) for name, one in pure.items()})
    if whole[fastest].mean is None:
        raise HamtuneError(_why_nothing(whole))
    mixture, known = _mixed(runs, tables, pure[fastest], whole[fastest])
    table = mixture.table(tables)
    exchanges: tuple[Exchange, ...] = ()
    if nearby is not None:
        exchanges, table, known = _exchanged(runs, nearby, table, known)
    return Selection(whole, mixture, exchanges, table, known, runs.count)


def _whole(runs: _Runs, tables: Mapping[str, DecisionTable]) -> tuple[dict[str, Sample], str]:
    """What tables take, and the fastest; those that may be it are known better."""
    whole = runs.measured(tables)
    fastest = _fastest(whole)
    close = {
        name: table
        for name, table in tables.items()
        if name == fastest or not (whole[name].failures or is_faster(whole[fastest], whole[name]))
    }
    if len(set(_alike(close).values())) == 1 or runs.over():
        return whole, fastest
    again = runs.measured(close, replace(runs.asked, precision=runs.closer))
    whole |= {name: whole[name].with_more(more) for name, more in again.items()}
    return whole, _fastest({name: whole[name] for name in close})


def _mixed(
    runs: _Runs, tables: Mapping[str, DecisionTable], selected: Mixture, known: Sample
) -> tuple[Mixture, Sample]:
    """The fastest mixture that differs from another one in a collective after the other."""
    for collective, _ in selected.sources:
        before = selected.table(tables)
        others = {
            f"{collective} as in {name}": exchanged
            for name in tables
            if (exchanged := selected.instead(collective, name)).table(tables) != before
            and exchanged.table(tables) not in runs.failed
        }
        if not others or runs.over():
            continue
        mixed = {label: one.table(tables) for label, one in others.items()}
        again = runs.measured({_BEFORE: before, **mixed})
        best = _faster(again)
        if best is not None:
            selected, known = others[best], again[best]
    return selected, known


def _exchanged(
    runs: _Runs, nearby: Nearby, table: DecisionTable, known: Sample
) -> tuple[tuple[Exchange, ...], DecisionTable, Sample]:
    """The fastest table that differs from another one in a cell after the other.

    Each alternative runs a few times. Those that may be faster are measured anew, so that what was
    lucky in the first runs does not count for them. One that ever failed is not taken.
    """
    found: list[Exchange] = []
    few = replace(runs.asked, least=_FEW, most=_FEW, failures=1)
    well = replace(runs.asked, precision=runs.closer, failures=1)
    for cell in nearby.cells:
        if runs.over():
            break
        try:
            others = nearby.tables(table, cell, runs.over)
        except HamtuneError:  # what was measured holds without more alternatives
            break
        labels = {f"{_calls(cell)}: {algorithm}": algorithm for algorithm in others}
        limit = _MOST_LONGER * _mean(known) + _START
        tables = {_BEFORE: table, **{of: others[algorithm] for of, algorithm in labels.items()}}
        first = runs.measured(tables, few, limit) if others else {}
        promising = {
            of: tables[of]
            for of in labels
            if not first[of].failures and _mean(first[of]) < _mean(first[_BEFORE])
        }
        if not promising or runs.over():
            continue
        again = runs.measured({_BEFORE: table, **promising}, well, limit)
        best = _faster(again)
        if best is not None:
            table, known = tables[best], again[best]
            found.append(Exchange(cell, labels[best]))
    return tuple(found), table, known


def _faster(known: Mapping[str, Sample]) -> str | None:
    """The fastest of those that are faster than before by more than chance, and never failed."""
    before = known[_BEFORE]
    others = {label: one for label, one in known.items() if label != _BEFORE and not one.failures}
    of = len(known) - 1
    faster = {label: one for label, one in others.items() if is_faster(one, before, of)}
    return _fastest(faster) if faster else None


def _calls(cell: Cell) -> str:
    collective, ranks, size = cell
    of = f" of {format_size(size)}" if size else ""
    return f"{collective}{of} in {ranks} ranks"


@dataclass
class _Runs:
    """Runs of a program under tables, until the time for all of them is over.

    Attributes:
        count: How many there were.
        shortest: The seconds of the shortest that counts.
        failed: The tables under which one failed.
    """

    run: Run
    asked: Asked
    seed: int
    say: Callable[[str, Sample], None]
    clock: Callable[[], float]
    count: int = 0
    shortest: float | None = None
    failed: list[DecisionTable] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ends = self.clock() + self.asked.seconds

    def over(self) -> bool:
        return self.clock() >= self._ends

    @property
    def closer(self) -> float:
        """The precision for what could not be told apart."""
        return self.asked.precision / _CLOSER

    def measured(
        self,
        named: Mapping[str, DecisionTable],
        asked: Asked | None = None,
        limit: float = math.inf,
    ) -> dict[str, Sample]:
        """What the program takes under tables, in turns.

        Args:
            named: The tables by label.
            asked: How well they are to be known; as all of it, if left out.
            limit: After so many seconds a run is given up, if not before.
        """
        same = _alike(named)
        found = sample(
            sorted(set(same.values())),
            lambda label: self._take(named[label], limit),
            replace(asked or self.asked, seconds=self._ends - self.clock()),
            seed=self.seed + self.count,
            say=self.say,
            clock=self.clock,
        )
        self.count += sum(one.runs for one in found.values())
        return {label: found[first] for label, first in same.items()}

    def _take(self, table: DecisionTable, limit: float) -> Take:
        """One run, which leaves time for others though it may hang."""
        left = self._ends - self.clock()
        longest = left / 2.0 if self.shortest is None else _HANGS * self.shortest + _START
        most = min(limit, longest)
        try:
            taken = self.run(table, min(most, left))
        except RunFailed:
            if left <= most and self.over():  # which says nothing of the table
                return Take(left, ["the time for all runs was over"])
            self.failed.append(table)
            raise
        if not taken.doubts:
            known = math.inf if self.shortest is None else self.shortest
            self.shortest = min(known, taken.seconds)
        return taken


def _fastest(known: Mapping[str, Sample]) -> str:
    """The one of the least mean; one under which a run failed only where there is no other."""
    return min(
        known,
        key=lambda name: (known[name].mean is None, bool(known[name].failures), _mean(known[name])),
    )


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
        program: What is run; no run takes more than its seconds.
        target: The library.
        rank_hosts: The name of the host of each rank.
        directory: For the files, which all hosts see.
        own: What the library has inside, where its file has to be made of that.
    """
    file = DECISION_FILES[target.format]
    written: dict[str, Path] = {}

    def run(table: DecisionTable, limit: float) -> Take:
        environment: dict[str, str] = {}
        if table:
            content = file.write(table, target, [], own)
            path = written.setdefault(content, directory / f"{len(written)}-{file.name}")
            path.write_text(content)
            environment = {name: text.format(file=path) for name, text in file.settings.items()}
        limited = replace(program, seconds=max(1.0, min(limit, program.seconds)))
        return measure_once(cluster, limited, rank_hosts=rank_hosts, environment=environment)

    return run


def _mean(known: Sample) -> float:
    return math.inf if known.mean is None else known.mean


def _why_nothing(whole: Mapping[str, Sample]) -> str:
    for known in whole.values():  # a program that ended once does run
        if known.doubts:
            return f"no run counts: {known.doubts[-1]}"
    for known in whole.values():
        if known.failures:
            return f"the program does not run on the cluster: {known.failures[-1]}"
    return "there was no time for a single run"
