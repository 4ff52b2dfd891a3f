"""The format `slurm`: topology files, and a batch script that places every rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from searchspace.topology.levels import Branch, switch_tree
from service.exports.placement import check_placed, text_file
from service.exports.result import ExportFile, Result
from service.exports.transport import unsaid_lines
from service.exports.wording import comment, origin_lines, readme

__all__ = ["export_slurm"]

_BLOCK = 8
"""Hosts that a direct network's neighbouring numbers are told to Slurm in."""

_TREE = """\
topology.conf  for TopologyPlugin=topology/tree: goes beside slurm.conf.
    Check: scontrol show topology.
    {meaning}
    The names in it must be NodeName of slurm.conf.
topology-block.conf  the same as blocks, for TopologyPlugin=topology/block of Slurm 23.11 and later;
    it goes by the name topology.conf too. Not verified: Debian's Slurm 22.05 has no such plugin."""

_DIRECT = (
    "In this network every host is a switch, which Slurm cannot say: hosts with neighbouring\n"
    "    numbers after ordering form the switches of the file."
)
_INDIRECT = "Switches that reach each other without a higher one count as one switch."

_PLACES = """\
hostfile, job.sh  SLURM_HOSTFILE=$PWD/hostfile sbatch job.sh PROGRAM [ARGUMENT]...
    runs every rank on its host: line r of the hostfile is the host of rank r. Without the variable
    the job would run anywhere, so job.sh refuses."""


def export_slurm(result: Result) -> list[ExportFile]:
    """Topology files, hostfile and batch script.

    Raises:
        Conflict: The job has several applications, or a host a name that files do not take.
    """
    check_placed(result, "slurm", idle=True)
    direct = not result.resolved.network.switches
    tree = _blocks(result) if direct else switch_tree(result.resolved.network)
    origin = comment(origin_lines(result))
    meaning = _TREE.format(meaning=_DIRECT if direct else _INDIRECT)
    leaves = [branch for branch in _all(tree) if branch.hosts]
    smallest = min(len(leaf.hosts) for leaf in leaves)
    return [
        ExportFile(
            name="README.txt",
            content=readme(
                result,
                meaning.splitlines(),
                _PLACES.splitlines(),
                unsaid_lines(result, "Slurm has no such settings: see the export of the library."),
            ),
        ),
        text_file("topology.conf", origin, *_tree_lines(tree, result.device_names)),
        text_file(
            "topology-block.conf",
            origin,
            comment(["Not verified: needs Slurm 23.11 or later."]),
            *(
                f"BlockName=block{number} Nodes={_listed(leaf.hosts, result.names)}\n"
                for number, leaf in enumerate(leaves)
            ),
            f"BlockSizes={smallest}\n",
        ),
        text_file("hostfile", *(f"{name}\n" for name in result.rank_names)),
        _script(result),
    ]


def _blocks(result: Result) -> Branch:
    hosts = list(range(result.resolved.hosts))
    blocks = [Branch(hosts=hosts[at : at + _BLOCK]) for at in range(0, len(hosts), _BLOCK)]
    return blocks[0] if len(blocks) == 1 else Branch(below=blocks)


def _all(branch: Branch) -> Iterator[Branch]:
    for below in branch.below:
        yield from _all(below)
    yield branch


def _tree_lines(tree: Branch, names: Sequence[str]) -> Iterator[str]:
    """Lines of `topology/tree`, leaves first; a switch is called after those that it stands for."""
    numbers = {id(branch): number for number, branch in enumerate(_all(tree))}
    for branch in _all(tree):
        name = f"switch{numbers[id(branch)]}"
        meant = ", ".join(names[switch] for switch in branch.switches)
        if meant:
            yield comment([f"{name} is {meant}"])
        if branch.hosts:
            yield f"SwitchName={name} Nodes={_listed(branch.hosts, names)}\n"
        else:
            below = ",".join(f"switch{numbers[id(other)]}" for other in branch.below)
            yield f"SwitchName={name} Switches={below}\n"


def _listed(hosts: Sequence[int], names: Sequence[str]) -> str:
    return ",".join(names[host] for host in hosts)


def _script(result: Result) -> ExportFile:
    ranks, hosts = result.application.ranks, len(set(result.resolved.rank_hosts))
    name = "".join(letter if letter.isalnum() else "-" for letter in result.title)[:60]
    return text_file(
        "job.sh",
        "#!/bin/sh\n",
        f"#SBATCH --job-name={name}\n",
        f"#SBATCH --ntasks={ranks}\n#SBATCH --nodes={hosts}\n#SBATCH --distribution=arbitrary\n",
        comment(origin_lines(result)),
        '[ -f "${SLURM_HOSTFILE-}" ] || '
        '{ echo "job.sh: set SLURM_HOSTFILE to the hostfile" >&2; exit 2; }\n',
        f'exec srun --ntasks={ranks} --nodes={hosts} --distribution=arbitrary "$@"\n',
        executable=True,
    )
