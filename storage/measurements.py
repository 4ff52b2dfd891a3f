"""What exports gained on real clusters, as those who ran them have sent it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from storage.identifiers import new_id
from storage.job_rows import absent_job
from storage.models import JobRow, MeasurementRow
from storage.records import Measurement
from storage.repository import ScopedRepository

__all__ = ["Measurements"]


class Measurements(ScopedRepository):
    """Measurements of jobs, of one project or of all."""

    def add(self, job_id: str, document: dict[str, Any]) -> Measurement:
        """Keep a measurement of a job's export.

        Raises:
            NotFound: There is no such job.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = session.get(JobRow, job_id)
            if job is None or job.deleted_at is not None:
                raise absent_job(job_id, job)
            row = MeasurementRow(
                id=new_id(),
                job_id=job_id,
                created_at=self._database.now(session),
                document=document,
            )
            session.add(row)
            session.flush()
            return _record(row)

    def of_job(self, job_id: str, limit: int = 200) -> list[Measurement]:
        """The measurements of a job, newest first."""
        self._scope.admit_job(job_id)
        statement = (
            select(MeasurementRow)
            .where(MeasurementRow.job_id == job_id)
            .order_by(MeasurementRow.id.desc())
            .limit(limit)
        )
        with self._database.reading() as session:
            return [_record(row) for row in session.scalars(statement)]


def _record(row: MeasurementRow) -> Measurement:
    return Measurement(
        id=row.id, job_id=row.job_id, created_at=row.created_at, document=row.document
    )
