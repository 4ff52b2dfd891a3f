"""Trials as coordinators store them: proposing and settling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, insert, select, update

from storage.errors import NotFound, ReplayDiverged
from storage.identifiers import split_trial_id, trial_id
from storage.job_rows import charge, hold_lease
from storage.outlooks import add_outlooks
from storage.project_rows import spend
from storage.project_trials import ProjectTrials
from storage.proposal import Proposal
from storage.records import (
    FINAL_TRIAL_STATES,
    Outcome,
    OutlookPoint,
    Trial,
)
from storage.repository import ForAllProjects
from storage.trial_rows import (
    ATTEMPTS,
    GET,
    GET_WHOLE,
    LISTED,
    OPEN_ATTEMPT_STATES,
    TRIALS,
    packed_result,
    settle,
    trial_event,
    trial_record,
)

__all__ = ["Trials"]

_INSERT_SEVERAL = insert(TRIALS)
_INSERT = _INSERT_SEVERAL.returning(*LISTED)
_INSERT_ATTEMPT = insert(ATTEMPTS)
_PENDING: dict[str, Any] = dict.fromkeys(
    (
        "value",
        "reason",
        "result",
        "cpu_seconds",
        "wall_seconds",
        "peak_rss_bytes",
        "worker",
        "started_at",
        "finished_at",
    )
)
_IDENTITIES = select(TRIALS.c.number, TRIALS.c.configuration_sha256).where(
    TRIALS.c.job_id == bindparam("job_id"),
    TRIALS.c.number.between(bindparam("first"), bindparam("last")),
)
_FROM = (
    select(*LISTED)
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number >= bindparam("first"))
    .order_by(TRIALS.c.number)
    .limit(bindparam("most", type_=Integer))
)
_LOSE_ATTEMPT = (
    update(ATTEMPTS)
    .where(
        ATTEMPTS.c.job_id == bindparam("its_job"),
        ATTEMPTS.c.trial_number == bindparam("its_number"),
        ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES),
    )
    .values(state="lost", finished_at=bindparam("now"))
)


class Trials(ForAllProjects, ProjectTrials):
    """Trials of jobs of all projects, for the coordinators that propose them."""

    def propose(
        self,
        job_id: str,
        token: int,
        proposal: Proposal,
        *,
        attempt: bool = False,
    ) -> Trial:
        """Store a trial as pending, or return the one that has this number already.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            proposal: What to evaluate.
            attempt: Also open the first attempt at a trial that is new (`Attempts.open` finds it):
                one transaction instead of two.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            ReplayDiverged: Another configuration is stored under this number.
        """
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            number = proposal.number
            row = connection.execute(GET_WHOLE, {"job_id": job_id, "number": number}).one_or_none()
            if row is not None:
                if row.configuration_sha256 != proposal.configuration_sha256:
                    raise ReplayDiverged(
                        f"trial {number} of job {job_id} was proposed with another configuration"
                        " before; the versions of OpenTuner or hamtune may have changed"
                    )
                return trial_record(row, result=row.result)
            row = connection.execute(_INSERT, _new_row(job_id, proposal, now)).one()
            if attempt:
                connection.execute(_INSERT_ATTEMPT, _first_attempt(job_id, number, now))
            self._database.note(session, job_id, "trial", trial_event(row))
            return trial_record(row)

    def propose_several(
        self,
        job_id: str,
        token: int,
        proposals: Sequence[Proposal],
        outlooks: Sequence[OutlookPoint] = (),
        *,
        attempt: bool = True,
    ) -> list[Trial]:
        """Store new trials as pending, each with its first attempt open, in one transaction.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            proposals: With consecutive numbers.
            outlooks: What the search expected when it asked these or earlier trials; one that is
                stored already stays.
            attempt: Otherwise no attempt is opened, and no worker takes one.

        Returns:
            The trials in order.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            ReplayDiverged: There is a trial of one of these numbers.
        """
        numbers = [proposal.number for proposal in proposals]
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            span = {"job_id": job_id, "first": numbers[0], "last": numbers[-1]}
            taken = connection.execute(_IDENTITIES, span).first()
            if taken is not None:
                raise ReplayDiverged(f"trial {taken.number} of job {job_id} was proposed before")
            rows = [_new_row(job_id, proposal, now) for proposal in proposals]
            connection.execute(_INSERT_SEVERAL, rows)
            add_outlooks(self._database, session, job_id, outlooks)
            if attempt:
                first = [_first_attempt(job_id, number, now) for number in numbers]
                connection.execute(_INSERT_ATTEMPT, first)
            trials = [Trial(id=trial_id(job_id, row["number"]), **row, **_PENDING) for row in rows]
            for trial in trials:
                self._database.note(session, job_id, "trial", trial_event(trial))
            return trials

    def settle(self, identifier: str, token: int, outcome: Outcome) -> Trial:
        """Give a trial an outcome that needs no attempt; a trial that has one keeps it.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            NotFound: There is no such trial.
        """
        job_id, number = _split(identifier)
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            is_new = settle(
                self._database,
                session,
                job_id,
                number,
                outcome,
                now,
                result=packed_result(outcome),
            )
            if is_new:
                charge(self._database, session, job_id, outcome)
                connection.execute(
                    _LOSE_ATTEMPT, {"its_job": job_id, "its_number": number, "now": now}
                )
                spend(session, job_id, now, outcome)
            row = connection.execute(GET, {"job_id": job_id, "number": number}).one_or_none()
            if row is None:
                raise NotFound(f"there is no trial {identifier}")
            return trial_record(row, result=outcome.result if is_new else None)

    def finished_from(self, job_id: str, first: int, most: int) -> list[Trial]:
        """The trials from a number on up to one that has no outcome, at most so many.

        Without their results.
        """
        with self._database.reading() as session:
            rows = session.connection().execute(
                _FROM, {"job_id": job_id, "first": first, "most": most}
            )
            finished = itertools.takewhile(lambda row: row.state in FINAL_TRIAL_STATES, rows.all())
            return [trial_record(row) for row in finished]


def _new_row(job_id: str, proposal: Proposal, now: float) -> dict[str, Any]:
    """The row of a trial that waits for its outcome."""
    waiting = {"state": "pending", "cached": False, "created_at": now}
    return {"job_id": job_id, **vars(proposal), **waiting}


def _first_attempt(job_id: str, number: int, now: float) -> dict[str, Any]:
    """The row of a new trial's first attempt, which waits for a worker."""
    return {
        "job_id": job_id,
        "trial_number": number,
        "number": 1,
        "state": "dispatched",
        "dispatched_at": now,
    }


def _split(identifier: str) -> tuple[str, int]:
    parts = split_trial_id(identifier)
    if parts is None:
        raise NotFound(f"there is no trial {identifier}")
    return parts
