"""What is asked of an export, as REST reads it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from searchspace.collectives.equivalents import target_named
from searchspace.validation import Description
from service.exports.result import ExportOptions

__all__ = ["REQUEST_EXAMPLE", "ExportRequest"]

REQUEST_EXAMPLE: dict[str, Any] = {"hosts": "n[01-04]", "target": "openmpi-4.1", "nearest": False}


class ExportRequest(Description):
    """What an export is made for."""

    trial: int | None = Field(default=None, ge=1, le=2**31 - 1)
    """The number of the trial; the best without."""
    hosts: str | None = Field(default=None, min_length=1)
    """The names of the machine's hosts in its order: one a line, or lists such as `n[01-64]`."""
    fabric: str | None = Field(default=None, min_length=1)
    """The output of `ibnetdiscover`, from which the machine was imported: it knows the GUIDs."""
    target: str | None = Field(default=None, max_length=64)
    """The MPI library that has to express every collective choice."""
    nearest: bool = False
    """Export the nearest configuration that the target can express, where it is not the best."""

    @property
    def options(self) -> ExportOptions:
        """The same as the exporters take it.

        Raises:
            InvalidInput: There is no such target.
        """
        target = None if self.target is None else target_named(self.target)
        return ExportOptions(
            trial=self.trial,
            hosts=self.hosts,
            fabric=self.fabric,
            target=target,
            nearest=self.nearest,
        )
