"""What an earlier run of the study measured, in the files that it wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from measuring.trust.cases import Case
from searchspace.errors import InvalidInput

__all__ = ["CASES", "Known", "Time", "calibration_file", "case_of", "read_known"]

CASES = "cases.json"
"""The file of the cases, after the name of the study."""


@dataclass(frozen=True)
class Time:
    """A measured time.

    Attributes:
        seconds: The median of the repetitions.
        date: The day, as ISO 8601 has it.
    """

    seconds: float
    date: str


@dataclass(frozen=True)
class Known:
    """Measurements that need not be made again.

    Attributes:
        times: Of cases.
        without: Cases of which no run counted.
    """

    times: Mapping[Case, Time] = field(default_factory=dict)
    without: frozenset[Case] = frozenset()


def calibration_file(library: str) -> str:
    """The file with the runs of a library's calibration, after the name of the study."""
    return f"calibration-{library}.jsonl"


def case_of(document: Mapping[str, Any]) -> Case:
    """The case that a row of the file is of."""
    return Case(**{each.name: document[each.name] for each in fields(Case)})


def read_known(path: Path) -> Known:
    """Read the file of cases that a study wrote.

    Raises:
        InvalidInput: It is no such file.
    """
    try:
        document = json.loads(path.read_text())
        times = {
            case: Time(float(row["measured"]), str(row.get("date", document["date"])))
            for row, case in _alike(document["cases"])
        }
        without = frozenset(case for _, case in _alike(document.get("without", ())))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{path} is no file of measured cases, as 'hamtune study trust -o' writes it: {error}"
        ) from error
    return Known(times, without)


def _alike(rows: Iterable[Any]) -> Iterator[tuple[Any, Case]]:
    """Rows whose case is called as often today: another number of calls is another measurement."""
    for row in rows:
        case = case_of(row)
        if row.get("calls") == case.calls:
            yield row, case
