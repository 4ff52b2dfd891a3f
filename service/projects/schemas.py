"""Projects as REST shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from searchspace.validation import Description
from storage.projects import ProjectUse
from storage.records import Priority, Project

__all__ = ["EXAMPLE", "Change", "ProjectPage", "ProjectView", "QuotaChange"]

EXAMPLE: dict[str, Any] = {
    "name": "climate",
    "created_at": 1790000000.0,
    "weight": 2.0,
    "priority": "normal",
    "quotas": {"jobs": 20, "trials": None, "cpu_seconds": 1e6, "storage_bytes": None},
    "used": {
        "jobs": 3,
        "trials": 48210,
        "cpu_seconds": 73200.5,
        "storage_bytes": 52428800,
        "recent_cpu_seconds": 118.4,
    },
}

_Count = Annotated[int, Field(ge=0, le=2**53)]
_Few = Annotated[int, Field(ge=0, lt=2**31)]
_Seconds = Annotated[float, Field(ge=0.0, le=1e15, allow_inf_nan=False)]


class QuotaChange(Description):
    """Quotas to be set; those left out stay, null lifts one."""

    jobs: _Few | None = None
    """Jobs that have not ended, at once."""
    trials: _Count | None = None
    """Trials with an outcome, ever."""
    cpu_seconds: _Seconds | None = None
    """CPU seconds of the simulator, ever."""
    storage_bytes: _Count | None = None
    """Bytes of traces and source trees."""


class Change(Description):
    """What of a project is to change; what is left out stays."""

    weight: Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)] | None = None
    """Its share of the workers, beside the weights of the other projects that have work."""
    priority: Priority | None = None
    """The highest at which its jobs go before those of other projects."""
    quotas: QuotaChange = QuotaChange()
    """The most that it may have or use."""


class QuotasView(BaseModel):
    """The most that a project may have or use; null for as much as there is."""

    jobs: int | None = Field(description="Jobs that have not ended, at once.")
    trials: int | None = Field(description="Trials with an outcome, ever.")
    cpu_seconds: float | None = Field(description="CPU seconds of the simulator, ever.")
    storage_bytes: int | None = Field(description="Bytes of traces and source trees.")


class UseView(BaseModel):
    """What a project has and has used."""

    jobs: int
    trials: int
    cpu_seconds: float
    storage_bytes: int
    recent_cpu_seconds: float = Field(
        description="CPU seconds as shares count them: halved every five minutes."
    )


class ProjectView(BaseModel):
    """A project: whose jobs, applications and machines nobody else sees."""

    name: str
    created_at: float
    weight: float = Field(description="Its share of the workers, beside the weights of others.")
    priority: Priority = Field(
        description="The highest at which its jobs go before those of other projects."
    )
    quotas: QuotasView
    used: UseView

    @classmethod
    def of(cls, project: Project, use: ProjectUse) -> ProjectView:
        """The view of a stored project."""
        return cls(
            name=project.name,
            created_at=project.created_at,
            weight=project.weight,
            priority=project.priority,
            quotas=QuotasView.model_validate(project.quotas, from_attributes=True),
            used=UseView.model_validate(use, from_attributes=True),
        )


class ProjectPage(BaseModel):
    """All projects that one sees, by name."""

    items: list[ProjectView]
