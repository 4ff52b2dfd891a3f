"""The format `intelmpi`: environment and machinefile of Intel MPI, which cannot be run here."""

from __future__ import annotations

from searchspace.collectives.equivalents import TARGETS
from service.exports.environment import environment_file, settings_of, target_lines
from service.exports.manifest import verification_files
from service.exports.placement import check_placed, text_file
from service.exports.result import ExportFile, Result
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_intelmpi"]

_INSTALL = """\
environment.sh  read it in the shell that starts the program (. ./environment.sh);
    I_MPI_DEBUG=10 makes programs print what they took of it
machinefile  a line a rank, in rank order
mpiexec.sh  PROGRAM [ARGUMENT]... reads the environment and starts the program so
export.json, default-hostfile, microbenchmark.c  for 'hamtune verify', which measures the gain
Not verified: Intel MPI was not run; the files follow its reference manual (2021)."""


def export_intelmpi(result: Result) -> list[ExportFile]:
    """Environment, and where the ranks run.

    Raises:
        Conflict: The job has several applications, or a host a name that files do not take.
    """
    check_placed(result, "intelmpi")
    target = TARGETS["intelmpi-2021"]
    lines = target_lines(result, target)
    return [
        ExportFile(
            name="README.txt",
            content=readme(result, lines, _INSTALL.splitlines(), targets=[target]),
        ),
        environment_file("environment.sh", result, target),
        text_file("machinefile", *(f"{name}:1\n" for name in result.rank_names)),
        text_file(
            "mpiexec.sh",
            "#!/bin/sh\n",
            comment(origin_lines(result, target)),
            'here=$(cd "$(dirname "$0")" && pwd)\n. "$here/environment.sh"\n',
            f'exec mpiexec -machinefile "$here/machinefile" -n {result.application.ranks} "$@"\n',
            executable=True,
        ),
        *verification_files(
            result,
            target,
            script="mpiexec.sh",
            environment={},
            undone={},
            unset=settings_of(result, target),
            launcher="mpiexec",
            host_line="{host}:{slots}",
            hosts_option="-machinefile",
            ranks_option="-n",
        ),
    ]
