"""The evaluation cache: outcomes by the digest of all that determines them, except the cutoff.

An answer is always what a fresh run with the asked cutoff would give, so that a trial has the same
state and value whether it was simulated or not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from sqlalchemy import LargeBinary, bindparam, select, type_coerce
from sqlalchemy.orm import Session

from storage.database import Database
from storage.models import EvaluationRow, table, unpack
from storage.records import DEFAULT_PROJECT, Outcome
from storage.repository import Repository
from storage.trial_rows import packed_result

__all__ = ["Evaluations", "keep_outcome", "key_within"]

# Failures that every run meets. Limits of memory and wall time depend on the job and the host; that
# of messages is part of the key.
_REPEATABLE_FAILURES = ("crash", "deadlock", "invalid", "messages")

_EVALUATIONS = table(EvaluationRow)
_FIND = select(
    *(column for column in _EVALUATIONS.c if column.name != "result"),
    type_coerce(_EVALUATIONS.c.result, LargeBinary).label("packed_result"),
).where(_EVALUATIONS.c.key.in_(bindparam("keys", expanding=True)))


def key_within(project: str, key: str) -> str:
    """The key under which a project keeps an evaluation.

    Projects do not share outcomes: how fast one comes would tell what others have simulated.
    """
    if project == DEFAULT_PROJECT:
        return key
    return hashlib.sha256(f"{project}:{key}".encode()).hexdigest()


class Evaluations(Repository):
    """The evaluation cache."""

    def find(self, key: str, cutoff: float | None) -> Outcome | None:
        """What a run with this cutoff (simulated seconds, None for none) is known to come to.

        A completed outcome above the cutoff answers as censored at it. A censored or failed one
        answers only where its run went at least as far as the cutoff asked for.

        Returns:
            An outcome marked as cached, that costs nothing; None where a run is needed.
        """
        (known,) = self.find_several([(key, cutoff)])
        if known is None or known.packed_result is None:
            return known
        return replace(known, result=unpack(known.packed_result), packed_result=None)

    def find_several(self, asked: Sequence[tuple[str, float | None]]) -> list[Outcome | None]:
        """As `find`, for several keys and cutoffs; results stay packed."""
        with self._database.reading() as session:
            keys = [key for key, _ in asked]
            found = session.connection().execute(_FIND, {"keys": keys}).all()
        rows = {row.key: row for row in found}
        return [_answer(rows[key], cutoff) if key in rows else None for key, cutoff in asked]

    def put(self, key: str, outcome: Outcome, cutoff: float | None) -> None:
        """Keep the outcome of a run with this cutoff, unless what is kept answers more."""
        with self._database.writing() as session:
            now = self._database.now(session)
            keep_outcome(self._database, session, key, outcome, cutoff, now, packed_result(outcome))


def keep_outcome(
    database: Database,
    session: Session,
    key: str,
    outcome: Outcome,
    cutoff: float | None,
    now: float,
    result: bytes | None,
) -> None:
    """Keep an outcome within a transaction: the one stored, or this one if it answers more.

    Args:
        database: Where it is kept.
        session: Of a writing transaction.
        key: Of the evaluation.
        outcome: What it came to.
        cutoff: Of its run, in simulated seconds.
        now: The time of the transaction.
        result: From `packed_result`.
    """
    if outcome.cached or not _is_repeatable(outcome):
        return
    values = {
        "status": outcome.status,
        "value": outcome.value,
        "cutoff": cutoff,
        "cpu_seconds": outcome.cpu_seconds,
        "wall_seconds": outcome.wall_seconds,
        "peak_rss_bytes": outcome.peak_rss_bytes,
        "created_at": now,
        "reason": outcome.reason,
        "result": result,
    }
    if database.insert_new(session, EvaluationRow, {"key": key, **values}):
        return
    row = session.get_one(EvaluationRow, key, with_for_update=True)
    if _answers_more(outcome, cutoff, row):
        for name, value in values.items():
            setattr(row, name, value)


def _answers_more(outcome: Outcome, cutoff: float | None, row: EvaluationRow) -> bool:
    further = row.cutoff is not None and (cutoff is None or cutoff > row.cutoff)
    nearer = cutoff is not None and (row.cutoff is None or cutoff < row.cutoff)
    if row.status == "censored":
        return outcome.status != "censored" or further
    return row.status == "failed" and outcome.status == "failed" and nearer


def _is_repeatable(outcome: Outcome) -> bool:
    if outcome.status != "failed":
        return True
    return outcome.reason is not None and outcome.reason.get("kind") in _REPEATABLE_FAILURES


def _answer(row: Any, cutoff: float | None) -> Outcome | None:
    known = Outcome(
        status=cast('Literal["completed", "censored", "infeasible", "failed"]', row.status),
        value=row.value,
        reason=row.reason,
        packed_result=row.packed_result,
        peak_rss_bytes=row.peak_rss_bytes,
        cached=True,
    )
    match known.status:
        case "completed":
            assert known.value is not None
            passes = cutoff is not None and known.value > cutoff
            return _censored(known, cutoff) if passes else known
        case "censored":
            far_enough = row.cutoff is None or (cutoff is not None and cutoff <= row.cutoff)
            return _censored(known, cutoff) if far_enough else None
        case "failed":
            # It failed before its cutoff; a nearer one might have stopped it first.
            reaches = cutoff is None or (row.cutoff is not None and cutoff >= row.cutoff)
            return known if reaches else None
    return known


def _censored(known: Outcome, cutoff: float | None) -> Outcome:
    return replace(known, status="censored", value=cutoff, reason=None, packed_result=None)
