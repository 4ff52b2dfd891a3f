# Written by `python -m deploy.client` from asynchronous_results.py; change that.
"""What a job has shown beside its trials, and what clusters have measured of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from hamtune_client import job_calls
from hamtune_client.known import KnownJob
from hamtune_client.listings import RowList
from hamtune_client.models import JobRecord
from hamtune_client.records import Convergence, Measured, Measurement, Outlook, RunningTrial
from hamtune_client.synchronous_connection import Connection

__all__ = ["Results"]


class Results(KnownJob):
    """A job of which things are looked up."""

    def __init__(self, client: Connection, record: JobRecord) -> None:
        super().__init__(record)
        self._client = client

    def log(self, which: Literal["build", "run"] = "build", *, after: int = 0) -> str:
        """What building or running its program printed, without the first `after` characters."""
        return self._client.call(job_calls.job_log(self.id, which, after))

    def convergence(self, *, points: int | None = None) -> Convergence:
        """Best so far by trial, wall clock and CPU seconds, with the baselines.

        Args:
            points: About so many of a long job, which draw the same curve; None for all.
        """
        return self._client.call(job_calls.convergence(self.id, points))

    def outlook(self) -> Outlook:
        """What more trials would bring, by the last model of the search and all before it."""
        return self._client.call(job_calls.outlook(self.id))

    def running(self) -> list[RunningTrial]:
        """Which trials workers are at, and how far each has come."""
        return self._client.call(job_calls.running(self.id))

    def rows(
        self,
        *,
        order: job_calls.Order = "newest",
        state: str | Sequence[str] | None = None,
        skip: int = 0,
        limit: int = 50,
    ) -> RowList:
        """Some trials as rows, the newest or the fastest of all first; 200 at most."""
        found = self._client.call(job_calls.rows(self.id, order, state, skip, limit))
        return RowList(found)

    def placement(self, number: int) -> dict[str, Any]:
        """A trial on its network: loads of cables, hosts of ranks, traffic, hops.

        Raises:
            Refused: Its configuration gives no network (409).
        """
        return self._client.call(job_calls.placement(self.id, number))

    def measured(self) -> Measured:
        """How the measuring of finalists stands, and every run of a cluster."""
        return self._client.call(job_calls.measured(self.id))

    def add_measured(
        self,
        seconds: Sequence[float],
        *,
        cluster: str,
        label: str,
        trial: int | None = None,
        simulated: float | None = None,
    ) -> Measured:
        """Tell what a configuration took on a cluster, as `hamtune validate` does.

        They decide nothing; they show what a model is worth.

        Args:
            seconds: Of each run.
            cluster: Its name.
            label: What was run, for people.
            trial: Whose configuration it was; None for the library's defaults.
            simulated: Seconds that the simulation says, where that is known.
        """
        runs = {
            "label": label,
            "trial": trial,
            "simulated": simulated,
            "cluster": cluster,
            "outcomes": [{"seconds": one} for one in seconds],
        }
        return self._client.call(job_calls.add_measured(self.id, runs))

    def end_measuring(self) -> Measured:
        """Wait for no further runs: what was measured decides, or else the simulation."""
        return self._client.call(job_calls.end_measuring(self.id))

    def measurements(self) -> list[Measurement]:
        """What exports gained on clusters, newest first."""
        return self._client.call(job_calls.measurements(self.id))

    def add_measurement(self, gained: Mapping[str, Any]) -> Measurement:
        """Tell what an export gained: the document that `hamtune verify --json` prints."""
        return self._client.call(job_calls.add_measurement(self.id, gained))
