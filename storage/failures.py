"""Why trials failed, by job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from storage.models import TrialRow, table
from storage.repository import ScopedRepository

__all__ = ["FailureCount", "Failures"]

_TRIALS = table(TrialRow)
_KIND = func.coalesce(_TRIALS.c.reason["kind"].as_string(), "unknown").label("reason_kind")
_MESSAGE = func.coalesce(func.min(_TRIALS.c.reason["message"].as_string()), "")
_COUNTED = (
    select(_TRIALS.c.job_id, _KIND, _MESSAGE, func.count())
    .where(
        _TRIALS.c.job_id.in_(bindparam("job_ids", expanding=True)),
        _TRIALS.c.state == "failed",
    )
    .group_by(_TRIALS.c.job_id, "reason_kind")
)


class FailureCount(NamedTuple):
    """The trials of a job that failed for reasons of one kind."""

    kind: str  # such as `wall`, `memory`, `crash`
    message: str  # of one of them, the first in order of the alphabet; may be empty
    trials: int


class Failures(ScopedRepository):
    """Why trials of jobs failed, of one project or of all."""

    def counts(self, job_ids: Sequence[str]) -> dict[str, list[FailureCount]]:
        """Why trials of several jobs failed, the commonest reasons first.

        Jobs without such a trial are left out.
        """
        job_ids = self._scope.ours(job_ids)
        with self._database.reading() as session:
            rows = session.connection().execute(_COUNTED, {"job_ids": list(job_ids)}).all()
        found: dict[str, list[FailureCount]] = {}
        for job_id, kind, message, count in rows:
            found.setdefault(job_id, []).append(FailureCount(kind, message, count))
        return {
            job_id: sorted(counts, key=lambda one: (-one.trials, one.kind))
            for job_id, counts in found.items()
        }
