"""The format `cray`: the file by which Cray MPICH reorders ranks; it cannot be run here."""

from __future__ import annotations

import re

from service.exports.placement import check_placed, ranks_of_hosts, text_file
from service.exports.result import ExportFile, Result
from service.exports.transport import unsaid_lines
from service.exports.wording import comment, origin_lines, readme
from storage.errors import Conflict

__all__ = ["export_cray"]

_INSTALL = """\
MPICH_RANK_ORDER  goes into the directory in which the program is started, with
    export MPICH_RANK_REORDER_METHOD=3
    and a launch of {each} ranks on each of {hosts} hosts, in the order of their names
    (srun --ntasks={ranks} --ntasks-per-node={each}). MPICH_RANK_REORDER_DISPLAY=1 shows the result.
    The file lists, host by host, the ranks that run there.
Not verified: Cray MPICH was not run; the file follows its manual page (intro_mpi).
For its collective algorithms, which are those of MPICH and of Cray, see the format mpich."""


def export_cray(result: Result) -> list[ExportFile]:
    """The order of the ranks.

    Raises:
        Conflict: The job has several applications, hosts run unequal numbers of ranks, or one has a
            name that files do not take.
    """
    check_placed(result, "cray")
    placed = ranks_of_hosts(result)
    counts = {len(ranks) for ranks in placed.values()}
    if len(counts) > 1:
        raise Conflict(
            f"the hosts run {min(counts)} to {max(counts)} ranks; MPICH_RANK_ORDER needs as many "
            "on each"
        )
    hosts = sorted(placed, key=_natural)
    ranks = result.application.ranks
    install = _INSTALL.format(each=min(counts), hosts=len(hosts), ranks=ranks)
    unsaid = unsaid_lines(result, "Whether Cray MPICH has such settings was not looked at.")
    return [
        ExportFile(name="README.txt", content=readme(result, install.splitlines(), unsaid)),
        text_file(
            "MPICH_RANK_ORDER",
            comment([*origin_lines(result), "Not verified: Cray MPICH was not run."]),
            *(f"# {host}\n{','.join(map(str, placed[host]))}\n" for host in hosts),
        ),
    ]


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts numbers within names by their value."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", name)]
