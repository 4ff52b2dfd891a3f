"""How many tests of subscriptions somebody may send, whichever server they ask."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from storage.errors import Throttled
from storage.identifiers import new_id
from storage.outbox_models import AllowanceRow
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["Allowance", "Allowances", "ProjectAllowances"]


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What each may send.

    Attributes:
        burst: Tests after a rest.
        seconds: In which as many come back.
        at_once: Tests that are being sent at the same time.
        hold_seconds: After which one that was begun counts as ended: its server is dead.
    """

    burst: int
    seconds: float
    at_once: int
    hold_seconds: float


class ProjectAllowances(ScopedRepository):
    """How many tests those of a project may send: a token bucket for each."""

    def begin(self, principal: str, allowance: Allowance) -> str:
        """Count a test that is to be sent now; what ends it with `end`.

        Raises:
            Throttled: Too many were sent or are being sent.
        """
        with self._database.writing() as session:
            row = self._allowance(session, principal, allowance.burst)
            now = max(row.at, self._database.now(session))
            under_way = {one: until for one, until in row.under_way.items() if until > now}
            if len(under_way) >= allowance.at_once:
                raise Throttled("other tests are being sent", 1)
            rate = allowance.burst / allowance.seconds
            level = min(allowance.burst, row.level + (now - row.at) * rate)
            if level < 1.0:
                raise Throttled(
                    f"{allowance.burst} tests were sent lately", math.ceil((1.0 - level) / rate)
                )
            identifier = new_id()
            row.level, row.at = level - 1.0, now
            row.under_way = {**under_way, identifier: now + allowance.hold_seconds}
            return identifier

    def end(self, principal: str, identifier: str) -> None:
        """Count a test as sent."""
        with self._database.writing() as session:
            row = session.scalars(self._of(principal)).one_or_none()
            if row is not None:
                row.under_way = {
                    one: until for one, until in row.under_way.items() if one != identifier
                }

    def _allowance(self, session: Session, principal: str, burst: int) -> AllowanceRow:
        """The row of somebody, locked."""
        while (row := session.scalars(self._of(principal)).one_or_none()) is None:
            values = {"id": new_id(), "project": self._scope.home, "principal": principal}
            start = {"level": float(burst), "at": self._database.now(session), "under_way": {}}
            self._database.insert_new(session, AllowanceRow, values | start)
        return row

    def _of(self, principal: str) -> Select[AllowanceRow]:
        return (
            select(AllowanceRow)
            .where(AllowanceRow.project == self._scope.home, AllowanceRow.principal == principal)
            .with_for_update()
        )


class Allowances(ForAllProjects, ProjectAllowances):
    """Allowances of all projects, for those who tidy up."""

    def forget(self, older_than: float) -> None:
        """Delete what is known of those who have sent no test for so many seconds."""
        with self._database.writing() as session:
            before = self._database.now(session) - older_than
            old = (
                select(AllowanceRow.id)
                .where(AllowanceRow.at < before)
                .with_for_update(skip_locked=True)
            )
            session.execute(delete(AllowanceRow).where(AllowanceRow.id.in_(old)))
