"""Programs of one's own at the service, awaited."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

from hamtune_client import html, service_calls
from hamtune_client.asynchronous_connection import AsyncConnection
from hamtune_client.calls import PAUSE_SECONDS, HamtuneClientError
from hamtune_client.records import ApplicationRecord

__all__ = ["AsyncApplication"]


class AsyncApplication:
    """A program; `record` is what was known of it when it was last asked for."""

    def __init__(self, client: AsyncConnection, record: ApplicationRecord) -> None:
        self.record = record
        self._client = client

    @property
    def id(self) -> str:
        """Its id, which a job names under `application`."""
        return self.record.id

    @property
    def state(self) -> str:
        """`ready` with a trace; `new`, `capturing` or `failed` before, when last asked for."""
        return self.record.state

    async def refresh(self) -> AsyncApplication:
        """Ask how it is."""
        self.record = await self._client.call(service_calls.application(self.id))
        return self

    async def wait(self, *, timeout: float | None = None) -> AsyncApplication:
        """Wait until a job has had it captured, or that has failed.

        Raises:
            HamtuneClientError: It is neither within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (await self.refresh()).state not in ("ready", "failed"):
            if deadline is not None and time.monotonic() >= deadline:
                raise HamtuneClientError(
                    f"{self.record.name} is {self.state} after {timeout} s; "
                    "a program is captured when a job needs it"
                )
            await asyncio.sleep(PAUSE_SECONDS)
        return self

    async def log(self, which: Literal["build", "run"] = "build", *, after: int = 0) -> str:
        """What building or running it printed so far, without the first `after` characters."""
        return await self._client.call(service_calls.application_log(self.id, which, after))

    async def files(self) -> dict[str, int]:
        """The files that its runs left, by path: how many bytes each has."""
        return await self._client.call(service_calls.application_files(self.id))

    async def file(self, path: str) -> bytes:
        """One of the files that `files` names."""
        return await self._client.call(service_calls.application_file(self.id, path))

    def __repr__(self) -> str:
        ranks = self.record.ranks
        return f"<Application {self.record.name!r} {self.id}: {self.state}, {ranks} ranks>"

    def _repr_html_(self) -> str:
        return html.application(self.record)
