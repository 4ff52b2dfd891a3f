"""The client that waits for its answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import httpx

from hamtune_client import calls
from hamtune_client.calls import (
    PAUSE_SECONDS,
    TRIES,
    Call,
    HamtuneClientError,
    Unreachable,
    refuse,
)
from hamtune_client.known import KnownJob
from hamtune_client.models import (
    ENDED,
    Best,
    Event,
    Importance,
    JobRecord,
    Replay,
    Statistics,
    Trial,
)

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Client", "Job"]

T = TypeVar("T")


class Client:
    """A connection to a service.

    Args:
        url: Where it is; `HAMTUNE_SERVER`, else this machine, port 8080.
        key: If it asks for one; `HAMTUNE_API_KEY` where nothing is said.
        transport: Of httpx, for tests and proxies.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(transport=transport, **calls.settings(url, key))

    def submit(self, spec: Mapping[str, Any] | str | Path) -> Job:
        """Create a job.

        Args:
            spec: The job file's content, its YAML text, or its path.

        Raises:
            Refused: It cannot be used; `errors` names the fields.
        """
        return Job(self, self.call(calls.create(spec)))

    def jobs(
        self,
        *,
        state: str | None = None,
        search: str | None = None,
        archived: calls.Archived = "exclude",
    ) -> Iterator[Job]:
        """Jobs, newest first, of a state and with a text in their name, where given."""
        cursor = None
        while True:
            page, cursor = self.call(calls.list_jobs(state, search, archived, cursor))
            yield from (Job(self, record) for record in page)
            if cursor is None:
                return

    def job(self, job_id: str) -> Job:
        """The job with this id."""
        return Job(self, self.call(calls.get_job(job_id)))

    def call(self, call: Call[T]) -> T:
        """Send a call; one that may be repeated is, after a broken connection.

        Raises:
            Refused: The service said no.
            Unreachable: It did not answer.
        """
        for attempt in range(1, TRIES + 1):
            try:
                response = self._http.request(**call.arguments())
            except httpx.TransportError as error:
                if attempt == TRIES or not call.safe:
                    raise Unreachable(f"no answer from {self._http.base_url}: {error}") from error
                time.sleep(PAUSE_SECONDS * attempt)
                continue
            if not response.is_success:
                raise refuse(response)
            return call.read(response)
        raise AssertionError("the last attempt returns or raises")

    def stream(self, job_id: str, after: int) -> Iterator[Event]:
        """The events of one connection; it ends with the job, or breaks."""
        with self._http.stream(
            "GET", calls.events_path(job_id), params={"after": after}, timeout=30.0
        ) as response:
            if not response.is_success:
                response.read()
                raise refuse(response)
            for line in response.iter_lines():
                event = calls.read_event(line)
                if event is not None:
                    yield event

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Job(KnownJob):
    """A job of the service; `record` is what was known of it when it was last asked for."""

    def __init__(self, client: Client, record: JobRecord) -> None:
        super().__init__(record)
        self._client = client

    def refresh(self) -> Job:
        """Ask how it is."""
        self.record = self._client.call(calls.get_job(self.id))
        return self

    def wait(self, *, timeout: float | None = None) -> Job:
        """Wait until it has ended or is paused.

        Raises:
            HamtuneClientError: It has not within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.refresh().state not in (*ENDED, "paused"):
            if deadline is not None and time.monotonic() >= deadline:
                raise HamtuneClientError(f"job {self.id} is {self.state} after {timeout} s")
            time.sleep(PAUSE_SECONDS)
        return self

    def events(self, *, after: int = 0) -> Iterator[Event]:
        """What happens in it, until it ends; a broken connection is taken up where it broke."""
        failures = 0
        while True:
            try:
                for event in self._client.stream(self.id, after):
                    after, failures = event.id, 0
                    yield event
            except httpx.TransportError as error:
                failures += 1
                if failures == TRIES:
                    raise Unreachable(f"the events of job {self.id} broke off: {error}") from error
                time.sleep(PAUSE_SECONDS * failures)
                continue
            if self.refresh().state in ENDED:
                return

    def pause(self) -> Job:
        """Stop asking for trials."""
        return self._steer("pause")

    def resume(self) -> Job:
        """Let it go on."""
        return self._steer("resume")

    def cancel(self) -> Job:
        """End it for good."""
        return self._steer("cancel")

    def prioritise(self, priority: Literal["low", "normal", "high"]) -> Job:
        """Let it compete in another class from now on."""
        self.record = self._client.call(calls.prioritise(self.id, priority))
        return self

    def describe(
        self,
        *,
        name: str | None = None,
        note: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> Job:
        """Rename it, write on it or tag it; what is left out stays. `tags` are all of them."""
        changes = {"name": name, "note": note, "tags": None if tags is None else list(tags)}
        self.record = self._client.call(calls.describe(self.id, changes))
        return self

    def clone(self, changes: Mapping[str, Any] | None = None) -> Job:
        """A new job like it, with a merge patch of its job file."""
        return Job(self._client, self._client.call(calls.steer(self.id, "clone", changes)))

    def archive(self, archived: bool = True) -> Job:
        """Have lists leave it out, or show it again; it is paused or has ended."""
        changes = {"archived": archived}
        self.record = self._client.call(calls.describe(self.id, changes))
        return self

    def delete(self) -> None:
        """Delete it with its trials, once it is paused or has ended."""
        self._client.call(calls.delete(self.id))

    def best(self) -> Best:
        """The best configuration so far.

        Raises:
            Refused: No trial has completed yet (409).
        """
        return self._client.call(calls.best(self.id))

    def importance(self) -> Importance:
        """How much each parameter decided the simulated time."""
        return self._client.call(calls.importance(self.id))

    def statistics(self) -> Statistics:
        """Counts of all trials: outcomes, workers, and the fastest of each value."""
        return self._client.call(calls.statistics(self.id))

    def trial(self, number: int) -> Trial:
        """One trial with what was measured."""
        return self._client.call(calls.trial(self.id, number))

    def trials(self, *, state: str | None = None) -> Iterator[Trial]:
        """Its trials in the order of asking."""
        after: int | None = 0
        while after is not None:
            page, after = self._client.call(calls.list_trials(self.id, state, after))
            yield from page

    def table(self, form: str = "csv") -> bytes:
        """All trials as a file: csv, parquet, or optuna."""
        return self._client.call(calls.table(self.id, form))

    def export(self, form: str, **wishes: Any) -> bytes:
        """The best configuration as a zip archive.

        Args:
            form: `openmpi`, `slurm`, `cabling`, ... or `all`.
            wishes: `hosts` (their names in the machine's order), `target` (`openmpi-4.1`) with
                `nearest`, `fabric`, `trial` for another than the best; `name` for one file alone.
        """
        return self._client.call(calls.export(self.id, form, wishes))

    def files(self) -> dict[str, int]:
        """The files that runs of the program left, by path: how many bytes each has.

        There are such files where the program is built from a source tree.
        """
        return self._client.call(calls.files(self.id))

    def file(self, path: str) -> bytes:
        """One of the files that `files` names."""
        return self._client.call(calls.file(self.id, path))

    def replay(self, number: int) -> Replay:
        """Simulate a trial again, without cache and cutoff, and compare with what was stored."""
        return self._client.call(calls.replay(self.id, number))

    def to_dataframe(self) -> DataFrame:
        """All trials as a data frame of pandas, one row each, by number."""
        from hamtune_client.figures import frame

        return frame(self.table("parquet"))

    def plot(self, axes: Any = None) -> Any:
        """Draw its convergence with matplotlib: trials, best so far, baselines; the axes."""
        from hamtune_client.figures import plot

        return plot(self.to_dataframe(), self.name, axes)

    def _steer(self, verb: str) -> Job:
        self.record = self._client.call(calls.steer(self.id, verb))
        return self
