"""Deliveries: which message of the outbox is sent next, by whom, and what came of it."""

from __future__ import annotations

from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, update

from storage.models import JobRow
from storage.outbox_models import DeliveryRow, SubscriptionRow
from storage.outbox_records import Due
from storage.repository import Repository
from storage.subscriptions import subscription_record

__all__ = ["Deliveries"]

Columns = TypeVarTuple("Columns")


class Deliveries(Repository):
    """Deliveries of all projects, for those who send them."""

    def claim(self, owner: str, seconds: float, most: int) -> list[Due]:
        """Take messages that are due, so that nobody else sends them for some seconds.

        Those of projects of which the fewest are being sent come first: one whose receivers are
        slow does not hold up the others.

        Args:
            owner: Who takes them.
            seconds: For how long.
            most: How many at most.
        """
        with self._database.reading() as session:
            free = _free(self._database.now(session))
            if session.scalar(_shown(select(DeliveryRow.id)).where(free).limit(1)) is None:
                return []  # a read, where trying to take one would be a write
        with self._database.writing() as session:
            now = self._database.now(session)
            rows = session.execute(_next(now, most)).all()
            for row, _ in rows:
                row.tries += 1
                row.claimed_by = owner
                row.claimed_until = now + seconds
            return [
                Due(
                    id=row.id,
                    message=row.message,
                    tries=row.tries,
                    subscription=subscription_record(subscription),
                )
                for row, subscription in rows
            ]

    def finish(
        self,
        identifier: str,
        owner: str,
        tries: int,
        *,
        ok: bool,
        said: str,
        again_in: float | None = None,
    ) -> bool:
        """Keep what came of a try.

        Args:
            identifier: The delivery.
            owner: Who claimed it.
            tries: As it was claimed.
            ok: Whether it arrived.
            said: What came of it, in words.
            again_in: Seconds until it is tried again, where it did not arrive; None for never.

        Returns:
            Whether it was still the owner's; where not, another one tells of it.
        """
        with self._database.writing() as session:
            now = self._database.now(session)
            waits = not ok and again_in is not None
            changed = session.execute(
                update(DeliveryRow)
                .where(
                    DeliveryRow.id == identifier,
                    DeliveryRow.state == "waiting",
                    DeliveryRow.claimed_by == owner,
                    DeliveryRow.tries == tries,
                )
                .values(
                    state="waiting" if waits else "sent" if ok else "failed",
                    next_at=now + (again_in or 0.0),
                    claimed_by=None,
                    claimed_until=None,
                    tried_at=now,
                    answer=said,
                )
            )
            return int(getattr(changed, "rowcount", 0)) > 0

    def void_claims(self) -> None:
        """Let go of all claims: those who made them are dead."""
        with self._database.writing() as session:
            # In the order in which a new incumbent locks them: nobody waits in a circle.
            claimed = (
                select(DeliveryRow.id)
                .where(DeliveryRow.state == "waiting", DeliveryRow.claimed_by.is_not(None))
                .order_by(DeliveryRow.subscription_id, DeliveryRow.id)
                .with_for_update()
            )
            session.execute(
                update(DeliveryRow)
                .where(DeliveryRow.id.in_(claimed))
                .values(claimed_by=None, claimed_until=None)
            )

    def count_waiting(self) -> int:
        """How many messages of all projects were not sent yet."""
        with self._database.reading() as session:
            waiting = _shown(select(func.count(DeliveryRow.id))).where(
                DeliveryRow.state == "waiting"
            )
            return session.scalar(waiting) or 0

    def forget(self, older_than: float) -> int:
        """Delete what was sent, or given up, so many seconds ago; how many there were."""
        with self._database.writing() as session:
            before = self._database.now(session) - older_than
            # What somebody else has locked is going with its subscription, or goes the next time:
            # to wait for it, holding others that they wait for, could last for ever.
            old = (
                select(DeliveryRow.id)
                .where(DeliveryRow.state != "waiting", DeliveryRow.tried_at < before)
                .order_by(DeliveryRow.id)
                .with_for_update(skip_locked=True)
            )
            gone = session.execute(delete(DeliveryRow).where(DeliveryRow.id.in_(old)))
            return int(getattr(gone, "rowcount", 0))


def _next(now: float, most: int) -> Select[DeliveryRow, SubscriptionRow]:
    """Those to take next, with whom they go to, locked."""
    # Counted once for all: within a transaction that others wait for there may be many due.
    under_way = (
        select(DeliveryRow.project, func.count().label("messages"))
        .where(DeliveryRow.state == "waiting", DeliveryRow.claimed_until > now)
        .group_by(DeliveryRow.project)
        .subquery()
    )
    return (
        _shown(select(DeliveryRow, SubscriptionRow))
        .outerjoin(under_way, under_way.c.project == DeliveryRow.project)
        .where(_free(now))
        .order_by(func.coalesce(under_way.c.messages, 0), DeliveryRow.next_at, DeliveryRow.id)
        .limit(most)
        .with_for_update(of=DeliveryRow, skip_locked=True)
    )


def _free(now: float) -> ColumnElement[bool]:
    return and_(
        DeliveryRow.state == "waiting",
        DeliveryRow.next_at <= now,
        or_(DeliveryRow.claimed_until.is_(None), DeliveryRow.claimed_until <= now),
    )


def _shown(statement: Select[*Columns]) -> Select[*Columns]:
    """Without messages to subscribers of a deleted job, which wait until it is restored."""
    return (
        statement.join(SubscriptionRow, SubscriptionRow.id == DeliveryRow.subscription_id)
        .outerjoin(JobRow, JobRow.id == SubscriptionRow.job_id)
        .where(JobRow.deleted_at.is_(None))
    )
