"""What was measured, run by run, in a file of JSON lines: who is interrupted goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["RowLog"]

R = TypeVar("R", bound="DataclassInstance")


class RowLog(Generic[R]):
    """The rows in a file of JSON lines, after a first one that says under what they were taken.

    Args:
        path: The file; made if need be. A last line that was cut off is left out.
        under: Under what is measured. Rows of a file that says another are not used: the file is
            begun anew.
        read: Makes a row of what its line says.
    """

    def __init__(
        self, path: Path, under: Mapping[str, Any], read: Callable[[Mapping[str, Any]], R]
    ) -> None:
        self._path = path
        self.rows: list[R] = []
        head, *lines = path.read_text().split("\n") if path.exists() else [""]
        if lines and _parsed(head) == json.loads(json.dumps(under)):
            self.rows = [read(json.loads(line)) for line in lines[:-1]]
        whole = [json.dumps(under), *(json.dumps(asdict(row)) for row in self.rows)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(whole) + "\n")

    @property
    def directory(self) -> Path:
        """Where the file is."""
        return self._path.resolve().parent

    def add(self, row: R) -> None:
        """Keep a row."""
        self.rows.append(row)
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(row)) + "\n")


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
