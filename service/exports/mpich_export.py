"""The format `mpich`: environment and hostfile of MPICH 4.0, and of 4.1 and later."""

from __future__ import annotations

from searchspace.collectives.equivalents import TARGETS
from service.exports.choices import by_size, choices
from service.exports.environment import environment_file, settings_of, target_lines
from service.exports.manifest import verification_files
from service.exports.placement import check_placed, text_file
from service.exports.result import ExportFile, Result
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_mpich"]

_SUFFIXES = {"mpich-4.0": "", "mpich-4.1": "-4.1"}

_INSTALL = """\
environment{suffix}.sh  read it in the shell that starts programs (. ./environment{suffix}.sh).
    Check: MPIR_CVAR_DEBUG_CVARS=1 makes every program print the values; a wrong name of an
    algorithm aborts it. An algorithm that a communicator does not allow is told of on stderr,
    since the fallback is set to print, and the library's own choice runs instead."""

_RANGES = """\
    Choices by size are in none of these files: MPICH reads them from a file that its own tree of
    decisions is part of. Where libmpich.so of the cluster is at hand, make that file by
    hamtune rules --job {job} --found --target {target} --library libmpich.so.12 -o DIRECTORY
    and put coll-selection.json beside mpiexec.sh, which names it to the library."""

_SELECTION = """\
if [ -f "$here/coll-selection.json" ]; then
  export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$here/coll-selection.json"
fi
"""

_PLACES = """\
hostfile  a line a rank, in rank order; MPICH keeps repeated hosts
mpiexec.sh  PROGRAM [ARGUMENT]... reads the environment and starts the program so, with mpiexec
    or the command that MPIEXEC names (mpiexec.mpich where Debian has several libraries)
export.json, default-hostfile, microbenchmark.c  for 'hamtune verify', which measures the gain"""


def export_mpich(result: Result) -> list[ExportFile]:
    """Environment of each release, and where the ranks run.

    Raises:
        Conflict: The job has several applications, or a host a name that files do not take.
    """
    check_placed(result, "mpich")
    targets = [TARGETS[name] for name in _SUFFIXES]
    if result.target is not None:
        targets = [result.target]
    files: list[ExportFile] = []
    told: list[list[str]] = []
    for target in targets:
        suffix = _SUFFIXES[target.name]
        files.append(environment_file(f"environment{suffix}.sh", result, target))
        lines = target_lines(result, target)
        told.append([*lines, "", *_INSTALL.format(suffix=suffix).splitlines()])
        if by_size(choices(result, target)):
            told[-1] += _RANGES.format(job=result.job.id, target=target.name).splitlines()
    read = files[0].name
    return [
        ExportFile(
            name="README.txt", content=readme(result, *told, _PLACES.splitlines(), targets=targets)
        ),
        *files,
        text_file("hostfile", *(f"{name}:1\n" for name in result.rank_names)),
        text_file(
            "mpiexec.sh",
            "#!/bin/sh\n",
            comment(origin_lines(result, targets[0])),
            'here=$(cd "$(dirname "$0")" && pwd)\n',
            f'. "$here/{read}"\n',
            _SELECTION if by_size(choices(result, targets[0])) else "",
            'exec "${MPIEXEC:-mpiexec}" -f "$here/hostfile" '
            f'-n {result.application.ranks} "$@"\n',
            executable=True,
        ),
        *verification_files(
            result,
            targets[0],
            script="mpiexec.sh",
            environment={},
            undone={},
            unset=settings_of(result, targets[0]),
            launcher="mpiexec",
            host_line="{host}:{slots}",
            hosts_option="-f",
            ranks_option="-n",
        ),
    ]
