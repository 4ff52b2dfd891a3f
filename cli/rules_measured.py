"""`hamtune rules --testbed` and `--mpirun`: the program runs there under what was found."""

from __future__ import annotations

import csv
import io
import shlex
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from cli.clusters import cluster_options, open_cluster
from cli.options import finite, say
from cli.rules_asked import Task, simulated_program
from cli.rules_output import Answer, in_library
from searchspace.collectives.decision_table import DecisionTable
from searchspace.collectives.equivalents import Target
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine
from searchspace.platform import Resolved
from searchspace.units import format_duration

if TYPE_CHECKING:
    from measuring.clusters import Cluster, Library
    from measuring.rules import Exchange, Selection
    from measuring.sampling import Sample
    from measuring.trials import Program

__all__ = ["MeasuredRules", "OnCluster", "on_cluster_options"]

F = TypeVar("F", bound=Callable[..., Any])
_RUNNABLE = ("openmpi", "mpich")
_TITLES = {
    "rules": "under the rules by simulation",
    "single": "with one algorithm each",
    "library": "as the library chooses",
}
_OF = {"rules": "by size", "single": "one algorithm", "library": "left to the library"}
_RUNS = 5
_MOST_RUNS = 15


@dataclass(frozen=True)
class MeasuredRules:
    """What a program took under rules on a cluster.

    Attributes:
        selection: What was measured, and which rules are selected.
        target: The library.
    """

    selection: Selection
    target: Target

    @property
    def text(self) -> str:
        """What the program took, and what is kept of the rules."""
        selection = self.selection
        whole = ", ".join(
            f"{_took(known)} {_TITLES[name]}" for name, known in selection.whole.items()
        )
        choices = [f"{name}: {_OF[source]}" for name, source in selection.mixture.sources]
        choices += [self._text_of(exchange) for exchange in selection.exchanges]
        took = f"{_took(selection.sample)} under the rules that are kept"
        return f"measured: {took}; {whole}; {selection.runs} runs\nkept: {', '.join(choices)}"

    @property
    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "kept": dict(self.selection.mixture.sources),
            "exchanges": [self._document_of(one) for one in self.selection.exchanges],
            "seconds": self.selection.sample.mean,
            "whole": {name: _document(known) for name, known in self.selection.whole.items()},
            "runs": self.selection.runs,
        }

    def _text_of(self, exchange: Exchange) -> str:
        return f"{exchange.calls}: {self._in_library(exchange) or 'left to the library'}"

    def _document_of(self, exchange: Exchange) -> dict[str, Any]:
        collective, ranks, size = exchange.cell
        return {
            "collective": collective,
            "ranks": ranks,
            "bytes": size or None,
            "algorithm": exchange.algorithm,
            "library": self._in_library(exchange),
        }

    def _in_library(self, exchange: Exchange) -> str | None:
        collective, ranks, _ = exchange.cell
        return in_library(self.target, collective, exchange.algorithm, ranks)

    @property
    def table(self) -> str:
        """All runs of the tables as they are, and of what is kept, as CSV."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["rules", "seconds", "doubts"])
        for name, known in {**self.selection.whole, "kept": self.selection.sample}.items():
            writer.writerows([name, repr(seconds), ""] for seconds in known.seconds)
            writer.writerows(
                [name, repr(one.seconds), "; ".join(one.doubts)] for one in known.doubted
            )
        return buffer.getvalue()


@dataclass(frozen=True)
class OnCluster:
    """Where and how a program is measured under rules, as the options say.

    Attributes:
        testbed: The name of a testbed; None where there is none.
        mpirun: The launcher's command; likewise.
        hosts_file: The launcher's hosts.
        program: The program's command.
        minutes: How long all of it may take.
        precision: How well each mean is to be known, relative.
    """

    testbed: str | None
    mpirun: str | None
    hosts_file: Path | None
    program: str | None
    minutes: float
    precision: float

    @property
    def is_named(self) -> bool:
        """Whether there is a cluster at all."""
        return self.testbed is not None or self.mpirun is not None

    def check(self, *, for_program: bool) -> None:
        """Check that the options go together, before anything is simulated.

        Raises:
            UsageError: They do not.
        """
        if not self.is_named:
            if self.program is not None or self.hosts_file is not None:
                raise click.UsageError("--program and --hosts go with --testbed or --mpirun")
        elif not for_program:
            raise click.UsageError("--testbed and --mpirun need --application or --job")
        elif self.program is None:
            raise click.UsageError(
                "name the program as it is built for the library: --program 'PROGRAM ARGUMENTS'"
            )

    def open(self, task: Task) -> tuple[Cluster, list[str]]:
        """The cluster, which has to be the one that was simulated, and the host of each rank.

        Raises:
            InvalidInput: It is another one, cannot run the target's programs, or nothing can be
                preloaded into them from the working directory.
        """
        from measuring.launch_lines import directory_for_runs

        if task.target.format not in _RUNNABLE:
            raise InvalidInput(
                f"programs of {task.target.title} cannot be run here; measure with "
                "--target openmpi-4.1, or without --testbed and --mpirun"
            )
        library = cast("Library", task.target.format)
        cluster, emulated = open_cluster(self.testbed, self.mpirun, self.hosts_file, library)
        _check_same(task.resolved, cluster, emulated)
        directory_for_runs(emulated=emulated is not None)  # or it would be refused after simulation
        return cluster, _rank_names(task.resolved, cluster, emulated)

    def select_fastest(
        self,
        answer: Answer,
        where: tuple[Cluster, list[str]],
        own: Path | None,
        evaluations: int,
        seed: int,
    ) -> Answer:
        """Run the program under the rules and under others, and keep the fastest.

        Where no run counts, the answer stays what simulation has found, with the problem.
        """
        from measuring.launch_lines import directory_for_runs
        from measuring.rules import LIBRARY, select_fastest, under_table
        from measuring.sampling import Asked
        from workers.nearby_rules import NearbyRules

        task, found = answer.task, answer.program
        assert found is not None, "rules of a program are measured"
        cluster, names = where
        tables = {
            "rules": found.table,
            "single": found.single_table,
            LIBRARY: cast("DecisionTable", {}),
        }
        say(f"hamtune: runs on the cluster, {self.minutes:g} minutes at most")
        try:
            seen = directory_for_runs(emulated=self.testbed is not None)
            with (
                tempfile.TemporaryDirectory(prefix="hamtune-rules-", dir=seen) as scratch,
                simulated_program(task, evaluations) as program,
            ):
                directory = Path(scratch)
                measured = self._program(task, directory)
                selection = select_fastest(
                    tables,
                    under_table(cluster, measured, task.target, names, directory, own),
                    Asked(self.precision, least=_RUNS, most=_MOST_RUNS, seconds=measured.seconds),
                    seed=seed,
                    nearby=NearbyRules(
                        program, task.target, task.asked, non_commutative=task.non_commutative
                    ),
                    say=_tell,
                )
                simulated = found.evaluations + program.evaluations
        except HamtuneError as error:
            say("hamtune: nothing was measured; these are the rules by simulation")
            return replace(answer, problem=error)
        kept = replace(found, table=selection.table, evaluations=simulated)
        return replace(answer, program=kept, measured=MeasuredRules(selection, task.target))

    def _program(self, task: Task, directory: Path) -> Program:
        """What is run, with its clock in a directory that all hosts see."""
        from measuring.building import build_preload
        from measuring.trials import Program

        assert task.traced is not None, "a program was named"
        library = cast("Library", task.target.format)
        return Program(
            command=shlex.split(self.program or ""),
            ranks=task.traced.ranks,
            library=library,
            clock=build_preload("whole", library, directory / "whole.so"),
            seconds=60 * self.minutes,
        )


def on_cluster_options(function: F) -> F:
    """The options of `OnCluster`."""
    options = (
        click.option(
            "--program",
            metavar="'P …'",
            help="With --testbed or --mpirun: the program and its arguments, built for the "
            "library of the cluster.",
        ),
        click.option(
            "--minutes",
            type=click.FloatRange(0, min_open=True),
            callback=finite,
            default=10.0,
            show_default=True,
            help="With --testbed or --mpirun: when the measuring ends, however little is known.",
        ),
        click.option(
            "--precision",
            type=click.FloatRange(0, 1, min_open=True),
            callback=finite,
            default=0.01,
            show_default=True,
            help="With --testbed or --mpirun: half the confidence interval of a mean, relative to "
            "it, at which it is known.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return cluster_options(function)


def _check_same(resolved: Resolved, cluster: Cluster, emulated: Machine | None) -> None:
    hosts = len(resolved.machine.host_names)
    if len(cluster.hosts) != hosts:
        raise InvalidInput(
            f"the cluster has {len(cluster.hosts)} hosts, the machine {hosts}: rules are for the "
            "cluster that was simulated"
        )
    if emulated is None:
        return
    if emulated.given_network not in (resolved.machine.given_network, resolved.network):
        raise InvalidInput(
            "the testbed has another network than the one that was simulated; name the machine "
            "that it was brought up with"
        )


def _rank_names(resolved: Resolved, cluster: Cluster, emulated: Machine | None) -> list[str]:
    """The host of each rank: of the cluster's, which stand in the machine's order."""
    built_so = emulated is not None and emulated.given_network == resolved.network
    order = range(resolved.hosts) if built_so else resolved.order
    return [cluster.hosts[order[host]] for host in resolved.rank_hosts]


def _tell(label: str, known: Sample) -> None:
    told = [_took(known)]
    if known.failures:
        reason = known.failures[-1].strip().splitlines()[-1]
        told.append(f"{len(known.failures)} failed: {reason}")
    if known.doubts:
        told.append(f"{len(known.doubts)} do not count: {known.doubts[-1]}")
    say(f"hamtune: run {known.runs} {_TITLES.get(label, label)}: {', '.join(told)}")


def _took(known: Sample) -> str:
    if known.mean is None:
        return "unknown"
    half = known.half_interval
    reach = "" if half is None else f" ± {half / known.mean:.1%}"
    return f"{format_duration(known.mean)}{reach}"


def _document(known: Sample) -> dict[str, Any]:
    return {**asdict(known), "mean": known.mean, "half_interval": known.half_interval}
