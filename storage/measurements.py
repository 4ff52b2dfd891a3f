"""What exports gained on real clusters, as those who ran them have sent it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from storage.database import Repository
from storage.identifiers import new_id
from storage.job_rows import absent_job
from storage.models import JobRow, MeasurementRow
from storage.records import Measurement

__all__ = ["Measurements"]


class Measurements(Repository):
    """The methods of `Storage` about measurements."""

    def add_measurement(self, job_id: str, document: dict[str, Any]) -> Measurement:
        """Keep a measurement of a job's export.

        Raises:
            NotFound: There is no such job.
        """
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

    def list_measurements(self, job_id: str, limit: int = 200) -> list[Measurement]:
        """The measurements of a job, newest first."""
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
