"""Hamtune from Python: a client of its REST interface for notebooks and programs.

It needs httpx and pydantic; `Job.to_dataframe` also pandas, `Job.plot` matplotlib, too.

Example:
    >>> from hamtune_client import Client
    >>> with Client("http://127.0.0.1:8080") as client:
    ...     job = client.submit("job.yaml").wait()
    ...     job.best().speedup, job.to_dataframe(), job.plot()
"""

from hamtune_client.asynchronous import AsyncClient, AsyncJob
from hamtune_client.asynchronous_applications import AsyncApplication
from hamtune_client.asynchronous_scripts import AsyncAskedTrial
from hamtune_client.calls import HamtuneClientError, Refused, Unreachable
from hamtune_client.models import (
    Best,
    BestSoFar,
    Deletion,
    Event,
    FailureReason,
    Importance,
    JobRecord,
    OutlookPoint,
    Parameter,
    Progress,
    Proposal,
    Replay,
    Space,
    Statistics,
    Trial,
)
from hamtune_client.records import (
    ApplicationRecord,
    AuditEntry,
    Check,
    Convergence,
    Delivery,
    Key,
    MachineRecord,
    Measured,
    Measurement,
    NewKey,
    NewSubscription,
    Outlook,
    ProjectRecord,
    RunningTrial,
    Session,
    Subscription,
)
from hamtune_client.synchronous import Client, Job
from hamtune_client.synchronous_applications import Application
from hamtune_client.synchronous_scripts import AskedTrial

__all__ = [
    "Application",
    "ApplicationRecord",
    "AskedTrial",
    "AsyncApplication",
    "AsyncAskedTrial",
    "AsyncClient",
    "AsyncJob",
    "AuditEntry",
    "Best",
    "BestSoFar",
    "Check",
    "Client",
    "Convergence",
    "Deletion",
    "Delivery",
    "Event",
    "FailureReason",
    "HamtuneClientError",
    "Importance",
    "Job",
    "JobRecord",
    "Key",
    "MachineRecord",
    "Measured",
    "Measurement",
    "NewKey",
    "NewSubscription",
    "Outlook",
    "OutlookPoint",
    "Parameter",
    "Progress",
    "ProjectRecord",
    "Proposal",
    "Refused",
    "Replay",
    "RunningTrial",
    "Session",
    "Space",
    "Statistics",
    "Subscription",
    "Trial",
    "Unreachable",
]
