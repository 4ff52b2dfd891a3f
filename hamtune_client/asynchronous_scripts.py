"""What scripts do with a job: propose configurations, or measure those that its search asks."""

from __future__ import annotations

import asyncio
import platform
import uuid
from collections.abc import Mapping
from typing import Any

from hamtune_client import calls
from hamtune_client.asynchronous_connection import AsyncConnection
from hamtune_client.asynchronous_results import AsyncResults
from hamtune_client.calls import PAUSE_SECONDS, WAIT_SECONDS
from hamtune_client.known import KnownTrial
from hamtune_client.models import ENDED, Asked, JobRecord, Proposal, Space, Trial

__all__ = ["AsyncAskedTrial", "AsyncScripts"]


class AsyncScripts(AsyncResults):
    """A job in which scripts take part."""

    async def space(self) -> Space:
        """What it chooses from; waits until the job is prepared.

        Raises:
            HamtuneClientError: It ended before.
        """
        while self.record.space is None:
            if (await self._again()).state in ENDED:
                raise self._spaceless()
            if self.record.space is None:
                await asyncio.sleep(PAUSE_SECONDS)
        return Space.model_validate(self.record.space)

    async def propose(
        self, configuration: Mapping[str, Any], *, key: str | None = None
    ) -> Proposal:
        """Have a configuration simulated, in a job with `external: proposals`; does not wait.

        Args:
            configuration: A value for each parameter of `space`, by name.
            key: For scripts that may be started again: proposed with the same key it is the same
                proposal.

        Raises:
            Refused: It is no point of the space, or the job takes none (now).
        """
        return await self._propose(configuration, key, 0.0)

    async def proposal(self, place: int) -> Proposal:
        """What became of a proposal."""
        return await self._client.call(calls.proposal(self.id, place, 0.0))

    async def evaluate(self, configuration: Mapping[str, Any], *, key: str | None = None) -> Trial:
        """Have a configuration simulated, and wait for what it comes to: see `propose`.

        Several threads or tasks may do so at once.

        Returns:
            The trial: `completed` with its `value`, `censored` with a lower bound, or `infeasible`
            or `failed` with the `reason`.

        Raises:
            Refused: It is no point of the space, or the job takes none (now).
            HamtuneClientError: The job ended before.
        """
        found = await self._propose(configuration, key, WAIT_SECONDS)
        while not found.settled:
            found = await self._client.call(calls.proposal(self.id, found.place, WAIT_SECONDS))
        return self._outcome(found)

    async def _propose(
        self, configuration: Mapping[str, Any], key: str | None, wait: float
    ) -> Proposal:
        if self.record.space is None:
            await self.space()
        key = key or uuid.uuid4().hex
        return await self._client.call(calls.propose(self.id, configuration, key, wait))

    async def ask(
        self, *, asker: str | None = None, seconds: float = 3600.0, key: str | None = None
    ) -> AsyncAskedTrial | None:
        """The next trial to measure, in a job with `external: measurements`; waits for one.

        Args:
            asker: Who measures it, for people; by default the name of this machine.
            seconds: How long nobody else is given it; what is not told by then may be asked again.
            key: For scripts that may be started again: asked with the same key it is the same
                trial, whose `state` tells whether it is still to be measured.

        Returns:
            None where the job has ended: there is no other.

        Raises:
            Refused: The job is paused.
        """
        key = key or uuid.uuid4().hex
        while True:
            call = calls.ask(self.id, asker or _this_machine(), seconds, key, WAIT_SECONDS)
            asked, state = await self._client.call(call)
            if asked is not None:
                return AsyncAskedTrial(self._client, self.id, asked)
            if state in ENDED:
                await self._again()
                return None

    async def _again(self) -> JobRecord:
        self.record = await self._client.call(calls.get_job(self.id))
        return self.record


def _this_machine() -> str:
    name = platform.node()
    return name if name and name.isascii() and name.isprintable() else "script"


class AsyncAskedTrial(KnownTrial):
    """A trial that this script has, to measure its `configuration`."""

    def __init__(self, client: AsyncConnection, job_id: str, asked: Asked) -> None:
        super().__init__(asked)
        self._client = client
        self._job_id = job_id

    async def tell(self, value: float, *, stopped: bool = False) -> Trial:
        """Tell how many seconds it took; told again, that changes nothing.

        Args:
            value: Seconds.
            stopped: It was stopped then, as at its `cutoff`, and takes at least so long.

        Raises:
            Refused: It was told otherwise before, or was given to another after its time.
        """
        return await self._tell("censored" if stopped else "completed", value, None)

    async def fail(self, reason: str, *, infeasible: bool = False) -> Trial:
        """Tell that it has no time, and why.

        Args:
            reason: For people.
            infeasible: No such configuration can be run there; otherwise a run failed.

        Raises:
            Refused: As for `tell`.
        """
        return await self._tell("infeasible" if infeasible else "failed", None, reason)

    async def release(self) -> Trial:
        """Hand it back unmeasured: who asks next is given it."""
        return await self._client.call(calls.release(self._job_id, self.asked))

    async def _tell(self, status: str, value: float | None, reason: str | None) -> Trial:
        call = calls.tell(self._job_id, self.asked, status, value, reason)
        return await self._client.call(call)
