"""The seam to whatever evaluates: what a back end is asked, and what it answers.

Workers know no more of a simulator than this. The simulator process (`workers.simulator_client`) is
one back end, `workers.loggp` another; `docs/simulator-protocol.md` tells the fields of requests and
answers, and `workers.back_ends` lists who can be asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

__all__ = ["BackEnd", "Progress", "Start"]


class Progress(NamedTuple):
    """How far the evaluation under way has come; all zero where none has begun.

    Attributes:
        simulated_time: In seconds.
        calls: Operations of the traces that ranks have begun.
        all_calls: Those of all ranks.
        messages: That were sent, those of collectives with them.
    """

    simulated_time: float
    calls: int
    all_calls: int
    messages: int

    @property
    def share(self) -> float:
        """The part of the calls that have begun, from 0 to 1."""
        return self.calls / self.all_calls if self.all_calls else 0.0


class BackEnd(Protocol):
    """Evaluates traces on machines, one request at a time."""

    def evaluate(
        self,
        request: Mapping[str, Any],
        *,
        cutoff: float | None = None,
        memory_bytes: int | None = None,
        wall_seconds: float | None = None,
        messages: int | None = None,
    ) -> dict[str, Any]:
        """Run one evaluation.

        Args:
            request: The network and its model (`platform`), who sends what from where
                (`applications`: a trace, and the host of each rank), and the algorithms of
                collectives (`options`).
            cutoff: Simulated seconds after which the run is given up as censored.
            memory_bytes: Limit of the evaluation's own memory.
            wall_seconds: Limit of its wall time.
            messages: The most messages that ranks may send, those of collectives with them.

        Returns:
            `status`; `simulated_time` in seconds, which is the cutoff where that stopped the run;
            `link_loads`, bytes over each cable of `platform.edges`, there and back; `reason`, a
            `kind` and a `message`, where the status is `failed`; and what it cost.

        Raises:
            SimulatorError: Nothing was evaluated, by no fault of the request.
        """

    @property
    def progress(self) -> Progress:
        """How far the evaluation under way has come; from any thread."""

    def close(self) -> None:
        """End an evaluation under way, from any thread; the object is of no use afterwards."""


class Start(Protocol):
    """Starts a back end over the traces that requests name by their position, and names it."""

    def version(self) -> str:
        """What cached outcomes are kept under: they are no other version's, nor back end's.

        Raises:
            SimulatorError: It cannot evaluate here.
        """

    def engine(self) -> str:
        """What evaluates, in a line for people.

        Raises:
            SimulatorError: It cannot evaluate here.
        """

    def __call__(self, traces: Sequence[Path], *, gives_way: bool = False) -> BackEnd:
        """Start one; with `gives_way` the rest of the service goes first on the cores."""
