"""How computation was measured between MPI calls, as the recorder tells it at the end of a rank."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ELSEWHERE", "LONGER_EMPTY", "Measured", "parse_end"]

LONGER_EMPTY = 2.0
"""By how many empty stretches a stretch of a program may be too long (`benchmarks.recording`)."""
ELSEWHERE = 0.05
"""By what part computation differs in another process, under another MPI library (likewise)."""

_END = re.compile(
    rb"(\d{1,18})\n(?:(\d{1,18}) (\d\.\d{6}e[+-]\d\d) (\d\.\d{6}e[+-]\d\d)\n)?", re.ASCII
)


class Measured(BaseModel):
    """Computation that the clock measured, of a rank or of several together.

    Attributes:
        stretches: How many there were between two calls.
        seconds: Of all of them.
        empty_stretch: Seconds of a stretch in which a program does nothing, that is of the
            recorder's look at the clock, which were taken off each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    stretches: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    empty_stretch: Annotated[float, Field(ge=0)]

    @property
    def uncertainty(self) -> float:
        """By what part the computation may be another on a cluster like this machine, 0 to 1.

        What an empty stretch takes is known where everything is in the caches. Between the calls of
        a program the same takes longer, and so do its own first steps where other ranks have run on
        this core. Either counts once a stretch: little where stretches are long.

        Example:
            >>> round(Measured(stretches=1000, seconds=1e-3, empty_stretch=5e-8).uncertainty, 2)
            0.15
        """
        if self.seconds <= 0:
            return 1.0
        unknown = LONGER_EMPTY * self.empty_stretch * self.stretches
        return min(1.0, ELSEWHERE + unknown / self.seconds)

    @classmethod
    def together(cls, ranks: Sequence[Measured | None]) -> Measured | None:
        """That of all ranks; None unless all were measured."""
        known = [rank for rank in ranks if rank is not None]
        if not known or len(known) < len(ranks):
            return None
        return cls(
            stretches=sum(rank.stretches for rank in known),
            seconds=sum(rank.seconds for rank in known),
            empty_stretch=statistics.median(rank.empty_stretch for rank in known),
        )


def parse_end(text: bytes) -> tuple[int, Measured | None] | None:
    r"""Read what the recorder leaves at the end of a rank.

    Returns:
        The number of operations, and how the computation between them was measured, if it was;
        None if the text makes no sense.

    Example:
        >>> parse_end(b"12\n")
        (12, None)
    """
    match = _END.fullmatch(text)
    if match is None:
        return None
    operations = int(match[1])
    if match[2] is None or not int(match[2]):
        return operations, None
    stretches, seconds, empty = int(match[2]), float(match[3]), float(match[4])
    return operations, Measured(stretches=stretches, seconds=seconds, empty_stretch=empty)
