"""The names of the export formats and what each is for; light, since the command line shows it."""

from __future__ import annotations

__all__ = ["ALL", "FORMATS"]

ALL = "all"
"""Stands for every format that the job allows, each in a folder of its own."""

FORMATS = {
    "json": "the best configuration, its network and the host of every rank, as one JSON file",
    "simgrid": "platform, hostfile, application and run.sh that rerun the best configuration "
    "with plain smpirun",
    "openmpi": "parameters, dynamic rules, rankfile, hostfile and mpirun line of Open MPI",
    "mpich": "environment, hostfile and mpiexec line of MPICH",
    "mvapich2": "environment, hostfile and mpirun_rsh line of MVAPICH2",
    "intelmpi": "environment, machinefile and mpiexec line of Intel MPI",
    "slurm": "topology.conf (tree and block), hostfile for --distribution=arbitrary, batch script",
    "opensm": "configuration, GUID files of roots and compute nodes and routing order of opensm",
    "cray": "MPICH_RANK_ORDER of Cray MPICH",
    "cabling": "every cable from port to port, with type and length, as CSV",
    "graphml": "the network as GraphML",
}
"""What `FORMAT` may be, besides `ALL`."""
