"""What the models of searches expected, by job."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.database import Database
from storage.job_rows import hold_lease
from storage.models import OutlookRow, table
from storage.records import OutlookPoint
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["Outlooks", "ProjectOutlooks", "add_outlooks"]

_ROWS = table(OutlookRow)
_POINT = (_ROWS.c.number, _ROWS.c.probability, _ROWS.c.gain)


class ProjectOutlooks(ScopedRepository):
    """What the searches of a project's jobs expected."""

    def of_job(self, job_id: str) -> list[OutlookPoint]:
        """What the search of a job expected as it went, by trial."""
        self._scope.admit_job(job_id)
        statement = select(*_POINT).where(_ROWS.c.job_id == job_id).order_by(_ROWS.c.number)
        with self._database.reading() as session:
            return [OutlookPoint._make(row) for row in session.connection().execute(statement)]

    def last(self, job_ids: Sequence[str]) -> dict[str, OutlookPoint]:
        """What the searches of several jobs expected last; a job without a model is left out."""
        job_ids = self._scope.ours(job_ids)
        last = (
            select(_ROWS.c.job_id, func.max(_ROWS.c.number).label("number"))
            .where(_ROWS.c.job_id.in_(job_ids))
            .group_by(_ROWS.c.job_id)
            .subquery()
        )
        statement = select(_ROWS.c.job_id, *_POINT).join(
            last, (last.c.job_id == _ROWS.c.job_id) & (last.c.number == _ROWS.c.number)
        )
        with self._database.reading() as session:
            rows = session.connection().execute(statement).all()
        return {job_id: OutlookPoint._make(point) for job_id, *point in rows}


class Outlooks(ForAllProjects, ProjectOutlooks):
    """Outlooks of all projects, for coordinators."""

    def store(self, job_id: str, token: int, outlooks: Sequence[OutlookPoint]) -> None:
        """Store what a search expected where no trial is proposed: see `Trials.propose_several`.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        with self._database.writing() as session:
            hold_lease(self._database, session, job_id, token)
            add_outlooks(self._database, session, job_id, outlooks)


def add_outlooks(
    database: Database, session: Session, job_id: str, outlooks: Sequence[OutlookPoint]
) -> None:
    """Store what a search expected; what is stored of a trial already stays as it is."""
    for outlook in outlooks:
        database.insert_new(session, OutlookRow, {"job_id": job_id, **outlook._asdict()})
