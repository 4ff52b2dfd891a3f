"""Measurements as REST reads and shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from searchspace.validation import Description
from storage.records import Measurement

__all__ = ["EXAMPLE", "REQUEST_EXAMPLE", "MeasurementList", "MeasurementView", "NewMeasurement"]

REQUEST_EXAMPLE: dict[str, Any] = {
    "format": "openmpi",
    "command": ["./cg.A.64"],
    "exported_seconds": [1.31, 1.29, 1.30],
    "default_seconds": [1.52, 1.55, 1.50],
    "speedup": 1.172,
    "interval": [1.133, 1.213],
    "confidence": 0.95,
    "simulated_speedup": 1.21,
}
EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ad",
    "job_id": "0k3v9m2x7q1zt8ab",
    "created_at": 1790000000.0,
    "measurement": REQUEST_EXAMPLE,
}

_MOST_RUNS = 10_000

_Number = Annotated[float, Field(allow_inf_nan=False)]
"""Infinities and NaN come as texts, and no JSON says them."""


class NewMeasurement(Description):
    """How long the exported and the default configuration took on a cluster, alternately."""

    format: str = Field(max_length=64)
    """The export's format."""
    command: list[str] = Field(max_length=1000)
    """What was run; empty for the microbenchmark of collectives."""
    exported_seconds: list[_Number] = Field(min_length=1, max_length=_MOST_RUNS)
    """Of each run of the exported configuration."""
    default_seconds: list[_Number] = Field(min_length=1, max_length=_MOST_RUNS)
    """Of each run of the library's defaults, in the same order."""
    speedup: float = Field(gt=0, allow_inf_nan=False)
    """Geometric mean of default / exported."""
    interval: tuple[_Number, _Number] | None
    """The confidence interval of the speed-up; null with a single pair of runs."""
    confidence: float = Field(gt=0, lt=1)
    """Of the interval."""
    simulated_speedup: _Number | None
    """What the simulation said, where it knows the default."""


class MeasurementView(BaseModel):
    """A measurement as it was sent."""

    id: str
    job_id: str
    created_at: float = Field(description="Seconds since the epoch.")
    measurement: dict[str, Any]

    @classmethod
    def of(cls, stored: Measurement) -> MeasurementView:
        """The view of a stored measurement."""
        return cls(
            id=stored.id,
            job_id=stored.job_id,
            created_at=stored.created_at,
            measurement=stored.document,
        )


class MeasurementList(BaseModel):
    """The measurements of a job, newest first."""

    items: list[MeasurementView]
