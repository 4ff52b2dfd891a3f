"""Running bests and sums by the database, beside the same summed up here."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import pytest

from storage.proposal import Proposal
from storage.records import (
    ConvergencePoint,
    Outcome,
    TrialKind,
    TrialPoint,
)
from storage.storage import Storage

KINDS: tuple[TrialKind, ...] = ("search", "search", "search", "refinement", "verification")
NUMBERS = range(1, 61)


@pytest.fixture
def job_id(storage: Storage, running_job: tuple[str, int]) -> str:
    """A job with sixty trials of all sorts, the last three of them open."""
    draw = random.Random(7)
    job, token = running_job
    for number in NUMBERS:
        trial = storage.trials.propose(
            job,
            token,
            Proposal(
                number=number,
                kind="baseline" if number < 4 else draw.choice(KINDS),
                label=f"torus-{number}d" if number < 4 else None,
                inside=draw.random() < 0.7,
                configuration={"topology_seed": number},
                configuration_sha256=f"{number:064d}",
            ),
        )
        if number > 57:
            continue
        outcome = Outcome(
            status=draw.choice(("completed", "completed", "censored")),
            value=1.0 + draw.random() / number,
            result={},
            cpu_seconds=draw.random(),
            wall_seconds=1.0,
            peak_rss_bytes=1,
            cached=draw.random() < 0.2,
        )
        storage.trials.settle(trial.id, token, outcome)
    return job


def test_every_point_tells_what_was_reached_by_then(storage: Storage, job_id: str) -> None:
    finished = storage.trials.points(job_id)[:57]

    points = storage.convergence.points(job_id, 1)

    assert (storage.convergence.count_asked(job_id), len(points)) == (60, 57)
    assert [point.trial for point in points] == finished
    assert [point.best for point in points] == lowest([p.inside for p in finished], finished)
    searched = [p.kind == "search" for p in finished]
    assert [point.searched_best for point in points] == lowest(searched, finished)
    assert [point.searched for point in points] == list(accumulate(searched))
    spent = accumulate(0.0 if p.cached else p.cpu_seconds or 0.0 for p in finished)
    assert [point.cpu_seconds_spent for point in points] == pytest.approx(list(spent))
    ends = accumulate((p.finished_at or 0.0 for p in finished), max)
    assert [point.all_finished_at for point in points] == list(ends)


@pytest.mark.parametrize(
    ("stride", "needed"), [(20, {1, 2, 3, 21, 41, 57}), (7, {1, 2, 3, 8, 50, 57}), (999, {1, 57})]
)
def test_what_is_left_out_improves_nothing(
    storage: Storage, job_id: str, stride: int, needed: set[int]
) -> None:
    whole = storage.convergence.points(job_id, 1)

    points = storage.convergence.points(job_id, stride)

    numbers = [point.trial.number for point in points]
    assert numbers == sorted(set(numbers))
    assert set(numbers) >= needed
    assert len(numbers) < 30
    assert points == [point for point in whole if point.trial.number in numbers]
    assert steps(points) == steps(whole)


def test_a_job_without_an_outcome_has_no_convergence(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    assert storage.convergence.count_asked(running_job[0]) == 0
    assert storage.convergence.points(running_job[0], 1) == []


def lowest(counts: Sequence[bool], trials: Sequence[TrialPoint]) -> list[float | None]:
    """The lowest value so far of completed trials that count."""
    found: list[float | None] = []
    best = None
    for counted, trial in zip(counts, trials, strict=True):
        if counted and trial.state == "completed" and trial.value is not None:
            best = trial.value if best is None else min(best, trial.value)
        found.append(best)
    return found


def steps(points: Sequence[ConvergencePoint]) -> set[tuple[float | None, float | None]]:
    """All that was ever the best, of the job and of its search."""
    return {(point.best, point.searched_best) for point in points}
