"""The command and the environment that start a program, with an export as it was installed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from measuring.clusters import Launch, Library, RunFailed, Unwanted
from searchspace.errors import InvalidInput
from service.exports.manifest import MANIFEST

__all__ = [
    "Line",
    "awaited",
    "directory_for_runs",
    "launcher_of",
    "library_version",
    "line_of",
    "patience",
    "preload_obstacle",
]

T = TypeVar("T")

_LAUNCHERS: Mapping[Library, Sequence[str]] = {
    "openmpi": ("mpirun.openmpi", "mpirun"),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"),
}
_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
_PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
_VERSIONS: Mapping[Library, str] = {
    "openmpi": r"\((?:Open MPI|OpenRTE)\) (\S+)",
    "mpich": r"HYDRA build details:\s+Version:\s+(\S+)",
}
_PARAMETERS = "mca-params.conf"
_EXECUTABLE = 0o755
_MOST_SECONDS = 7 * 86_400.0
"""Of any run, however much its user gives it."""
_LOOK_SECONDS = 0.25
"""Between two looks whether a run is wanted still."""
_CUT_AT = re.compile(r"[\s:]")
"""Where the loader of programs cuts the list of what is preloaded; nothing escapes these."""


@dataclass(frozen=True)
class Line:
    """What starts a program: a command, and what its environment has besides."""

    command: Sequence[str]
    environment: Mapping[str, str]


def launcher_of(library: Library) -> str:
    """The command that starts programs of a library on this host.

    Raises:
        InvalidInput: The library is not installed.
    """
    for name in _LAUNCHERS[library]:
        found = shutil.which(name)
        if found and library_version(library, [found]):
            return found
    raise InvalidInput(
        f"there is no {_NAMES[library]} on this host: install it "
        f"(Debian's package {_PACKAGES[library]})"
    )


def library_version(library: Library, launcher: Sequence[str]) -> str | None:
    """The release of a library that a launcher belongs to; None where it is another's."""
    try:
        done = subprocess.run(
            [*launcher, "--version"], capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(_VERSIONS[library], done.stdout)
    return f"{_NAMES[library]} {found[1]}" if found else None


def patience(launch: Launch) -> float:
    """The seconds after which a run is given up: those that it has, but a week at most."""
    return min(_MOST_SECONDS, launch.seconds)  # the week first, which also stands for NaN


def awaited(launch: Launch, wait: Callable[[float], T]) -> T:
    """How a run ended.

    Args:
        launch: What runs.
        wait: Waits for its end, so many seconds at most, and may then be called again.

    Raises:
        RunFailed: It did not end in the seconds that it has, or in a week.
        Unwanted: Nobody wants it any more. It runs on here, as where it did not end in time.
    """
    ends = time.monotonic() + patience(launch)
    while not launch.unwanted.is_set():
        left = max(0.0, ends - time.monotonic())
        try:
            return wait(min(left, _LOOK_SECONDS))
        except (TimeoutError, subprocess.TimeoutExpired):
            if not left:
                message = f"{launch.command[0]} did not end within {patience(launch):g} s"
                raise RunFailed(message) from None
    raise Unwanted(f"{launch.command[0]} was ended, for nobody wants the run any more")


def preload_obstacle(path: Path) -> str | None:
    """Why nothing can be preloaded from a path, or None where it can."""
    if _CUT_AT.search(str(path)) is None:
        return None
    return (
        f"nothing can be preloaded into programs from {path}: the system cuts such paths at blanks "
        "and colons"
    )


def directory_for_runs(*, emulated: bool) -> Path:
    """Where files of runs may lie, libraries to preload among them: a directory all hosts see.

    Args:
        emulated: Whether the hosts are a testbed's, which see what this host does.

    Raises:
        InvalidInput: Nothing can be preloaded from there.
    """
    directory = Path(tempfile.gettempdir()) if emulated else Path.cwd()
    obstacle = preload_obstacle(directory)
    if obstacle is not None:
        instead = "set TMPDIR to" if emulated else "measure from"
        raise InvalidInput(f"{obstacle}; {instead} a directory without them")
    return directory


def line_of(
    launch: Launch,
    launcher: Sequence[str],
    hosts: Sequence[str],
    cores_per_host: int,
    scratch: Path,
    environment: Mapping[str, str],
) -> Line:
    """How to start a program.

    Args:
        launch: What is to run.
        launcher: The command of the library, with options of the cluster's own.
        hosts: Where ranks run that no export places: in this order.
        cores_per_host: How many on each.
        scratch: A directory for files of this run, which all hosts see.
        environment: Further variables for the ranks.

    Raises:
        RunFailed: The export is not one for the library, there are more ranks than cores, or what
            is preloaded or read cannot be from where it lies.
    """
    for obstacle in filter(None, map(preload_obstacle, launch.preloaded)):
        raise RunFailed(obstacle)
    variables = {**environment, **launch.environment}
    preloaded = [*map(str, launch.preloaded), *filter(None, [variables.get("LD_PRELOAD")])]
    if preloaded:
        variables["LD_PRELOAD"] = ":".join(preloaded)
    program = [*_options(launch.library, variables), *launch.command]
    if launch.export is not None:
        return _exported(launch, launch.export.resolve(), launcher, scratch, program)
    if launch.rank_hosts is not None:
        return Line([*launcher, *_placed(launch, launch.rank_hosts, scratch), *program], {})
    if launch.ranks > len(hosts) * cores_per_host:
        raise RunFailed(
            f"{launch.ranks} ranks are more than the {len(hosts) * cores_per_host} cores of "
            "the cluster"
        )
    hostfile = scratch / "hostfile"
    form, option, count = (
        ("{} slots={}", "--hostfile", "-np")
        if launch.library == "openmpi"
        else ("{}:{}", "-f", "-n")
    )
    hostfile.write_text("".join(form.format(host, cores_per_host) + "\n" for host in hosts))
    return Line(
        [*launcher, option, str(hostfile), count, str(launch.ranks), *program],
        {},
    )


def _placed(launch: Launch, rank_hosts: Sequence[str], scratch: Path) -> list[str]:
    """Options of a launcher that place each rank."""
    count = str(launch.ranks)
    hostfile = scratch / "hostfile"
    if launch.library == "mpich":
        hostfile.write_text("".join(f"{host}:1\n" for host in rank_hosts))
        return ["-f", str(hostfile), "-n", count]
    slots: Counter[str] = Counter()
    places = []
    for rank, host in enumerate(rank_hosts):
        places.append(f"rank {rank}={host} slot={slots[host]}\n")
        slots[host] += 1
    rankfile = scratch / "rankfile"
    rankfile.write_text("".join(places))
    hostfile.write_text("".join(f"{host} slots={used}\n" for host, used in slots.items()))
    return ["--hostfile", str(hostfile), "--rankfile", str(rankfile), "-np", count]


def _exported(
    launch: Launch, export: Path, launcher: Sequence[str], scratch: Path, program: Sequence[str]
) -> Line:
    """As the README of the export says: its parameters installed, its script called."""
    try:
        manifest = json.loads((export / MANIFEST).read_text())
    except (OSError, ValueError):
        raise RunFailed(f"{export} is no export for {_NAMES[launch.library]}") from None
    if manifest["format"] != launch.library:
        raise RunFailed(f"{export} is an export for {manifest['target']}, not {launch.library}")
    if manifest["ranks"] != launch.ranks:
        raise RunFailed(f"{export} starts {manifest['ranks']} ranks, not {launch.ranks}")
    wrapper = scratch / "launcher"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(launcher)} "$@"\n')
    wrapper.chmod(_EXECUTABLE)
    environment = {manifest["launcher_variable"]: str(wrapper)}
    parameters = export / _PARAMETERS
    if parameters.exists():
        if "," in str(parameters):  # of which the library would say nothing
            raise RunFailed(
                f"Open MPI cannot read {parameters}, for it cuts such paths at commas; measure "
                "from a directory without them"
            )
        environment["OMPI_MCA_mca_base_param_files"] = str(parameters)
    script = str(export / manifest["exported"]["command"][0])
    return Line([script, *program], environment)


def _options(library: Library, variables: Mapping[str, str]) -> list[str]:
    """Options of a launcher that set variables of the ranks."""
    if library == "openmpi":
        return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    return [word for name, value in variables.items() for word in ("-genv", name, value)]
