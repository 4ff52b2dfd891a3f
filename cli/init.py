"""`hamtune init`: a first job file, with comments that say what else it may hold."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import example, say
from searchspace.builtins import BUILTINS
from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import HamtuneError, InvalidInput

if TYPE_CHECKING:
    from searchspace.formats.ib_discover import LinkRate

__all__ = ["COMMANDS"]

_ANY = "any"


class _Question(click.Option):
    """An option that is asked for, on stderr: stdout may be the file."""

    def prompt_for_value(self, ctx: click.Context) -> Any:
        """The answer; where stdin has ended, what is offered, which is told.

        Raises:
            click.UsageError: Stdin has ended, and nothing is offered.
        """
        assert self.prompt is not None
        offered = self._offered(ctx)
        if self.name == "degree" and not str(ctx.params.get("cluster", "0")).isdigit():
            return self.get_default(ctx)  # of a network that there is nobody can say another
        try:
            return click.prompt(
                self.prompt,
                default=offered,
                type=self.type,
                value_proc=lambda answer: self.process_value(ctx, answer),
                err=True,
            )
        except click.Abort as error:
            if not isinstance(error.__context__, EOFError):
                raise
            if offered is None:
                raise click.UsageError(
                    f"there is no answer on stdin; give it as {self.opts[0]}", ctx
                ) from None
        say(f"{offered}  (stdin has ended: this is the default; {self.opts[0]} gives another)")
        return self.process_value(ctx, offered)

    def _offered(self, ctx: click.Context) -> Any:
        default = self.get_default(ctx)
        if self.name != "cluster":
            return default
        ranks = _ranks_of(str(ctx.params.get("application", "")))
        return default if ranks is None else str(max(int(str(default)), ranks))


def _application_at_once(_: click.Context, __: click.Parameter, answer: str) -> str:
    """The answer, refused before the next question where it is nothing that runs."""
    _application(answer, Path(), {})
    if Path(answer).is_file():
        from searchspace.formats.trace import read_header

        read_header(Path(answer))
    return answer


def _cluster_at_once(_: click.Context, __: click.Parameter, answer: str) -> str:
    """The answer, refused before the next question where it is neither hosts nor a file."""
    if answer.isdigit():
        if int(answer) == 0:
            raise InvalidInput("0 hosts run nothing; say at least 1")
        return answer
    if not Path(answer).is_file():
        raise InvalidInput(f"{answer} is neither a number of hosts nor a file")
    from cli.files import read_fabric

    read_fabric(Path(answer))
    return answer


@click.command(
    epilog=example(
        "hamtune init                                   asks",
        "hamtune init --application cg.A.64 --cluster 64 --degree 6 \\",
        "  --target any --trials 100 -o job.yaml        does not",
        "hamtune check job.yaml",
        "hamtune run job.yaml",
    )
)
@click.option(
    "--application",
    metavar="A",
    cls=_Question,
    prompt="What runs: a built-in program (NAME.CLASS.RANKS), a trace (.ht), or a source directory",
    default="is.S.32",
    callback=_application_at_once,
    show_default=True,
    help="A built-in program as NAME.CLASS.RANKS, a trace file, or a directory of sources.",
)
@click.option("--name", help="The name of the job; by default that of the program.")
@click.option(
    "--build", metavar="CMD", help="Of a directory of sources: what builds it.  [default: make]"
)
@click.option("--run", metavar="CMD", help="Of one, too: the program that is built, and arguments.")
@click.option("--ranks", type=click.IntRange(1), help="Of one, too: how many run it.")
@click.option(
    "--cluster",
    metavar="N|FILE",
    cls=_Question,
    prompt="On which hosts: their number, or a file with the network there is",
    default="32",
    callback=_cluster_at_once,
    show_default="32, or as many as the ranks",
    help="How many hosts a network is to be designed for; or a file with the network there is, "
    "such as the output of ibnetdiscover.",
)
@click.option(
    "--degree",
    type=click.IntRange(1),
    cls=_Question,
    prompt="Links per host, where the network is to be designed",
    default=4,
    show_default=True,
    help="Links per host, where the network is to be designed.",
)
@click.option(
    "--target",
    type=click.Choice([_ANY, *TARGETS]),
    cls=_Question,
    prompt="Which MPI library has to run what is found",
    default=_ANY,
    show_default=True,
    help="The MPI library that has to run what is found; any: all algorithms known.",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    cls=_Question,
    prompt="How many trials",
    default=100,
    show_default=True,
    help="The budget of the search.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("job.yaml"),
    show_default=True,
    help="The file; '-' for stdout. A file that is there is left alone.",
)
def init(
    application: str,
    name: str | None,
    build: str | None,
    run: str | None,
    ranks: int | None,
    cluster: str,
    degree: int,
    target: str,
    trials: int,
    output: Path,
) -> int:
    """Write a commented job file, by the answers to five questions.

    Each is an option, too. Where stdin ends before an answer, the default is taken, and told. The
    file is a valid job; its comments tell what else may be said.
    """
    from cli.jobfile import parse_job

    to_stdout = str(output) == "-"
    if not to_stdout and output.exists():
        raise HamtuneError(f"{output} is there already; name another file with -o")
    folder = Path() if to_stdout else output.parent
    own = {"build": build, "run": run, "ranks": ranks}
    called, runs = _application(
        application, folder, {key: value for key, value in own.items() if value is not None}
    )
    designed = int(cluster) if cluster.isdigit() else None
    if designed is not None and _FEWEST < designed <= degree:
        raise InvalidInput(
            f"--degree {degree}: a host is joined to others, of which there are {designed - 1}"
        )
    text = _JOB.format(
        name=_quoted(name or called),
        application=runs,
        machine=_existing(cluster, folder) if designed is None else _designed(designed, degree),
        search=_SEARCH_EXISTING
        if designed is None or designed <= _FEWEST
        else _SEARCH_DESIGNED.format(networks=_networks(designed)),
        mpi=_MPI_ANY if target == _ANY else _MPI_TARGET.format(target=target),
        trials=trials,
    )
    try:
        parse_job(text, folder)
    except InvalidInput as error:
        raise HamtuneError(f"these answers make no job: {error}") from None
    if to_stdout:
        click.echo(text.encode(), nl=False)  # as in a file, whatever the locale
    else:
        _write(output, text)
    return 0


def _write(output: Path, text: str) -> None:
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HamtuneError(f"{output} cannot be written: {error.strerror}") from None
    say(
        f"{output} is written; 'hamtune check {output}' explains it, 'hamtune run {output}' runs it"
    )


_FEWEST = 2
"""Of so many hosts and fewer there is one network, which need not be named."""


def _application(text: str, folder: Path, own: Mapping[str, str | int]) -> tuple[str, str]:
    """The name of the job, and the lines of its application, for a file in that folder.

    Args:
        text: What was answered.
        folder: Where the job file will be.
        own: What was said of `build`, `run` and `ranks` of a directory of sources.
    """
    path = Path(text)
    if path.is_dir():
        return path.resolve().name, _source(_from(folder, text), own)
    if own:
        raise InvalidInput(f"--{next(iter(own))} goes with a directory of sources, not with {text}")
    words = text.split(".")
    if words[0] in BUILTINS and not Path(text).exists():
        if len(words) not in (2, 3) or not words[-1].isdigit():
            raise InvalidInput(f"write a built-in program as {words[0]}.CLASS.RANKS")
        size = ""
        if len(words) == 3:
            size = f"n: {words[1]}, " if words[1].isdigit() else f"class: {words[1]}, "
        return words[0], f"application: {{builtin: {words[0]}, {size}ranks: {words[-1]}}}"
    if path.is_file():
        return path.stem, f"application: {{trace: {_quoted(_from(folder, text))}}}"
    known = ", ".join(BUILTINS)
    raise InvalidInput(f"{text} is neither a file, nor a directory, nor one of: {known}")


def _ranks_of(text: str) -> int | None:
    """How many ranks run a built-in program or a trace; None where that is not known."""
    path = Path(text)
    if path.is_file():
        from searchspace.formats.trace import read_header

        try:
            return read_header(path).ranks
        except (HamtuneError, OSError):
            return None  # what is wrong with it is told when all is answered
    last = text.rpartition(".")[2]
    return int(last) if text.split(".")[0] in BUILTINS and last.isdecimal() else None


def _source(path: str, own: Mapping[str, str | int]) -> str:
    """An application that is built from sources, with comments where nothing was said."""
    build, run = (_quoted(str(own[key])) if key in own else "" for key in ("build", "run"))
    return _SOURCE.format(
        path=_quoted(path),
        build=build or "make         ",
        run=run or "./program      ",
        ranks=own.get("ranks", 16),
    )


def _networks(hosts: int) -> str:
    """Families of networks that there are of so many hosts."""
    from searchspace.topology import generate

    found = ["{family: random, instances: 8}"]
    for family in ("torus-2d", "torus-3d", "hypercube"):
        try:
            generate(family, hosts)
        except InvalidInput:
            continue
        found.append(family)
    return ", ".join(found)


def _designed(hosts: int, degree: int) -> str:
    text = _ONLY_NETWORK if hosts <= _FEWEST else _DESIGNED_NETWORK
    return _MACHINE.format(
        network=text.format(hosts=hosts, degree=degree),
        bandwidth=_BANDWIDTH,
        protocol=_ANY_PROTOCOL,
    )


def _existing(path: str, folder: Path) -> str:
    """The machine around a network in a file, with what the file tells of its cables."""
    from cli.files import read_fabric, read_text
    from searchspace.formats.machine_files import beside_network
    from searchspace.formats.network_files import format_of

    fabric = read_fabric(Path(path))
    text = read_text(Path(path))
    told = beside_network(fabric, format_of(path, text), text)
    infiniband = "protocol" in told
    network = _EXISTING_NETWORK.format(path=_quoted(_from(folder, path)))
    return _MACHINE.format(
        network=network + (_SPREAD if told["tie_rule"] == "spread" else ""),
        bandwidth=_rates(text) if infiniband else _BANDWIDTH,
        protocol=_VERBS if infiniband else _ANY_PROTOCOL,
    )


def _rates(text: str) -> str:
    """The bandwidths of an InfiniBand fabric's cables, as its file tells the rates."""
    from searchspace.formats.ib_discover import prevailing_rates

    told = prevailing_rates(text)
    return "".join(_rate_line(field, links) for field, links in told.items()) or _BANDWIDTH


def _rate_line(field: str, links: Counter[LinkRate]) -> str:
    """A bandwidth: that of the most links; on a tie, that of the first in the file."""
    rate, count = links.most_common(1)[0]
    others = f"; {links.total() - count} of {links.total()} links differ" * (len(links) > 1)
    value = f"{rate.bandwidth * 8 / 1e9:.4g}Gbps"
    return f"  {field}: {value}   # data rate of {rate}, by the file{others}\n"


def _from(folder: Path, path: str) -> str:
    """A path as a file in that folder has to name it."""
    return path if Path(path).is_absolute() else os.path.relpath(path, folder)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_JOB = """\
# A job of Hamtune. 'hamtune check' explains it, 'hamtune run' runs it.
# For completion in an editor: hamtune schema job > job.schema.json
# yaml-language-server: $schema=job.schema.json
name: {name}

# What runs. Also: a trace of your own cluster ({{trace: run.ht}}, see 'hamtune recorder'), or
# {{source: DIR, build: make, run: bin/solver 100, ranks: 64}}.
{application}

# Where it runs. Quantities have units; a bare number is in SI base units.
{machine}
# What is searched. What is not listed stays at its default.
search:
{search}{mpi}
# When to stop, whichever comes first; also wall_seconds: 10min, patience: 30 (trials without a
# new best), until: 1% (no gain of more than that is likely).
budget: {{trials: {trials}}}

# Decides every random choice: the same seed finds the same.
seed: 1
"""
_SOURCE = """\
application:
  source: {path}
  build: {build} # runs in that directory; mpicc is the C compiler for MPI, $CC is not set
  run: {run} # the program that is built, and its arguments
  ranks: {ranks}"""
_MACHINE = """\
machine:
{network}  host_speed: 100Gf       # flop/s of one core
{bandwidth}  link_latency: 0s
  switch_latency: 60ns
  # cores_per_host: 1     # how many ranks a host can run
{protocol}  # Better than a data sheet: 'hamtune calibrate' measures the machine that you have.
"""
_DESIGNED_NETWORK = """\
  nodes: {hosts}               # hosts
  degree: {degree}               # links per host of random networks
"""
_ONLY_NETWORK = """\
  nodes: {hosts}               # hosts
"""
_EXISTING_NETWORK = """\
  topology: {{file: {path}}}   # the network there is
"""
_SPREAD = """\
  tie_rule: spread        # routes use all shortest paths, as those of fat trees; or lowest-id
"""
_BANDWIDTH = """\
  link_bandwidth: 40Gbps
"""
_VERBS = """\
  protocol: verbs         # what MPI runs over; tcp-openmpi for IP over InfiniBand
"""
_ANY_PROTOCOL = """\
  # protocol: verbs       # what MPI runs over; tcp-openmpi if left out
"""
_SEARCH_DESIGNED = """\
  # Networks to choose from; 'hamtune topology generate --help' lists all families.
  topology: [{networks}]
  # How hosts are numbered, and where ranks are placed.
  ordering: [original, hamorder]
  mapping: [by-order, auto]
"""
_SEARCH_EXISTING = """\
  # Where ranks are placed; the network is the machine's own.
  mapping: [by-order, auto, treematch]
"""
_MPI_ANY = """\
  # Whose choices of algorithms are imitated, and algorithms of single collectives.
  mpi: [default, ompi, mpich, mvapich2, impi]
  # What the program never calls is left out.
  collectives:
    {allreduce: all, alltoall: all, alltoallv: all, allgather: all, bcast: all, reduce: all}
"""
_MPI_TARGET = """\
  # Only what this library can be told; its own choices are among them.
  target: {target}
"""

COMMANDS = [init]
