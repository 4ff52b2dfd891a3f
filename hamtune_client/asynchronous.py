"""The client for programs that do other things while they wait: as `synchronous`, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
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

__all__ = ["AsyncClient", "AsyncJob"]

T = TypeVar("T")


class AsyncClient:
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(transport=transport, **calls.settings(url, key))

    async def submit(self, spec: Mapping[str, Any] | str | Path) -> AsyncJob:
        """Create a job.

        Args:
            spec: The job file's content, its YAML text, or its path.

        Raises:
            Refused: It cannot be used; `errors` names the fields.
        """
        return AsyncJob(self, await self.call(calls.create(spec)))

    async def jobs(
        self,
        *,
        state: str | None = None,
        search: str | None = None,
        archived: calls.Archived = "exclude",
    ) -> AsyncIterator[AsyncJob]:
        """Jobs, newest first, of a state and with a text in their name, where given."""
        cursor = None
        while True:
            page, cursor = await self.call(calls.list_jobs(state, search, archived, cursor))
            for record in page:
                yield AsyncJob(self, record)
            if cursor is None:
                return

    async def job(self, job_id: str) -> AsyncJob:
        """The job with this id."""
        return AsyncJob(self, await self.call(calls.get_job(job_id)))

    async def call(self, call: Call[T]) -> T:
        """Send a call; one that may be repeated is, after a broken connection.

        Raises:
            Refused: The service said no.
            Unreachable: It did not answer.
        """
        for attempt in range(1, TRIES + 1):
            try:
                response = await self._http.request(**call.arguments())
            except httpx.TransportError as error:
                if attempt == TRIES or not call.safe:
                    raise Unreachable(f"no answer from {self._http.base_url}: {error}") from error
                await asyncio.sleep(PAUSE_SECONDS * attempt)
                continue
            if not response.is_success:
                raise refuse(response)
            return call.read(response)
        raise AssertionError("the last attempt returns or raises")

    async def stream(self, job_id: str, after: int) -> AsyncIterator[Event]:
        """The events of one connection; it ends with the job, or breaks."""
        async with self._http.stream(
            "GET", calls.events_path(job_id), params={"after": after}, timeout=30.0
        ) as response:
            if not response.is_success:
                await response.aread()
                raise refuse(response)
            async for line in response.aiter_lines():
                event = calls.read_event(line)
                if event is not None:
                    yield event

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class AsyncJob(KnownJob):
    """A job of the service; `record` is what was known of it when it was last asked for."""

    def __init__(self, client: AsyncClient, record: JobRecord) -> None:
        super().__init__(record)
        self._client = client

    async def refresh(self) -> AsyncJob:
        """Ask how it is."""
        self.record = await self._client.call(calls.get_job(self.id))
        return self

    async def wait(self, *, timeout: float | None = None) -> AsyncJob:
        """Wait until it has ended or is paused.

        Raises:
            HamtuneClientError: It has not within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (await self.refresh()).state not in (*ENDED, "paused"):
            if deadline is not None and time.monotonic() >= deadline:
                raise HamtuneClientError(f"job {self.id} is {self.state} after {timeout} s")
            await asyncio.sleep(PAUSE_SECONDS)
        return self

    async def events(self, *, after: int = 0) -> AsyncIterator[Event]:
        """What happens in it, until it ends; a broken connection is taken up where it broke."""
        failures = 0
        while True:
            try:
                async for event in self._client.stream(self.id, after):
                    after, failures = event.id, 0
                    yield event
            except httpx.TransportError as error:
                failures += 1
                if failures == TRIES:
                    raise Unreachable(f"the events of job {self.id} broke off: {error}") from error
                await asyncio.sleep(PAUSE_SECONDS * failures)
                continue
            if (await self.refresh()).state in ENDED:
                return

    async def pause(self) -> AsyncJob:
        """Stop asking for trials."""
        return await self._steer("pause")

    async def resume(self) -> AsyncJob:
        """Let it go on."""
        return await self._steer("resume")

    async def cancel(self) -> AsyncJob:
        """End it for good."""
        return await self._steer("cancel")

    async def prioritise(self, priority: Literal["low", "normal", "high"]) -> AsyncJob:
        """Let it compete in another class from now on."""
        self.record = await self._client.call(calls.prioritise(self.id, priority))
        return self

    async def describe(
        self,
        *,
        name: str | None = None,
        note: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> AsyncJob:
        """Rename it, write on it or tag it; what is left out stays. `tags` are all of them."""
        changes = {"name": name, "note": note, "tags": None if tags is None else list(tags)}
        self.record = await self._client.call(calls.describe(self.id, changes))
        return self

    async def clone(self, changes: Mapping[str, Any] | None = None) -> AsyncJob:
        """A new job like it, with a merge patch of its job file."""
        return AsyncJob(
            self._client, await self._client.call(calls.steer(self.id, "clone", changes))
        )

    async def archive(self, archived: bool = True) -> AsyncJob:
        """Have lists leave it out, or show it again; it is paused or has ended."""
        changes = {"archived": archived}
        self.record = await self._client.call(calls.describe(self.id, changes))
        return self

    async def delete(self) -> None:
        """Delete it with its trials, once it is paused or has ended."""
        await self._client.call(calls.delete(self.id))

    async def best(self) -> Best:
        """The best configuration so far.

        Raises:
            Refused: No trial has completed yet (409).
        """
        return await self._client.call(calls.best(self.id))

    async def importance(self) -> Importance:
        """How much each parameter decided the simulated time."""
        return await self._client.call(calls.importance(self.id))

    async def statistics(self) -> Statistics:
        """Counts of all trials: outcomes, workers, and the fastest of each value."""
        return await self._client.call(calls.statistics(self.id))

    async def trial(self, number: int) -> Trial:
        """One trial with what was measured."""
        return await self._client.call(calls.trial(self.id, number))

    async def trials(self, *, state: str | None = None) -> AsyncIterator[Trial]:
        """Its trials in the order of asking."""
        after: int | None = 0
        while after is not None:
            page, after = await self._client.call(calls.list_trials(self.id, state, after))
            for found in page:
                yield found

    async def table(self, form: str = "csv") -> bytes:
        """All trials as a file: csv, parquet, or optuna."""
        return await self._client.call(calls.table(self.id, form))

    async def export(self, form: str, **wishes: Any) -> bytes:
        """The best configuration as a zip archive.

        Args:
            form: `openmpi`, `slurm`, `cabling`, ... or `all`.
            wishes: `hosts` (their names in the machine's order), `target` (`openmpi-4.1`) with
                `nearest`, `fabric`, `trial` for another than the best; `name` for one file alone.
        """
        return await self._client.call(calls.export(self.id, form, wishes))

    async def files(self) -> dict[str, int]:
        """The files that runs of the program left, by path: how many bytes each has.

        There are such files where the program is built from a source tree.
        """
        return await self._client.call(calls.files(self.id))

    async def file(self, path: str) -> bytes:
        """One of the files that `files` names."""
        return await self._client.call(calls.file(self.id, path))

    async def replay(self, number: int) -> Replay:
        """Simulate a trial again, without cache and cutoff, and compare with what was stored."""
        return await self._client.call(calls.replay(self.id, number))

    async def to_dataframe(self) -> DataFrame:
        """All trials as a data frame of pandas, one row each, by number."""
        from hamtune_client.figures import frame

        return frame(await self.table("parquet"))

    async def plot(self, axes: Any = None) -> Any:
        """Draw its convergence with matplotlib: trials, best so far, baselines; the axes."""
        from hamtune_client.figures import plot

        return plot(await self.to_dataframe(), self.name, axes)

    async def _steer(self, verb: str) -> AsyncJob:
        self.record = await self._client.call(calls.steer(self.id, verb))
        return self
