"""The field `finalists` of a job: which of its best configurations are measured, and where."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import InvalidInput
from searchspace.units import parse_duration
from searchspace.validation import Description, field_error

__all__ = ["MEASURABLE", "Finalists"]

MEASURABLE = tuple(name for name, one in TARGETS.items() if one.format in ("openmpi", "mpich"))
"""The libraries that agents run programs with."""

MOST_MEASURED = 50
MOST_REPETITIONS = 1_000
_HOUR = 3_600.0


def _read_seconds(value: object) -> float:
    try:
        seconds = parse_duration(value)  # type: ignore[arg-type]
    except InvalidInput as error:
        raise ValueError(error.message) from error
    if seconds == 0:
        raise ValueError("must be greater than 0")
    return seconds


_Seconds = Annotated[
    float,
    BeforeValidator(_read_seconds),
    WithJsonSchema({"type": ["number", "string"], "examples": ["1h"]}),
]


class Finalists(Description):
    """Measuring the best configurations once the search has ended: the measured best is the best.

    Example:
        >>> Finalists.model_validate({"measure": 3, "on": "agent"}).repetitions
        5
    """

    measure: int = Field(default=5, ge=1, le=MOST_MEASURED)
    """How many configurations at most, beside the library's defaults."""
    on: Literal["agent", "testbed"] = "agent"
    """`agent`: whichever `hamtune agent` asks for work; `testbed`: an emulated cluster of this
    host, which `hamtune run` and `hamtune up` measure on by themselves."""
    testbed: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$")
    """The name of the testbed, with `on: testbed`."""
    target: str = "openmpi-4.1"
    """The MPI library that is measured with, one that agents run programs with; by default the
    job's `search.target` where it is one of them."""
    application: str | None = Field(default=None, min_length=1, max_length=200)
    """What the agent's configuration calls the program; by default the name of the application."""
    repetitions: int = Field(default=5, ge=2, le=MOST_REPETITIONS)
    """Runs of each, in random turns."""
    seconds: _Seconds = _HOUR
    """Of the clock, from the first run: what is known then decides."""
    wait: _Seconds = 24 * _HOUR
    """How long to wait for an agent; then the job ends with the best by simulation, and says so."""

    @field_validator("target")
    @classmethod
    def _check_target(cls, name: str) -> str:
        if name not in MEASURABLE:
            raise ValueError(f"unknown target '{name}'; allowed: {', '.join(MEASURABLE)}")
        return name

    @model_validator(mode="after")
    def _check_testbed(self) -> Finalists:
        if (self.on == "testbed") != (self.testbed is not None):
            wanted = "must be given with" if self.on == "testbed" else "goes with"
            raise field_error(f"{wanted} 'on: testbed'", "testbed")
        return self

    @property
    def library(self) -> str:
        """The kind of library: `openmpi` or `mpich`."""
        return TARGETS[self.target].format
