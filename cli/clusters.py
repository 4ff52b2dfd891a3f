"""The options that name a cluster on which programs run: a testbed, or the user's own launcher."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from searchspace.errors import InvalidInput
from searchspace.machine import Machine

if TYPE_CHECKING:
    from measuring.clusters import Cluster, Library
    from measuring.testbed_cluster import TestbedCluster

__all__ = [
    "TARGET_OF",
    "cluster_options",
    "emulated_cluster",
    "launcher",
    "library_option",
    "open_cluster",
]

F = TypeVar("F", bound=Callable[..., Any])

TARGET_OF = {"openmpi": "openmpi-4.1", "mpich": "mpich-4.0"}
"""By what a cluster's library is called: the target of `searchspace.collectives.equivalents`."""

library_option = click.option(
    "--mpi",
    type=click.Choice(tuple(TARGET_OF)),
    default="openmpi",
    show_default=True,
    help="The library that the program was built with.",
)


def cluster_options(function: F) -> F:
    """`--testbed`, `--mpirun` and `--hosts`, handed over as `testbed`, `mpirun`, `hosts_file`."""
    options = (
        click.option("--testbed", metavar="N", help="Run on this testbed, which is up."),
        click.option("--mpirun", metavar="'mpirun …'", help="Run by this launcher."),
        click.option(
            "--hosts",
            "hosts_file",
            type=click.Path(dir_okay=False, path_type=Path),
            help="With --mpirun: a file with a host's name on each line, in the machine's order.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def open_cluster(
    testbed: str | None, mpirun: str | None, hosts_file: Path | None, library: Library
) -> tuple[Cluster, Machine | None]:
    """Where programs run, and the machine that it is where that is known.

    Raises:
        UsageError: The options do not go together.
        InvalidInput: There is no such testbed or launcher, or the file cannot be read.
    """
    if (emulated := emulated_cluster(testbed, mpirun, hosts_file)) is not None:
        return emulated, emulated.testbed.scaled_machine
    words, hosts = launcher(mpirun, hosts_file)
    from measuring.mpirun_cluster import MpirunCluster

    cluster = MpirunCluster(words, list(dict.fromkeys(hosts)), _cores(hosts))
    if cluster.library != library:
        raise InvalidInput(f"the launcher is not of {library}, but of {cluster.library}")
    return cluster, None


def emulated_cluster(
    testbed: str | None, mpirun: str | None, hosts_file: Path | None
) -> TestbedCluster | None:
    """The testbed, where that is what the options name, and None where it is a launcher.

    Raises:
        UsageError: The options name neither or both, or do not go together.
        InvalidInput: There is no such testbed.
    """
    if (testbed is None) == (mpirun is None):
        raise click.UsageError("name a cluster: either --testbed, or --mpirun with --hosts")
    if testbed is None:
        return None
    from measuring.testbed_cluster import TestbedCluster
    from testbed.clusters import find

    if hosts_file is not None:
        raise click.UsageError("--hosts goes with --mpirun; a testbed knows its hosts")
    return TestbedCluster(find(testbed))


def launcher(mpirun: str | None, hosts_file: Path | None) -> tuple[list[str], list[str]]:
    """The words of a launcher, and the names in its file of hosts, one for each core.

    Raises:
        UsageError: One of the two is missing or empty.
        InvalidInput: The file cannot be read.
    """
    if hosts_file is None:
        raise click.UsageError("--mpirun needs --hosts: a file with a host's name on each line")
    words = shlex.split(mpirun or "")
    if not words:
        raise click.UsageError("--mpirun is empty; write the launcher, such as --mpirun mpirun")
    return words, _hosts_in(hosts_file)


def _hosts_in(path: Path) -> list[str]:
    """The names in a file, one a line; a name stands there once for each core of its host.

    Raises:
        InvalidInput: It cannot be read, has none, or a line has more than a name.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is not text"
        raise InvalidInput(f"--hosts {path}: {why}") from None
    hosts = []
    for number, line in enumerate(lines, 1):
        name = line.partition("#")[0].strip()
        if len(name.split()) > 1 or ":" in name:  # as in the files of launchers: `n1 slots=4`
            raise InvalidInput(
                f"--hosts {path}, line {number}: '{name}' is more than a name; write the name of a "
                "host alone, on one line for each of its cores"
            )
        hosts += [name] if name else []
    if not hosts:
        raise InvalidInput(f"--hosts {path}: names no host")
    return hosts


def _cores(hosts: Sequence[str]) -> int:
    """The cores of each host.

    Raises:
        InvalidInput: Hosts differ.
    """
    counts = Counter(hosts)
    (most, cores), (least, fewer) = counts.most_common()[0], counts.most_common()[-1]
    if cores != fewer:
        raise InvalidInput(
            f"--hosts: {most} stands there {cores} times and {least} {fewer}: programs are "
            "measured on hosts of as many cores each; write every name as often"
        )
    return cores
