"""Job files that tests read and change."""

from __future__ import annotations

import copy
from typing import Any

FROM_THE_MANUAL = """
name: cg-64
application: {builtin: cg, class: A, ranks: 64}     # or {trace: t.ht}
machine: {nodes: 64, degree: 6, host_speed: 100Gf, link_bandwidth: 40Gbps, switch_latency: 60ns,
          switch_bandwidth: 10Pbps, model: smpi-default}
search:
  topology: [random, torus-3d, mesh-3d]
  ordering: [original, hamorder]
  mapping: [by-order]
  mpi: [mpich, ompi, mvapich2]
  collectives: {alltoall: all, allreduce: all, allgather: all, bcast: all}
budget: {trials: 100}
seed: 1
"""

SMALL: dict[str, Any] = {
    "name": "small",
    "application": {"builtin": "cg", "class": "S", "ranks": 16},
    "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {"topology": ["random", "torus-2d"]},
    "budget": {"trials": 5},
}


def small(**change: Any) -> dict[str, Any]:
    """The small job with some fields changed; `machine__nodes=4` changes one inside a group."""
    document = copy.deepcopy(SMALL)
    for name, value in change.items():
        *groups, last = name.split("__")
        target = document
        for group in groups:
            target = target[group]
        target[last] = value
    return document
