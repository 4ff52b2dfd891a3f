"""SMPI's names for what a configuration and a machine's model mean."""

from __future__ import annotations

from searchspace.collectives import DEFAULT, LIBRARIES, SELECTORS
from searchspace.collectives.by_size import NOT_OF_A_RANGE, PARAMETER, lines_of, table_of
from searchspace.collectives.equivalents.decisions import decided, option, selected
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.machine import SMPI_DEFAULT, Machine, ModelFactors
from searchspace.platform.errors import Infeasible

__all__ = ["algorithm_option", "base_options", "model_options"]


def base_options(chosen: Configuration, machine: Machine) -> dict[str, str]:
    """The options of a machine's model and of the MPI implementation that is imitated.

    Raises:
        InvalidInput: There is no such implementation.
    """
    mpi = str(chosen["mpi"])
    if mpi not in (*SELECTORS, DEFAULT):
        allowed = ", ".join((*SELECTORS, DEFAULT))
        raise InvalidInput(f"unknown MPI implementation '{mpi}'; allowed: {allowed}", field="mpi")
    options = {"network/model": "SMPI", **model_options(machine)}
    return options if mpi == DEFAULT else options | selected(mpi)


def model_options(machine: Machine) -> dict[str, str]:
    """Returns SimGrid's factors of bandwidths and latencies by message size; packets have none."""
    if machine.trial_model == "packets":
        return {}
    if isinstance(machine.model, ModelFactors):
        factors = machine.model
    elif machine.model == "plain":
        factors = ModelFactors(bandwidth_factor="0:1", latency_factor="0:1")
    else:
        factors = SMPI_DEFAULT
    return {
        "smpi/bw-factor": factors.bandwidth_factor,
        "smpi/lat-factor": factors.latency_factor,
    }


def algorithm_option(collective: str, chosen: Configuration, mpi: str) -> dict[str, str]:
    """SMPI's option for a collective; none where the configuration names no algorithm for it.

    Raises:
        Infeasible: A library's table is to decide some sizes beside other choices.
    """
    lines = lines_of(chosen, collective)
    if len(lines) > 1:
        tables = [line.algorithm for line in lines if line.algorithm in LIBRARIES]
        if tables:
            raise Infeasible(f"{PARAMETER}{collective}: {tables[0]} {NOT_OF_A_RANGE}")
        text = decided(table_of(chosen, [collective])[collective], collective, mpi)
        return {f"smpi/{collective}": text}
    algorithm = lines[0].algorithm
    return {} if algorithm == DEFAULT else {f"smpi/{collective}": option(collective, algorithm)}
