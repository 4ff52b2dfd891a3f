"""A cluster of the user's own, as a cluster that runs MPI programs by its launcher."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from measuring.callers_environment import callers_environment
from measuring.clusters import Launch, Library, Ran, RunFailed
from measuring.launch_lines import awaited, library_version, line_of
from searchspace.errors import InvalidInput

__all__ = ["MpirunCluster"]

_SHOWN_CHARACTERS = 4000
_GUARD = (sys.executable, "-P", "-m", "measuring.launcher_guard")


class MpirunCluster:
    """Runs programs by a launcher's command.

    Args:
        template: The launcher with options of the cluster's own: `["mpirun", "--oversubscribe"]`.
        hosts: The names of the hosts, in the machine's order.
        cores_per_host: How many ranks a host takes.

    Raises:
        InvalidInput: The launcher is not there, or is none of Open MPI or MPICH.
    """

    def __init__(self, template: Sequence[str], hosts: Sequence[str], cores_per_host: int) -> None:
        self._template = tuple(template)
        self._hosts = tuple(hosts)
        self._cores_per_host = cores_per_host
        versions = {lib: library_version(lib, template[:1]) for lib in get_args(Library)}
        known = [library for library, version in versions.items() if version]
        if not known:
            raise InvalidInput(
                f"{template[0]} is not there, or is neither mpirun of Open MPI nor mpiexec of MPICH"
            )
        self.library: Library = known[0]
        self._version = versions[self.library]

    @property
    def hosts(self) -> Sequence[str]:
        """The names of the hosts, in the machine's order."""
        return self._hosts

    @property
    def cores_per_host(self) -> int:
        """How many ranks a host takes."""
        return self._cores_per_host

    def origin(self, library: Library) -> Mapping[str, Any]:
        """On what and with what it runs."""
        return {
            "cluster": "mpirun",
            "launcher": list(self._template),
            "mpi": self._version,
            "hosts": list(self._hosts),
            "cores_per_host": self._cores_per_host,
        }

    def run(self, launch: Launch) -> Ran:
        """Run a program to its end.

        Raises:
            RunFailed: It could not be started, failed, or did not end in time; with what it said.
            Unwanted: It was ended, for nobody wants it any more.
        """
        if launch.library != self.library:
            raise RunFailed(f"{self._template[0]} starts programs of {self.library} alone")
        with tempfile.TemporaryDirectory(prefix="hamtune-run-", dir=Path.cwd()) as scratch:
            line = line_of(
                launch, self._template, self._hosts, self._cores_per_host, Path(scratch), {}
            )
            begun = time.monotonic()
            said, complained, status = _finished(line.command, line.environment, launch)
            seconds = time.monotonic() - begun
        if status:
            told = f"{said}\n{complained}".strip()[-_SHOWN_CHARACTERS:]
            raise RunFailed(f"{launch.command[0]} ended with status {status}: {told}")
        return Ran(output=said, seconds=seconds)


def _finished(
    command: Sequence[str], environment: Mapping[str, str], launch: Launch
) -> tuple[str, str, int]:
    if shutil.which(command[0]) is None:
        raise RunFailed(f"{command[0]} cannot be started: there is no such program")
    # What is preloaded into programs is not for the guard, nor our modules for programs.
    given = callers_environment()
    search_path = given.get("PYTHONPATH")
    ours = ["-u", "PYTHONPATH"] if search_path is None else [f"PYTHONPATH={search_path}"]
    theirs = [f"{name}={value}" for name, value in environment.items()]
    reading, writing = os.pipe()  # the command ends with our end of it, however that comes
    try:
        process = subprocess.Popen(
            [*_GUARD, "env", *ours, *theirs, *command],
            env={**given, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",  # a program may print whatever it likes
            start_new_session=True,  # Ctrl-C and hang-up are for us, whose end ends the command
        )
    finally:
        os.close(reading)
    with process:
        try:
            said, complained = awaited(launch, lambda most: process.communicate(timeout=most))
        finally:
            os.close(writing)
            process.communicate()
    return said, complained, process.returncode
