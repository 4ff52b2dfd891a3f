"""What was measured, run by run, in a file: who is interrupted goes on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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


class Log:
    """The rows in a file of JSON lines, after a first one that says under what they were taken.

    Args:
        path: The file; made if need be. A last line that was cut off is left out.
        under: Under what is measured. Rows of a file that says another are not used: the file is
            begun anew.
    """

    def __init__(self, path: Path, under: Mapping[str, Any]) -> None:
        self._path = path
        self.rows: list[Row] = []
        head, *lines = path.read_text().split("\n") if path.exists() else [""]
        if lines and _read(head) == json.loads(json.dumps(under)):
            self.rows = [Row(**json.loads(line)) for line in lines[:-1]]
        whole = [json.dumps(under), *(json.dumps(asdict(row)) for row in self.rows)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(whole) + "\n")

    @property
    def directory(self) -> Path:
        """Where the file is."""
        return self._path.resolve().parent

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows.append(row)
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(row)) + "\n")

    def counting(self) -> list[Row]:
        """The rows whose times count."""
        return [row for row in self.rows if not row.doubts]

    def row(self, part: str) -> Row | None:
        """The run of a part whose times count; None as long as there is none."""
        return next((row for row in self.counting() if row.part == part), None)

    def attempts(self, part: str) -> int:
        """How many runs of a part do not count."""
        return sum(row.part == part for row in self.rows if row.doubts)

    def seconds(self) -> dict[str, list[float]]:
        """All repetitions that count, by the experiment's name."""
        found: dict[str, list[float]] = defaultdict(list)
        for row in self.counting():
            for name, seconds in row.seconds.items():
                found[name].extend(seconds)
        return dict(found)


def _read(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
