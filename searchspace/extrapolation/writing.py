"""Writes a planned run as a trace, the calls of each class once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from searchspace.extrapolation.captures import Ints
from searchspace.extrapolation.relations import Relation
from searchspace.extrapolation.transfer import Planned, Transfer
from searchspace.formats.operations import encode
from searchspace.formats.shared_trace import SharedRank, write_shared_trace
from searchspace.formats.trace import TraceHeader

__all__ = ["write_plan"]

_COMPUTE = encode("compute")[:1]
_OWN = {"color", "key"}


def write_plan(
    path: Path,
    header: TraceHeader,
    plans: Sequence[tuple[Ints, list[Planned]]],
    transfer: Transfer,
) -> TraceHeader:
    """Write the trace of a planned run.

    Raises:
        InvalidInput: It is too large for a trace.
    """
    calls: list[tuple[bytes, int]] = []
    flops = []
    ranks: dict[int, SharedRank] = {}
    for number, (members, plan) in enumerate(plans):
        encoded, relations = _encoded(plan)
        calls.append((encoded, len(plan)))
        flops.append(np.array([p.flops for p in plan if p.name == "compute"], dtype=np.float64))
        parties = np.empty((len(relations), len(members)), dtype=np.int64)
        for place, (comm, relation) in enumerate(relations):
            parties[place] = relation.of(transfer.place(-1, comm, members))
        for index, rank in enumerate(members):
            ranks[int(rank)] = SharedRank(number, number, parties[:, index])
    return write_shared_trace(
        path, header, calls, flops, [ranks[rank] for rank in range(header.ranks)]
    )


def _encoded(plan: Sequence[Planned]) -> tuple[bytes, list[tuple[int, Relation]]]:
    """Operations as ranks share them, and whom they name by place: in which communicator, how."""
    out = bytearray()
    places: dict[tuple[int, int], int] = {}
    relations: list[tuple[int, Relation]] = []
    for planned in plan:
        if planned.name == "compute":
            out += _COMPUTE
            continue
        numbers = {}
        for field, relation in planned.parties.items():
            if isinstance(relation, int):
                numbers[field] = relation
                continue
            comm = 0 if field in _OWN else planned.fields["comm"]
            assert isinstance(comm, int)
            key = (-1, len(relations)) if field in _OWN else (comm, id(relation))
            if key not in places:
                places[key] = len(relations)
                relations.append((comm, relation))
            numbers[field] = places[key]
        out += encode(planned.name, **planned.fields, **numbers)
    return bytes(out), relations
