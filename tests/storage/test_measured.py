"""What clusters measure of jobs: runs in turns, leased, never lost, never counted twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import update

from storage.errors import Conflict, LeaseLost, NotFound
from storage.measured_records import MeasuredOutcome, Measuring, MeasuringCounts, NewMeasured
from storage.measured_rows import new_run
from storage.models import MeasuredRunRow
from storage.records import Trial
from storage.storage import Storage

SETTINGS: dict[str, Any] = {
    "repetitions": 2,
    "seconds": 100.0,
    "wait": 50.0,
    "library": "openmpi",
    "testbed": None,
}
CANDIDATES = (
    NewMeasured(label="trial 1", trial=1, simulated=1.0),
    NewMeasured(label="trial 2", trial=2, simulated=1.1),
    NewMeasured(label="defaults"),
)


@pytest.fixture
def opened(storage: Storage, running_job: tuple[str, int]) -> str:
    """A job whose two trials and defaults are to be measured."""
    job_id, token = running_job
    storage.measured_runs.open_measuring(job_id, token, SETTINGS, CANDIDATES, 1)
    storage.measured_runs.settle_entered(
        job_id, {place: ("open", {"ranks": 4}) for place in (1, 2, 3)}
    )
    return job_id


def run_once(storage: Storage, job_id: str, outcome: MeasuredOutcome) -> int | None:
    """Claims and finishes a run; the place of what was run."""
    claimed = storage.measured_runs.claim(job_id, "agent", "bluebird", 30.0)
    if claimed is None:
        return None
    one, run = claimed
    storage.measured_runs.finish(job_id, one.place, run.number, outcome)
    return one.place


def seconds(value: float) -> MeasuredOutcome:
    return MeasuredOutcome(seconds=value)


def known(storage: Storage, job_id: str) -> Measuring:
    found = storage.measured_runs.measuring(job_id)
    assert found is not None
    return found


def expire(storage: Storage) -> None:
    """Lets all leases of runs end."""
    with storage._database.writing() as session:
        session.execute(update(MeasuredRunRow).values(expires_at=0.0))


def test_runs_come_in_turns_and_the_lowest_median_is_the_best(
    storage: Storage, opened: str
) -> None:
    times = {1: 2.0, 2: 1.5, 3: 3.0}
    order: list[int] = []
    while (claimed := storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)) is not None:
        one, run = claimed
        order.append(one.place)
        storage.measured_runs.finish(opened, one.place, run.number, seconds(times[one.place]))
    assert sorted(order[:3]) == sorted(order[3:]) == [1, 2, 3]
    found = known(storage, opened)
    assert (found.state, found.decided, found.simulated_best) == ("decided", 2, 1)
    job = storage.jobs.get(opened)
    assert (job.best_trial, job.best_value) == (2, 1.1)


def test_what_is_committed_once_is_left_as_it_is(
    storage: Storage, running_job: tuple[str, int], opened: str
) -> None:
    job_id, token = running_job
    storage.measured_runs.open_measuring(job_id, token, SETTINGS, CANDIDATES[:1], 2)
    assert len(storage.measured_runs.configurations(opened)) == 3
    with pytest.raises(LeaseLost):
        storage.measured_runs.open_measuring(job_id, token + 1, SETTINGS, CANDIDATES, 1)


def test_one_run_at_a_time_on_one_cluster(storage: Storage, opened: str) -> None:
    assert storage.measured_runs.claim(opened, "first", "bluebird", 30.0) is not None
    assert storage.measured_runs.claim(opened, "second", "bluebird", 30.0) is None
    assert storage.measured_runs.claim(opened, "third", "redwood", 30.0) is None
    assert storage.measured_runs.measurable_jobs("bluebird", "openmpi", None) == [opened]
    assert storage.measured_runs.measurable_jobs("redwood", "openmpi", None) == []
    assert storage.measured_runs.measurable_jobs("bluebird", "mpich", None) == []
    assert storage.measured_runs.measurable_jobs("bluebird", "openmpi", "ring") == []


def test_agents_of_one_cluster_that_ask_at_once_get_one_run(
    storage: Storage, opened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks for a job of its own; neither sees what the other has not committed."""
    second = storage.jobs.create(name="other", spec={}, seed=1).id
    leased = storage.leases.acquire("coordinator", 60.0, second)
    assert leased is not None
    storage.jobs.transition(second, "preparing", token=leased.lease_token)
    storage.jobs.transition(second, "running", token=leased.lease_token)
    storage.measured_runs.open_measuring(second, leased.lease_token, SETTINGS, CANDIDATES, 1)
    storage.measured_runs.settle_entered(second, {1: ("open", {"ranks": 4})})
    both = threading.Barrier(2)

    def begin(*arguments: Any) -> MeasuredRunRow:
        """Lets the other one come as far, unless that waits for this one to end."""
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return new_run(*arguments)

    monkeypatch.setattr("storage.measured.new_run", begin)
    with ThreadPoolExecutor(2) as pool:
        claims = list(
            pool.map(
                lambda job: storage.measured_runs.claim(job, f"of {job}", "bluebird", 30.0),
                (opened, second),
            )
        )
    assert sum(one is not None for one in claims) == 1


def test_a_silent_agents_run_is_done_anew_and_its_late_time_refused(
    storage: Storage, opened: str
) -> None:
    claimed = storage.measured_runs.claim(opened, "killed", "bluebird", 30.0)
    assert claimed is not None
    one, run = claimed
    expire(storage)
    again = storage.measured_runs.claim(opened, "other", "bluebird", 30.0)
    assert again is not None
    assert (again[1].place, again[1].number) == (run.place, run.number + 1)
    with pytest.raises(Conflict, match="given up after a silence"):
        storage.measured_runs.finish(opened, one.place, run.number, seconds(1.0))
    with pytest.raises(Conflict):
        storage.measured_runs.beat(opened, one.place, run.number, 30.0)
    storage.measured_runs.finish(opened, one.place, again[1].number, seconds(2.0))
    states = [
        each.state for each in storage.measured_runs.configurations(opened)[one.place - 1].runs
    ]
    assert sorted(states) == ["counted", "lost"]


def test_telling_twice_changes_nothing(storage: Storage, opened: str) -> None:
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    place, number = claimed[1].place, claimed[1].number
    told = storage.measured_runs.finish(opened, place, number, seconds(1.0))
    assert storage.measured_runs.finish(opened, place, number, seconds(9.0)) == told
    assert storage.measured_runs.configurations(opened)[place - 1].seconds == [1.0]
    with pytest.raises(NotFound):
        storage.measured_runs.finish(opened, 9, 1, seconds(1.0))


def test_a_lease_that_ended_unnoticed_still_takes_its_time(storage: Storage, opened: str) -> None:
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    expire(storage)
    run = storage.measured_runs.finish(opened, claimed[1].place, claimed[1].number, seconds(1.0))
    assert run.state == "counted"


def test_who_was_silent_too_long_is_not_revived(storage: Storage, opened: str) -> None:
    """Its cluster may be another's by then."""
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    expire(storage)
    with pytest.raises(Conflict, match="was silent for too long"):
        storage.measured_runs.beat(opened, claimed[1].place, claimed[1].number, 30.0)


def test_a_run_beside_which_another_ran_does_not_count(storage: Storage, opened: str) -> None:
    other = storage.jobs.create(name="other", spec={}, seed=1).id
    leased = storage.leases.acquire("coordinator", 60.0, other)
    assert leased is not None
    storage.jobs.transition(other, "preparing", token=leased.lease_token)
    storage.jobs.transition(other, "running", token=leased.lease_token)
    storage.measured_runs.open_measuring(other, leased.lease_token, SETTINGS, CANDIDATES, 1)
    storage.measured_runs.settle_entered(other, {place: ("open", {}) for place in (1, 2, 3)})
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    run = claimed[1]
    assert storage.measured_runs.claim(other, "another", "bluebird", 30.0) is None
    expire(storage)
    assert storage.measured_runs.claim(other, "another", "bluebird", 30.0) is not None
    for _ in range(2):
        with pytest.raises(Conflict, match="does not count"):
            storage.measured_runs.finish(opened, run.place, run.number, seconds(9.0))
    kept = storage.measured_runs.configurations(opened)[run.place - 1].runs[0]
    assert (kept.state, kept.seconds) == ("lost", None)


@pytest.mark.parametrize("state", ["cancelling", "cancelled"])
def test_a_job_that_is_cancelled_wants_no_run(storage: Storage, opened: str, state: str) -> None:
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    storage.jobs.transition(opened, "cancelling")
    if state == "cancelled":
        storage.jobs.transition(opened, "cancelled")
    with pytest.raises(Conflict, match="wants no further runs"):
        storage.measured_runs.beat(opened, claimed[1].place, claimed[1].number, 30.0)


def test_where_nothing_can_be_run_nothing_is_waited_for(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    storage.measured_runs.open_measuring(job_id, token, SETTINGS, CANDIDATES, 1)
    reason = {"kind": "export", "message": "no"}
    storage.measured_runs.settle_entered(job_id, dict.fromkeys((1, 2, 3), ("infeasible", reason)))
    assert known(storage, job_id).state == "undecided"


def test_what_fails_is_an_outcome_with_a_reason(storage: Storage, opened: str) -> None:
    failed = MeasuredOutcome(reason={"kind": "failed", "message": "out of memory"})
    places = Counter(iter(lambda: run_once(storage, opened, failed), None))
    assert places == {1: 2, 2: 2, 3: 2}
    assert {one.state for one in storage.measured_runs.configurations(opened)} == {"infeasible"}
    found = known(storage, opened)
    assert (found.state, found.because) == ("undecided", "no configuration could be run")


def test_doubted_runs_do_not_count_and_do_not_go_on_for_ever(storage: Storage, opened: str) -> None:
    doubted = MeasuredOutcome(seconds=1.0, doubts=("the host was busy",))
    while run_once(storage, opened, doubted) is not None:
        pass
    assert [len(one.runs) for one in storage.measured_runs.configurations(opened)] == [6, 6, 6]
    assert known(storage, opened).state == "undecided"


def test_nobody_asks_and_the_simulation_decides(
    storage: Storage, running_job: tuple[str, int], opened: str
) -> None:
    job_id, token = running_job
    assert storage.measured_runs.tend_measuring(job_id, token, 49.0).state == "open"
    ended = storage.measured_runs.tend_measuring(job_id, token, 1.0)
    assert (ended.state, ended.because) == ("undecided", "no agent has asked for work for 50 s")


@pytest.mark.parametrize("how", ["time", "user"])
def test_what_is_known_decides_when_it_is_ended(
    storage: Storage, running_job: tuple[str, int], opened: str, how: str
) -> None:
    job_id, token = running_job
    for _ in range(3):
        run_once(storage, opened, seconds(1.0))
    if how == "time":
        storage.measured_runs.tend_measuring(job_id, token, 40.0)
        claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
        assert claimed is not None
        ended = storage.measured_runs.tend_measuring(job_id, token, 60.0 - 0.0)
        ended = storage.measured_runs.tend_measuring(job_id, token, 0.0)
    else:
        ended = storage.measured_runs.end_measuring(opened, "ended by a user")
    assert ended.state == "decided"
    assert ended.because is not None
    with pytest.raises(Conflict):
        storage.measured_runs.end_measuring(opened, "again")


def test_others_may_keep_what_they_measured(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> None:
    job_id, _ = running_job
    outcomes: Sequence[MeasuredOutcome] = [
        seconds(1.0),
        MeasuredOutcome(seconds=2.0, doubts=("segments were sent again",)),
    ]
    kept = storage.measured_runs.add(
        job_id, "validation", CANDIDATES[0], outcomes, cluster="testbed ring"
    )
    assert kept.seconds == [1.0]
    assert [run.state for run in kept.runs] == ["counted", "doubted"]
    assert storage.measured_runs.configurations(job_id, "validation") == [kept]
    assert storage.measured_runs.configurations(job_id, "finalists") == []


def test_a_project_sees_its_own(storage: Storage, opened: str) -> None:
    other = storage.of_project("other")
    assert other.measured_runs.measurable_jobs("bluebird", "openmpi", None) == []
    with pytest.raises(NotFound):
        other.measured_runs.claim(opened, "agent", "bluebird", 30.0)


def test_progress_counts_what_is_known_and_what_is_wanted(storage: Storage, opened: str) -> None:
    assert storage.measured_runs.counts([opened, "none"]) == {opened: MeasuringCounts(0, 3, 0)}
    for value in (1.0, 2.0, 3.0, 4.0):
        run_once(storage, opened, seconds(value))
    assert storage.measured_runs.counts([opened]) == {opened: MeasuringCounts(1, 3, 4)}
    storage.measured_runs.end_measuring(opened, "it was ended")
    assert storage.measured_runs.counts([opened]) == {}


def test_a_paused_job_hands_out_no_run_and_keeps_the_one_under_way(
    storage: Storage, running_job: tuple[str, int], opened: str
) -> None:
    claimed = storage.measured_runs.claim(opened, "agent", "bluebird", 30.0)
    assert claimed is not None
    place, number = claimed[1].place, claimed[1].number
    storage.jobs.transition(opened, "pausing")
    storage.jobs.transition(opened, "paused", token=running_job[1])
    storage.measured_runs.beat(opened, place, number, 30.0)
    storage.measured_runs.finish(opened, place, number, seconds(1.0))
    assert storage.measured_runs.measurable_jobs("bluebird", "openmpi", None) == []
    assert storage.measured_runs.claim(opened, "agent", "bluebird", 30.0) is None
    assert storage.measured_runs.configurations(opened)[place - 1].seconds == [1.0]
    assert known(storage, opened).state == "open"
