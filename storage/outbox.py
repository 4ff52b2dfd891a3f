"""The outbox: messages to subscribers, stored in the transaction of the change they tell of.

Whoever calls has locked the job, so that there is one change of a job at a time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from storage.identifiers import new_id
from storage.models import JobRow
from storage.outbox_models import DeliveryRow, SubscriptionRow
from storage.outbox_records import INCUMBENT
from storage.records import Job

__all__ = ["message_of", "note_end", "note_incumbent", "put", "told_of"]


def note_end(session: Session, job: JobRow, now: float) -> None:
    """Store messages that a job has ended, as its row says."""
    for subscription in session.scalars(_about(job.id, job.project)).all():
        told = job.state in subscription.events
        if INCUMBENT in subscription.events:
            last = session.scalars(_last_incumbent(subscription.id, job.id)).one_or_none()
            if last is not None and last.state == "waiting" and last.tries == 0:
                if told:
                    session.delete(last)  # the message of the end has the best one
                else:
                    last.next_at = now  # there will be no other
        if told:
            put(session, subscription, job, job.state, now)


def note_incumbent(session: Session, job_id: str, now: float) -> None:
    """Store messages that a job has a new incumbent, which its row has already.

    Of several within the pause that a subscriber asked for, the last one is told at its end.
    """
    whose = select(JobRow.project).where(JobRow.id == job_id).scalar_subquery()
    found = [one for one in session.scalars(_about(job_id, whose)).all() if INCUMBENT in one.events]
    if not found:
        return
    job = session.get_one(JobRow, job_id, populate_existing=True)
    for subscription in found:
        last = session.scalars(_last_incumbent(subscription.id, job_id)).one_or_none()
        if last is None:
            put(session, subscription, job, INCUMBENT, now)
        elif last.state == "waiting" and last.tries == 0:
            last.message = message_of(job, INCUMBENT, now)
        else:
            due = max(now, last.due_at + subscription.pause_seconds)
            put(session, subscription, job, INCUMBENT, now, due)


def put(
    session: Session,
    subscription: SubscriptionRow,
    job: JobRow,
    event: str,
    now: float,
    due: float | None = None,
) -> None:
    """Store a message to a subscriber, to be sent at once or when it is due."""
    session.add(
        DeliveryRow(
            id=new_id(),
            subscription_id=subscription.id,
            project=subscription.project,
            job_id=job.id,
            event=event,
            message=message_of(job, event, now),
            state="waiting",
            tries=0,
            created_at=now,
            due_at=now if due is None else due,
            next_at=now if due is None else due,
        )
    )


def message_of(job: JobRow, event: str, now: float) -> dict[str, Any]:
    """What a message tells of a job."""
    best = None
    if job.best_trial is not None:
        best = {"trial": job.best_trial, "value": job.best_value}
    return {
        "event": event,
        "at": now,
        "project": job.project,
        "job": told_of(job),
        "best": best,
    }


def told_of(job: JobRow | Job) -> dict[str, Any]:
    """A job as messages show it."""
    return {
        "id": job.id,
        "name": job.name,
        "state": job.state,
        "error": job.error,
        "ended_because": job.ended_because,
    }


def _about(job_id: str, project: Any) -> Select[SubscriptionRow]:
    """Who wants to hear of a job; nobody is removed before the messages to them are stored."""
    of_all = SubscriptionRow.job_id.is_(None)
    return (
        select(SubscriptionRow)
        .where(SubscriptionRow.project == project, or_(of_all, SubscriptionRow.job_id == job_id))
        .order_by(SubscriptionRow.id)
        .with_for_update(read=True, key_share=True)
    )


def _last_incumbent(subscription_id: str, job_id: str) -> Select[DeliveryRow]:
    return (
        select(DeliveryRow)
        .where(
            DeliveryRow.subscription_id == subscription_id,
            DeliveryRow.job_id == job_id,
            DeliveryRow.event == INCUMBENT,
        )
        .order_by(DeliveryRow.due_at.desc(), DeliveryRow.id.desc())
        .limit(1)
        .with_for_update()
    )
