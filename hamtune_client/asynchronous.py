"""The client for programs that do other things while they wait.

`asynchronous*.py` are the source of `synchronous*.py`: `python -m deploy.client` writes these.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx

from hamtune_client import calls, job_calls, service_calls
from hamtune_client.asynchronous_scripts import AsyncScripts
from hamtune_client.asynchronous_service import AsyncService
from hamtune_client.calls import PAUSE_SECONDS, TRIES, HamtuneClientError, Refused, Unreachable
from hamtune_client.listings import JobList, TrialList
from hamtune_client.live import display
from hamtune_client.models import (
    ENDED,
    Best,
    Deletion,
    Event,
    Front,
    Importance,
    JobRecord,
    Replay,
    Statistics,
    Trial,
)
from hamtune_client.records import NewSubscription

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["AsyncClient", "AsyncJob"]


class AsyncClient(AsyncService):
    """A connection to a service.

    Args:
        url: Where it is; `HAMTUNE_SERVER`, else the service that runs over the data directory
            (`HAMTUNE_DATA`), else this machine, port 8080.
        key: If it asks for one; `HAMTUNE_API_KEY` where nothing is said.
        transport: Of httpx, for tests and proxies.
    """

    async def submit(self, spec: Mapping[str, Any] | str | Path) -> AsyncJob:
        """Create a job.

        Args:
            spec: The job file's content, its YAML text, or its path. Traces and source trees that
                it names, relative to the file, are uploaded.

        Raises:
            Refused: It cannot be used; `errors` names the fields.
            HamtuneClientError: A file is missing, or it is no job file at all.
        """
        return AsyncJob(self, await self.call(calls.create(await self.document(spec))))

    async def jobs(
        self,
        *,
        state: str | None = None,
        search: str | None = None,
        tag: str | None = None,
        archived: calls.Archived = "exclude",
        deleted: calls.Deleted = "exclude",
    ) -> AsyncIterator[AsyncJob]:
        """Jobs, newest first, of a state, with a tag, and a text in their name, where given.

        With `deleted="only"` those that can be restored, until their `restorable_until`.
        """
        cursor = None
        while True:
            page, cursor = await self.call(
                calls.list_jobs(state, search, tag, archived, deleted, cursor)
            )
            for record in page:
                yield AsyncJob(self, record)
            if cursor is None:
                return

    async def list_jobs(
        self,
        *,
        limit: int = 20,
        state: str | None = None,
        search: str | None = None,
        tag: str | None = None,
        archived: calls.Archived = "exclude",
        deleted: calls.Deleted = "exclude",
    ) -> JobList[AsyncJob]:
        """The newest jobs as a list, which notebooks show as a table; arguments as of `jobs`."""
        found = JobList[AsyncJob]()
        async for job in self.jobs(
            state=state, search=search, tag=tag, archived=archived, deleted=deleted
        ):
            if len(found) == limit:
                break
            found.append(job)
        return found

    async def restore(self, reference: str) -> AsyncJob:
        """Bring a deleted job back as it was, by its id, or its name if one deleted job has it.

        Raises:
            Refused: There is no such job, or it is gone for good (404).
            HamtuneClientError: Several deleted jobs have the name.
        """
        named = await self.call(service_calls.deleted_jobs_named(reference))
        if len(named) > 1:
            ids = ", ".join(record.id for record in named[:5])
            raise HamtuneClientError(
                f"several deleted jobs are called {reference!r}; say which by id, newest first: "
                f"{ids}"
            )
        job_id = named[0].id if named else reference
        return AsyncJob(self, await self.call(calls.steer(job_id, "restore")))

    async def job(self, reference: str) -> AsyncJob:
        """The job with this id, or the only one with this name, archived ones aside.

        Raises:
            Refused: There is none (404).
            HamtuneClientError: Several have the name.
        """
        named = await self.call(service_calls.jobs_named(reference, "include"))
        if len(named) > 1:
            named = await self.call(service_calls.jobs_named(reference, "exclude")) or named
        if len(named) > 1:
            ids = ", ".join(record.id for record in named[:5])
            more = " or more" if len(named) == service_calls.NAMESAKES else ""
            raise HamtuneClientError(
                f"{len(named)}{more} jobs are called {reference!r}; say which by id, "
                f"newest first: {ids}"
            )
        if named:
            return AsyncJob(self, named[0])
        return AsyncJob(self, await self.call(calls.get_job(reference)))


class AsyncJob(AsyncScripts):
    """A job of the service; `record` is what was known of it when it was last asked for."""

    def __init__(self, client: AsyncClient, record: JobRecord) -> None:
        super().__init__(client, record)
        self._client: AsyncClient = client

    async def refresh(self) -> AsyncJob:
        """Ask how it is."""
        self.record = await self._client.call(calls.get_job(self.id))
        return self

    async def wait(self, *, timeout: float | None = None, quiet: bool | None = None) -> AsyncJob:
        """Wait until it has ended or is paused.

        Args:
            timeout: Seconds, after which to give up.
            quiet: Whether to show nothing; by default its progress is shown in notebooks and
                terminals, and nowhere else.

        Raises:
            HamtuneClientError: It has neither ended nor is paused within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        shown = display(quiet)
        try:
            while True:
                shown.show((await self.refresh()).record)
                if self.state in (*ENDED, "paused"):
                    return self
                if deadline is not None and time.monotonic() >= deadline:
                    raise HamtuneClientError(f"job {self.id} is {self.state} after {timeout} s")
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            shown.end()

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
                    raise Unreachable(f"the events of job {self.id} broke off: {error}") from None
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

    async def subscribe(
        self,
        target: str,
        *,
        events: Sequence[str] | None = None,
        pause_seconds: float | None = None,
    ) -> NewSubscription:
        """Have a webhook called, or a mail sent, when it ends: see `Client.subscribe`."""
        return await self._client.subscribe(
            target, job_id=self.id, events=events, pause_seconds=pause_seconds
        )

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

    async def delete(self, *, now: bool = False) -> Deletion:
        """Delete it with its trials, once it is paused or has ended; `restore` brings it back.

        Args:
            now: For good, at once, also where it was deleted already. Nothing undoes this.
        """
        return await self._client.call(calls.delete(self.id, now))

    async def restore(self) -> AsyncJob:
        """Bring it back as it was, after it was deleted."""
        return await self._steer("restore")

    async def best(self) -> Best:
        """The best configuration so far.

        Raises:
            Refused: No trial has completed yet (409).
        """
        return await self._client.call(calls.best(self.id))

    async def importance(self) -> Importance:
        """How much each parameter decided the simulated time."""
        return await self._client.call(calls.importance(self.id))

    async def front(
        self,
        by: Literal["cost", "power", "energy"] | None = None,
        *,
        reference: tuple[float, float] | None = None,
    ) -> Front:
        """What no other trial beats in both time and price; `reference`: seconds and price."""
        return await self._client.call(calls.front(self.id, by, reference))

    async def statistics(self) -> Statistics:
        """Counts of all trials: outcomes, workers, and the fastest of each value."""
        return await self._client.call(calls.statistics(self.id))

    async def trial(self, number: int, *, whole: bool = False) -> Trial:
        """One trial with what was measured; of long lists of ranks or cables all with `whole`."""
        call = job_calls.whole_trial if whole else calls.trial
        return await self._client.call(call(self.id, number))

    async def trials(self, *, state: str | Sequence[str] | None = None) -> AsyncIterator[Trial]:
        """Its trials in the order of asking, of a state or of several where given."""
        after: int | None = 0
        while after is not None:
            page, after = await self._client.call(calls.list_trials(self.id, state, after))
            for found in page:
                yield found

    async def list_trials(
        self, *, limit: int = 50, state: str | Sequence[str] | None = None
    ) -> TrialList:
        """The first trials as a list, which notebooks show as a table; `rows` sorts them."""
        found = TrialList()
        async for trial in self.trials(state=state):
            if len(found) == limit:
                break
            found.append(trial)
        return found

    async def table(self, form: str = "csv", *, state: str | Sequence[str] | None = None) -> bytes:
        """All trials, or those of a state or several, as a file: csv, parquet, or optuna."""
        return await self._client.call(calls.table(self.id, form, state))

    async def export(self, form: str, **options: Any) -> bytes:
        """The best configuration as a zip archive.

        Args:
            form: `openmpi`, `slurm`, `cabling`, ... or `all`.
            options: `hosts` (their names in the machine's order), `target` (`openmpi-4.1`) with
                `nearest`, `fabric`, `trial` for another than the best; `name` for one file alone.
        """
        return await self._client.call(calls.export(self.id, form, options))

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
        """All trials as a data frame of pandas, one row each, by number.

        With pyarrow here and at the service columns have the types that they have there.

        Raises:
            HamtuneClientError: pandas is not installed.
        """
        from hamtune_client.figures import form_of_table, frame

        form = form_of_table()
        try:
            return frame(await self.table(form), form)
        except Refused:  # a service without pyarrow
            return frame(await self.table("csv"), "csv")

    async def plot(self, axes: Any = None) -> Any:
        """Draw its convergence with matplotlib: trials, best so far, baselines.

        Args:
            axes: To draw into; None for new ones.

        Returns:
            The axes; `.figure.savefig("job.png")` saves what is drawn.

        Raises:
            HamtuneClientError: matplotlib is not installed, or `axes` are none.
        """
        from hamtune_client.figures import plot, rows

        return plot(rows(await self.table("csv")), self.name, axes)

    async def _steer(self, verb: str) -> AsyncJob:
        self.record = await self._client.call(calls.steer(self.id, verb))
        return self
