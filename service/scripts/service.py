"""What scripts may do: propose configurations of a job's space, ask for trials, tell outcomes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from service.events.feed import EventFeed
from service.scripts.schemas import (
    AskedItem,
    AskedView,
    NewAsk,
    NewProposal,
    NewTell,
    ProposalView,
    Release,
)
from service.trials.schemas import TrialView
from storage.errors import Conflict
from storage.records import FINAL_JOB_STATES, Job
from storage.view import StorageView
from tuner.job_space import read_job, space_of

__all__ = ["ask", "ended", "proposal", "propose", "release", "tell", "waiting"]

T = TypeVar("T")

_FIRST_LOOK = 0.01
_LONGEST_LOOK = 1.0


def propose(storage: StorageView, job_id: str, key: str | None, new: NewProposal) -> ProposalView:
    """Keep a configuration that is to be evaluated.

    Raises:
        NotFound: There is no such job.
        InvalidInput: It is no point of the job's space.
        Conflict: The job takes none (now), or the key was used for another one.
    """
    job = _job(storage, job_id, "proposals")
    if job.space is None:
        raise Conflict(f"job {job_id} is {job.state} and has no space yet; propose when it has")
    spec = read_job(storage, job)
    space = space_of(storage, job, spec).space
    try:
        point = space.canonicalise(Configuration.from_json(new.configuration))
    except InvalidInput as error:
        field = "configuration" if error.field is None else f"configuration.{error.field}"
        raise InvalidInput(error.message, field=field) from None
    proposed = storage.scripts.propose(
        job_id,
        key or uuid.uuid4().hex,
        point.to_dict(),
        point.sha256,
        most=spec.budget.trials,
    )
    return ProposalView.of(proposed, job)


def proposal(storage: StorageView, job_id: str, place: int) -> ProposalView:
    """A configuration that was proposed, as it stands.

    Raises:
        NotFound: There is no such job or proposal.
    """
    # The job first: once it has ended, nothing of a proposal changes.
    job = storage.jobs.get(job_id)
    return ProposalView.of(storage.scripts.proposed(job_id, place), job)


def ask(storage: StorageView, job_id: str, key: str | None, new: NewAsk) -> AskedView:
    """Give out trials to be measured.

    Raises:
        NotFound: There is no such job.
        Conflict: The job gives none out (now), or the key was used otherwise.
    """
    job = _job(storage, job_id, "measurements")
    asked = storage.scripts.ask(job_id, key or uuid.uuid4().hex, new.asker, new.most, new.seconds)
    return AskedView(items=[AskedItem.of(one) for one in asked], job_state=job.state)


def tell(storage: StorageView, job_id: str, number: int, new: NewTell) -> TrialView:
    """Keep what a trial came to.

    Raises:
        NotFound: There is no such job, trial or attempt.
        Conflict: The trial has another outcome, or somebody else has it.
    """
    _job(storage, job_id, "measurements")
    return TrialView.of(storage.scripts.tell(job_id, number, new.attempt, new.outcome))


def release(storage: StorageView, job_id: str, number: int, given: Release) -> TrialView:
    """Take back a trial that was given out.

    Raises:
        NotFound: There is no such job, trial or attempt.
        Conflict: Scripts measure nothing of the job.
    """
    _job(storage, job_id, "measurements")
    return TrialView.of(storage.scripts.release(job_id, number, given.attempt))


async def waiting(
    feed: EventFeed,
    job_id: str,
    seconds: float,
    look: Callable[[], T],
    enough: Callable[[T], bool],
) -> T:
    """What a look shows once it is enough, or once so many seconds are over.

    Args:
        feed: Tells when something happens in the job.
        job_id: The job, which they may see.
        seconds: How long to wait at most; 0 for one look.
        look: Looks at the database.
        enough: Whether there is nothing to wait for.
    """
    found = await run_in_threadpool(look)
    if seconds <= 0.0 or enough(found):
        return found
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    delay = _FIRST_LOOK
    async with feed.watch(job_id) as watcher:
        while not enough(found) and clock() < end and not feed.closed:
            try:
                await asyncio.wait_for(watcher.wake.wait(), min(delay, max(0.0, end - clock())))
            except TimeoutError:
                delay = min(2.0 * delay, _LONGEST_LOOK)
            watcher.wake.clear()
            found = await run_in_threadpool(look)
    return found


async def settled(
    feed: EventFeed, storage: StorageView, job_id: str, place: int, seconds: float
) -> ProposalView:
    """What became of a proposal, once that is known or so many seconds are over.

    Args:
        feed: Tells when something happens in the job.
        storage: Of the job's project.
        job_id: The job.
        place: The proposal's.
        seconds: How long to wait at most; 0 for one look.

    Raises:
        NotFound: There is no such proposal.
    """
    return await waiting(
        feed,
        job_id,
        seconds,
        lambda: proposal(storage, job_id, place),
        lambda found: found.settled,
    )


def ended(view: AskedView) -> bool:
    """Whether an answer has trials, or no other will have any."""
    return bool(view.items) or view.job_state in FINAL_JOB_STATES


def _job(storage: StorageView, job_id: str, external: str) -> Job:
    """A job that scripts take part in, in that way.

    Raises:
        NotFound: There is no such job.
        Conflict: They do not.
    """
    job = storage.jobs.get(job_id)
    found = job.spec.get("external")
    if found != external:
        has = "does not say" if found is None else f"says {found!r} for"
        raise Conflict(f"job {job_id} {has} 'external': scripts need {external!r} there")
    return job
