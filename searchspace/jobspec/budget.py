"""`budget`: when to stop."""

from __future__ import annotations

from pydantic import Field, model_validator

from searchspace.jobspec.quantities import Part, Seconds
from searchspace.validation import Description, field_error

__all__ = ["Budget"]


class Budget(Description):
    """When to stop, whichever comes first. The job also ends when its space is exhausted."""

    trials: int | None = Field(default=None, gt=0)
    """Search trials; the baselines come on top."""
    evaluations: int | None = Field(default=None, gt=0)
    """Trials really simulated, baselines included."""
    wall_seconds: Seconds | None = None
    """Seconds of the clock in which the job runs."""
    cpu_seconds: Seconds | None = None
    """CPU seconds of the simulator."""
    target: Seconds | None = None
    """A simulated time that is good enough."""
    patience: int | None = Field(default=None, gt=0)
    """Search trials in a row without a new best."""
    until: Part | None = None
    """A gain, such as `1%`: the search ends once a larger one is unlikely. Its model
    then gives a probability of less than one in twenty that any configuration not tried yet is
    faster than the best by more than that part of its time. Of a space of more than 6,000
    configurations the model looks at a sample. Needs the technique Surrogate, which is
    the default, and a `cutoff_factor` above 1 or none."""

    @model_validator(mode="after")
    def _check_some_limit(self) -> Budget:
        limits = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if not limits:
            allowed = ", ".join(type(self).model_fields)
            raise field_error(f"must set at least one of: {allowed}")
        return self
