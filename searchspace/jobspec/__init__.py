"""The fields of a job file: what to tune, on which machine, over which space, for how long.

Each section has a module: `application`, `search`, `budget` and `limits`. `document` puts them
together with the fields that are a single value, `consistency` says what they demand of each other,
and `spec` is the whole job with what follows from it.
"""

from searchspace.jobspec.application import (
    Application,
    BuiltinApplication,
    Capture,
    ExtrapolatedApplication,
    SingleApplication,
    SourceApplication,
    TraceApplication,
    Workload,
    WorkloadPart,
    check_application,
)
from searchspace.jobspec.budget import Budget
from searchspace.jobspec.consistency import MODEL
from searchspace.jobspec.limits import Limits
from searchspace.jobspec.reference import Reference
from searchspace.jobspec.search import Search
from searchspace.jobspec.search_names import ALL
from searchspace.jobspec.spec import JobSpec

__all__ = [
    "ALL",
    "MODEL",
    "Application",
    "Budget",
    "BuiltinApplication",
    "Capture",
    "ExtrapolatedApplication",
    "JobSpec",
    "Limits",
    "Reference",
    "Search",
    "SingleApplication",
    "SourceApplication",
    "TraceApplication",
    "Workload",
    "WorkloadPart",
    "check_application",
]
