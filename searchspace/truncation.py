"""Truncated traces: a few iterations of every loop, which stand for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.trace import RankBlock, read_header, write_trace
from searchspace.kernels import truncate_blocks

__all__ = ["ITERATIONS", "Truncation", "pays", "truncate"]

ITERATIONS = 3
"""Iterations kept of a loop: the first, and two that stand for all others."""

_MANY_CALLS = 1_000_000
"""Of MPI, by all ranks together: from here on one evaluation takes about a second and more."""
_ENOUGH_TRIALS = 20
"""In the end up to ten evaluations are of the whole trace all the same."""


@dataclass(frozen=True)
class Truncation:
    """What was kept of a trace.

    Attributes:
        operations: Of all ranks.
        whole_operations: The same of the whole trace.
    """

    operations: int
    whole_operations: int

    @property
    def share(self) -> float:
        """The part of the operations that is kept."""
        return self.operations / self.whole_operations


def pays(calls: int, trials: int | None) -> bool:
    """Whether a search had better be on a truncated trace, where nobody says.

    Args:
        calls: Calls of MPI in the whole trace, of all ranks together.
        trials: How many the search may have; None without a limit.
    """
    return calls >= _MANY_CALLS and (trials is None or trials >= _ENOUGH_TRIALS)


def truncate(trace: Path, output: Path, iterations: int = ITERATIONS) -> Truncation:
    """Write a trace with so many iterations of every loop, also of those within others.

    The simulator estimates the time of the whole trace from it. It is a valid trace: iterations are
    cut out only where no message, collective or open request crosses the cuts.

    Args:
        trace: A whole trace.
        output: The truncated one; the same bytes whenever it is made.
        iterations: From 2 on.

    Raises:
        CannotCut: There is no loop that can be cut short.
        InvalidInput: The file is no trace, or `iterations` is too small.
    """
    if iterations < 2:
        raise InvalidInput("must be at least 2", field="iterations")
    cut = truncate_blocks(trace, iterations)
    weights = tuple(tuple(stretches) for stretches in cut["weights"])
    blocks = [
        RankBlock(encoded, operations)
        for encoded, operations in zip(cut["blocks"], cut["operations"], strict=True)
    ]
    write_trace(output, read_header(trace).model_copy(update={"weights": weights}), blocks)
    return Truncation(sum(cut["operations"]), cut["whole_operations"])
