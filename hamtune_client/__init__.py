"""Hamtune from Python: a client of its REST interface for notebooks and programs.

It needs httpx and pydantic; `Job.to_dataframe` also pandas and pyarrow, `Job.plot` matplotlib.

Example:
    >>> from hamtune_client import Client
    >>> with Client("http://127.0.0.1:8080") as client:
    ...     job = client.submit("job.yaml").wait()
    ...     job.best().speedup, job.to_dataframe(), job.plot()
"""

from hamtune_client.asynchronous import AsyncClient, AsyncJob
from hamtune_client.calls import HamtuneClientError, Refused, Unreachable
from hamtune_client.models import (
    Best,
    BestSoFar,
    Event,
    Importance,
    JobRecord,
    Progress,
    Replay,
    Statistics,
    Trial,
)
from hamtune_client.synchronous import Client, Job

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "Best",
    "BestSoFar",
    "Client",
    "Event",
    "HamtuneClientError",
    "Importance",
    "Job",
    "JobRecord",
    "Progress",
    "Refused",
    "Replay",
    "Statistics",
    "Trial",
    "Unreachable",
]
