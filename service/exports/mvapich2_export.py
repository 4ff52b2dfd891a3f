"""The format `mvapich2`: environment and hostfile of MVAPICH2, which cannot be run here."""

from __future__ import annotations

import shlex

from searchspace.collectives.equivalents import TARGETS
from service.exports.environment import environment_file, settings_of, target_lines
from service.exports.manifest import verification_files
from service.exports.placement import check_placed, text_file
from service.exports.result import ExportFile, Result
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_mvapich2"]

_INSTALL = """\
environment.sh  the variables, for launchers that pass the environment on
hostfile  a line a rank, in rank order
mpirun.sh  PROGRAM [ARGUMENT]... starts the program with mpirun_rsh, which takes the variables
    on its command line. The ranks of a host go to its cores as MV2_CPU_BINDING_POLICY=bunch says.
export.json, default-hostfile, microbenchmark.c  for 'hamtune verify', which measures the gain
Not verified: MVAPICH2 was not run; the files follow its user guide (2.3.7)."""


def export_mvapich2(result: Result) -> list[ExportFile]:
    """Environment, and where the ranks run.

    Raises:
        Conflict: The job has several applications, or a host a name that files do not take.
    """
    check_placed(result, "mvapich2")
    target = TARGETS["mvapich2-2.3"]
    binding = {"MV2_ENABLE_AFFINITY": "1", "MV2_CPU_BINDING_POLICY": "bunch"}
    variables = {**settings_of(result, target), **binding}
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    lines = target_lines(result, target)
    return [
        ExportFile(
            name="README.txt",
            content=readme(result, lines, _INSTALL.splitlines(), targets=[target]),
        ),
        environment_file("environment.sh", result, target, binding),
        text_file("hostfile", *(f"{name}\n" for name in result.rank_names)),
        text_file(
            "mpirun.sh",
            "#!/bin/sh\n",
            comment([*origin_lines(result, target), *lines]),
            'here=$(cd "$(dirname "$0")" && pwd)\n',
            f'exec mpirun_rsh -np {result.application.ranks} -hostfile "$here/hostfile" \\\n'
            f'  {words} "$@"\n',
            executable=True,
        ),
        *verification_files(
            result,
            target,
            script="mpirun.sh",
            environment={},
            undone={},
            unset=settings_of(result, target),
            launcher="mpirun_rsh",
            host_line="{host}:{slots}",
            hosts_option="-hostfile",
            ranks_option="-np",
        ),
    ]
