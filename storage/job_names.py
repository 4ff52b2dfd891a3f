"""Names of jobs: people tell jobs apart by them, though nothing demands that they differ."""

from __future__ import annotations

from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.models import JobRow

__all__ = ["LONGEST_NAME", "free_name"]

LONGEST_NAME = 200
"""Characters of a job's name, at most."""

_LONGEST_SUFFIX = len("-1000000")


def free_name(session: Session, project: str, name: str) -> str:
    """The first of `name-2`, `name-3`, ... that no job of a project has, archived ones included.

    It stays free only as long as the transaction holds the project's row, as after `admit_job`. A
    long name is cut, so that the number fits in.
    """
    stem = name if len(name) + _LONGEST_SUFFIX <= LONGEST_NAME else name[:-_LONGEST_SUFFIX]
    taken = set(
        session.scalars(
            select(JobRow.name).where(
                JobRow.project == project, JobRow.name.startswith(stem, autoescape=True)
            )
        )
    )
    for number in count(2):
        suffix = f"-{number}"
        free = name[: LONGEST_NAME - len(suffix)] + suffix
        if free not in taken:
            return free
    raise AssertionError("numbers do not end")
