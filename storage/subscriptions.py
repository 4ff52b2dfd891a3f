"""Subscriptions: who wants to hear of a project's jobs, and what was sent to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from storage.errors import NotFound, QuotaExceeded
from storage.identifiers import new_id
from storage.job_rows import lock_job
from storage.models import JobRow, ProjectRow
from storage.outbox import put
from storage.outbox_models import DeliveryRow, SubscriptionRow
from storage.outbox_records import (
    ENDS,
    MOST_SUBSCRIPTIONS,
    TEST,
    Delivery,
    DeliveryState,
    Subscription,
    SubscriptionKind,
)
from storage.pagination import newest_first
from storage.records import Page
from storage.repository import ScopedRepository

__all__ = ["Subscriptions", "is_shown", "subscription_record"]


class Subscriptions(ScopedRepository):
    """Subscriptions, of one project or of all."""

    def add(
        self,
        *,
        kind: SubscriptionKind,
        target: str,
        secret: str | None,
        events: Collection[str],
        pause_seconds: float,
        owner: str,
        name: str = "",
        job_id: str | None = None,
    ) -> Subscription:
        """Subscribe to a job, or to all jobs of a project: one's own, or the default one.

        A job that has ended already is told of at once, so that nothing is missed between the
        making of a job and the subscription to it.

        Raises:
            NotFound: The project has no such job.
            QuotaExceeded: The project has `MOST_SUBSCRIPTIONS` already.
        """
        with self._database.writing() as session:
            job = None if job_id is None else self._job(session, job_id)
            project = self._scope.home if job is None else job.project
            # Whoever else subscribes waits here, so that what is counted is still true below.
            session.execute(
                select(ProjectRow.name)
                .where(ProjectRow.name == project)
                .with_for_update(key_share=True)
            )
            # With those of deleted jobs, which may be restored.
            number = select(func.count()).where(SubscriptionRow.project == project)
            if (session.scalar(number) or 0) >= MOST_SUBSCRIPTIONS:
                raise QuotaExceeded(
                    f"project {project} has {MOST_SUBSCRIPTIONS} subscriptions; remove one first"
                )
            now = self._database.now(session)
            row = SubscriptionRow(
                id=new_id(),
                project=project,
                owner=owner,
                name=name,
                job_id=job_id,
                kind=kind,
                target=target,
                secret=secret,
                events=list(events),
                pause_seconds=pause_seconds,
                created_at=now,
            )
            session.add(row)
            session.flush()
            if job is not None and job.state in ENDS and job.state in events:
                put(session, row, job, job.state, now)
            return subscription_record(row)

    def get(self, subscription_id: str) -> Subscription:
        """One subscription.

        Raises:
            NotFound: The project has none with this id.
        """
        with self._database.reading() as session:
            return subscription_record(self._subscription(session, subscription_id))

    def page(
        self, *, job_id: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[Subscription]:
        """Subscriptions, newest first; with a job, those to this job alone.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        statement = self._scope.visible(select(SubscriptionRow), SubscriptionRow.project)
        statement = statement.where(is_shown())
        if job_id is not None:
            statement = statement.where(SubscriptionRow.job_id == job_id)
        with self._database.reading() as session:
            return newest_first(
                session,
                statement,
                SubscriptionRow.id,
                subscription_record,
                limit=limit,
                cursor=cursor,
            )

    def delete(self, subscription_id: str) -> None:
        """End a subscription; what was not sent yet is not sent any more.

        Raises:
            NotFound: The project has none with this id.
        """
        with self._database.writing() as session:
            self._subscription(session, subscription_id)
            session.execute(delete(SubscriptionRow).where(SubscriptionRow.id == subscription_id))

    def deliveries(
        self, subscription_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> Page[Delivery]:
        """What was sent to a subscriber and what waits, newest first.

        Raises:
            NotFound: The project has no such subscription.
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            self._subscription(session, subscription_id)
            statement = select(DeliveryRow).where(DeliveryRow.subscription_id == subscription_id)
            return newest_first(
                session, statement, DeliveryRow.id, _record, limit=limit, cursor=cursor
            )

    def add_test(
        self, subscription_id: str, identifier: str, message: dict[str, Any], *, ok: bool, said: str
    ) -> Delivery:
        """Keep what came of a message that was sent as a test.

        Raises:
            NotFound: The subscription was removed meanwhile.
        """
        with self._database.writing() as session:
            subscription = self._subscription(session, subscription_id, held=True)
            now = self._database.now(session)
            row = DeliveryRow(
                id=identifier,
                subscription_id=subscription_id,
                project=subscription.project,
                job_id=subscription.job_id,
                event=TEST,
                message=message,
                state="sent" if ok else "failed",
                tries=1,
                created_at=now,
                due_at=now,
                next_at=now,
                tried_at=now,
                answer=said,
            )
            session.add(row)
            return _record(row)

    def _subscription(
        self, session: Session, subscription_id: str, *, held: bool = False
    ) -> SubscriptionRow:
        """A subscription of the project; `held` is not removed before the transaction ends."""
        statement = select(SubscriptionRow).where(SubscriptionRow.id == subscription_id, is_shown())
        if held:
            statement = statement.with_for_update(read=True, key_share=True)
        row = session.scalars(self._scope.visible(statement, SubscriptionRow.project)).one_or_none()
        if row is None:
            raise NotFound(f"there is no subscription {subscription_id}")
        return row

    def _job(self, session: Session, job_id: str) -> JobRow:
        """A job of the project, locked: it does not end between the look and the subscription."""
        found = select(JobRow.id).where(JobRow.id == job_id)
        if session.scalar(self._scope.visible(found, JobRow.project)) is None:
            raise NotFound(f"there is no job {job_id}")
        return lock_job(session, job_id)


def is_shown() -> ColumnElement[bool]:
    """Whether a subscription is to a job that is there, or to all of a project."""
    deleted = select(JobRow.id).where(JobRow.deleted_at.is_not(None))
    return or_(SubscriptionRow.job_id.is_(None), SubscriptionRow.job_id.not_in(deleted))


def subscription_record(row: SubscriptionRow) -> Subscription:
    """The value of a row."""
    return Subscription(
        id=row.id,
        project=row.project,
        owner=row.owner,
        name=row.name,
        job_id=row.job_id,
        kind=cast("SubscriptionKind", row.kind),
        target=row.target,
        secret=row.secret,
        events=tuple(row.events),
        pause_seconds=row.pause_seconds,
        created_at=row.created_at,
    )


def _record(row: DeliveryRow) -> Delivery:
    return Delivery(
        id=row.id,
        subscription_id=row.subscription_id,
        job_id=row.job_id,
        event=row.event,
        state=cast("DeliveryState", row.state),
        tries=row.tries,
        created_at=row.created_at,
        next_at=row.next_at if row.state == "waiting" else None,
        tried_at=row.tried_at,
        answer=row.answer,
    )
