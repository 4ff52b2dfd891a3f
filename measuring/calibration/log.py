"""What was measured, run by run, in a file: who is interrupted goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring.rows import RowLog

__all__ = ["Log", "Row"]


@dataclass(frozen=True)
class Row:
    """One run of the program.

    Attributes:
        part: Which experiments it made.
        date: The day, as ISO 8601 has it.
        seconds: Of each repetition, by the experiment's name.
        first: Seconds of the first exchange of rank 0 with each other rank, less those of the next.
        doubts: Why the times do not count; empty where they do.
        details: Of the cluster, as of `clusters.Ran`.
    """

    part: str
    date: str
    seconds: Mapping[str, Sequence[float]]
    first: Sequence[float] = ()
    doubts: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


class Log(RowLog[Row]):
    """The runs of a calibration; for arguments see `RowLog`."""

    def __init__(self, path: Path, under: Mapping[str, Any]) -> None:
        super().__init__(path, under, lambda document: Row(**document))

    def counting(self) -> list[Row]:
        """The rows whose times count."""
        return [row for row in self.rows if not row.doubts]

    def of(self, part: str, experiments: Collection[str]) -> list[Row]:
        """The runs of a part: with more or less time it is made of other experiments.

        Args:
            part: Its name.
            experiments: The names of what it makes.
        """
        made = set(experiments)
        return [row for row in self.rows if row.part == part and row.seconds.keys() == made]

    def seconds(self) -> dict[str, list[float]]:
        """All repetitions that count, by the experiment's name."""
        found: dict[str, list[float]] = defaultdict(list)
        for row in self.counting():
            for name, seconds in row.seconds.items():
                found[name].extend(seconds)
        return dict(found)
