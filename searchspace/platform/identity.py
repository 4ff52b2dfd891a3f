"""The identity of an evaluation: all that decides its result."""

from __future__ import annotations

import hashlib

from searchspace.configuration import Configuration, canonical_json
from searchspace.machine import Machine
from searchspace.mapping import MAPPERS
from searchspace.platform.completion import complete
from searchspace.topology import FAMILIES

__all__ = ["evaluation_key"]

_TRAFFIC_VERSION = 2
"""What mappers and networks made for traffic are shown of an application, in the key of their
results: 2 since it has the messages of collectives."""


def evaluation_key(
    trace_sha256: str,
    machine: Machine,
    configuration: Configuration,
    simulator_version: str,
    whole_sha256: str | None = None,
) -> str:
    """Returns the SHA-256 of everything that decides the result of an evaluation.

    Limits are not in it: they decide whether there is a result. Workers look at the memory that a
    known one took.

    Args:
        trace_sha256: Identity of the trace.
        machine: The machine, with its tie rule and what its model of trials rests on.
        configuration: The configuration; what it leaves to defaults is filled in first.
        simulator_version: Version of what evaluates: of our simulator and of SimGrid, or of another
            back end.
        whole_sha256: Identity of the trace whose traffic mappers and networks are shown; None: of
            the one that is simulated.
    """
    chosen = complete(configuration, machine)
    parts = {
        "trace": canonical_json(trace_sha256),
        "machine": machine.simulated_by(machine.trial_model).canonical_json,
        "configuration": chosen.canonical_json,
        "simulator": canonical_json(simulator_version),
    }
    family = FAMILIES.get(str(chosen["topology"]))
    if family is not None and family.version > 1:
        parts["family_version"] = canonical_json(family.version)
    mapper = MAPPERS.get(str(chosen["mapping"]))
    if mapper is not None and mapper.version > 1:
        parts["mapper_version"] = canonical_json(mapper.version)
    looks = (mapper is not None and mapper.uses_traffic, family is not None and family.uses_traffic)
    if any(looks):
        parts["traffic_version"] = canonical_json(_TRAFFIC_VERSION)
        if whole_sha256 not in (None, trace_sha256):
            parts["traffic_of"] = canonical_json(whole_sha256)
    # Canonical JSON as well, with the machine written once for all configurations.
    text = ",".join(f'"{name}":{parts[name]}' for name in sorted(parts))
    return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()
