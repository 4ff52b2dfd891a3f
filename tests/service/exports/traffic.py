"""Bytes between ranks: as Open MPI counts them, and simulated on a network of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from searchspace.collectives import DECIDED_BY_ANOTHER
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from tests.service.exports.conftest import Ran, run, write_calls
from workers.simulator_client import Simulator

__all__ = ["Bytes", "equal", "monitored", "replayed", "simulated"]

Bytes = npt.NDArray[np.float64]


def monitored(
    command: Sequence[str | Path], ranks: int, folder: Path, **environment: str
) -> tuple[Ran, Bytes]:
    """Run a program of Open MPI; bytes that each rank sent to each, as its component counted."""
    folder.mkdir(parents=True, exist_ok=True)
    ran = run(
        command,
        **environment,
        OMPI_MCA_pml_monitoring_enable="1",
        OMPI_MCA_pml_monitoring_enable_output="3",
        OMPI_MCA_pml_monitoring_filename=str(folder / "monitored"),
    )
    found = np.zeros((ranks, ranks))
    for path in folder.glob("monitored.*.prof"):
        for line in path.read_text().splitlines():
            words = line.split()
            if words and words[0] == "E":
                found[int(words[1]), int(words[2])] = float(words[3])
    return ran, found


def simulated(algorithms: Mapping[str, str], ranks: int, folder: Path) -> Bytes:
    """Bytes that SMPI moves between each two ranks, each of which is alone on a host."""
    folder.mkdir(parents=True, exist_ok=True)
    trace = write_calls(folder / "calls.ht", list(algorithms), ranks)
    chosen = Configuration(
        {
            f"collectives.{DECIDED_BY_ANOTHER.get(name, name)}": value
            for name, value in algorithms.items()
        }
    )
    return replayed(trace, ranks, chosen)


def replayed(trace: Path, ranks: int, chosen: Configuration) -> Bytes:
    """The same of a trace."""
    pairs = [[u, v] for u in range(ranks) for v in range(u + 1, ranks)]
    machine = parse_machine(
        {
            "nodes": ranks,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "topology": {"edges": pairs},
        }
    )
    with Simulator([trace]) as simulator:
        answer = simulator.evaluate(resolve(chosen, machine, ranks).simulator_request())
    assert answer["status"] == "completed", answer["reason"]
    found = np.zeros((ranks, ranks))
    for (u, v), (there, back) in zip(pairs, answer["link_loads"], strict=True):
        found[u, v], found[v, u] = there, back
    return found


def equal(real: Bytes, other: Bytes) -> bool:
    """Tells whether the same ranks exchanged the same bytes, to a thousandth."""
    return bool(np.allclose(real, other, rtol=1e-3, atol=1.0)) and real.sum() > 0
