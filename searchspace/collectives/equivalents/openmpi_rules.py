"""Open MPI's dynamic rules file: which algorithm of `tuned` runs at which sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Row, is_decided, repeated
from searchspace.collectives.equivalents.equivalent import Target
from searchspace.collectives.equivalents.openmpi import ALGORITHM_IDS, algorithm_parameter

__all__ = [
    "OF_ALL",
    "WITHOUT_SIZE",
    "Rule",
    "Rules",
    "dynamic_rules",
    "dynamic_rules_of",
    "rule",
]

_COLLECTIVE_IDS = {
    "allgather": 0,
    "allgatherv": 1,
    "allreduce": 2,
    "alltoall": 3,
    "alltoallv": 4,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce_scatter": 12,
    "reduce_scatter_block": 13,
    "scatter": 15,
}
"""The numbers of collectives in dynamic rules files (4.1)."""

OF_ALL = ("allgather", "allgatherv", "alltoall", "gather", "scatter")
"""Where the library looks at the blocks of all ranks together."""
WITHOUT_SIZE = ("alltoallv", "barrier", "gather", "scatter")
"""Where it must not look at how much is sent, or does not.

It asks the arguments of sending, which mean nothing at the root of a gather in place and off the
root of a scatter in place: ranks would take different lines, and wait for each other for ever.
"""

_CHAINS = 4
"""Of the algorithm `chain`: as many as where it is forced. None named in a line would mean one."""

Rule: TypeAlias = tuple[int, int]
"""The number of an algorithm, 0 for the library's own choice, and the bytes of a segment."""
Rules: TypeAlias = Mapping[str, Mapping[int, Sequence[tuple[int, Rule]]]]
"""By collective, by ranks: from how many bytes on which rule, beginning with 0 bytes."""


def dynamic_rules(rules: Rules) -> str:
    """The file, without comments before it; empty where there is no rule.

    A communicator takes the last block of at most its ranks, but the first block where it has
    fewer than any: so blocks begin with 1 rank.
    """
    if not rules:
        return ""
    lines = [f"{len(rules)} # collectives"]
    for collective, blocks in rules.items():
        whole = [*_changes({1: ((0, (0, 0)),), **blocks})]
        lines.append(f"{_COLLECTIVE_IDS[collective]} # {collective}")
        lines.append(f"{len(whole)} # communicator sizes")
        for ranks, block in whole:
            lines += [f"{ranks} # ranks", f"{len(block)} # message sizes"]
            for at, (least, (algorithm, segment)) in enumerate(block):
                meaning = "" if at else " # bytes, algorithm, chains, bytes of a segment"
                chains = _CHAINS if ALGORITHM_IDS[collective][algorithm] == "chain" else 0
                lines.append(f"{least} {algorithm} {chains} {segment}{meaning}")
    return "\n".join(lines) + "\n"


def _changes(
    blocks: Mapping[int, Sequence[tuple[int, Rule]]],
) -> Iterator[tuple[int, Sequence[tuple[int, Rule]]]]:
    """The blocks that say something else than the one before."""
    before: list[tuple[int, Rule]] = []
    for ranks, block in sorted(blocks.items()):
        if list(block) != before:
            yield ranks, block
        before = list(block)


def rule(collective: str, algorithm: str, settings: Mapping[str, str]) -> Rule:
    """The rule for an algorithm of the library and the settings that force it."""
    segment = settings.get(f"{algorithm_parameter(collective)}_segmentsize", "0")
    return ALGORITHM_IDS[collective].index(algorithm), int(segment)


def dynamic_rules_of(table: DecisionTable, target: Target) -> str:
    """A decision table as such a file.

    Args:
        table: Of algorithms that the target has (`Target.expressible`).
        target: A release of Open MPI.
    """
    return dynamic_rules(
        {
            collective: {
                row.ranks: _block(collective, row, target)
                for row in (repeated(rows) if collective in OF_ALL else rows)
            }
            for collective, rows in table.items()
            if is_decided(rows)
        }
    )


def _block(collective: str, row: Row, target: Target) -> list[tuple[int, Rule]]:
    factor = row.ranks if collective in OF_ALL else 1
    found = []
    for line in row.lines:
        ruled: Rule = (0, 0)
        if line.algorithm != DEFAULT:
            offered = target.equivalent(collective, line.algorithm, (row.ranks,))
            ruled = rule(collective, offered.algorithm, offered.settings or {})
        found.append((line.bytes * factor, ruled))
    return found
